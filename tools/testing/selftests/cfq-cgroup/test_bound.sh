#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A better class comes first, but nobody waits for more than a second because of its class alone,
# and those before it lose next to nothing.

. ./test_common.sh

# The longest wait because of a class, what the device itself takes included
LONGEST_MS=1050
# Where the one that waits reads, behind the largest crowd
BEHIND=30000
SLOW="read_us=800"

# set_class GROUP CLASS
set_class() {
	echo "$2" >"$CG/$1/$FILES.ioprio_class" || fail "cannot give group $1 class $2"
}

# pair LOWER HIGHER: the groups low and high, of these classes
pair() {
	make_group low
	make_group high
	set_class low "$1"
	set_class high "$2"
}

# reader_behind SECONDS PERCENT READS MS LOWER_GROUP LOWER_PRIORITY LOAD...: what start_load takes,
# without and with a reader of a lower class. The load keeps PERCENT of its requests; the reader has
# READS, none of which takes longer than MS.
reader_behind() {
	local seconds=$1 percent=$2 reads=$3 ms=$4 low=$5 low_prio=$6 alone=0 kept=0 longest

	shift 6
	watch_mb 0 25000 "$BEHIND" 250
	# A per cent is chance, so who seems to keep too little is asked again, and the sum counts
	measure_behind "$@"
	if [ $((100 * kept)) -lt $((percent * alone)) ]; then
		note "$kept requests, without it $alone: once more"
		measure_behind "$@"
	fi
	expect "the better one: $kept requests, without it $alone" \
		"$alone > 0 && $kept >= $percent / 100 * $alone"
}

# measure_behind LOAD...: for reader_behind
measure_behind() {
	start_load "$@"
	sleep 2
	measure "$seconds"
	alone=$((alone + $(ios 1)))
	stop_loads
	# Once more from the beginning, for the same places on the disk
	start_load "$@"
	sleep 1
	load_with_log "$low" "$low_prio" read 1 "$BEHIND"
	sleep 1
	measure "$seconds"
	stop_loads
	kept=$((kept + $(ios 1)))
	longest=$(log_ms "$BEHIND" max)
	expect "the lower class: $(ios 2) reads in $seconds s, the longest took $longest ms" \
		"$(ios 2) >= $reads && $longest <= $ms"
}

# beside GROUP PRIORITY LOWER_GROUP LOWER_PRIORITY LOAD PROCESSES PERCENT: on the disk
beside() {
	local seconds=15

	# So many that a per cent of them can be told from chance
	[ "$5" = seq ] || seconds=60
	reader_behind "$seconds" "$7" $((seconds * 4 / 5)) "$LONGEST_MS" "$3" "$4" \
		"$1" "$2" "$5" "$6" 0
}

# in_group PRIORITY LOWER_PRIORITY LOAD PROCESSES PERCENT
in_group() {
	title "$3: a reader of class $2 beside $1 in a group, which keeps $5 %"
	load_disk
	make_group g
	beside g "$1" g "$2" "$3" "$4" "$5"
}

idle_random() { in_group be/4 idle read 4 97; }
idle_seq() { in_group be/4 idle seq 1 96; }
be_random() { in_group rt/4 be/4 read 4 97; }
be_seq() { in_group rt/4 be/4 seq 1 96; }

# of_groups CLASS LOWER_CLASS LOAD PROCESSES PERCENT
of_groups() {
	title "$3: a reader in a group of class $2 beside a group of $1, which keeps $5 %"
	load_disk
	pair "$2" "$1"
	beside high - low - "$3" "$4" "$5"
}

idle_group_random() { of_groups be idle read 4 97; }
idle_group_seq() { of_groups be idle seq 1 96; }
be_group_random() { of_groups rt be read 4 97; }
be_group_seq() { of_groups rt be seq 1 96; }

# nested_pair: parent/low, of class idle, and parent/high
nested_pair() {
	make_group parent
	make_group parent/low
	make_group parent/high
	set_class parent/low idle
}

nested() {
	title "a reader in an idle child of a group beside a best-effort child, which keeps 97 %"
	load_disk
	nested_pair
	beside parent/high - parent/low - read 4 97
}

# flash_beside GROUP PRIORITY LOWER_GROUP LOWER_PRIORITY: a reader and 64 requests
flash_beside() {
	# shellcheck disable=SC2086 # options
	reader_behind 6 98 5 "$LONGEST_MS" "$3" "$4" "$1" "$2" read 4 0 $DEEP
}

# flash_in_group PRIORITY LOWER_PRIORITY
flash_in_group() {
	title "flash: a reader of class $2 beside 64 requests of $1 in a group, which keep 98 %"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group g
	flash_beside g "$1" g "$2"
}

flash_idle() { flash_in_group be/4 idle; }
flash_be() { flash_in_group rt/4 be/4; }

# flash_of_groups CLASS LOWER_CLASS
flash_of_groups() {
	title "flash: a reader in a group of class $2 beside 64 requests of $1, which keep 98 %"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	pair "$2" "$1"
	flash_beside high - low -
}

flash_idle_group() { flash_of_groups be idle; }
flash_be_group() { flash_of_groups rt be; }

