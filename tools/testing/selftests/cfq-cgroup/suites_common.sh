# SPDX-License-Identifier: GPL-2.0
# Common to the suites that others wrote, which run in groups of version 2, on a disk with a write
# cache, beside fio.

. ./stress_common.sh

MNT=$TMP/mnt
mkdir -p "$MNT"

# use_fs TYPE OPTIONS: an empty file system on the disk
use_fs() {
	case $1 in
	# By path, for busybox has one of its own
	ext4) /usr/bin/mke2fs -q -t ext4 -E nodiscard "$DEV" ;;
	xfs) mkfs.xfs -q -K "$DEV" ;;
	btrfs) mkfs.btrfs -q -K "$DEV" ;;
	esac >/dev/null || fail "cannot make a file system"
	mount -t "$1" -o "$2" "$DEV" "$MNT" || fail "cannot mount"
}

# run_in GROUP FUNCTION...: in a subshell
run_in() {
	echo 0 >"$CG/$1/cgroup.procs" || exit
	shift
	"$@"
}

# verify_files GROUP: on that, through the page cache, and past it in two ways
verify_files() {
	verify "$1" "$MNT/buffered" 0 --rw=randwrite --bs=4k --fsync=32 --invalidate=1
	verify "$1" "$MNT/direct" 0 --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=16
	verify "$1" "$MNT/ring" 0 --rw=randwrite --bs=4k --direct=1 --ioengine=io_uring --iodepth=8
}
