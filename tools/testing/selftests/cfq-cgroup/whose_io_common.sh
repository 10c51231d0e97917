#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Common to the tests of whose I/O it is: writers of files, and what is between them and the disk

DURATION=${DURATION:-8}	# of virtual time, each share
BOUND=${BOUND:-4}		# percentage points
FILE_MB=250
MNT=$TMP/mnt
LOWER=$TMP/lower
# shellcheck disable=SC2034 # the tests use it
BACKING=$LOWER/f0
# shellcheck disable=SC2034
CRYPT_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
# By path, as with dd
# shellcheck disable=SC2034
LOSETUP=$([ -x /usr/bin/losetup ] && echo /usr/bin/)losetup

# A disk of 20 MB/s, so that the processor is not what is short, and requests small against a turn
slow_disk() {
	load_disk outer_sectors_per_track=340 inner_sectors_per_track=340 "$@"
	echo 128 >"$QUEUE/max_sectors_kb"
}

# use_ext4 DEVICE DIRECTORY
use_ext4() {
	mkdir -p "$2"
	mount -t ext4 -o noatime,noinit_itable "$1" "$2" || fail "cannot mount $1"
}

use_files() {
	make_ext4 "$1" 600M 2 "$FILE_MB"
	use_ext4 "$1" "$MNT"
	[ -e "$MNT/f1" ]
}

# make_fs DEVICE FILES FILE_MB MKE2FS_OPTION...: with files f0, f1 ... that are taken for written
make_fs() {
	local dev=$1 nr=$2 mb=$3

	shift 3
	mke2fs_ext4 dir_index "$nr" "$mb" -E nodiscard "$@" "$dev" 600M
}

ONLY_WANTED=noatime,noinit_itable,no_prefetch_block_bitmaps,inode_readahead_blks=0

# use_small_groups [FUNCTION [PARAMETER]]: a file system on the disk itself, whose metadata lies in
# 150 places, and none of it in memory; first FUNCTION fills it. With $FS_OPTIONS, it is mounted so:
# otherwise each read is what somebody needs. $MORE is for mke2fs.
use_small_groups() {
	load_disk ${2:+"$2"}
	# shellcheck disable=SC2086 # words
	make_fs "$DEV" 1 1 -g 1024 -N 16384 $MORE
	if [ -n "$1" ]; then
		use_ext4 "$DEV" "$MNT"
		$1
		umount "$MNT" || fail "cannot unmount"
	fi
	mkdir -p "$MNT"
	mount -t ext4 -o "${FS_OPTIONS:-$ONLY_WANTED}" "$DEV" "$MNT" || fail "cannot mount"
}

leave_files() {
	umount "$MNT" || fail "cannot unmount"
}

make_backing_file() {
	make_ext4 "$1" 800M 1 700
	use_ext4 "$1" "$LOWER"
}

# make_mapped TARGET [NAME]
make_mapped() {
	dmsetup create "${2:-mapped}" --table "0 $((700 * MB)) $1" || fail "no device with $1"
	retry [ -e "/dev/mapper/${2:-mapped}" ] || dmsetup mknodes
}

# make_raid1 NAME NAME: /dev/md0, of mapped devices, as mdadm --build would make it
make_raid1() {
	local md=/sys/block/md0/md slot=0 name

	echo md0 >/sys/module/md_mod/parameters/new_array
	echo none >$md/metadata_version
	echo raid1 >$md/level
	echo 2 >$md/raid_disks
	echo $((640 << 10)) >$md/component_size
	for name; do
		name=$(dmsetup info -c --noheadings -o blkdevname "$name")
		cat "/sys/block/$name/dev" >$md/new_dev
		echo $slot >"$md/dev-$name/slot"
		slot=$((slot + 1))
	done
	echo none >$md/resync_start
	echo active >$md/array_state || fail "no RAID1 array"
}

# first_mb FILE: where it begins on its device; files lie one after the other
first_mb() {
	filefrag -e -b1048576 "$1" | sed -n 's/^ *0: *[0-9]*\.\. *[0-9]*: *\([0-9]*\)\.\..*/\1/p'
}

# watch_files FIRST: the disk counts for f0 and f1
watch_files() {
	watch_mb $(($1 + $(first_mb "$MNT/f0"))) "$FILE_MB" \
		$(($1 + $(first_mb "$MNT/f1"))) "$FILE_MB"
}

# start_writer GROUP FILE direct|buffered|synced [FIO_OPTION...]
start_writer() {
	local group=$1 file=$2 how=$3

	shift 3
	case $how in
	direct) set -- --direct=1 --rw=randwrite --bs=4k --numjobs=8 --norandommap "$@" ;;
	buffered) set -- --direct=0 --rw=write --bs=64k "$@" ;;
	synced)
		set -- --direct=0 --rw=randwrite --bs=4k --numjobs=8 --norandommap \
			--sync_file_range=wait_before,write,wait_after:1 "$@"
		;;
	esac
	(run_as "$group" - fio --name=writer --filename="$file" --size="${FILE_MB}m" --overwrite=1 \
		--ioengine=psync --fallocate=none --invalidate=0 --time_based --runtime=1000000 \
		--disk_util=0 "$@") >"$TMP/fio.$group" 2>&1 &
	LOADS="$LOADS $!"
}

# split_8_to_1 LOAD: shares of the two stretches that are watched
split_8_to_1() {
	case $1 in
	# Once there is as much dirty as there may be
	buffered) sleep 6 ;;
	*) sleep 0.5 ;;
	esac
	measure "$DURATION"
	expect "$1: $(shares) %, $(ios) requests, error $(share_error 0 7) pp" \
		"$(share_error 0 7) <= $BOUND && $(ios) > 20"
}

# In place of the usual one, since the disk must be free to go
clean_up() {
	local name

	stop_loads
	umount "$MNT" 2>/dev/null
	losetup -d /dev/loop0 2>/dev/null
	retry umount_if_mounted "$LOWER"
	[ ! -e /sys/block/md0 ] || retry stop_raid1
	[ ! -e /dev/mapper/swap ] || swapoff /dev/mapper/swap
	for name in mapped mapped2 swap; do
		[ ! -e "/dev/mapper/$name" ] || retry dmsetup remove "$name"
	done
	remove_groups
	unload_disk
}

stop_raid1() {
	echo clear >/sys/block/md0/md/array_state
}

umount_if_mounted() {
	! grep -q " $1 " /proc/mounts || umount "$1"
}
