#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Generated texts, good ones and bad ones, for every file of a group and every tunable: what is
# taken, what is refused with which errno, and what the file reads then.

. ./test_common.sh

STRINGS=${STRINGS:-1000}	# for each file

# bad_input FILE FORM...
bad_input() {
	./bad_input -n "$STRINGS" "$@" || fail "${1##*/} is not as it should be"
}

# Those that are there, a partition, and one that is not
devices() {
	cat /sys/block/cfqd[01]/dev /sys/block/cfqd0/cfqd0p1/dev
	echo 4095:7
}

two_disks() {
	load_disk nr_devices=2
	add_partition
}

# every_file FORM...: of a group that does I/O, and of the root group; cfq.weight has that form
every_file() {
	make_group g
	start_load g - read 1 0 --rate_iops=10
	for file in "$CG"/g/cfq.* "$CG"/cfq.*; do
		# shellcheck disable=SC2046 # a list of numbers
		case ${file##*/} in
		cfq.ioprio) bad_input "$file" ioprio ;;
		cfq.ioprio_class) bad_input "$file" class ;;
		cfq.leaf_weight) bad_input "$file" number 1 10000 ;;
		cfq.weight) bad_input "$file" "$@" ;;
		cfq.weight_device) bad_input "$file" weight_device $(devices) ;;
		cfq.nr_group_requests) bad_input "$file" limits $(devices) ;;
		cfq.stat) bad_input "$file" readonly ;;
		*) fail "there are no rules for ${file##*/}" ;;
		esac
	done
	watch_mb 0 250
	measure 2
	expect "$(ios) requests at the end" "$(ios) > 0"
}

version1() {
	title "version 1: $STRINGS texts for each file of a group"
	two_disks
	every_file number 1 10000
}

version2() {
	title "version 2: $STRINGS texts for each file of a group"
	mount_unified
	two_disks
	# shellcheck disable=SC2046 # a list of numbers
	every_file weights $(devices)
}

one_tunable() {
	bad_input "$QUEUE/iosched/$1" tunable "$3" "$4"
}

tunables() {
	title "$STRINGS texts for each tunable"
	load_disk
	each_tunable one_tunable
}

[ "$CONTROLLER" = cfq ] || skip_all "no cfq controller"
run_cases version1 version2 tunables
