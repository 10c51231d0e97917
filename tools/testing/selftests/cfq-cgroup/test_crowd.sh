#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Many tasks, and few beside them: where there are fewer descriptors than tasks that want one, it
# matters who gets the next; and what a crowd has sent is in the way of a single reader.

. ./test_common.sh

many_tasks() {
	local turn_ms longest

	title "0/4/7, 100 processes each: shares within 1.5 pp, nobody waits for 5 turns"
	load_disk
	make_group a 0
	make_group b 4
	make_group c 7
	load_with_log a - read 100 0
	load_with_log b - read 100 25000
	load_with_log c - read 100 50000
	watch_mb 0 25000 25000 25000 50000 25000
	sleep 3
	measure 30 a
	stop_loads
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 1.5"
	# 100 requests at the rate of the group
	turn_ms=$((100 * 30000 / $(ios 1)))
	longest=$(log_ms 0 max)
	expect "longest wait in the first group $longest ms, a fair turn is $turn_ms" \
		"$longest < 5 * $turn_ms"
}

# beside_crowd SECONDS PERCENT LOAD [OPTION...]: one more beside 150 readers of its group
beside_crowd() {
	local seconds=$1 least=$2 load=$3

	shift 3
	load_disk
	start_load - - read 150 0
	start_load - - "$load" 1 40000 "$@"
	watch_mb 0 37500 40000 250
	sleep 5
	measure "$seconds"
	expect "$(ios 2) requests, $(share 2) % of device time" "$(share 2) >= $least"
}

deeper() {
	title "who has two requests beside a crowd of one each is not kept behind it"
	beside_crowd 30 0.4 read --ioengine=libaio --iodepth=2
}

written_back() {
	title "nor is what is written back"
	beside_crowd 90 0.2 write --direct=0
}

unknown() {
	local idle time

	title "a crowd of which nobody was seen twice yet is not waited for"
	load_disk
	make_group a 0
	make_group c 7
	start_load a - read 30 0
	start_load c - read 150 7500
	sleep 3
	idle=$(stat c idle)
	time=$(stat c time)
	sleep 4
	idle=$(($(stat c idle) - idle))
	time=$(($(stat c time) - time))
	expect "of $time us the disk was kept idle for $idle" "$time && $idle <= 0.1 * $time"
}

uneven() {
	title "groups of 10 and of 80 processes have half of the disk each"
	load_disk
	make_group few 4
	make_group many 4
	start_load few - read 10 0
	start_load many - read 80 2500
	watch_mb 0 2500 2500 20000
	sleep 2
	measure 30 few
	expect "shares of device time $(shares) %, error $(share_error 4 4) pp" \
		"$(share_error 4 4) <= 1"
}

newcomer() {
	title "a reader comes to a crowd of 100 that has all descriptors: it has half of the disk"
	load_disk
	set_descriptors 62
	make_group crowd 4
	make_group one 4
	start_load crowd - read 100 0
	sleep 3
	start_load one - read 1 25000
	sleep 1
	watch_mb 0 25000 25000 250
	measure 20 crowd
	expect "shares of device time $(shares) %, error $(share_error 4 4) pp" \
		"$(share_error 4 4) <= 3"
}

by_default() {
	local before after

	title "128 where a device takes one request at a time, whenever the scheduler begins"
	load_disk ncq_depth=1
	before=$(cat "$QUEUE/nr_requests")
	select_sched mq-deadline
	after=$(cat "$QUEUE/nr_requests")
	select_sched "$SCHED"
	after="$after $(cat "$QUEUE/nr_requests")"
	select_sched none
	expect "$before, after mq-deadline, and again $after" "\"$before $after\" == \"128 2 128\""
	load_flash queue_depth=1023
	before=$(cat "$QUEUE/nr_requests")
	expect "$before where there are more" "$before == 256"
}

no_ncq() {
	title "a disk that takes one request at a time, 4 descriptors, 0/4/7: within 2 pp"
	load_disk ncq_depth=1
	set_descriptors 4
	run_groups 90 10 0 read 4 read 7 read
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 2"
}

classes_without_descriptors() {
	title "a real-time reader comes to a crowd that has all descriptors: it has 80 %"
	load_disk ncq_depth=1
	set_descriptors 4
	make_group crowd
	make_group one
	echo rt >"$CG/one/$FILES.ioprio_class" || fail "cannot set the class"
	start_load crowd - read 10 0
	sleep 2
	start_load one - read 1 2500
	sleep 1
	watch_mb 0 2500 2500 250
	measure 5
	expect "share of the real-time reader $(share 2) %" "$(share 2) >= 80"
}

# set_descriptors N: fewer than there are by default, if there are more; the kernel sets no less
# than 4
set_descriptors() {
	local nr

	nr=$(cat "$QUEUE/nr_requests")
	[ "$nr" -le "$1" ] || echo "$1" >"$QUEUE/nr_requests" || fail "cannot set nr_requests"
	nr=$(cat "$QUEUE/nr_requests")
	[ "$nr" -le "$1" ] || fail "$nr descriptors, not $1"
}

few_descriptors() {
	title "flash, 16 descriptors for 0/4/7 with 64 requests each: within 0.5 pp"
	load_flash read_us=200 queue_depth=8
	set_descriptors 16
	make_group a 0
	make_group b 4
	make_group c 7
	flood 4 a b c
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 0.5"
}

fewest_descriptors() {
	title "flash that takes one request at a time, 4 descriptors, 0/4/7: within 0.5 pp"
	load_flash channels=1 read_us=300 queue_depth=1
	set_descriptors 4
	make_group a 0
	make_group b 4
	make_group c 7
	flood 4 a b c
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 0.5"
}

