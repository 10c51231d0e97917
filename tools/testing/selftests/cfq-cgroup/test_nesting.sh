#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Groups nest: shares multiply down the tree, the tasks of a group count as one of its children, and
# what is idle lends its share to those beside it.

. ./test_common.sh

PROCESSES=${PROCESSES:-8}
DURATION=${DURATION:-60}	# of virtual time; less of it on flash, and where one has all
BOUND=${BOUND:-1}		# percentage points
TREES=/sys/kernel/debug/block/$DISK/sched/trees

# read_in GROUP...: random readers in each, side by side on the disk, which counts for each
read_in() {
	local first=0 stretches='' group

	for group; do
		start_load "$group" - read "$PROCESSES" "$first"
		stretches="$stretches $first $((250 * PROCESSES))"
		first=$((first + 250 * PROCESSES))
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 3
}

# share_out PERCENT...: so, within the bound
share_out() {
	local seconds=$DURATION error

	case "$MODULE $* " in
	cfq_flash*) seconds=$((DURATION / 20)) ;;
	*" 100 "*) seconds=$((DURATION / 6)) ;;
	esac
	measure "$seconds"
	error=$(distance "$@")
	expect "shares $(shares) %, $(ios) requests, promised $*, error $error pp" \
		"$error <= $BOUND"
}

# 1:3 of 1:1 of 2:1
three_levels() {
	make_group a 7
	make_group b 5
	for group in a/1 a/2 b/1 b/2; do
		make_group "$group"
	done
	for group in a/1 b/2; do
		make_group "$group/x" 4
		make_group "$group/y" 6
	done
	read_in a/1/x a/1/y a/2 b/1 b/2/x b/2/y
	share_out 8.33 4.17 12.5 37.5 25 12.5
}

disk_levels() {
	title "disk: 1:3 of 1:1 of 2:1 multiply down the tree within $BOUND pp"
	load_disk
	three_levels
}

flash_levels() {
	title "flash: 1:3 of 1:1 of 2:1 multiply down the tree within $BOUND pp"
	# Slow enough that the device and not the processor is short
	load_flash queue_depth=8 read_us=800
	# One for each process, so that none waits where it is not seen
	echo 128 >"$QUEUE/nr_requests"
	three_levels
}

beside_children() {
	title "the tasks of a group count as one more child"
	load_disk
	make_group a
	make_group a/1
	make_group a/2
	make_group b
	read_in a a/1 a/2 b
	share_out 16.67 16.67 16.67 50
}

root_tasks() {
	title "the priority of the root group is that of its tasks among its children"
	load_disk
	make_group a 0
	make_group a/1
	make_group a/2
	group_ioprio . 6
	read_in . a/1 a/2
	share_out 20 40 40
	group_ioprio . 0
	share_out 50 25 25
	group_ioprio . 4
}

lending() {
	title "an idle group lends its share to its siblings, an idle subtree to those beside it"
	load_disk
	make_group a
	make_group a/1
	make_group a/2
	make_group a/2/x
	make_group b
	read_in b a/1 a/2/x
	share_out 50 25 25
	stop_last_loads
	sleep 2
	share_out 50 50 0
	stop_last_loads
	sleep 2
	share_out 100 0 0
}

live() {
	title "a priority in the middle of the tree can change under load, and shares follow"
	load_disk
	make_group a 7
	make_group a/1
	make_group a/1/x
	make_group a/2
	make_group b 4
	read_in a/1/x a/2 b
	share_out 10 10 80
	group_ioprio a 0
	group_ioprio a/1 7
	group_ioprio a/2 5
	sleep 2
	share_out 16.67 50 33.33
}

removal() {
	title "a subtree is removed from under its requests, and no I/O is lost"
	load_disk
	make_group b
	read_in b
	for nr in 1 2 3 4 5; do
		for group in a a/1 a/1/x; do
			make_group "$group"
		done
		start_load a/1/x - mix 8 30000
		start_load a/1 - read 8 40000
		sleep 1
		# Their tasks go to the root group and carry on
		for group in a/1/x a/1 a; do
			remove_group "$group"
		done
		expect "round $nr: no trace of the groups but for what is under way" \
			"$(grep -c '^group (removed)' "$TREES") <= 3"
		stop_last_loads 2
	done
	sleep 1
	expect "none is left when their tasks are gone" \
		"$(grep -c '^group (removed)' "$TREES") == 0"
}

# 100 chains of 10 groups; at the ends of ten of them, readers
thousand() {
	local chain=100 path=/2/3/4/5/6/7/8/9/10 ends=''

	title "1000 groups in a tree of 10 levels: all can do I/O, and shares hold"
	load_disk
	PROCESSES=4
	mount_groups
	while [ "$chain" -lt 200 ]; do
		mkdir -p "$CG/$chain$path" || fail "cannot make 10 levels"
		chain=$((chain + 1))
	done
	expect "$(groups) groups" "$(groups) == 1000"
	expect "none of them exists on the disk" "$(grep -c '^group' "$TREES") == 1"

	for dir in $(find "$CG" -mindepth 10 -type d | sort); do
		(run_as "${dir#"$CG/"}" - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) \
			2>/dev/null || fail "no I/O in $dir"
	done
	expect "all of them exist on the disk" "$(grep -c '^group' "$TREES") == 1001"

	for chain in 0 1 2 3 4 5 6 7 8 9; do
		ends="$ends 10$chain$path"
		group_ioprio "10$chain" $((4 + chain % 2 * 2))
	done
	# shellcheck disable=SC2086 # a list of names
	read_in $ends
	share_out 13.33 6.67 13.33 6.67 13.33 6.67 13.33 6.67 13.33 6.67
}

too_deep() {
	local path=d nr=1

	title "64 groups may be below each other, and the last one does I/O; no more count"
	load_disk
	make_group d
	while [ "$nr" -lt 64 ]; do
		path=$path/d
		nr=$((nr + 1))
		make_group "$path"
	done
	(run_as "$path" - "$DD" if="$DEV" of=/dev/null bs=4k count=8 iflag=direct) 2>/dev/null ||
		fail "cannot read in the last one"
	expect "$(stat "$path" requests) requests of the last" "$(stat "$path" requests) == 8"
	expect "$(stat d requests) requests of the first" "$(stat d requests) == 8"
	if [ "$CONTROLLER" = cfq ]; then
		! mkdir "$CG/$path/d" 2>"$TMP/error" || fail "there may be one more"
		grep -q 'temporarily unavailable' "$TMP/error" ||
			fail "not EAGAIN: $(cat "$TMP/error")"
		return
	fi
	# Who makes groups of io does not ask: its I/O is that of the last one, and it has no weight
	mkdir "$CG/$path/d"
	(run_as "$path/d" - "$DD" if="$DEV" of=/dev/null bs=4k count=8 iflag=direct) 2>/dev/null
	expect "$(stat "$path" requests) with one more" "$(stat "$path" requests) == 16"
	FILE=$CG/$path/d/$FILES.weight
	refuses 300 EAGAIN
}

unified() {
	title "version 2: the same levels within $BOUND pp, and an idle subtree lends its share"
	mount_unified
	load_disk
	three_levels
	stop_last_loads 2
	sleep 2
	share_out 8.33 4.17 12.5 75 0 0
}

groups() {
	find "$CG" -mindepth 1 -type d | wc -l
}

needs_groups
run_cases disk_levels flash_levels beside_children removal too_deep unified \
	: lending root_tasks live thousand
