#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Who caused I/O pays for it, in version 1: by the bio where blkio is mounted together with cfq, by
# the owner of the memory where memory is. Version 2: test_whose_io.sh

. ./test_common.sh
. ./whose_io_common.sh

# mount_with CONTROLLER: cfq, together with it
mount_with() {
	[ ! -e "$CG/cgroup.procs" ] || umount "$CG"
	mkdir -p "$CG"
	retry mount -t cgroup -o "cfq,$1" none "$CG" || fail "cannot mount cfq and $1"
}

blkio_crypt() {
	title "with blkio: direct writes through dm-crypt share 8:1"
	mount_with blkio
	slow_disk
	make_mapped "crypt aes-xts-plain64 $CRYPT_KEY 0 $DEV 0"
	make_group g1 0
	make_group g2 7
	watch_mb 0 250 300 250
	start_writer g1 /dev/mapper/mapped direct
	start_writer g2 /dev/mapper/mapped direct --offset=300m
	split_8_to_1 "direct"
}

# One flusher writes for all groups that use a file system, so each has its own here.
memory_writeback() {
	title "with memory: two writers of files on two ext4 share 8:1"
	mount_with memory
	slow_disk
	make_group g1 0
	make_group g2 7
	make_mapped "linear $DEV 0"
	make_mapped "linear $DEV $((700 * MB))" mapped2
	make_ext4 /dev/mapper/mapped 600M 1 "$FILE_MB"
	make_ext4 /dev/mapper/mapped2 600M 1 "$FILE_MB"
	use_ext4 /dev/mapper/mapped "$MNT"
	use_ext4 /dev/mapper/mapped2 "$LOWER"
	watch_mb 0 300 700 300
	start_writer g1 "$MNT/f0" buffered
	start_writer g2 "$LOWER/f0" buffered
	split_8_to_1 "buffered"
}

run_cases blkio_crypt memory_writeback
