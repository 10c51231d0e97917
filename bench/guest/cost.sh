#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a request costs the processor: groups with one synchronous random reader each, on a device that only answers.
#
#	cost.sh direct|buffered|batch MS GROUPS [PARAMETER...]	parameters of null_blk; batch: 32 deep, 8 at a time

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

if [ "$1" = batch ]; then
	batch_device "$@"
	before=$(requests)
	sleep_ms "$2"
	fact requests "$(($(requests) - before))"
	fact duration_ns "${2}000000"
	# There is always one to be sent or answered.
	fact idle_ns 0
	stop_loads ""
	finish
fi
crowd_device "$@"
# Enough for as many groups as the block layer allows
[ "$3" = 1 ] || [ "$3" = 2 ] || set_nr_requests 2048
crowd "$@" >>"$OUT/facts"
finish
