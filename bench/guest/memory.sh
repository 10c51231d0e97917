#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The memory that a group takes on a device: once the scheduler is there, and after a request.
#
#	memory.sh GROUPS

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

# memory: bytes of the kernel's own
memory() {
	sleep 2
	awk '/^(Slab|Percpu):/ { sum += $2 } END { print 1024 * sum }' /proc/meminfo
}

one_request_each() {
	/guest/crowd direct "$DEV" 0 "$groups" "$CG" >/dev/null || fail "the readers failed"
}

groups=$1
[ -n "$CONTROLLER" ] || cannot "no groups"
sched=$SCHED
SCHED=none
use_device nullb0 none
load_module null_blk nr_devices=1 gb=64 bs=4096 submit_queues=1 || fail "cannot load null_blk"
mount_groups
one_request_each
one_request_each
before=$(memory)
SCHED=$sched
prepare_device
/guest/crowd direct "$DEV" 0 1 "" >/dev/null
selected=$(memory)
one_request_each
used=$(memory)
fact unused_bytes "$(((selected - before) / groups))"
fact used_bytes "$(((used - selected) / groups))"
finish