# behind_crowd GROUP PRIORITY LOWER_GROUP LOWER_PRIORITY: it waits twice, for a descriptor and then
# for the disk. What the crowd can do in 15 s varies by 6 %, in 45 s by 2 %.
behind_crowd() {
	reader_behind 45 95 18 2500 "$3" "$4" \
		"$1" "$2" read 150 0 --size=150m --offset_increment=150m
}

# waits_twice HIGHER LOWER PRIORITY [LOWER PRIORITY]: readers of a real time group keep that of all
# others waiting, where other readers keep one waiting. All are served.
waits_twice() {
	local longest

	watch_mb 0 1000 2000 1000 "$BEHIND" 250
	start_load "$1" - read 4 0
	start_load "$2" "$3" read 4 2000
	load_with_log "${4:-$2}" "${5:-idle}" read 1 "$BEHIND"
	sleep 1
	measure 30
	stop_loads
	longest=$(log_ms "$BEHIND" max)
	expect "who waits twice: $(ios 3) reads in 30 s, the longest took $longest ms" \
		"$(ios 3) >= 10 && $longest <= 3000"
	expect "who waits once: $(ios 2) reads" "$(ios 2) >= 10"
}

twice_in_group() {
	title "an idle task beside real time ones of its group, which a real time group outranks"
	load_disk
	pair be rt
	waits_twice high low rt/4
}

twice_nested() {
	title "an idle group beside a real time one in a group that a real time group outranks"
	load_disk
	pair be rt
	make_group low/rt
	make_group low/idle
	set_class low/rt rt
	set_class low/idle idle
	waits_twice high low/rt - low/idle -
}

line_in_group() {
	title "an idle task gets a descriptor beside a crowd of 150 in its group"
	load_disk
	make_group g
	behind_crowd g be/4 g idle
}

line_of_groups() {
	title "a task in an idle group gets a descriptor beside a crowd of 150 in another group"
	load_disk
	pair idle be
	behind_crowd high - low -
}

line_nested() {
	local longest

	title "the same in groups below another, where nobody else waits"
	load_disk
	nested_pair
	watch_mb "$BEHIND" 250
	start_load parent/high - read 150 0 --size=150m --offset_increment=150m
	sleep 1
	load_with_log parent/low - read 1 "$BEHIND"
	sleep 1
	measure 15
	stop_loads
	longest=$(log_ms "$BEHIND" max)
	expect "$(ios 1) reads in 15 s, the longest took $longest ms" \
		"$(ios 1) >= 6 && $longest <= 2500"
}

# Its class changes again and again, while it owes the other task for what it had.
changing_task() {
	title "a task that gives half of its requests the idle class has half of the disk at most"
	load_disk
	make_group g
	watch_mb 0 250 1000 250
	start_load g be/4 read 1 0 --ioengine=libaio --iodepth=32 --bs=512k \
		--cmdprio_percentage=50 --cmdprio_class=3
	start_load g be/4 read 1 1000 --ioengine=libaio --iodepth=16
	sleep 1
	measure 10
	expect "shares of device time $(shares) %" "$(share 1) > 0 && $(share 1) <= 52"
}

# The third task is there for its level: where there is one only, nobody is held back.
flash_changing_task() {
	title "flash: one that gives a tenth the idle class has no more than another of its level"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group g
	watch_mb 0 250 1000 250 2000 250
	start_load g be/4 read 1 0 --ioengine=libaio --iodepth=32 \
		--cmdprio_percentage=10 --cmdprio_class=3
	start_load g be/4 read 1 1000 --ioengine=libaio --iodepth=16
	start_load g be/7 read 1 2000 --ioengine=libaio --iodepth=16
	sleep 1
	measure 4
	expect "shares of device time $(shares) %" \
		"$(share 1) > 0 && $(share 1) <= 52 / 48 * $(share 2)"
}

# keep_changing GROUP: its class, to idle and back, until $TMP/stop exists
keep_changing() {
	while [ ! -e "$TMP/stop" ]; do
		set_class "$1" idle
		set_class "$1" be
		sleep 0.01
	done
}

# share_beside GROUP: of the first stretch, while GROUP changes
share_beside() {
	local changer

	keep_changing "$1" &
	changer=$!
	sleep 1
	measure 8
	touch "$TMP/stop"
	wait "$changer"
	rm "$TMP/stop"
	share 1
}

changing_group() {
	local before own after most

	title "flash: a group that is idle for a moment again and again gains nothing"
	load_flash read_us=100
	make_group low
	make_group high
	make_group third
	watch_mb 0 250 1000 250
	start_load low - read 1 0 --ioengine=libaio --iodepth=32 --bs=512k
	start_load high - read 1 1000 --ioengine=libaio --iodepth=16
	# Changing takes time of the processor, which is short here
	before=$(share_beside third)
	own=$(share_beside low)
	# What is learned of the device may shift its part meanwhile
	after=$(share_beside third)
	most=$(awk "BEGIN { print ($before > $after ? $before : $after) + 4 }")
	expect "it has $own %, while an unused group changes $before and $after" \
		"$own > 0 && $own <= $most"
}

run_cases idle_random be_random flash_idle line_in_group changing_task flash_changing_task \
	${CONTROLLER:+idle_group_random be_group_random nested flash_idle_group line_of_groups \
	line_nested changing_group twice_in_group twice_nested} \
	: idle_seq be_seq flash_be \
	${CONTROLLER:+idle_group_seq be_group_seq flash_be_group}
