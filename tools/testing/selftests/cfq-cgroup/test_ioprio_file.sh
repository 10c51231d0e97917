#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The file cfq.ioprio takes 0 to 7, in any group, and shares follow. What it refuses is tested by
# test_bad_input.sh.

. ./test_common.sh

FILE=$CG/g/$FILES.ioprio

defaults() {
	title "a new group has priority 4, whatever its parent's"
	make_group g
	expect "a new group has $(cat "$FILE")" "$(cat "$FILE") == 4"
	group_ioprio g 1
	mkdir "$CG/g/child" || return
	expect "its child has $(cat "$CG/g/child/$FILES.ioprio")" \
		"$(cat "$CG/g/child/$FILES.ioprio") == 4"
	rmdir "$CG/g/child"
}

legal() {
	title "0 to 7 are taken and read back, with a newline, without, and among blanks"
	make_group g
	for format in '%d' '%d\n' ' %d' '%d ' ' %d \n' '\t%d\t\n' '\n%d\n'; do
		for value in 0 1 2 3 4 5 6 7 0; do
			takes "$format" "$value"
		done
	done
}

root_group() {
	title "the root group has a priority as well"
	mount_groups
	FILE=$CG/$FILES.ioprio
	takes %d 2
	refuses 8 ERANGE
	takes %d 4
	FILE=$CG/g/$FILES.ioprio
}

everywhere() {
	title "a priority can change while the group does I/O, and shares follow"
	load_disk
	make_group g 0
	make_group h 0
	start_load g - read 5 0
	start_load h - read 5 2000
	watch_mb 0 1250 2000 1250
	sleep 2
	measure 10
	expect "equal priorities, share of the first: $(share 1) %" \
		"$(share 1) > 45 && $(share 1) < 55"
	echo 7 >"$FILE"
	sleep 2
	measure 10
	expect "7 against 0, share of the first: $(share 1) %" "$(share 1) > 8 && $(share 1) < 15"
}

needs_groups
run_cases defaults legal root_group everywhere
