#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The file cfq.stat: what a group and all below it did on each device, as the device saw it.

. ./test_common.sh

# note_stats GROUP...: from here on counts grown()
note_stats() {
	for group; do
		mkdir -p "$TMP/$group"
		cat "$CG/$group/$FILES.stat" >"$TMP/$group/stat"
	done
}

# grown GROUP NAME: by how much
grown() {
	echo $(($(stat "$1" "$2") - $(stat "$1" "$2" "$DISK" "$TMP/$1/stat")))
}

# counted NR NAME: what the disk counted for the NRth stretch, by its name in cfq.stat
counted() {
	awk -v nr="$1" -v name="$2" '
	NR == nr {
		count["time"] = int($3 / 1000)
		count["requests"] = $4 + $5
		count["sectors"] = $6 + $7
		print count[name]
	}' "$TMP/ranges"
}

# near WHAT A B PERCENT: A and B are, within that
near() {
	expect "$1: $2, $3 expected" "$2 >= $3 * (1 - $4 / 100) && $2 <= $3 * (1 + $4 / 100)"
}

form() {
	title "a line for each device on which the group did I/O: names and numbers"
	load_disk nr_devices=2
	select_sched "$SCHED" cfqd1
	make_group g
	expect "$(wc -l <"$CG/g/$FILES.stat") lines without I/O" "!$(wc -l <"$CG/g/$FILES.stat")"
	for disk in cfqd0 cfqd1; do
		(run_as g - "$DD" if="/dev/$disk" of=/dev/null bs=4k count=10 iflag=direct) \
			2>/dev/null
	done
	expect "$(wc -l <"$CG/g/$FILES.stat") lines" "$(wc -l <"$CG/g/$FILES.stat") == 2"
	form='[0-9]*:[0-9]*'
	for name in time sectors requests wait queued inflight idle merges slices; do
		form="$form $name=[0-9]*"
	done
	form="$form weight_by=default"
	expect "of the form" "$(grep -c "^$form\$" "$CG/g/$FILES.stat") == 2"
	for disk in cfqd0 cfqd1; do
		requests=$(stat g requests "$disk")
		sectors=$(stat g sectors "$disk")
		expect "$disk: $requests requests, $sectors sectors" \
			"$requests == 10 && $sectors == 80"
		expect "$disk: nothing is queued" "$(stat g queued "$disk") == 0"
	done
	[ "$(printf 1 | ./write_errno "$CG/g/$FILES.stat" 2>&1)" = EINVAL ] ||
		fail "it can be written"
}

inflight() {
	title "inflight is what was sent and is not completed, and a new choice of cfq begins at 0"
	load_disk timeout_ms=5000
	make_group g
	echo "1 requeue" >"$MODEL/hang"
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null &
	sleep 1
	expect "$(stat g inflight) in flight, $(stat g queued) queued" \
		"$(stat g inflight) == 1 && $(stat g queued) == 0"
	wait $!
	expect "$(stat g inflight) afterwards, of $(stat g requests)" \
		"$(stat g inflight) == 0 && $(stat g requests) >= 1"
	select_sched none
	select_sched "$SCHED"
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null
	expect "$(stat g requests) since cfq was selected again" "$(stat g requests) == 1"
}

sums() {
	title "time, sectors and requests are those of the disk; a group has those below it"
	load_disk
	make_group a
	make_group a/1
	make_group a/2
	make_group b
	start_load a/1 - read 4 0
	start_load a/2 - seq 2 1000
	start_load b - read 4 2000
	watch_mb 0 1000 1000 1000 2000 1000
	sleep 2
	note_stats a/1 a/2 b
	measure 30
	nr=0
	for group in a/1 a/2 b; do
		nr=$((nr + 1))
		# Time in which it was kept idle is none of the disk's own
		near "$group, time" "$(($(grown "$group" time) - $(grown "$group" idle)))" \
			"$(counted "$nr" time)" 4
		for name in requests sectors; do
			near "$group, $name" "$(grown "$group" "$name")" \
				"$(counted "$nr" "$name")" 4
		done
		expect "$group had $(grown "$group" slices) turns" "$(grown "$group" slices) > 10"
	done
	expect "$(stat b queued) requests of 4 tasks are queued" "$(stat b queued) <= 4"
	stop_loads
	sleep 1
	for name in time sectors requests wait idle slices; do
		sum=$(($(stat a/1 "$name") + $(stat a/2 "$name")))
		# Times are rounded down
		expect "a, $name: $(stat a "$name") for $sum of its groups" \
			"$(stat a "$name") - $sum >= 0 && $(stat a "$name") - $sum <= 1"
	done
	a=$(stat a sectors)
	remove_group a/1
	remove_group a/2
	expect "a keeps what its removed groups did" "$(stat a sectors) == $a"
	expect "the root group has all" \
		"$(stat . sectors) >= $a + $(stat b sectors)"
}

waits() {
	local reader

	title "wait is the time of requests until they are sent, queued what waits now"
	load_disk
	make_group g
	make_group h
	echo idle >"$CG/g/$FILES.ioprio_class"
	start_load h - read 1 2000
	sleep 2
	# The first is sent at once, each other 0.8 s after the one before
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=11 iflag=direct) 2>/dev/null &
	reader=$!
	sleep 7.6
	expect "$(stat g requests) sent, $(stat g queued) queued" \
		"$(stat g requests) == 10 && $(stat g queued) == 1"
	expect "$(stat . queued) queued on the device" "$(stat . queued) >= 1"
	# From when it may go out of order is not for how long it waits
	echo 100000 >"$QUEUE/iosched/fifo_expire_sync" || fail "cannot set fifo_expire_sync"
	wait "$reader"
	stop_loads
	expect "$(stat g requests) sent, $(stat g queued) queued" \
		"$(stat g requests) == 11 && $(stat g queued) == 0"
	# That is 8 s but for the time in which they are read
	near "us of wait and of time" "$(($(stat g wait) + $(stat g time)))" 8000000 5
}

