#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How long a scheduler holds its locks while two groups read at random from a device that only answers. Needs a kernel
# of flavour "locktime".
#
#	lock.sh direct|buffered MS GROUPS [PARAMETER...]	parameters of null_blk

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

case $SCHED in
kyber) module=kyber_iosched ;;
mq-deadline) module=mq_deadline ;;
cfq | bfq) module=$SCHED ;;
*) cannot "no lock of its own" ;;
esac
account=/sys/module/$module/parameters/lock
crowd_device "$@"
requests() {
	awk '{ print $1 }' "/sys/block/$DISK/stat"
}
before=$(requests)
for counter in taken held_ns longest_ns; do
	echo 0 >"${account}_$counter" || fail "this kernel does not count"
done
crowd "$@" >/dev/null
for counter in taken held_ns longest_ns; do
	fact $counter "$(cat "${account}_$counter")"
done
fact requests "$(($(requests) - before))"
finish
