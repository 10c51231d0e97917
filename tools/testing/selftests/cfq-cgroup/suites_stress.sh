#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stressors of stress-ng on a file system, while fio writes, reads back and checks in another group.

. ./test_common.sh
. ./suites_common.sh

SECONDS_EACH=${SECONDS_EACH:-5}

# known_failure: nothing has failed but what is in $KNOWN
known_failure() {
	[ -n "$KNOWN" ] && grep -q 'fail:' "$TMP/output" &&
		! grep 'fail:' "$TMP/output" | grep -qv "$KNOWN"
}

# stress STRESSOR OPTION...: two of it
stress() {
	local stressor=$1 status

	shift
	title "stress-ng --$stressor"
	if ! stress-ng --help | grep -q -e "--$stressor N"; then
		echo "    ok 1 # SKIP this version has none"
		return
	fi
	load_disk write_cache=1 capacity_mb=600
	use_fs ext4 noatime
	make_group loads
	make_group stress
	verify_files loads
	(run_in stress stress-ng "--$stressor" 2 "$@" --verify --temp-path "$MNT" \
		--timeout "$SECONDS_EACH") >"$TMP/output" 2>&1
	status=$?
	sed 's/^/# /' "$TMP/output"
	if known_failure; then
		echo "    ok 1 # SKIP fails with $KNOWN on any disk"
	elif [ "$status" != 0 ]; then
		fail "it ended with status $status"
	fi
	stop_verifying
	retry umount "$MNT" || fail "cannot unmount"
}

sync_() { stress io; }
iomix() { stress iomix --iomix-bytes 16m; }
ioprio() { stress ioprio; }
cgroup() { stress cgroup; }
hdd() { stress hdd --hdd-bytes 16m; }
aio() { stress aio; }
aiol() { stress aiol; }
# Its statx finds no file, whatever the disk
io_uring() { KNOWN=IORING_OP_STATX stress io-uring; }
mmap() { stress mmap --mmap-bytes 4m --mmap-file; }

mount_unified
run_cases sync_ iomix ioprio cgroup hdd aio aiol io_uring mmap