# A group that waits for one so long that it could be taken to be away
slow_descriptors() {
	title "that, where a request takes 50 ms: within 1 pp"
	load_flash channels=1 read_us=50000 queue_depth=1
	set_descriptors 4
	make_group a 0
	make_group b 4
	make_group c 7
	flood 60 a b c
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 1"
}

more_groups_than_descriptors() {
	local nr prio=0

	title "flash, 12 groups of priority 0 and 12 of 7 with 16 descriptors: within 1 pp"
	load_flash read_us=800 queue_depth=8
	set_descriptors 16
	for nr in $(seq 0 23); do
		[ "$nr" -lt 12 ] || prio=7
		make_group "g$nr" "$prio"
		start_load "g$nr" - read 1 $((250 * nr)) --ioengine=libaio --iodepth=4
	done
	watch_mb 0 3000 3000 3000
	sleep 2
	measure 4
	expect "shares of device time $(shares) %, error $(share_error 0 7) pp" \
		"$(share_error 0 7) <= 1"
}

# ten_readers: a group with one each; leaves what the disk did for each in $TMP/ranges
ten_readers() {
	local nr stretches=''

	for nr in $(seq 0 9); do
		load_with_log "g$nr" - read 1 $((250 * nr)) --ramp_time=2
		stretches="$stretches $((250 * nr)) 250"
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 2
	measure 30
	stop_loads
}

# Each alone is as slow as a disk can be.
lone_readers() {
	local nr all longest=0 ms

	title "ten groups of one reader: 88 % of what mq-deadline does, nobody waits for 0.8 s"
	load_disk
	for nr in $(seq 0 9); do
		make_group "g$nr" 4
	done
	select_sched mq-deadline
	ten_readers
	all=$(ios)
	select_sched "$SCHED"
	ten_readers
	expect "requests $(ios), with mq-deadline $all" "$(ios) >= 0.88 * $all"
	expect "shares of device time $(shares) %" "$(share_error 4 4 4 4 4 4 4 4 4 4) <= 0.5"
	for nr in $(seq 0 9); do
		ms=$(log_ms $((250 * nr)) max)
		[ "$ms" -lt "$longest" ] || longest=$ms
	done
	expect "the longest wait was $longest ms" "$longest < 800"
}

few_readers() {
	local all

	title "0/4/7, two readers each: within 0.5 pp, 80 % of what mq-deadline does"
	load_disk
	run_groups 30 2 0 read 4 read 7 read
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 0.5"
	all=$(ios)
	select_sched mq-deadline
	start_load g1 - read 2 0
	start_load g2 - read 2 500
	start_load g3 - read 2 1000
	sleep 2
	measure 30
	stop_loads
	expect "requests $all, with mq-deadline $(ios)" "$all >= 0.8 * $(ios)"
}

# reader_beside PROCESSES [OPTION...]: a reader of priority 0 beside random readers of 7
reader_beside() {
	local processes=$1

	shift
	load_disk
	make_group quiet 0
	make_group others 7
	load_with_log quiet - read 1 0 --ramp_time=2
	start_load others - read "$processes" 250 "$@"
	watch_mb 0 250 250 500
	sleep 2
	measure 20 others
	stop_loads
	expect "shares of device time $(shares) %, error $(share_error 0 7) pp" \
		"$(share_error 0 7) <= 1"
}

# nobody_waits MS: none of that reader's requests took so long
nobody_waits() {
	local longest

	longest=$(log_ms 0 max)
	expect "99.9 % of requests take up to $(log_ms 0 99.900000) ms, the longest $longest" \
		"$longest < $1"
}

beside_few() {
	title "a reader beside two others, 8 : 1: its share, and none of its requests takes 50 ms"
	reader_beside 2
	nobody_waits 50
}

quiet_reader() {
	title "a reader beside a flood, 8 : 1: its share, and none of its requests takes 200 ms"
	reader_beside 2 --ioengine=libaio --iodepth=32
	nobody_waits 200
}

# Its own tasks have weight 100
reader_above() {
	title "a reader above a group with a flood, 4 : 1: its share, and no request takes 250 ms"
	load_disk
	make_group up
	make_group up/others 7
	load_with_log up - read 1 0 --ramp_time=2
	start_load up/others - read 2 250 --ioengine=libaio --iodepth=32
	watch_mb 0 250 250 500
	sleep 2
	measure 20
	stop_loads
	expect "shares of device time $(shares) %" "$(distance 80 20) <= 1"
	nobody_waits 250
}

# Four requests, with a wait each
large_reader() {
	local ms=0

	title "16 MB at a time beside ten that read far ahead: no turn of all for each 4 MB"
	for _ in 1 2 3 4; do
		remove_groups
		load_disk
		echo 16384 >"$QUEUE/read_ahead_kb"
		make_group g
		start_load g - seq 10 1000 --direct=0
		load_with_log g - read 1 0 --bs=16m --rate=4m --ramp_time=1
		sleep 30
		stop_loads
		ms=$((ms + $(log_ms 0 mean)))
	done
	expect "a read takes $((ms / 4)) ms on average" "$ms < 4 * 1150"
}

# The kernel does not ask what it does not know of.
by_default=
grep -qs O "/sys/module/$SCHED/taint" || by_default=by_default
# shellcheck disable=SC2086 # none, or a name
run_cases many_tasks deeper written_back unknown uneven newcomer $by_default no_ncq \
	classes_without_descriptors few_descriptors fewest_descriptors slow_descriptors \
	more_groups_than_descriptors lone_readers few_readers beside_few quiet_reader large_reader \
	reader_above
