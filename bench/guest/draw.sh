#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A draw of bench/draws: groups that each load a device in their own way.
#
#	draw.sh DEVICE RAMP SECONDS PRIORITY:PROCESSES:LOAD:DEPTH:BYTES...
#
# LOAD is one of start_load's; seq has its own BYTES.

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

device=$1
ramp=$2
seconds=$3
shift 3
load_device "$device"
nr=0
first=0
stretches=
for group; do
	nr=$((nr + 1))
	IFS=:
	# shellcheck disable=SC2086 # to be split
	set -- $group
	unset IFS
	make_group "g$nr" "$1"
	start_load "g$nr" - "$3" "$2" "$first" --ioengine=libaio --iodepth="$4" --bs="$5"
	stretches="$stretches $first $((250 * $2))"
	first=$((first + 250 * $2))
done
# shellcheck disable=SC2086 # a list of numbers
watch_mb $stretches
sleep "$ramp"
record "$seconds"
finish
