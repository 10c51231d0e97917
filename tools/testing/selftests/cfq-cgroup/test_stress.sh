#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Everything that changes, changes at once, on two disks, while fio writes, reads back and checks
# every byte.
# Meant for a kernel with KASAN, lockdep and the rest, and for at least two processors.

. ./test_common.sh
. ./stress_common.sh

NR_SWITCHES=${NR_SWITCHES:-200}
NR_GROUPS=${NR_GROUPS:-150}
NR_MOVES=${NR_MOVES:-2000}
NR_REMOVED=${NR_REMOVED:-40}
NR_CONTAINERS=${NR_CONTAINERS:-8}
NR_LIMITS=${NR_LIMITS:-96}
DISKS="cfqd0 cfqd1"

churn() {
	local pids

	title "$NR_SWITCHES switches, $NR_GROUPS groups, $NR_MOVES moves at once: no wrong byte"
	load_disk nr_devices=2
	select_sched cfq cfqd1
	for group in 0 4 7; do
		make_group "g$group" "$group"
	done
	# shellcheck disable=SC2086 # a list of names
	start_verifying $DISKS
	start_load - - mix 2 1000 --nice=10
	on cfqd1 start_load - - mix 2 2000 --nice=10
	sleep 1
	# shellcheck disable=SC2086 # a list of names
	switch_schedulers "$NR_SWITCHES" $DISKS &
	pids=$!
	# shellcheck disable=SC2046 # a list of numbers
	churn_groups "$NR_GROUPS" $(load_tasks 4) &
	pids="$pids $!"
	move_tasks "$NR_MOVES" g0 g4 g7 . &
	# shellcheck disable=SC2086 # a list of numbers
	wait $pids $!
	stop_loads
	stop_verifying
}

# all_gone: of the groups that were removed nothing is left, nor of what had I/O in them
all_gone() {
	local known

	none_removed "$DISK" || return
	# Those of the io controller are kept by the pages that they wrote, too.
	[ "$CONTROLLER" = cfq ] || return 0
	known=$(awk -v name="$CONTROLLER" '$1 == name { print $3 }' /proc/cgroups)
	[ "$known" = "$(find "$CG" -type d | wc -l)" ]
}

# Without other schedulers, with which all groups on a disk go; on a quick device, where each group
# has requests in the moment that it lives
removed() {
	local churning

	title "$NR_REMOVED groups removed with requests in flight, tasks moved: none is left"
	load_flash
	make_group g0 0
	make_group g7 7
	start_verifying "$DISK"
	start_load - - mix 2 1000 --nice=10 --ioengine=libaio --iodepth=4
	sleep 1
	CHURNED=$(load_tasks 2)
	# shellcheck disable=SC2086 # a list of numbers
	churn_groups "$NR_REMOVED" $CHURNED &
	churning=$!
	move_tasks $((5 * NR_REMOVED)) g0 g7 .
	wait "$churning"
	CHURNED=
	expect "$(cat "$TMP/used") of $NR_REMOVED groups had requests" \
		"1.1 * $(cat "$TMP/used") > $NR_REMOVED"
	few_removed "$DISK" 8
	stop_loads
	stop_verifying
	retry all_gone || fail "removed groups are left: $(grep "^$CONTROLLER" /proc/cgroups)"
}

