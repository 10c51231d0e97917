#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Four jobs of random reads, 256 deep, in a group of priority 7 have a flash device; then a reader comes in one of
# priority 0.
#
#	arrival.sh DEPTH	of the reader

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

RAMP_S=2
SETTLED_S=0.5
COUNTED_S=0.5
STRETCH_MB=1000

load_device flash
make_group g7 7
make_group g0 0
start_load g7 "$(task_prio 7)" read 4 0 --ioengine=libaio --iodepth=256
watch_mb 0 $STRETCH_MB $STRETCH_MB $STRETCH_MB
sleep $RAMP_S
start_load g0 "$(task_prio 0)" read 1 $STRETCH_MB --ioengine=libaio --iodepth="$1" --write_lat_log="$OUT/new"
sleep $SETTLED_S
record $COUNTED_S
finish
