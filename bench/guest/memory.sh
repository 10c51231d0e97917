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
	/guest/crowd direct "$DEV" 0 "$groups" "$CG" 1 >/dev/null || fail "the readers failed"
}

groups=$1
[ -n "$CONTROLLER" ] || cannot "no groups"
load_null
select_sched none
mount_groups
one_request_each
one_request_each
before=$(memory)
prepare_device
/guest/crowd direct "$DEV" 0 1 "" 1 >/dev/null
selected=$(memory)
one_request_each
used=$(memory)
fact unused_bytes "$(((selected - before) / groups))"
fact used_bytes "$(((used - selected) / groups))"
finish
