#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Inside one group (or with one layer): what ionice promises, for sequential and for random readers.

. ./test_common.sh

# start_tasks LOAD PROCESSES PRIORITY...: in one group, side by side on the disk
start_tasks() {
	local load=$1 nr=$2 first=0 stretches=

	shift 2
	load_disk
	make_group g
	for prio; do
		start_load g "$prio" "$load" "$nr" "$first"
		stretches="$stretches $first $((250 * nr))"
		first=$((first + 10000))
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 1
}

# higher_class LOAD PROCESSES HIGHER LOWER PERCENT
higher_class() {
	title "$1: $3 before $4, which gets at most $5 % of the time"
	start_tasks "$1" "$2" "$4" "$3"
	measure 10
	expect "shares of device time: $4 $(share 1) %, $3 $(share 2) %" \
		"$(ios 2) > 0 && $(share 1) <= $5"
}

rt_be_seq() { higher_class seq 1 rt/7 be/0 5; }
rt_be_random() { higher_class read 4 rt/7 be/0 5; }
# What an idle task is served at most is what keeps it from waiting for ever.
be_idle_seq() { higher_class seq 1 be/7 idle 2; }
be_idle_random() { higher_class read 4 be/7 idle 2; }

# idle_alone LOAD PROCESSES
idle_alone() {
	local normal idle

	title "$1: alone, the idle class gets everything"
	start_tasks "$1" "$2" be/4
	measure 5
	normal=$(ios)
	stop_loads
	start_load g idle "$1" "$2" 0
	sleep 1
	measure 5
	idle=$(ios)
	expect "requests in 5 s: best effort $normal, idle $idle" \
		"$normal > 0 && $idle >= 0.95 * $normal"
}

idle_alone_seq() { idle_alone seq 1; }
idle_alone_random() { idle_alone read 4; }

# ionice of busybox gives them level 0, others another one
idle_levels() {
	title "tasks of the idle class are equal, within 5 pp"
	load_disk
	make_group g
	start_load g idle read 2 0
	start_load g - read 2 10000 --prioclass=3 --prio=7
	watch_mb 0 500 10000 500
	sleep 1
	measure 10
	expect "shares of device time $(shares) %" "$(distance 50 50) <= 5"
}

# take_turns: six tasks of group g that discard, one request at a time as by a lock, which takes
# as long as a read of those that come next
take_turns() {
	load_flash channels=1 read_us=5000 discard_us=5000
	make_group g
	start_load g be/4 trim 6 0 --bs=1m
	watch_mb 0 1500 2000 1000
}

turns_before_idle() {
	title "tasks that take turns come before idle ones, which get at most 5 % of the time"
	take_turns
	start_load g idle read 4 2000
	sleep 2
	measure 10
	expect "shares of device time $(shares) %" "$(ios 2) > 0 && $(share 2) <= 5"
}

turns_of_group() {
	title "a group of tasks that take turns has as much as one of readers, within 5 pp"
	take_turns
	make_group readers
	start_load readers be/4 read 4 2000
	sleep 2
	measure 10
	expect "shares of device time $(shares) %" "$(distance 50 50) <= 5"
}

# script_beside GROUP: tasks one after another, each of which reads here or there, as of a script;
# beside a stream in that group
script_beside() {
	load_disk
	make_group g
	[ "$1" = g ] || make_group "$1"
	new_tasks 1 &
	LOADS="$LOADS $!"
	start_load "$1" - seq 1 30000
	watch_mb 0 29000 30000 250
	sleep 2
	measure 10
	expect "shares of device time $(shares) %, requests $(ios 1) and $(ios 2)" \
		"$(share 1) >= 40 && $(share 1) <= 55"
}

script_of_group() {
	title "tasks one after another, each with a read, have 40 to 55 % beside a stream"
	script_beside stream
}

script_in_group() {
	title "the same in one group"
	script_beside g
}

