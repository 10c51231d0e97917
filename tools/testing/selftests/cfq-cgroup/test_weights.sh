#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Weights and classes of groups decide as the manual says: on disk and flash, in version 1 and 2,
# for all devices or one, and once they are set.

. ./test_common.sh

PROCESSES=${PROCESSES:-8}
DURATION=${DURATION:-30}	# of virtual time; a tenth of it on flash
BOUND=${BOUND:-1}		# percentage points

# set_file GROUP FILE TEXT
set_file() {
	echo "$3" >"$CG/$1/$FILES.$2" || fail "cannot set $2 of $1 to $3"
}

end_first_load() {
	# shellcheck disable=SC2086 # a list of numbers
	set -- $LOADS
	kill "$1"
	shift
	LOADS=" $*"
}

# two_groups: readers in g1 and g2
two_groups() {
	make_group g1
	make_group g2
	start_load g1 - read "$PROCESSES" 0
	start_load g2 - read "$PROCESSES" 2000
	watch_mb 0 2000 2000 2000
}

# share_out PERCENT...: so within the bound
share_out() {
	local seconds=$DURATION group=g2 error

	sleep 2
	[ ! -d "$CG/g1/child" ] || group=g1/child
	case " $* " in
	*" 100 "*) group= ;;
	esac
	[ "$MODULE" = cfq_disk ] || seconds=$((seconds / 10)) group=
	measure "$seconds" "$group"
	error=$(distance "$@")
	expect "shares $(shares) %, $(ios) requests, promised $*, error $error pp" \
		"$error <= $BOUND"
}

# Slow enough that the device and not the processor is short
slow_flash() {
	load_flash queue_depth=8 read_us=1600
}

disk_weights() {
	title "disk: weights 200 and 300 give 40 and 60 % within $BOUND pp, and can change"
	load_disk
	two_groups
	set_file g1 weight 200
	set_file g2 weight 300
	share_out 40 60
	set_file g1 weight 10
	set_file g2 weight 30
	share_out 25 75
}

flash_weights() {
	title "flash: weights 200 and 300 give 40 and 60 % within $BOUND pp, and can change"
	slow_flash
	two_groups
	set_file g1 weight 200
	set_file g2 weight 300
	share_out 40 60
	set_file g1 weight 9000
	set_file g2 weight 3000
	share_out 75 25
}

leaf_weight() {
	title "cfq.leaf_weight is that of a group's tasks among its child groups"
	load_disk
	make_group g1
	make_group g1/child
	set_file g1 leaf_weight 300
	start_load g1 - read "$PROCESSES" 0
	start_load g1/child - read "$PROCESSES" 2000
	watch_mb 0 2000 2000 2000
	share_out 75 25
	set_file g1 leaf_weight 25
	share_out 20 80
}

# classes: readers are in g1 and g2
classes() {
	set_file g2 weight 10000
	set_file g1 ioprio_class realtime
	share_out 100 0
	set_file g2 ioprio_class 1
	set_file g2 weight 300
	share_out 25 75
	set_file g1 ioprio_class be
	share_out 0 100
	set_file g2 ioprio_class idle
	share_out 100 0
	# Nobody else is there any more
	end_first_load
	sleep 2
	measure 4
	expect "the idle class alone: $(shares) %, $(ios 2) requests" \
		"$(share 2) > 99 && $(ios 2) > 500"
}

disk_classes() {
	title "disk: real time goes before all others, idle only when nobody else wants the disk"
	load_disk
	two_groups
	classes
}

flash_classes() {
	title "flash: real time goes before all others, idle only when nobody else wants it"
	slow_flash
	two_groups
	classes
}

lone_reader() {
	local alone

	title "flash: a lone reader of a better class goes first, and leaves what the class allows"
	load_flash read_us=800
	make_group g1
	make_group g2
	start_load g1 - read 1 0
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 2
	alone=$(ios 1)
	start_load g2 - read 4 1000 --ioengine=libaio --iodepth=16
	set_file g1 ioprio_class rt
	sleep 1
	measure 2
	expect "real time beside best effort: $(ios 1) requests, alone $alone" \
		"$(ios 1) > 0.55 * $alone"
	expect "best effort has $(ios 2)" "$(ios 2) > 0.8 * $alone"
	set_file g1 ioprio_class be
	set_file g2 ioprio_class idle
	sleep 1
	measure 2
	expect "best effort beside idle: $(ios 1) requests, alone $alone" \
		"$(ios 1) > 0.97 * $alone"
	expect "idle has $(ios 2)" "$(ios 2) <= 0.01 * $alone"
	end_first_load
	sleep 1
	measure 2
	expect "idle alone has $(ios 2)" "$(ios 2) > 3 * $alone"
}

