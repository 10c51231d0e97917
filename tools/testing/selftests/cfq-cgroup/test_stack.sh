#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is below a scheduler changes, and what is above it and beside it: hardware queues and tags,
# drivers that are busy, devices that die, file systems, RAID, loop devices, swap, limits of others,
# processors. Every byte that fio writes is read back and checked.
# Meant for a kernel with KASAN, lockdep and the rest, and for at least two processors.

. ./test_common.sh
. ./stress_common.sh
. ./whose_io_common.sh

NR_UPDATES=${NR_UPDATES:-15}
NR_REMOVALS=${NR_REMOVALS:-6}
NR_GROUPS=${NR_GROUPS:-20}
CPU=/sys/devices/system/cpu/cpu1/online

# repeat NR COMMAND...: in the background until all are done; each has the number of the round
PIDS=
repeat() {
	local nr=$1

	shift
	for round in $(seq "$nr"); do
		[ ! -e "$TMP/wrong" ] || return
		"$@" "$round"
	done &
	PIDS="$PIDS $!"
}

wait_for_all() {
	# shellcheck disable=SC2086 # a list of numbers
	wait $PIDS
	PIDS=
}

# nth NR WORD...: of the words, which are taken in turn
nth() {
	local nr=$(($1 % ($# - 1)))

	shift $((nr + 1))
	echo "$1"
}

# taken NAME COMMAND...: counts it if it succeeds, be it later, as others may be in the way
taken() {
	local name=$1 left=10

	shift
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return
		sleep 0.05
	done
	echo >>"$TMP/$name"
}

# were_taken NAME: half of NR_UPDATES at least
were_taken() {
	local nr

	nr=$(grep -c '' "$TMP/$1")
	rm "$TMP/$1"
	expect "$nr $1 of $NR_UPDATES" "2 * $nr >= $NR_UPDATES"
}

# --- below ---

NULL=/sys/kernel/config/nullb/nullb0

# Only what is made by hand has hardware queues that can change.
make_null() {
	local setting

	load_null nr_devices=0
	mount -t configfs none /sys/kernel/config 2>/dev/null
	mkdir "$NULL"
	for setting in memory_backed=1 size=64 blocksize=4096 submit_queues=2 hw_queue_depth=32 \
		irqmode=2 completion_nsec=500000 power=1; do
		echo "${setting#*=}" >"$NULL/${setting%=*}" || fail "cannot set $setting"
	done
	prepare_sched
}

# Meanwhile nobody else can change anything, so there is a pause.
change_queues() {
	echo $((1 + $1 % 2)) >"$NULL/submit_queues" || fail "cannot change the hardware queues"
	sleep 0.3
}

# set_queue FILE NR WORD...: to one of these
set_queue() {
	local file=$1

	shift
	nth "$@" >"$QUEUE/$file"
}

# Not all schedulers take all numbers.
change_depths() {
	taken depths set_queue nr_requests "$1" 4 64 16 5 128
	[ ! -e "$QUEUE/async_depth" ] || nth "$1" 1 3 60 8 >"$QUEUE/async_depth"
} 2>/dev/null

switch_there() {
	# shellcheck disable=SC2086 # a list of names
	taken others set_queue scheduler "$1" $OTHERS
	sleep 0.1
} 2>/dev/null

switch_back() {
	taken returns set_queue scheduler "$1" cfq
	sleep 0.1
} 2>/dev/null

hardware_queues() {
	title "$NR_UPDATES times other hardware queues and depths, and two switch: no wrong byte"
	make_null
	make_group g0 0
	make_group g7 7
	start_verifying nullb0
	start_load g0 - mix 2 20 --size=20m --offset_increment=0 --nice=10
	repeat "$NR_UPDATES" change_queues
	repeat "$NR_UPDATES" change_depths
	repeat "$NR_UPDATES" switch_there
	repeat "$NR_UPDATES" switch_back
	move_tasks $((20 * NR_UPDATES)) g0 g7 .
	wait_for_all
	were_taken depths
	were_taken others
	were_taken returns
	stop_loads
	stop_verifying
	select_sched cfq
	rmdir "$NULL"
}

# share_tags DEPTH: what comes back from the driver is whose it was, and is counted once
share_tags() {
	load_null nr_devices=2 shared_tags=1 memory_backed=1 blocking=1 gb=1 \
		"hw_queue_depth=$1" submit_queues=2 irqmode=2 completion_nsec=500000 \
		requeue=1,10,0,-1
	prepare_sched
	select_sched cfq nullb1
	make_group own
	start_verifying nullb0 nullb1
	start_load - - mix 2 100 --size=20m --offset_increment=0 --nice=10
	(run_as own - "$DD" if="$DEV" of=/dev/null bs=4k count=200 iflag=direct) 2>/dev/null ||
		fail "a read failed"
	expect "$(stat own requests) requests of 200 reads" "$(stat own requests) == 200"
	# shellcheck disable=SC2046 # a list of numbers
	churn_groups "$NR_GROUPS" $(load_tasks 2)
	few_removed nullb0 4
	stop_loads
	stop_verifying
	retry none_removed nullb0 || fail "removed groups are left"
}

busy_driver() {
	title "two devices share tags, and each tenth request is not taken: no wrong byte"
	share_tags 8
}

one_tag() {
	title "the same with a single tag for both"
	share_tags 1
}

# copy FROM TO DD_OPTION...: a quarter of a megabyte, where no reader or writer comes
copy() {
	local from=$1 to=$2

	shift 2
	"$DD" if="$from" of="$to" bs=64k count=4 "$@" 2>/dev/null || fail "cannot copy to $to"
}

# start_dd GROUP PRIORITY DD_OPTION...: reads or writes until the disk goes; is there at once
start_dd() {
	local group=$1 prio=$2

	shift 2
	(run_as "$group" "$prio" "$DD" bs=4k "$@") 2>/dev/null &
	LOADS="$LOADS $!"
}

# all_served GROUP...: requests of each were
all_served() {
	local group

	for group; do
		[ "0$(stat "$group" requests)" -ge 10 ] || return 1
	done
}

scsi() {
	local nr device host errors

	title "$NR_REMOVALS times a SCSI disk has errors, goes and is found again: no wrong byte"
	# Reads of sectors in the third megabyte fail when errors are asked for
	load_scsi submit_queues=2 ndelay=200000 medium_error_start=4096 medium_error_count=2048
	make_group g0 0
	make_group g7 7
	for nr in $(seq "$NR_REMOVALS"); do
		select_sched cfq
		copy /dev/urandom "$TMP/kept"
		copy "$TMP/kept" "$DEV" seek=960 oflag=direct conv=notrunc
		make_group "new$nr"
		start_dd g0 rt/0 if="$DEV" of=/dev/null iflag=direct
		start_dd g0 - if="$DEV" of=/dev/null iflag=direct skip=500
		start_dd g7 - if="$DEV" of=/dev/null skip=4000
		start_dd "new$nr" - if=/dev/zero of="$DEV" oflag=direct conv=notrunc seek=8000
		retry all_served g0 g7 "new$nr" || fail "some are not served"
		# Medium errors and aborted commands, now and then
		echo 18 >/sys/bus/pseudo/drivers/scsi_debug/opts
		echo 37 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
		sleep 0.2
		# They may have read past it by now
		! "$DD" if="$DEV" of=/dev/null bs=4k count=1 skip=520 iflag=direct 2>/dev/null ||
			fail "a bad sector was read"
		device=$(readlink -f "/sys/block/$DISK/device")
		host=${device##*/}
		if [ $((nr % 2)) = 0 ]; then
			echo 1 >"$device/delete"
			stop_loads errors
			echo "- - -" >"/sys/class/scsi_host/host${host%%:*}/scan"
		else
			echo "$host" >/sys/bus/scsi/drivers/sd/unbind
			stop_loads errors
			echo "$host" >/sys/bus/scsi/drivers/sd/bind
		fi
		echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
		echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
		retry find_scsi_disk || fail "the disk does not come back"
		copy "$DEV" "$TMP/found" skip=960 iflag=direct
		cmp "$TMP/kept" "$TMP/found" || fail "not what was written in round $nr"
		remove_group "new$nr"
		progress removals "$nr" "$NR_REMOVALS"
	done
	errors=$(dmesg | grep -c 'critical medium error')
	expect "$errors errors are still in the log" "$errors > 0"
}

# --- above and beside ---

# limit TEXT: what the group may do on the first disk. With the second one, io.latency or io.cost
# besides, lockdep finds that the controllers allocate memory under a lock that is also taken while
# a queue is frozen.
limit() {
	echo "$(cat /sys/block/cfqd0/dev) $1" >"$CG/a/io.max" || echo "limit $1" >>"$TMP/wrong"
}

change_limits() {
	limit "$(nth "$1" wbps=4000000 riops=200 wiops=300 \
		"rbps=max wbps=max riops=max wiops=max")"
	nth "$1" 0 75000 >/sys/block/cfqd0/queue/wbt_lat_usec 2>/dev/null
	sleep 0.2
}

change_processors() {
	local online

	for online in 0 1; do
		echo "$online" >"$CPU" || echo "processor $online" >>"$TMP/wrong"
		sleep 0.2
	done
}

# More than the group may have: the rest is swapped out, and in again
use_memory() {
	(run_as hog - "$DD" if=/dev/zero of="$MNT/file" bs=1M count=24) 2>/dev/null
}

change_backing() {
	./loop_change /dev/loop1 "$LOWER/even" "$LOWER/odd" 20 || echo "loop device" >>"$TMP/wrong"
}

# What is written back is of a group that is gone
late_writeback() {
	mkdir "$CG/late$1"
	(run_as "late$1" - "$DD" if=/dev/zero of="$LOWER/late" bs=64k count=8 conv=notrunc) \
		2>/dev/null
	remove_group "late$1"
}

change_threads() {
	local group=t/x

	[ $(($1 % 2)) = 0 ] || group=t/y
	cat "$CG/t/x/cgroup.threads" "$CG/t/y/cgroup.threads" | while read -r tid; do
		echo "$tid" >"$CG/$group/cgroup.threads" || echo "thread $tid" >>"$TMP/wrong"
	done
	mkdir "$CG/t/new$1" && echo threaded >"$CG/t/new$1/cgroup.type"
	sleep 0.1
	rmdir "$CG/t/new$1"
}

stacked() {
	local disk

	title "ext4 on RAID1, loop, swap, limits, processors, threaded groups: no wrong byte"
	mount_unified
	echo "+$CONTROLLER +io +memory" >"$CG/cgroup.subtree_control" || fail "no io and memory"
	load_disk nr_devices=2
	select_sched cfq cfqd1
	for group in a b hog t; do
		mkdir "$CG/$group"
	done
	for group in t/x t/y; do
		mkdir "$CG/$group"
		echo threaded >"$CG/$group/cgroup.type" || fail "no threaded groups"
	done
	enable_children t || fail "not for threads"
	make_mapped "linear /dev/cfqd0 0" mapped
	make_mapped "linear /dev/cfqd1 0" mapped2
	make_raid1 mapped mapped2
	make_ext4 /dev/md0 600M 1 100
	use_ext4 /dev/md0 "$LOWER"
	"$LOSETUP" /dev/loop0 "$LOWER/f0" || fail "no loop device"
	"$DD" if=/dev/urandom of="$LOWER/even" bs=1M count=1 2>/dev/null
	cp "$LOWER/even" "$LOWER/odd" || fail "no files for a loop device"
	sync
	make_mapped "linear /dev/cfqd1 $((1000 * MB))" swap
	mkswap /dev/mapper/swap >/dev/null
	swapon /dev/mapper/swap || fail "cannot swap"
	mkdir -p "$MNT"
	mount -t tmpfs memory "$MNT"
	echo 12M >"$CG/hog/memory.max"
	echo 40M >"$CG/a/memory.max"

	verify a "$LOWER/a" 0 --direct=0 --rw=randwrite --bs=4k --fsync=32 --invalidate=1
	verify b "$LOWER/b" 0 --direct=0 --rw=write --bsrange=4k-64k --end_fsync=1 --invalidate=1
	verify a /dev/loop0 0 --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=16
	verify b /dev/loop0 4 --direct=0 --rw=randwrite --bs=4k --fsync=64 --invalidate=1
	verify a /dev/cfqd0 4000 --direct=1 --rw=randwrite --bs=4k --ioengine=io_uring --iodepth=16
	(echo 0 >"$CG/t/cgroup.procs" && exec ./threads /dev/cfqd1 2 "$CG/t/x/cgroup.threads" 5000 \
		100 "$CG/t/y/cgroup.threads" 5100 100) &
	threads=$!

	repeat "$NR_UPDATES" change_limits
	repeat "$NR_UPDATES" change_threads
	repeat $((1 + NR_UPDATES / 10)) use_memory
	repeat $((1 + NR_UPDATES / 10)) change_processors
	repeat $((1 + NR_UPDATES / 10)) late_writeback
	repeat $((1 + NR_UPDATES / 10)) change_backing
	switch_schedulers "$NR_UPDATES" cfqd0 cfqd1
	select_sched cfq
	select_sched cfq cfqd1
	start_load - - mix 2 6000 --nice=10
	# shellcheck disable=SC2046 # a list of numbers
	churn_groups "$NR_GROUPS" $(load_tasks 2)
	move_tasks $((10 * NR_UPDATES)) a b .
	wait_for_all
	stop_loads
	swapped=$(awk '/^SwapTotal/ { total = $2 } /^SwapFree/ { print total - $2 }' /proc/meminfo)
	expect "$swapped KB are swapped out" "$swapped > 0"
	limit "rbps=max wbps=max riops=max wiops=max"
	stop_verifying
	kill "$threads" || fail "the threads have ended"
	for disk in cfqd0 cfqd1; do
		few_removed "$disk" 8
	done
}

switch_controller() {
	{
		echo "-$CONTROLLER" >"$CG/cgroup.subtree_control" && sleep 0.011 &&
			echo "+$CONTROLLER" >"$CG/cgroup.subtree_control"
	} || echo "controller" >>"$TMP/wrong"
}

on_and_off() {
	title "the controller goes and comes $NR_UPDATES times while groups do I/O: no wrong byte"
	mount_unified
	load_disk nr_devices=2
	select_sched cfq cfqd1
	mkdir "$CG/a" "$CG/b"
	start_verifying cfqd0 cfqd1
	start_load a - mix 2 1000 --nice=10
	start_load b - mix 2 2000 --nice=10
	repeat "$NR_UPDATES" switch_controller
	move_tasks $((10 * NR_UPDATES)) a b .
	wait_for_all
	stop_loads
	stop_verifying
	retry none_removed cfqd0 || fail "removed groups are left"
}

needs_groups
[ -e "$CPU" ] || skip_all "no second processor that can go offline"
run_cases hardware_queues busy_driver one_tag scsi stacked on_and_off
