#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A processor goes offline while a request that came from it waits behind a better class: the block
# layer waits for that request, and whoever takes the processor away waits with it.
# Needs two processors.

. ./test_common.sh

CPU=/sys/devices/system/cpu/cpu1
LIMIT=3

# now: in milliseconds
now() {
	awk '{ printf("%d\n", $1 * 1000) }' /proc/uptime
}

# start_flood: more than the device takes, from processor 0 only
start_flood() {
	# Few at a time, so that the rest is queued. As a disk, since what has no head is not taken
	# for busy while it answers several requests as fast as one.
	load_null submit_queues=2 irqmode=2 completion_nsec=300000 hw_queue_depth=4
	echo 1 >"$QUEUE/rotational"
	prepare_sched
	make_group g
	# shellcheck disable=SC2086 # options
	start_load g be/4 read 4 0 $DEEP --cpus_allowed=0
	sleep 1
}

# from_cpu1 GROUP PRIORITY: one read that comes from there
from_cpu1() {
	(run_as "$1" "$2" taskset 2 "$DD" if="$DEV" of=/dev/null bs=4k count=1 skip=700000 \
		iflag=direct 2>"$TMP/dd") &
	READER=$!
	sleep 0.2
}

# take_away: the processor. The one who writes cannot be stopped before the block layer is done.
take_away() {
	local begin

	begin=$(now)
	echo 0 >"$CPU/online" &
	OFFLINE=$!
	while kill -0 "$OFFLINE" 2>/dev/null && [ $(($(now) - begin)) -lt $((LIMIT * 1000)) ]; do
		sleep 0.02
	done
	if kill -0 "$OFFLINE" 2>/dev/null; then
		fail "the processor is not offline after $LIMIT s"
	else
		note "the processor is offline after $(($(now) - begin)) ms"
	fi
}

# bring_back: it and the reader come to an end at the latest when the others have
bring_back() {
	stop_loads
	wait "$OFFLINE" || fail "cannot take the processor offline"
	echo 1 >"$CPU/online" || fail "cannot bring the processor back"
	wait "$READER" || fail "the reader has failed: $(cat "$TMP/dd")"
	[ "$(cat "$CPU/online")" = 1 ] || fail "the processor is not back"
}

idle_task() {
	title "a processor goes offline within $LIMIT s, with a request of the idle class queued"
	start_flood
	from_cpu1 g idle
	take_away
	bring_back
}

idle_group() {
	title "so it does with a request of an idle group"
	start_flood
	make_group low
	echo idle >"$CG/low/$FILES.ioprio_class" || fail "cannot set the class"
	from_cpu1 low -
	take_away
	bring_back
}

[ -e "$CPU/online" ] || skip_all "no second processor that can go offline"
run_cases idle_task ${CONTROLLER:+idle_group}
