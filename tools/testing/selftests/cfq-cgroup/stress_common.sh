#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Common to the tests in which everything changes: fio writes, reads back and checks every byte
# meanwhile, and groups come and go

OTHERS="none mq-deadline kyber bfq"
# shellcheck disable=SC2034 # of test_common.sh
THREADS=

# progress WHAT DONE ALL
progress() {
	[ "$3" -lt 5 ] || [ $(($2 % ($3 / 5))) != 0 ] || note "$1: $2 of $3"
}

# keep_verifying GROUP FILE FIRST_MB FIO_OPTION...: writes and checks 2 MB again and again until
# $TMP/stop exists. Nice to those who disturb it, where the processors are slower than the disks.
keep_verifying() {
	local group=$1 file=$2 first=$3 name=${2##*/}.$3 round=0

	shift 3
	set -- --name=verify --filename="$file" --offset="${first}m" --size=2m \
		--verify=crc32c --verify_fatal=1 --disk_util=0 --nice=10 --max_latency=30s "$@"
	while [ ! -e "$TMP/stop" ]; do
		round=$((round + 1))
		if ! (run_as "$group" - fio "$@" --randseed="$round$first") \
			>"$TMP/verify.$name" 2>&1; then
			sed -n '4,9s/^/# /p' "$TMP/verify.$name"
			echo "$file at $first MB, round $round" >>"$TMP/wrong"
			return
		fi
		echo "$round" >"$TMP/rounds.$name"
	done
}

VERIFIERS=

# verify GROUP FILE FIRST_MB FIO_OPTION...: in the background
verify() {
	keep_verifying "$@" &
	VERIFIERS="$VERIFIERS $!"
}

# start_verifying DISK...: random and in sequence, direct and through the page cache, small and
# large, by the task itself and by workers that share its io_context
start_verifying() {
	local disk

	for disk; do
		verify - "/dev/$disk" 0 --direct=1 --rw=randwrite --bs=4k \
			--ioengine=libaio --iodepth=16
		verify - "/dev/$disk" 4 --direct=0 --rw=randwrite --bs=4k \
			--fsync=64 --invalidate=1
		verify - "/dev/$disk" 8 --direct=1 --rw=write --bsrange=4k-64k \
			--ioengine=libaio --iodepth=4
		verify - "/dev/$disk" 12 --direct=0 --rw=randwrite --bs=4k \
			--ioengine=io_uring --iodepth=8 --force_async=1 --fsync=64 --invalidate=1
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

# switch_schedulers NR DISK...: every disk goes from cfq to another scheduler and back, so often
switch_schedulers() {
	local all=$1 nr=0 other disk

	shift
	while :; do
		for other in $OTHERS; do
			for sched in "$other" cfq; do
				for disk; do
					nr=$((nr + 1))
					select_sched "$sched" "$disk" ||
						echo "switch to $sched" >>"$TMP/wrong"
					progress switches "$nr" "$all"
					[ "$nr" -lt "$all" ] || return 0
				done
			done
		done
	done
}

# load_tasks NR: the numbers of the tasks that start_load started, when there are so many
load_tasks() {
	local tasks left=300

	until [ "$(echo "$tasks" | wc -w)" -ge "$1" ] || [ "$left" = 0 ]; do
		sleep 0.1
		left=$((left - 1))
		tasks=$(cat /proc/[0-9]*/stat 2>/dev/null |
			awk -v loads=" $LOADS " 'index(loads, " " $4 " ") { print $1 }')
	done
	echo "$tasks"
}

# had_requests GROUP: soon. Without another process, as this is done for each of many groups.
had_requests() {
	local line left=8

	while :; do
		while read -r line; do
			case $line in
			"$NUMBERS "*" requests="[1-9]*) return ;;
			esac
		done <"$CG/$1/$FILES.stat"
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.01
	done
}

# churn_groups NR PID...: so many groups live for a moment: until their readers and writers have
# gone to the next one, leaving requests behind. Where the scheduler stays, how many had some is
# left in $TMP/used.
churn_groups() {
	local all=$1 nr=0 used=0 pid

	shift
	[ $# -gt 0 ] || fail "there is nobody to move"
	# shellcheck disable=SC2153 # of test_common.sh
	read -r NUMBERS <"/sys/block/$DISK/dev"
	while [ "$nr" -lt "$all" ]; do
		nr=$((nr + 1))
		make_group "churn$nr" $((nr % 8))
		for pid; do
			echo "$pid" >"$CG/churn$nr/cgroup.procs" || fail "cannot move $pid"
		done
		[ -z "$CHURNED" ] || ! had_requests "churn$nr" || used=$((used + 1))
		[ "$nr" = 1 ] || remove_group "churn$((nr - 1))"
		progress groups "$nr" "$all"
	done
	remove_group "churn$nr"
	echo "$used" >"$TMP/used"
	[ -z "$FAILED" ] || echo groups >>"$TMP/wrong"
}

# few_removed DISK NR: of the groups that are gone no more are kept by what once was theirs
few_removed() {
	local left

	left=$(grep -c '(removed)' "/sys/kernel/debug/block/$1/sched/trees")
	expect "$left removed groups are left on $1" "$left <= $2"
}

none_removed() {
	! grep -q '(removed)' "/sys/kernel/debug/block/$1/sched/trees"
}

# io_tasks: those of fio that do I/O, which other ones have started
io_tasks() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk '
		$2 == "(fio)" { parent[$1] = $4 }
		END { for (pid in parent) if (parent[pid] in parent) print pid }'
}

# move_tasks NR GROUP...: all of fio but for those in $CHURNED, with requests queued and in flight,
# from group to group
move_tasks() {
	local all=$1 nr=0 round pids pid group

	shift
	while [ ! -e "$TMP/wrong" ]; do
		pids=$(io_tasks | grep -vxF "${CHURNED:-none}")
		for round in 1 2 3 4; do
			for group; do
				for pid in $pids; do
					# It may have ended
					echo "$pid" >"$CG/$group/cgroup.procs" || continue
					nr=$((nr + 1))
					progress moves "$nr" "$all"
					[ "$nr" -lt "$all" ] || return 0
				done
			done
		done 2>/dev/null
	done
}
