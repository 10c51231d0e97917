#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Three groups of priorities 0, 4 and 7 that read at random from one flash device after the other, each faster than the
# one before: 4 jobs each, 16 deep.
#
#	speeds.sh CHANNELS READ_US...

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

# It is found out first that the processor is short
RAMP_S=2
COUNTED_S=2
STRETCH_MB=1000

channels=$1
shift
for read_us; do
	# shellcheck disable=SC2034 # load_device has it
	FLASH_PARAMS="channels=$channels read_us=$read_us"
	load_device flash
	first=0
	for prio in 0 4 7; do
		[ -z "$CONTROLLER" ] || [ -d "$CG/g$prio" ] || make_group "g$prio" "$prio"
		start_load "g$prio" "$(task_prio "$prio")" read 4 $first --ioengine=libaio --iodepth=16
		first=$((first + STRETCH_MB))
	done
	watch_mb 0 $STRETCH_MB $STRETCH_MB $STRETCH_MB $((2 * STRETCH_MB)) $STRETCH_MB
	sleep $RAMP_S
	measure $COUNTED_S
	cp "$TMP/ranges" "$OUT/ranges.$read_us"
	stop_loads ""
done
finish
