#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# /sys/kernel/debug/block/DEV/sched/ shows the trees, per group and per queue, while I/O runs.

. ./test_common.sh

SCHED_DIR=/sys/kernel/debug/block/$DISK/sched

readable() {
	title "every file can be read, idle and under load, and again after the groups are gone"
	load_disk
	for file in "$SCHED_DIR"/*; do
		cat "$file" >"$TMP/show" || fail "cannot read $file"
	done
	make_group g 0
	make_group h 7
	start_load g - read 4 0
	start_load h rt/2 mix 4 1000
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for file in "$SCHED_DIR"/*; do
			cat "$file" >"$TMP/show" || fail "cannot read $file"
		done
		sleep 0.1
	done
	stop_loads
	remove_groups
	cat "$SCHED_DIR"/* >"$TMP/show" || fail "cannot read the files without groups"
}

shows_groups_and_queues() {
	title "trees lists the groups with their weights, and the queues with class and level"
	load_disk
	make_group g 0
	make_group h 7
	start_load g be/5 read 4 0
	start_load h rt/2 read 4 1000
	sleep 1
	# What is queued changes all the time: look often enough to see everything once
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		cat "$SCHED_DIR/trees"
		sleep 0.07
	done >"$TMP/trees"
	sed 's/^/#   /; 12q' "$TMP/trees"
	for what in 'queue.*class be level 5' 'queue.*class rt level 2' \
		'group.*/g\>.*weight 200' 'group.*/h\>.*weight 25'; do
		grep -qE "$what" "$TMP/trees" || fail "no line has $what"
	done
	grep -q '^driver' "$SCHED_DIR/device" ||
		fail "device does not tell the requests in the driver"
}

run_cases readable shows_groups_and_queues
