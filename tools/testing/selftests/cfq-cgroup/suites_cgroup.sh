#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own tests of cgroups, from tools/testing/selftests/cgroup, which kit/run-suites puts
# into /guest, while a group of the disk's scheduler reads and writes.

. ./test_common.sh
. ./suites_common.sh

# Where it is the controller of the scheduler, it is taken from the group with requests in flight.
STRESSED=io
[ "$SCHED" != cfq ] || STRESSED=cfq

# beside_io COMMAND...: its results are those of the case
beside_io() {
	local status

	load_disk write_cache=1 capacity_mb=600
	use_fs ext4 noatime
	make_group loads
	verify_files loads
	"$@" >"$TMP/output" 2>&1
	status=$?
	sed 's/^/    /' "$TMP/output"
	case $status in
	0) ;;
	"$KSFT_SKIP") echo "    ok 1 # SKIP $(tail -n 1 "$TMP/output")" ;;
	*) fail "it ended with status $status" ;;
	esac
	stop_verifying
	retry umount "$MNT" || fail "cannot unmount"
}

# within_three COMMAND...: what it says when it succeeds, or the last time. Some of these tests look
# once at what is so a moment later, and beside I/O they fail now and then, with any scheduler.
within_three() {
	local status try

	for try in 1 2 3; do
		"$@" >"$TMP/try" 2>&1
		status=$?
		[ "$status" != 0 ] || break
		grep '^not ok' "$TMP/try" | sed "s/^/# try $try: /"
	done
	cat "$TMP/try"
	return "$status"
}

core() {
	title "test_core, with_stress.sh -s subsys -s fork"
	beside_io within_three \
		/guest/with_stress.sh -c "$STRESSED" -s subsys -s fork -d 20 /guest/test_core
}

freezer() {
	title "test_freezer"
	beside_io within_three /guest/test_freezer
}

kill_() {
	title "test_kill"
	beside_io /guest/test_kill
}

pids() {
	title "test_pids"
	beside_io /guest/test_pids
}

mount_unified
# Two of them are about it
mount -o remount,nsdelegate none "$CG" || fail "cannot delegate by namespaces"
run_cases core freezer kill_ pids
