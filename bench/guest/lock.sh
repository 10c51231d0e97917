#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How long, and how often, a scheduler holds its locks while groups read at random from a device that only answers. Needs
# a kernel of flavour "locktime".
#
#	lock.sh direct|buffered|batch MS GROUPS [PARAMETER...]	parameters of null_blk; batch: 32 deep, 8 at a time

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

RAMP_S=0.5

case $SCHED in
kyber) module=kyber_iosched ;;
mq-deadline) module=mq_deadline ;;
cfq | bfq) module=$SCHED ;;
*) cannot "no lock of its own" ;;
esac
account=/sys/module/$module/parameters/lock

start_account() {
	before=$(requests)
	for counter in taken held_ns longest_ns; do
		echo 0 >"${account}_$counter" || fail "this kernel does not count"
	done
}

end_account() {
	for counter in taken held_ns longest_ns; do
		fact $counter "$(cat "${account}_$counter")"
	done
	fact requests "$(($(requests) - before))"
}

requests() {
	awk '{ print $1 }' "/sys/block/$DISK/stat"
}

if [ "$1" = batch ]; then
	ms=$2 groups=$3
	shift 3
	DISK_PARAMS=$*
	load_device null
	start_batches "$groups" 1
	sleep "$RAMP_S"
	start_account
	sleep "$(awk "BEGIN { print $ms / 1000 }")"
	end_account
	stop_loads ""
else
	crowd_device "$@"
	start_account
	crowd "$@" >/dev/null
	end_account
fi
finish
