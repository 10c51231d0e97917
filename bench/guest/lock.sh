#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How long, and how often, a scheduler holds its locks while groups read at random from a device that only answers. Needs
# a kernel of flavour "locktime".
#
#	lock.sh direct|buffered|batch|stat MS GROUPS [PARAMETER...]	parameters of null_blk; batch: 32 deep, 8 at a time;
#								stat: buffered, and somebody reads cfq.stat

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

start_account() {
	before=$(requests)
	for counter in taken held_ns longest_ns; do
		echo 0 >"${account}_$counter" || fail "this kernel does not count"
	done
	sed 's/[0-9]\+/0/g' "${account}_times" >"$TMP/times"
	cat "$TMP/times" >"${account}_times"
}

end_account() {
	for counter in taken held_ns longest_ns; do
		fact $counter "$(cat "${account}_$counter")"
	done
	fact times "$(cat "${account}_times")"
	fact requests "$(($(requests) - before))"
}

if [ "$1" = batch ]; then
	batch_device "$@"
	start_account
	sleep_ms "$2"
	end_account
	stop_loads ""
elif [ "$1" = stat ]; then
	shift
	crowd_device buffered "$@"
	set_nr_requests 2048
	start_account
	# All groups are below the first of these, and after the second on the device's list
	while :; do
		for nr in 1 2 3 4 5 6 7 8; do
			cat "$CG/cfq.stat" "$CG/c0/cfq.stat" 2>/dev/null
		done
		sleep 0.01
	done >"$TMP/stats" &
	crowd buffered "$@" >/dev/null
	kill $!
	fact stats "$(wc -l <"$TMP/stats")"
	end_account
else
	crowd_device "$@"
	start_account
	crowd "$@" >/dev/null
	end_account
fi
finish
