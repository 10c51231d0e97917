#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Groups that load a device side by side: what each had of it, and how long its requests took.
#
#	groups.sh DEVICE RAMP SECONDS PRIORITY:PROCESSES:LOAD[:DEPTH[:BYTES]]...
#
# LOAD is one of start_load's; seq has BYTES of its own. With "idle" or "be/4" for PRIORITY it is of the root group's
# tasks. RAMP seconds pass before anything is counted. The groups' areas lie one after the other, GAP MB apart (0).

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

# start_group NR FIRST_MB PRIORITY PROCESSES LOAD [DEPTH [BYTES]]
start_group() {
	local nr=$1 group=g$1 first=$2 prio=$3 processes=$4 load=$5 depth=$6 bytes=$7 task

	case $prio in
	idle | be/*)
		group=. task=$prio
		;;
	*)
		task=$(task_prio "$prio")
		make_group "$group" "$prio"
		;;
	esac
	set -- --ramp_time="$RAMP" --group_reporting --output="$OUT/fio.$nr.json" \
		--output-format=json+ --percentile_list=50:99:99.9
	[ -z "$depth" ] || set -- "$@" --ioengine=libaio --iodepth="$depth"
	[ -z "$bytes" ] || set -- "$@" --bs="$bytes"
	start_load "$group" "$task" "$load" "$processes" "$first" "$@"
}

device=$1
RAMP=$2
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
	start_group "$nr" "$first" "$@"
	stretches="$stretches $first $((250 * $2))"
	first=$((first + 250 * $2 + ${GAP:-0}))
done
# shellcheck disable=SC2086 # a list of numbers
watch_mb $stretches
sleep "$RAMP"
record "$seconds"
finish
