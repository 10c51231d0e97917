#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the device is does not depend on what it says: many heads, one, or none.

. ./test_common.sh

# start_groups LOAD PROCESSES: so many in each of three groups, 8 : 4 : 1
start_groups() {
	local first=0 size=$((250 * $2)) prio

	for prio in 0 4 7; do
		make_group "g$prio" "$prio"
		start_load "g$prio" - "$1" "$2" "$first"
		first=$((first + size))
	done
	watch_mb 0 "$size" "$size" "$size" $((2 * size)) "$size"
}

# megabytes: that were read while it was measured
megabytes() {
	awk '{ sum += $6 } END { printf "%.0f", sum * 512 / 1e6 }' "$TMP/ranges"
}

# known SCHEDULER SECONDS: by then it knows what the device is
known() {
	select_sched "$1" >/dev/null
	sleep "$2"
}

# streams SCHEDULER: the MB that they read in 10 s
streams() {
	known "$1" 4
	measure 10
	megabytes
}

# device NAME: what the scheduler knows of it
device() {
	shown device "$1"
}

# without_slices: at how many of 20 looks it is used so, as duels use it otherwise for a while
without_slices() {
	local look=0 mixed=0

	while [ "$look" -lt 20 ]; do
		[ "$(device mixed)" = 1 ] && mixed=$((mixed + 1))
		look=$((look + 1))
		sleep 0.13
	done
	echo "$mixed"
}

# used WITHOUT: so it is most of the time, without slices or with them
used() {
	local looks

	looks=$(without_slices)
	expect "without slices: $looks of 20" "($looks > 10) == $1"
}

# heads NR LEAST MOST_PP: of an array, and how much of mq-deadline's they are to read; how far from
# their shares each may be
heads() {
	local cfq deadline

	title "$1 heads that say they are a disk: streams get $2 of what mq-deadline reads"
	load_disk actuators="$1" stripe_kb=512 ncq_depth=256
	start_groups seq 2
	cfq=$(streams cfq)
	note "reads that came too soon for one head: $(device soon)"
	expect "shares $(shares) %" "$(distance 61.5 30.8 7.7) <= $3"
	used "($1 > 2)"
	deadline=$(streams mq-deadline)
	stop_loads
	expect "MB: $cfq, mq-deadline $deadline" "$deadline > 100 && $cfq >= $2 * $deadline"
}

two() { heads 2 1.8 8; }
eight() { heads 8 0.75 10; }
sixteen() { heads 16 0.75 10; }

# In a turn there is one request of each reader of the group, which is too few for so many heads, so
# there are no turns. Those with requests for all heads would have all of them, so not all are sent.
readers() {
	local cfq

	title "sixteen heads: 25 random readers in each group, 0/4/7, read 77 % of mq-deadline's"
	load_disk actuators=16 stripe_kb=512 ncq_depth=256
	start_groups read 25
	sleep 4
	measure 10
	cfq=$(ios)
	expect "shares $(shares) %" "$(distance 61.5 30.8 7.7) <= 3"
	used 1
	select_sched mq-deadline >/dev/null
	sleep 1
	measure 10
	expect "reads: $cfq, mq-deadline $(ios)" "$cfq >= 0.77 * $(ios)"
}

one() {
	local told not_told

	title "one head is known, and used as such, if it says that it is flash"
	load_disk
	start_groups seq 2
	known cfq 9
	expect "a disk: one head $(device one_head), soon $(device soon), mixed $(device mixed)" \
		"$(device one_head) == 1 && $(device soon) < 0.03 && $(device mixed) == 0"
	measure 60
	told=$(megabytes)
	expect "shares $(shares)" "$(distance 61.5 30.8 7.7) < 3"
	echo 0 >"$QUEUE/rotational" || fail "cannot write rotational"
	known cfq 9
	expect "as flash: one head $(device one_head)" "$(device one_head) == 1"
	measure 60
	not_told=$(megabytes)
	# Now and then it is tried whether slices are of use
	expect "shares $(shares)" "$(distance 61.5 30.8 7.7) < 3"
	expect "MB: $told, as flash $not_told" "$told > 3000 && $not_told >= 0.9 * $told"
	stop_loads
}

# told_anew: what was learned does not outlive what it says
told_anew() {
	title "who writes rotational is believed, until it is known better"
	load_disk actuators=8 stripe_kb=512 ncq_depth=256
	start_groups seq 2
	known cfq 9
	used 1
	echo 0 >"$QUEUE/rotational"
	sleep 0.1
	expect "as flash: one head $(device one_head), mixed $(device mixed)" \
		"$(device one_head) == 0 && $(device mixed) == 0"
	echo 1 >"$QUEUE/rotational"
	sleep 0.1
	expect "as a disk: mixed $(device mixed)" "$(device mixed) == 0"
	sleep 8
	used 1
	stop_loads
}

flash() {
	title "fast flash is not looked at"
	load_flash
	make_group g 4
	flood 1 g
	stop_loads
	expect "far reads $(device far_reads)" "$(device far_reads) == 0 && $(ios) > 10000"
}

run_cases told_anew one two eight sixteen readers flash
