#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Three groups of priority 0, 4 and 7, 25 processes each with 250 MB of the disk: its time goes
# 8 : 4 : 1.

. ./test_common.sh

PROCESSES=${PROCESSES:-25}
DURATION=${DURATION:-60}	# of virtual time
BOUND=${BOUND:-0.8}		# percentage points
# What mq-deadline does in 60 s; it shares nothing
REQUESTS=${REQUESTS:-12300}

# three_groups NAME LOAD0,LOAD4,LOAD7
three_groups() {
	local error high middle low

	title "0/4/7, $PROCESSES processes each, $2: within $BOUND pp of 61.5 / 30.8 / 7.7 %"
	high=${2%%,*}
	low=${2##*,}
	middle=${2#*,}
	middle=${middle%,*}
	load_disk
	sample_start "$1"
	run_groups "$DURATION" "$PROCESSES" 0 "$high" 4 "$middle" 7 "$low"
	sample_stop
	error=$(share_error 0 4 7)
	expect "requests $(ios 1) $(ios 2) $(ios 3), together $(ios)" \
		"$(ios) >= $REQUESTS * $DURATION / 60"
	# shellcheck disable=SC2046 # a list of numbers
	result "$1" $(shares) "$(ios)"
	expect "shares of device time $(shares) %, error $error pp" "$error <= $BOUND"
}

reads() { three_groups reads read,read,read; }
writes() { three_groups writes write,write,write; }
mixed() { three_groups mixed mix,mix,mix; }
low_writes() { three_groups low_writes read,read,write; }
middle_writes() { three_groups middle_writes read,write,read; }
high_writes() { three_groups high_writes write,read,read; }

after_switching() {
	title "groups that were busy under another scheduler share 8 : 1 once cfq is back"
	load_disk
	select_sched none
	make_group g 0
	make_group h 7
	start_load g - read 10 0
	start_load h - read 10 2500
	sleep 1
	select_sched "$SCHED"
	watch_mb 0 2500 2500 2500
	sleep 2
	measure 30
	expect "share of the favoured group $(share 1) %" "$(share 1) > 85.9 && $(share 1) < 91.9"
}

# What a disk writes from its cache for a flush is not for who comes next
flushes() {
	local alone

	title "who flushes a disk pays for it: an equal keeps 45 % of what it has alone"
	load_disk write_cache=1
	make_group a
	make_group b
	watch_mb 0 250 30000 250
	start_load b - read 1 30000
	sleep 1
	measure 10
	alone=$(ios 2)
	start_load a - write 1 0 --fdatasync=32
	sleep 2
	measure 20
	expect "$(ios 2) reads in 20 s, alone $((2 * alone)); $(ios 1) writes" \
		"$(ios 2) >= 0.9 * $alone && $(ios 1) > 1000"
}

# A disk that has nothing to write back answers at once, and goes on with what it is doing
nothing_to_flush() {
	local shares='' i=0 flushes group

	title "while a third group flushes a clean cache all the time, two have half each, in turns"
	load_disk write_cache=1
	for group in a b c; do
		make_group "$group"
	done
	watch_mb 0 4000 30000 4000
	start_load a - read 16 0
	start_load b - read 16 30000
	start_flushes c - 1000
	sleep 2
	while [ "$i" -lt 10 ]; do
		i=$((i + 1))
		measure 2
		shares="$shares $(share 1)"
	done
	stop_loads
	flushes=$(sed -n 's/^flushes //p' "$MODEL/stat")
	expect "$flushes flushes" "$flushes > 1000"
	expect "shares of the first, in 2 s each:$shares %" \
		"$(echo "$shares" | awk '{
			for (i = 1; i <= NF; i++) {
				sum += $i
				wrong += $i < 30 || $i > 70
			}
			print (!wrong && sum > 47 * NF && sum < 53 * NF)
		}')"
}

flush_only() {
	local time

	title "who does nothing but flush what others write is charged for it"
	load_disk write_cache=1
	make_group a
	make_group c
	start_load a - write 16 0
	start_flushes c - 1
	sleep 4
	time=$(stat c time)
	expect "$((time / 1000)) ms of 4 s" "$time >= 400000"
}

flush_moved() {
	local pid old new

	title "who has moved and does nothing but flush is charged where it is"
	load_disk write_cache=1
	make_group a
	make_group b
	make_group c
	start_load a - write 1 0 --rate_iops=100
	start_flushes b - 10000
	sleep 1
	while read -r pid; do
		echo "$pid" >"$CG/c/cgroup.procs"
	done <"$CG/b/cgroup.procs"
	old=$(stat b time)
	sleep 3
	old=$(($(stat b time) - old))
	new=$(stat c time)
	expect "$((old / 1000)) ms of 3 s in the old group, $((${new:-0} / 1000)) in the new" \
		"$old <= 150000 && ${new:-0} >= 750000"
}

flush_clean() {
	local all time

	title "who flushes a clean cache is charged next to nothing, however others' times vary"
	load_disk write_cache=1
	make_group a
	make_group c
	start_load a - read 16 0 --size=200g --offset_increment=0 --ioengine=libaio --iodepth=3
	start_flushes c - 1000
	sleep 3
	all=$(stat a time)
	time=$(stat c time)
	sleep 10
	all=$(($(stat a time) - all))
	time=$(($(stat c time) - time))
	expect "$((time / 1000)) ms, others $((all / 1000))" "$time <= 0.1 * $all"
}

run_cases reads writes mixed low_writes middle_writes high_writes after_switching flushes \
	nothing_to_flush flush_only flush_moved flush_clean
