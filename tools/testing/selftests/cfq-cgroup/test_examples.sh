#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The four published examples: two dd of 1 GiB, bs=1M, each from a place of its own on the disk,
# started together. What is read leaves the cache at once, so that memory never runs short.

. ./test_common.sh

GAP=4096			# MB from the start of one file to that of the other

# run_dd NR GROUP LEVEL: leaves what it says and how the disk's counters stand when it is done
run_dd() {
	(run_as "$2" "be/$3" "$DD" if="$DEV" of=/dev/null bs=1M count=1024 iflag=nocache \
		skip=$((($1 - 1) * GAP))) 2>"$TMP/dd$1"
	stretches >"$TMP/ranges$1"
}

# dd_pair NAME GROUP1 LEVEL1 GROUP2 LEVEL2: leaves the seconds in T1 and T2, and in SHARE2 what the
# second had of the disk's time until it ended
dd_pair() {
	local nr pid1

	load_disk
	watch_mb 0 1024 "$GAP" 1024
	sample_start "$1"
	run_dd 1 "$2" "$3" &
	pid1=$!
	run_dd 2 "$4" "$5" &
	wait "$pid1" $!
	sample_stop
	for nr in 1 2; do
		grep copied "$TMP/dd$nr" | sed "s/^/# dd $nr: /"
	done
	T1=$(seconds 1)
	T2=$(seconds 2)
	SHARE2=$(share 2 "$TMP/ranges2")
	result "$1" "$T1" "$T2" "$SHARE2"
}

seconds() {
	sed -n 's/.*copied, \([0-9.]*\) s.*/\1/p' "$TMP/dd$1" | grep . || echo 0
}

within_5_percent() {
	expect "$T1 s and $T2 s, share of the second while both run $SHARE2 %" \
		"$T1 > 0 && $T2 > 0 && $T1 / $T2 < 1.05 && $T2 / $T1 < 1.05"
}

equal_tasks() {
	title "same group, task priorities 3 and 3: finish within 5 % of each other"
	make_group g1 4
	dd_pair equal_tasks g1 3 g1 3
	within_5_percent
}

unequal_tasks() {
	title "same group, task priorities 0 and 7: priority 0 clearly first"
	make_group g1 4
	dd_pair unequal_tasks g1 0 g1 7
	expect "$T1 s and $T2 s" "$T1 > 0 && $T2 / $T1 >= 1.25"
}

equal_groups() {
	title "two groups of equal priority, tasks 0 and 7: finish within 5 % of each other"
	make_group g1 4
	make_group g2 4
	dd_pair equal_groups g1 0 g2 7
	within_5_percent
}

unequal_groups() {
	title "group 7 (task 0) and group 0 (task 7): the group decides, 8 : 1 while both run"
	make_group g1 7
	make_group g2 0
	dd_pair unequal_groups g1 0 g2 7
	expect "$T1 s and $T2 s" "$T2 > 0 && $T1 / $T2 >= 1.25"
	expect "share of the favoured group while both run: $SHARE2 %" \
		"$SHARE2 >= 85.9 && $SHARE2 <= 91.9"
}

run_cases equal_tasks unequal_tasks equal_groups unequal_groups
