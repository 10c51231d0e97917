#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Everything that changes, changes at once, on two disks, while fio writes, reads back and checks
# every byte.
# Meant for a kernel with KASAN, lockdep and the rest, and for at least two processors.

. ./test_common.sh

NR_SWITCHES=${NR_SWITCHES:-500}
NR_GROUPS=${NR_GROUPS:-500}
NR_MOVES=${NR_MOVES:-5000}
NR_LIMITS=${NR_LIMITS:-160}
DISKS="cfqd0 cfqd1"
OTHERS="none mq-deadline kyber bfq"

# progress WHAT DONE ALL
progress() {
	[ $(($2 % ($3 / 5))) != 0 ] || note "$1: $2 of $3"
}

# keep_verifying DISK FIRST_MB FIO_OPTION...: writes and checks 2 MB again and again until
# $TMP/stop exists. Nice to those who disturb it, where the processors are slower than the disks.
keep_verifying() {
	local disk=$1 first=$2 round=0

	shift 2
	set -- --name=verify --filename="/dev/$disk" --offset="${first}m" --size=2m \
		--verify=crc32c --verify_fatal=1 --disk_util=0 --nice=10 "$@"
	while [ ! -e "$TMP/stop" ]; do
		round=$((round + 1))
		if ! fio "$@" --randseed="$round$first" >"$TMP/verify.$disk.$first" 2>&1; then
			sed -n '4,9s/^/# /p' "$TMP/verify.$disk.$first"
			echo "$disk at $first MB, round $round" >>"$TMP/wrong"
			return
		fi
		echo "$round" >"$TMP/rounds.$disk.$first"
	done
}

# start_verifying DISK...: random and in sequence, direct and through the page cache, small and
# large
start_verifying() {
	local disk

	VERIFIERS=
	for disk; do
		keep_verifying "$disk" 0 --direct=1 --rw=randwrite --bs=4k \
			--ioengine=libaio --iodepth=16 &
		VERIFIERS="$VERIFIERS $!"
		keep_verifying "$disk" 4 --direct=0 --rw=randwrite --bs=4k \
			--fsync=64 --invalidate=1 &
		VERIFIERS="$VERIFIERS $!"
		keep_verifying "$disk" 8 --direct=1 --rw=write --bsrange=4k-64k \
			--ioengine=libaio --iodepth=4 &
		VERIFIERS="$VERIFIERS $!"
	done
}

stop_verifying() {
	local file

	touch "$TMP/stop"
	# shellcheck disable=SC2086 # a list of numbers
	wait $VERIFIERS
	VERIFIERS=
	[ ! -e "$TMP/wrong" ] || fail "fio found wrong data or an error: $(cat "$TMP/wrong")"
	for file in "$TMP"/verify.*; do
		file=${file#"$TMP/verify."}
		note "checked on $file MB: $(cat "$TMP/rounds.$file" || echo 0) times"
		[ -s "$TMP/rounds.$file" ] || fail "nothing was checked on $file"
	done
	rm -f "$TMP"/stop "$TMP"/wrong "$TMP"/rounds.* "$TMP"/verify.*
}

# Every disk goes from cfq to another scheduler and back
switch_schedulers() {
	local nr=0 other disk

	while :; do
		for other in $OTHERS; do
			for sched in "$other" cfq; do
				for disk in $DISKS; do
					nr=$((nr + 1))
					select_sched "$sched" "$disk" ||
						echo "switch to $sched" >>"$TMP/wrong"
					progress switches "$nr" "$NR_SWITCHES"
					[ "$nr" -lt "$NR_SWITCHES" ] || return 0
				done
			done
		done
	done
}

# load_tasks: the numbers of the tasks that start_load started
load_tasks() {
	cat /proc/[0-9]*/stat 2>/dev/null |
		awk -v loads=" $LOADS " 'index(loads, " " $4 " ") { print $1 }'
}

# Groups live for a moment: until their readers and writers have gone to the next one, leaving
# requests behind
churn_groups() {
	local nr=0 pid

	while [ "$nr" -lt "$NR_GROUPS" ]; do
		nr=$((nr + 1))
		make_group "churn$nr" $((nr % 8))
		for pid in "$@"; do
			echo "$pid" >"$CG/churn$nr/cgroup.procs" || fail "cannot move $pid"
		done
		[ "$nr" = 1 ] || remove_group "churn$((nr - 1))"
		progress groups "$nr" "$NR_GROUPS"
	done
	remove_group "churn$nr"
	[ -z "$FAILED" ] || echo groups >>"$TMP/wrong"
}

# Tasks with requests queued and in flight go from group to group
move_tasks() {
	local nr=0 round pids pid group

	while [ ! -e "$TMP/wrong" ]; do
		pids=$(pidof fio)
		for round in 1 2 3 4; do
			for group in g0 g4 g7 .; do
				for pid in $pids; do
					# It may have ended
					echo "$pid" >"$CG/$group/cgroup.procs" || continue
					nr=$((nr + 1))
					progress moves "$nr" "$NR_MOVES"
					[ "$nr" -lt "$NR_MOVES" ] || return 0
				done
			done
		done 2>/dev/null
	done
}

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
	switch_schedulers &
	pids=$!
	# shellcheck disable=SC2046 # a list of numbers
	churn_groups $(load_tasks) &
	pids="$pids $!"
	move_tasks &
	# shellcheck disable=SC2086 # a list of numbers
	wait $pids $!
	stop_loads
	stop_verifying
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

		on cfqd1 start_load g0 rt/0 mix 4 0 --continue_on_error=all
		on cfqd1 start_load g7 - read 4 1000 --continue_on_error=all
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

run_cases churn limits faults
