#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A group that comes to a disk which another of the same weight keeps full need not wait for the end
# of the other's slice.

. ./test_common.sh

# reached CONDITION: does it hold for what the disk has done since the start? In awk, "ios" and
# "share" (of device time, in percent) are the newcomer's.
reached() {
	stretches >"$TMP/ranges"
	awk -v ios="$(ios 2)" -v share="$(share 2)" "BEGIN { exit !($1) }"
}

# seconds_until CONDITION: from $START; 5 or more if it takes so long
seconds_until() {
	local now left=500

	until reached "$1" || [ "$left" = 0 ]; do
		left=$((left - 1))
		sleep 0.01
	done
	read -r now _ </proc/uptime
	awk "BEGIN { print $now - $START }"
}

# has_come GROUP: it has a request
has_come() {
	[ "$(stat "$1" queued)$(stat "$1" inflight)" -gt 0 ]
} 2>/dev/null

arrivals() {
	local round first fair

	title "beside 500 requests of others: first within 0.12 s, half of the time within 0.35 s"
	load_disk
	echo 500 >"$QUEUE/nr_requests"
	make_group old
	start_load old - read 1 0 --ioengine=libaio --iodepth=500
	watch_mb 0 250 250 250
	sleep 1
	for round in 1 2 3; do
		make_group "new$round"
		# Somewhere else in the other's slice
		sleep "0.$round"
		start_load "new$round" - read 1 250 --ioengine=libaio --iodepth=100
		until has_come "new$round"; do
			sleep 0.01
		done
		echo reset >"$MODEL/ranges"
		read -r START _ </proc/uptime
		first=$(seconds_until "ios > 0")
		fair=$(seconds_until "share >= 45")
		expect "first request after $first s" "$first <= 0.12"
		expect "half of the disk's time after $fair s" "$fair <= 0.35"
		stop_last_loads
	done
}

# thinkers PROCESSES READS PAUSE_MS: each reads so often and pauses then, alone and beside a stream
# of another group
thinkers() {
	local alone

	load_disk
	make_group old
	make_group new
	watch_mb 0 1000 10000 250
	start_load new - read "$1" 0 --thinktime_blocks="$2" --thinktime="$(($3 * 1000))"
	sleep 1
	measure 5
	alone=$(ios)
	start_load old - seq 1 10000
	sleep 1
	measure 10
	expect "$(ios 1) reads in 10 s, in 5 s alone $alone; shares $(shares) %" \
		"$(ios 1) >= 1.2 * $alone && $(share 1) <= 60"
}

returns() {
	title "a group that reads twice and pauses for 50 ms has 3/5 of its rate alone, or more"
	thinkers 1 2 50
}

pool() {
	title "so has one with four tasks that read and pause for 40 ms"
	thinkers 4 1 40
}

needs_groups
run_cases arrivals returns pool
