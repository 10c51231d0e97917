#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel without CONFIG_CFQ_CGROUP: cfq is plain one-layer CFQ. test_tasks.sh runs on it as well.

. ./test_common.sh

no_controller() {
	title "there is no cgroup controller cfq and no tunable of the top layer"
	[ -z "$CONTROLLER" ] || fail "/proc/cgroups has $CONTROLLER"
	load_disk
	for file in "$QUEUE"/iosched/group_slice*; do
		[ ! -e "$file" ] || fail "$file exists"
	done
}

native() {
	title "3 x 25 random readers without priorities: the thirds are equal within 5 pp"
	load_disk
	run_groups 60 25 4 read 4 read 4 read
	note "requests $(ios 1) $(ios 2) $(ios 3), together $(ios)"
	expect "shares of device time $(shares) %, error $(share_error 4 4 4) pp" \
		"$(share_error 4 4 4) <= 5"
}

ionice_levels() {
	title "3 x 25 random readers with ionice 0, 4 and 7: high over middle over low"
	load_disk
	run_groups 60 25 0 read 4 read 7 read
	note "requests $(ios 1) $(ios 2) $(ios 3), together $(ios)"
	expect "shares of device time $(shares) %" \
		"$(share 1) >= 1.25 * $(share 2) && $(share 2) >= 1.25 * $(share 3)"
}

run_cases no_controller native ionice_levels
