#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How many requests a second two processors get from a device that only answers, in rounds that take turns with
# mq-deadline. Takes real time, so only what is compared in a round tells anything.
#
#	processors.sh GROUPS JOBS [PARAMETER...]	jobs of each group; parameters of null_blk

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

PEER_SCHED=mq-deadline
ROUNDS=10
RAMP_S=0.3
COUNTED_S=0.7

# rate SCHEDULER: leaves in RATE how many requests a second it gets
rate() {
	local begin end before

	select_sched "$1"
	sleep "$RAMP_S"
	read -r begin _ </proc/uptime
	before=$(requests)
	sleep "$COUNTED_S"
	RATE=$(($(requests) - before))
	read -r end _ </proc/uptime
	RATE=$(awk "BEGIN { printf(\"%d\", $RATE / ($end - $begin)) }")
}

[ "$PEER" != iocost ] || cannot "no scheduler to take turns with"
groups=$1 jobs=$2
shift 2
DISK_PARAMS=$*
load_device null
start_batches "$groups" "$jobs"
sleep 3
nr=0
while [ "$nr" -lt "$ROUNDS" ]; do
	rate "$PEER_SCHED"
	theirs=$RATE
	rate "$SCHED"
	fact "round$nr" "$RATE $theirs"
	nr=$((nr + 1))
done
stop_loads ""
finish
