#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a request costs the processor: groups with one synchronous random reader each, on a device that only answers.
#
#	cost.sh direct|buffered MS GROUPS [PARAMETER...]	parameters of null_blk

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

crowd_device "$@"
# Enough for as many groups as the block layer allows
[ "$3" = 1 ] || [ "$3" = 2 ] || set_nr_requests 2048
crowd "$@" >>"$OUT/facts"
finish