idle_resumes() {
	title "the idle class goes on when the others are gone"
	start_tasks seq 1 idle
	measure 5
	before=$(ios)
	start_load g be/4 seq 1 10000
	sleep 5
	stop_last_loads
	sleep 1
	measure 5
	expect "requests in 5 s: before $before, after $(ios)" "$(ios) >= 0.95 * $before"
}

# levels LOAD PROCESSES: the time falls with every level
levels() {
	local level

	title "$1: best-effort levels 0 to 7 in order, 0 at least twice 7"
	start_tasks "$1" "$2" be/0 be/1 be/2 be/3 be/4 be/5 be/6 be/7
	measure 30
	note "shares of device time $(shares) %"
	for level in 1 2 3 4 5 6 7; do
		expect "level $((level - 1)) over $level" \
			"$(share "$level") > $(share $((level + 1)))"
	done
	expect "level 0 over 7" "$(share 1) >= 2 * $(share 8)"
}

levels_seq() { levels seq 1; }
levels_random() { levels read 2; }

# before_crowd PRIORITY LOWER
before_crowd() {
	local alone

	title "a task of class $1 that competes with a crowd of $2 for descriptors comes first"
	load_disk
	watch_mb 30000 250
	make_group g
	start_load g "$1" read 1 30000
	sleep 1
	measure 4
	alone=$(ios)
	stop_loads
	start_load g "$2" read 150 0 --size=150m --offset_increment=150m
	sleep 2
	start_load g "$1" read 1 30000
	sleep 2
	measure 4
	expect "$(ios) reads in 4 s, alone $alone" "$(ios) > 0.8 * $alone"
}

rt_before_crowd() { before_crowd rt/4 be/4; }
be_before_crowd() { before_crowd be/4 idle; }

# The cache is clean, but each flush has a descriptor until it ends
rt_before_flushes() {
	local alone

	title "a task of real time reads beside 150 idle ones that flush, with 64 descriptors"
	load_disk write_cache=1
	echo 64 >"$QUEUE/nr_requests" || fail "cannot set nr_requests"
	watch_mb 30000 250
	make_group g
	start_load g rt/4 read 1 30000
	sleep 1
	measure 2
	alone=$(ios)
	for _ in $(seq 150); do
		start_flushes g idle 1000
	done
	sleep 1
	measure 2
	expect "$(ios) reads in 2 s, alone $alone" "$(ios) > 0.9 * $alone"
}

# What is kept for real time would be kept from who is overdue, too
rt_has_all() {
	title "best effort is let in although tasks of real time have all descriptors but one"
	load_disk
	make_group g
	watch_mb 0 30000 30000 250
	start_load g rt/4 read $(($(cat "$QUEUE/nr_requests") - 1)) 0
	sleep 2
	start_load g be/4 read 1 30000
	sleep 1
	measure 8
	expect "$(ios 1) and $(ios 2) reads" "$(ios 2) >= 5"
}

# Kernels of distributions look for tasks that wait for two minutes, and so does that for debugging
HUNG_AFTER=/proc/sys/kernel/hung_task_timeout_secs

hung() {
	dmesg | grep -c 'blocked.* for more'
}

