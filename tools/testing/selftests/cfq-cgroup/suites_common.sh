# SPDX-License-Identifier: GPL-2.0
# Common to the suites that others wrote, which run in groups of version 2, on a disk with a write
# cache, beside fio.

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

# verify NAME FIO_OPTION...: writes 2 MB of a file and checks them, until $TMP/stop exists
verify() {
	local name=$1 round=0

	shift
	while [ ! -e "$TMP/stop" ]; do
		round=$((round + 1))
		fio --name="$name" --directory="$MNT" --rw=randwrite --bs=4k --size=2m \
			--verify=crc32c --verify_fatal=1 --randseed="$round" --disk_util=0 \
			"$@" >"$TMP/verify.$name" 2>&1 || return 1
		echo "$round" >"$TMP/rounds.$name"
	done
}

# start_verifying GROUP: through the page cache, and past it in two ways
start_verifying() {
	VERIFIERS=
	(run_in "$1" verify buffered --fsync=32 --invalidate=1) &
	VERIFIERS="$VERIFIERS $!"
	(run_in "$1" verify direct --direct=1 --ioengine=libaio --iodepth=16) &
	VERIFIERS="$VERIFIERS $!"
	(run_in "$1" verify ring --direct=1 --ioengine=io_uring --iodepth=8) &
	VERIFIERS="$VERIFIERS $!"
}

# run_in GROUP FUNCTION...: in a subshell
run_in() {
	echo 0 >"$CG/$1/cgroup.procs" || exit
	shift
	"$@"
}

stop_verifying() {
	local pid name

	touch "$TMP/stop"
	for pid in $VERIFIERS; do
		wait "$pid" || fail "fio found wrong data, or an error"
	done
	for name in buffered direct ring; do
		grep -hE 'verify:|error|err= *[1-9]' "$TMP/verify.$name" | sed 's/^/# /'
		[ -s "$TMP/rounds.$name" ] || fail "nothing was checked, $name"
		note "$name: $(cat "$TMP/rounds.$name") times 2 MB were checked"
	done
	rm -f "$TMP"/stop "$TMP"/rounds.* "$TMP"/verify.*
}