idling() {
	title "idle is the time for which the disk was kept idle"
	load_disk
	make_group g
	make_group h
	start_load g - seq 1 0 --thinktime=2000
	start_load h - read 4 2000
	watch_mb 0 1000 2000 1000
	sleep 2
	note_stats g
	measure 8
	near "idle us for $(grown g requests) requests of a task that thinks for 2000" \
		"$(grown g idle)" "$((2000 * $(grown g requests)))" 25
}

merges() {
	title "merges are counted: two requests became one"
	load_disk
	make_group g
	make_group h
	# In the turns of the others, what continues a waiting request comes to it
	start_load h - read 4 2000
	start_load g - seq 1 0 --ioengine=libaio --iodepth=16 --bs=4k
	sleep 5
	expect "$(stat g merges) merges, $(stat g requests) requests" "$(stat g merges) > 10"
}

# queue_write HOW GROUP BLOCK: 4 KB, which wait for the disk then
queue_write() {
	local how=--direct=1

	# It is told to write back between a write and the next
	[ "$1" = direct ] || how="--io_size=8k --sync_file_range=write:1"
	# shellcheck disable=SC2086 # options
	(run_as "$2" - fio --name=one --filename="$DEV" --rw=write --bs=4k --size=4k \
		--offset=$(($3 * 4))k --ioengine=psync --invalidate=0 --disk_util=0 $how) \
		>"$TMP/write" 2>&1 &
	WRITERS="$WRITERS $!"
	sleep 0.5
}

# apart HOW NR: three writes of two groups that touch, and three of one group, which become NR
apart() {
	title "$1 writes of two groups that touch on the disk stay apart"
	load_disk ncq_depth=1 timeout_ms=10000
	echo 64 >"$QUEUE/nr_requests"
	WRITERS=
	for group in g1 g2 one busy; do
		make_group "$group"
	done
	# What the disk keeps leaves no room for others
	echo "1 requeue" >"$MODEL/hang"
	start_load busy - read 4 2000
	watch_mb 0 1 100 1
	sleep 1
	queue_write "$1" g1 100
	queue_write "$1" g2 101
	queue_write "$1" g2 99
	queue_write "$1" one 25700
	queue_write "$1" one 25701
	queue_write "$1" one 25699
	expect "$(stat g1 queued) and $(stat g2 queued) are queued" \
		"$(stat g1 queued) == 1 && $(stat g2 queued) == 2"
	# What is dirty again is not written as long as it is open
	exec 9<"$DEV"
	stop_loads
	# shellcheck disable=SC2086 # a list of numbers
	wait $WRITERS
	sleep 1
	stretches >"$TMP/ranges"
	exec 9<&-
	expect "the disk had $(ios 1) requests" "$(ios 1) == 3"
	for group in g1 g2; do
		expect "$group had $(stat "$group" requests)" \
			"$(stat "$group" requests) == ${group#g}"
		expect "and $(stat "$group" merges) merges" "$(stat "$group" merges) == 0"
	done
	expect "of one group, $(ios 2), after $(stat one merges) merges" "$(ios 2) == $2"
}

# Each waits for its own
direct_apart() {
	apart direct 3
}

# Those of a group and a priority are queued together
buffered_apart() {
	apart buffered 1
}

# Reads of a group that touch have two levels. One of another group, with the level of the second,
# ends where the first does.
levels_apart() {
	local procs=cgroup.procs steps

	title "a request is not put into one of another group, as it does not fit its own neighbour"
	load_disk ncq_depth=1 timeout_ms=2000
	echo 64 >"$QUEUE/nr_requests"
	for group in busy g1 g2 one; do
		make_group "$group"
	done
	watch_mb 0 1 100 1
	# The disk keeps the first one, and another waits for it, so the others are queued
	echo "1 requeue" >"$MODEL/hang"
	steps="read $CG/busy/$procs 500000 4 read $CG/busy/$procs 600000 4"
	steps="$steps level 1 read $CG/g1/$procs 400 8"
	steps="$steps level 2 read $CG/g2/$procs 404 4 read $CG/g1/$procs 408 4"
	# What can be merged is
	steps="$steps read $CG/one/$procs 102800 4 read $CG/one/$procs 102804 4"
	# shellcheck disable=SC2086 # a list of words
	./queue_reads "$DEV" $steps || fail "a read failed"
	stretches >"$TMP/ranges"
	expect "the disk had $(ios 1) requests" "$(ios 1) == 3"
	expect "g1 had $(stat g1 requests), g2 $(stat g2 requests)" \
		"$(stat g1 requests) == 2 && $(stat g2 requests) == 1"
	expect "and $(stat g1 merges) and $(stat g2 merges) merges" \
		"$(stat g1 merges) + $(stat g2 merges) == 0"
	expect "of one group that touch $(ios 2)" "$(ios 2) == 1 && $(stat one merges) == 1"
}

unified() {
	title "version 2 has the same"
	mount_unified
	load_disk
	make_group g
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=10 iflag=direct) 2>/dev/null
	expect "$(stat g requests) requests" "$(stat g requests) == 10"
}

needs_groups
run_cases form inflight sums waits idling merges direct_apart buffered_apart levels_apart \
	unified