not_hung() {
	local after before warnings=${HUNG_AFTER%/*}/hung_task_warnings nr

	title "who is long in line for a descriptor is not reported as hung"
	after=$(cat "$HUNG_AFTER")
	before=$(hung)
	echo 4 >"$HUNG_AFTER"
	nr=$(cat "$warnings")
	echo 10 >"$warnings"
	load_disk
	echo 62 >"$QUEUE/nr_requests"
	make_group g
	start_load g be/4 read 8 30000
	start_load g idle read 150 0 --size=150m --offset_increment=150m
	sleep 18
	expect "$(($(hung) - before)) reports" "$(hung) == $before"
	echo "$nr" >"$warnings"
	echo "$after" >"$HUNG_AFTER"
}

# has_its_reads FUNCTION: a reader that has been there for long, beside 60 that come anew again and
# again, before those who have had something; FUNCTION is called with the number of each
has_its_reads() {
	local nr=0

	load_disk
	make_group g
	watch_mb 30000 250
	start_load g - read 1 30000
	while [ "$nr" -lt 60 ]; do
		nr=$((nr + 1))
		("$1" "$nr") &
		LOADS="$LOADS $!"
	done
	sleep 3
	measure 10
	expect "$(ios 1) reads of it in 10 s" "$(ios 1) >= 10"
	stop_loads
}

new_tasks() {
	run_as g - sh -c "i=$1; while :; do i=\$(((i * 7919 + 13) % 29000)); \
		$DD if=$DEV of=/dev/null skip=\$((i * 256)) \
		bs=4k count=1 iflag=direct 2>/dev/null; done"
}

beside_new_tasks() {
	title "who has been there for long has its reads beside ever new tasks"
	has_its_reads new_tasks
}

# Each is there for one read
new_groups() {
	exec sh -c "i=$1; while :; do i=\$(((i * 7919 + 13) % 29000)); \
		mkdir $CG/n$1; (echo 0 >$CG/n$1/cgroup.procs; \
		exec $DD if=$DEV of=/dev/null skip=\$((i * 256)) \
		bs=4k count=1 iflag=direct 2>/dev/null); rmdir $CG/n$1; done"
}

beside_new_groups() {
	title "a group that has been there for long has its reads beside ever new groups"
	has_its_reads new_groups
	rmdir "$CG"/n* 2>/dev/null
}

# hang GROUP PRIORITY: a task whose read the disk keeps until it times out
hang() {
	echo "1 requeue" >"$MODEL/hang"
	(run_as "$1" "$2" "$DD" if="$DEV" of=/dev/null bs=4k count=1 skip=700000 iflag=direct \
		2>/dev/null) &
	HUNG=$!
	sleep 0.1
}

# others_read GROUP HUNG_GROUP PRIORITY: beside a task that hangs, a task of GROUP reads as if it
# were alone, and shares with another one that comes later
others_read() {
	local alone before

	start_load "$1" - read 1 0
	sleep 0.5
	measure 2
	alone=$(ios)
	stop_loads
	hang "$2" "$3"
	# Something else that its group does now and then
	start_load "$2" "$3" read 1 2000 --rate_iops=5
	start_load "$1" - read 1 0
	sleep 2
	measure 2
	expect "$(ios 1) reads in 2 s beside it, alone $alone" "$(ios 1) > 0.8 * $alone"
	start_load "$1" - read 1 1000
	sleep 0.5
	measure 2
	expect "$(ios 1) beside it and $(ios 2) of another" \
		"$(ios 1) > 0.35 * $alone && $(ios 2) > 0.35 * $alone"
	before=$(date +%s)
	stop_loads
	wait "$HUNG" || fail "the read that hangs has failed"
	expect "it took $(($(date +%s) - before)) s more" "$(date +%s) - $before > 1"
}

hung_task() {
	title "a read that the disk does not complete holds up no other task, of whatever class"
	load_disk timeout_ms=10000
	watch_mb 0 250 1000 250
	make_group g
	for prio in be/4 rt/0; do
		others_read g g "$prio"
	done
}

hung_large() {
	local alone hung='' before mb

	title "nor do several large ones"
	load_disk timeout_ms=10000
	watch_mb 0 250
	make_group g
	start_load g - read 1 0
	sleep 0.5
	measure 2
	alone=$(ios)
	stop_loads
	echo "4 requeue" >"$MODEL/hang"
	for mb in 3000 4000; do
		"$DD" if="$DEV" of=/dev/null bs=4M count=1 skip=$((mb / 4)) iflag=direct \
			2>/dev/null &
		hung="$hung $!"
	done
	sleep 0.1
	start_load g - read 1 0
	# The rest of what they are of is sent, and waited for, too.
	sleep 5
	measure 2
	expect "$(ios) reads in 2 s beside them, alone $alone" "$(ios) > 0.8 * $alone"
	before=$(date +%s)
	stop_loads
	# shellcheck disable=SC2086 # a list of processes
	wait $hung
	expect "it took $(($(date +%s) - before)) s more" "$(date +%s) - $before > 1"
}

hung_group() {
	title "nor another group"
	load_disk timeout_ms=10000
	watch_mb 0 250 1000 250
	make_group a
	make_group b
	others_read b a -
	echo rt >"$CG/a/$FILES.ioprio_class"
	others_read b a -
}

# beside_streams LOW_LATENCY: a reader that comes when five streams are there
beside_streams() {
	load_disk
	echo "$1" >"$QUEUE/iosched/low_latency"
	make_group g
	start_load g be/4 seq 5 0
	watch_mb 0 1250 10000 250
	sleep 5
	start_load g be/4 read 1 10000
}

# Each reads 2 MB, some of a slice
new_streams() {
	# shellcheck disable=SC2016 # expanded by who runs it
	run_as g - sh -c 'i=0; while :; do i=$(((i * 7919 + 13) % 1200))
		$1 if=$0 of=/dev/null bs=128k count=16 skip=$((160000 + i * 64)) iflag=direct \
			2>/dev/null
	done' "$DEV" "$DD"
}

beside_new_streams() {
	title "ever new tasks that read 2 MB each have what one has beside ten streams, at most"
	load_disk
	echo 0 >"$QUEUE/iosched/low_latency"
	make_group g
	start_load g - seq 10 0
	watch_mb 0 2500 20000 9600
	sleep 1
	new_streams &
	LOADS="$LOADS $!"
	sleep 1
	measure 20
	expect "shares of device time $(shares) %" "$(share 2) >= 5 && $(share 2) <= 10"
}

streams_beside_idle() {
	local alone

	title "thirty idle tasks beside two streams of their group cost these a tenth at most"
	load_disk
	make_group g
	start_load g be/4 seq 2 0
	watch_mb 0 500 10000 7500
	sleep 1
	measure 4
	alone=$(ios 1)
	start_load g idle read 30 10000
	sleep 3
	measure 8
	expect "requests in 4 s: alone $alone, beside them $(($(ios 1) / 2))" \
		"$(ios 2) > 0 && $(ios 1) / 2 >= 0.9 * $alone"
}

# Who is next has one request at a time, and another one near it always more
slices_passed_on() {
	title "two that read one file again and again leave a third one a quarter of the time"
	load_disk read_ahead_kb=0
	make_group g
	start_load g - seq 1 0 --size=4m
	start_load g - seq 1 0 --size=4m --ioengine=libaio --iodepth=8
	start_load g - seq 1 10000
	watch_mb 0 4 10000 250
	sleep 1
	measure 10
	expect "shares of device time $(shares) %" "$(share 2) >= 25"
}

sixth() {
	title "one that reads here and there beside five streams has a sixth of the time"
	beside_streams 0
	sleep 1
	measure 20
	expect "shares of device time $(shares) %" "$(distance 83.3 16.7) <= 3"
}

favour() {
	title "with low_latency it has about half at first, and no more than its part later"
	beside_streams 1
	sleep 1
	measure 3
	expect "from 1 to 4 s $(share 2) %" "$(share 2) >= 45 && $(share 2) <= 65"
	sleep 15
	measure 20
	expect "after 19 s $(share 2) %" "$(distance 83.3 16.7) <= 3"
}

# favoured_beside NR READS: a program starts beside so many streams, and has so many reads in 2 s
favoured_beside() {
	local ms

	load_disk
	make_group g
	start_load g be/4 seq "$1" 0 --direct=0
	watch_mb 0 40000 40000 250
	sleep 8
	load_with_log g be/4 read 1 40000
	sleep 1
	measure 2
	stop_loads
	ms=$(log_ms 40000 max)
	expect "of $(ios 2) in 2 s the longest took $ms ms" "$(ios 2) >= $2 && $ms < 800"
}

favour_beside_thirty() {
	title "beside thirty that read far ahead none of its first reads takes 0.8 s"
	favoured_beside 30 20
}

favour_beside_150() {
	title "nor beside more of these than there are descriptors"
	favoured_beside 150 10
}

# One process after the other that reads a little, so none ever had much
favour_is_bounded() {
	local nr=0 forks

	title "who has a new process every 40 reads has hardly more than its part in the long run"
	load_disk
	make_group g
	start_load g be/4 seq 5 0
	watch_mb 0 1250 10000 250
	sleep 5
	set -- --filename="$DEV" --offset=10000m --size=250m --number_ios=40 --rw=randread \
		--bs=4k --direct=1 --ioengine=psync --norandommap --disk_util=0
	while [ "$nr" -lt 60 ]; do
		nr=$((nr + 1))
		set -- "$@" --name="$nr" --stonewall
	done
	(run_as g be/4 fio "$@" >"$TMP/forks") &
	forks=$!
	sleep 15
	measure 20
	kill "$forks"
	wait "$forks"
	expect "shares of device time $(shares) %" "$(share 2) > 5 && $(share 2) <= 25"
}

# streams PRIORITY PARAMETER...: ten that read 32 MB ahead, which would have all request
# descriptors, and beside them a reader
streams() {
	local prio=$1

	shift
	load_disk "$@"
	# As the udev rule does, where the scheduler is a module
	[ "$(cat "$QUEUE/nr_requests")" -ge 128 ] || echo 128 >"$QUEUE/nr_requests"
	echo 32768 >"$QUEUE/read_ahead_kb"
	echo 0 >"$QUEUE/iosched/low_latency"
	make_group g
	start_load g be/4 seq 10 0 --direct=0
	start_load g "$prio" read 1 10000
	watch_mb 0 2500 10000 250
	sleep 5
	measure 10
}

beside_read_ahead() {
	title "beside ten that read far ahead, it has its part, too"
	streams be/4
	expect "shares of device time $(shares) %" "$(share 2) >= 7 && $(share 2) <= 20"
}

ahead_without_ncq() {
	title "also on a disk that takes one request at a time"
	streams be/4 ncq_depth=1
	expect "shares of device time $(shares) %" "$(share 2) >= 7 && $(share 2) <= 20"
}

rt_without_ncq() {
	title "and there real time has 80 % beside them"
	streams rt/4 ncq_depth=1
	expect "shares of device time $(shares) %" "$(share 2) >= 80"
}

# What the kernel writes back for no group is of the root group, and so is the reader.
beside_writeback() {
	title "and beside what is written back, in requests of up to 4 MB, half at least"
	load_disk
	echo 0 >"$QUEUE/iosched/low_latency"
	start_load - - read 1 10000
	echo 16000000 >/proc/sys/vm/dirty_background_bytes
	echo 64000000 >/proc/sys/vm/dirty_bytes
	"$DD" if=/dev/zero of="$DEV" bs=1M count=4000 2>/dev/null &
	LOADS="$LOADS $!"
	watch_mb 0 4000 10000 250
	sleep 2
	measure 10
	echo 10 >/proc/sys/vm/dirty_background_ratio
	echo 20 >/proc/sys/vm/dirty_ratio
	expect "shares of device time $(shares) %" "$(share 2) >= 50 && $(share 1) >= 15"
}

not_hung=
[ ! -e "$HUNG_AFTER" ] || not_hung=not_hung
# shellcheck disable=SC2086 # none, or a name
run_cases rt_be_seq rt_be_random be_idle_seq be_idle_random idle_alone_seq idle_alone_random \
	idle_levels turns_before_idle script_in_group idle_resumes levels_seq levels_random \
	rt_before_crowd be_before_crowd rt_has_all beside_new_tasks beside_new_streams \
	streams_beside_idle slices_passed_on sixth \
	favour favour_beside_thirty favour_beside_150 favour_is_bounded \
	beside_read_ahead ahead_without_ncq rt_without_ncq beside_writeback \
	hung_task hung_large \
	${CONTROLLER:+turns_of_group script_of_group hung_group} $not_hung \
	: rt_before_flushes beside_new_groups