idle_latency() {
	local BOUND=0.2

	title "who comes to an idle class disk has it at once"
	load_disk
	make_group g1
	make_group g2
	set_file g1 ioprio_class idle
	start_load g1 - read "$PROCESSES" 0
	sleep 2
	for nr in 1 2 3 4 5 6 7 8 9 10; do
		(run_as g2 - "$DD" if="$DEV" of=/dev/null bs=4k count=1 skip="${nr}00000" \
			iflag=direct) 2>/dev/null
		sleep 0.1
	done
	waited=$(sed 's/.* wait=\([0-9]*\) .*/\1/' "$CG/g2/$FILES.stat")
	expect "10 reads waited for $waited us" "$waited < 100000"
	start_load g2 - read 1 2000
	watch_mb 0 2000 2000 2000
	share_out 1 99
}

# one_disk FILE: the weights on the second of two disks are others
one_disk() {
	local second

	load_disk nr_devices=2
	select_sched "$SCHED" cfqd1
	second=$(cat /sys/block/cfqd1/dev)
	two_groups
	DEV=/dev/cfqd1
	start_load g1 - read "$PROCESSES" 4000
	start_load g2 - read "$PROCESSES" 6000
	DEV=/dev/$DISK
	set_file g1 weight 300
	set_file g1 "$1" "$second 50"
	MODEL=${MODEL%/*}/cfqd1
	watch_mb 4000 2000 6000 2000
	share_out 33.33 66.67
	MODEL=${MODEL%/*}/cfqd0
	share_out 75 25
	set_file g1 "$1" "$second default"
	MODEL=${MODEL%/*}/cfqd1
	share_out 75 25
	MODEL=${MODEL%/*}/cfqd0
}

tasks_file() {
	title "threads of one process that enter the tasks files of groups share by their weights"
	load_disk
	make_group g1
	make_group g2
	set_file g1 weight 300
	./threads "$DEV" "$PROCESSES" "$CG/g1/tasks" 0 2000 "$CG/g2/tasks" 2000 2000 \
		>"$TMP/fio.threads" 2>&1 &
	LOADS=" $!"
	watch_mb 0 2000 2000 2000
	share_out 75 25
}

among_siblings() {
	title "a class counts among siblings only"
	load_disk
	make_group g1
	make_group g1/x
	make_group g2
	set_file g1/x ioprio_class rt
	start_load g1/x - read "$PROCESSES" 0
	start_load g2 - read "$PROCESSES" 2000
	watch_mb 0 2000 2000 2000
	share_out 50 50
	set_file g1 ioprio_class idle
	share_out 0 100
}

device_weight() {
	title "a weight for one device holds there and nowhere else"
	one_disk weight_device
}

sched_switch() {
	title "weights hold when the scheduler was deselected and selected again"
	load_disk
	make_group g1
	make_group g2
	set_file g1 weight_device "$(cat "/sys/block/$DISK/dev") 400"
	set_file g2 weight 100
	select_sched none
	select_sched "$SCHED"
	start_load g1 - read "$PROCESSES" 0
	start_load g2 - read "$PROCESSES" 2000
	watch_mb 0 2000 2000 2000
	share_out 80 20
}

unified() {
	title "version 2: weights, classes and a weight for one device"
	mount_unified
	one_disk weight
	stop_loads
	remove_groups
	two_groups
	set_file g1 ioprio_class realtime
	share_out 100 0
	set_file g1 ioprio_class idle
	share_out 0 100
}

needs_groups
run_cases disk_weights flash_weights leaf_weight flash_classes lone_reader idle_latency \
	tasks_file among_siblings sched_switch unified \
	: disk_classes device_weight
