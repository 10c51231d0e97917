#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The files that services and containers are set by, io.weight and io.bfq.weight: a group whose
# io.cfq.weight was not set follows them. With groups of the io controller, version 2.

. ./test_common.sh

# sets NAME TEXT: a file of group g
sets() {
	echo "$2" >"$CG/g/$1" || fail "cannot write $2 to $1"
}

# weighs WEIGHT BY: what group g has, and by which file
weighs() {
	local weight by

	weight=$(sed -n 's/^default //p' "$CG/g/$FILES.weight")
	by=$(stat g weight_by)
	expect "a weight of $weight by $by" "$weight == $1 && \"$by\" == \"$2\""
}

# group_on_disk: group g, with I/O on a disk
group_on_disk() {
	load_disk
	make_group g
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null
	# Who has just mounted the file system is too fast
	sleep 0.1
}

follows() {
	title "the weight follows io.weight, at once"
	group_on_disk
	weighs 100 default
	sets io.weight 800
	weighs 800 io.weight
	sets io.weight "default 25"
	weighs 25 io.weight
	echo 10001 2>/dev/null >"$CG/g/io.weight" && fail "io.weight takes 10001"
	weighs 25 io.weight
	sets io.weight 100
	weighs 100 default
}

set_wins() {
	title "a weight that is set wins until it is taken back"
	group_on_disk
	sets io.weight 800
	sets io.cfq.weight 50
	weighs 50 group
	sets io.weight 700
	weighs 50 group
	sets io.cfq.weight default
	weighs 700 io.weight
	sets io.cfq.ioprio 0
	weighs 200 group
	sets io.cfq.weight "default default"
	weighs 700 io.weight
	sets io.cfq.weight "$(cat "/sys/block/$DISK/dev") 60"
	weighs 700 device
	sets io.cfq.weight 100
	sets io.cfq.weight "$(cat "/sys/block/$DISK/dev") default"
	weighs 100 group
}

bfq_too() {
	title "io.bfq.weight counts where io.weight is 100"
	group_on_disk
	load_module bfq || fail "cannot load bfq"
	sets io.bfq.weight 300
	weighs 300 io.bfq.weight
	sets io.weight 800
	weighs 800 io.weight
	sets io.weight 100
	weighs 300 io.bfq.weight
	rmmod bfq || fail "cannot remove bfq"
}

old() {
	title "what was written before the module came counts"
	group_on_disk
	select_sched none
	rmmod cfq || fail "cannot remove the module"
	sets io.weight 800
	select_sched cfq
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null
	weighs 800 io.weight
}

# writes: to io.weight of groups that come and go, for ever
writes() {
	local nr=0 group=$1

	while :; do
		nr=$((nr % 9000 + 101))
		mkdir -p "$CG/$group" && echo "$nr" >"$CG/$group/io.weight" && rmdir "$CG/$group"
	done 2>/dev/null
}

meanwhile() {
	local pids nr=0

	title "the module comes and goes while weights are written, and groups come and go"
	group_on_disk
	writes a &
	pids=$!
	writes b &
	pids="$pids $!"
	while [ "$nr" -lt 20 ]; do
		select_sched none
		rmmod cfq || fail "cannot remove the module"
		select_sched cfq
		sleep 0.05
		nr=$((nr + 1))
	done
	# shellcheck disable=SC2086 # a list of numbers
	kill $pids
	# shellcheck disable=SC2086 # a list of numbers
	wait $pids 2>/dev/null
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null
	sets io.weight 800
	weighs 800 io.weight
}

needs_groups
[ "$CONTROLLER" = blkio ] || skip_all "cfq is no module here"
mount_unified /sys/fs/cgroup
run_cases follows set_wins bfq_too old meanwhile