# live NAME: a task that writes and reads, and others that it starts, in a group; all are killed
live() {
	local size=64

	make_group "$1" $((nr % 8))
	(echo 0 >"$CG/$1/cgroup.procs" && exec unshare -m sh -c "while :; do
			$DD if=/dev/zero of=$DEV bs=16k seek=200000 count=$size conv=notrunc,fsync &
			$DD if=$DEV of=/dev/null bs=64k skip=40000 count=$size iflag=direct
			wait
		done") 2>/dev/null &
	sleep "0.$((nr % 4))"
	# shellcheck disable=SC2046 # a list of numbers
	kill -9 $(cat "$CG/$1/cgroup.procs") 2>/dev/null
	remove_group "$1"
}

containers() {
	local nr

	title "$NR_CONTAINERS containers start and are killed: none is left"
	load_disk nr_devices=2
	select_sched cfq cfqd1
	mount_groups
	# shellcheck disable=SC2086 # a list of names
	start_verifying $DISKS
	for nr in $(seq "$NR_CONTAINERS"); do
		live "container$nr"
		progress containers "$nr" "$NR_CONTAINERS"
	done
	stop_verifying
	retry all_gone || fail "removed groups are left: $(grep "^$CONTROLLER" /proc/cgroups)"
}

# change_limits: of groups above each other, up and down, while their tasks wait, move, are killed,
# and the scheduler goes
change_limits() {
	local nr=0 limit group pid

	while :; do
		for limit in 1 "$(cat "/sys/block/cfqd1/dev") 2" 3 10 1 max 40 2; do
			for group in p p/a . p/b; do
				nr=$((nr + 1))
				echo "$limit" >"$CG/$group/$FILES.nr_group_requests" ||
					fail "cannot limit $group to $limit"
				progress limits "$nr" "$NR_LIMITS"
				[ "$nr" -lt "$NR_LIMITS" ] || return 0
			done
		done
		case $((nr / 32 % 3)) in
		0)
			for pid in $(pidof fio); do
				echo "$pid" >"$CG/p/a/cgroup.procs"
			done 2>/dev/null
			start_load p/b - mix 4 5000 --filename=/dev/cfqd1 --nice=10
			;;
		1)
			select_sched none cfqd1
			select_sched cfq cfqd1
			;;
		2)
			# shellcheck disable=SC2046 # a list of numbers
			kill -9 $(cat "$CG/p/b/cgroup.procs") 2>/dev/null
			remove_group p/b
			make_group p/b
			;;
		esac
	done
}

limits() {
	local disk left

	title "$NR_LIMITS limits set while tasks wait, move, are killed: none hangs, no wrong byte"
	load_disk nr_devices=2
	select_sched cfq cfqd1
	make_group p
	make_group p/a
	make_group p/b
	# shellcheck disable=SC2086 # a list of names
	start_verifying $DISKS
	start_load p/a - mix 6 1000 --nice=10
	start_load p - read 1 4000 --nice=10 --ioengine=io_uring --iodepth=32
	change_limits
	# All get through, few at a time
	for group in . p p/a p/b; do
		echo 2 >"$CG/$group/$FILES.nr_group_requests"
	done
	stop_loads
	stop_verifying
	for disk in $DISKS; do
		left=$(grep -c ' held [1-9]' "/sys/kernel/debug/block/$disk/sched/trees")
		[ "$left" = 0 ] || fail "$left groups of $disk hold requests without I/O"
	done
	for group in . p p/a p/b; do
		echo max >"$CG/$group/$FILES.nr_group_requests"
	done
}

# count NAME [DISK]: a line of the disk's own account
count() {
	awk -v name="$1" '$1 == name { print $2 }' "/sys/kernel/debug/cfq_disk/${2:-$DISK}/stat"
}

faults() {
	local nr disk=/sys/kernel/debug/cfq_disk/cfqd1

	title "errors, timeouts, requeues, unplugged disks: nothing hangs, no wrong byte"
	load_disk nr_devices=2 timeout_ms=1000
	select_sched cfq cfqd1
	make_group g0 0
	make_group g7 7
	start_verifying cfqd0
	for nr in 1 2 3 4 5 6; do
		# Requeued by the timeout, and right in the end
		echo "3 requeue" >"$MODEL/hang"

		# Of errors only some are passed over, and others, as ETIMEDOUT, if told so
		set -- --continue_on_error=all --ignore_error=EIO:110,EIO:110
		on cfqd1 start_load g0 rt/0 mix 4 0 "$@"
		on cfqd1 start_load g7 - read 4 1000 "$@"
		echo "0 1000000 20" >"$disk/fail"
		sleep 2
		echo 5 >"$disk/hang"
		sleep 3
		select_sched none cfqd1
		select_sched cfq cfqd1
		if [ $((nr % 2)) = 0 ]; then
			note "unplug $((nr / 2))"
			echo 1 >"$disk/unplug"
			stop_loads errors
			retry plug "$disk"
			select_sched cfq cfqd1
		fi
		stop_loads errors
	done
	note "timed out: $(count timed_out cfqd0) requeued, $(count timed_out cfqd1) failed;" \
		"failed at once: $(count failed cfqd1)"
	for nr in $(count timed_out cfqd0) $(count timed_out cfqd1) $(count failed cfqd1); do
		[ "$nr" -gt 0 ] || fail "a fault did not happen"
	done
	echo 0 >"$MODEL/hang"
	stop_verifying
}

plug() {
	echo 1 >"$1/plug"
}

run_cases churn removed containers limits faults
