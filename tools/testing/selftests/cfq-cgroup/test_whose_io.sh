#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Who caused I/O pays for it, whoever submits it: shares of two groups in version 2, whose I/O goes
# through writeback, stacked devices and io_uring. Version 1: test_whose_io_v1.sh

. ./test_common.sh
. ./whose_io_common.sh

# two_ways buffered|synced DEVICE [FIRST]: both groups write files on an ext4 on DEVICE, which lies
# in the disk from FIRST MB on; directly first, then through the page cache
two_ways() {
	local how

	use_files "$2" || return
	make_group g1 0
	make_group g2 7
	watch_files "${3:-0}"
	for how in direct "$1"; do
		start_writer g1 "$MNT/f0" "$how"
		start_writer g2 "$MNT/f1" "$how"
		split_8_to_1 "$how"
		stop_loads
	done
	leave_files
}

writeback() {
	title "ext4: direct and buffered writes share 8:1"
	slow_disk
	two_ways buffered "$DEV"
}

# Where only few descriptors are for that, those are what is shared; on 6.12 it is as above
few_async() {
	title "ext4: also where no more than 16 buffered writes are queued"
	slow_disk
	[ ! -e "$QUEUE/async_depth" ] || echo 16 >"$QUEUE/async_depth" || fail "cannot set it"
	two_ways buffered "$DEV"
}

# Readers who want more descriptors than there are, and of which some are for all but async ones
beside_readers() {
	title "ext4: buffered writes beside 150 readers of another group: half of the disk"
	load_disk
	[ ! -e "$QUEUE/async_depth" ] || echo 16 >"$QUEUE/async_depth" || fail "cannot set it"
	use_files "$DEV" || return
	make_group g1 4
	make_group g2 4
	watch_mb "$(first_mb "$MNT/f0")" "$FILE_MB" 1000 37500
	start_load g2 - read 150 1000
	sleep 2
	start_writer g1 "$MNT/f0" buffered
	sleep 8
	measure "$DURATION"
	expect "$(shares) %, $(ios 1) requests" "$(share 1) >= 40 && $(share 1) <= 60"
	stop_loads
	leave_files
}

afterwards() {
	local before

	title "a writer that has ended pays, and its parent when the group is removed"
	slow_disk
	use_files "$DEV" || return
	make_group p
	make_group p/a
	set -- "$DD" if=/dev/zero bs=64k count=64 conv=notrunc
	(run_as p/a - "$@" of="$MNT/f0") 2>/dev/null
	sync
	expect "p/a has $(stat p/a sectors) sectors" "$(stat p/a sectors) >= 8192"
	before=$(stat p sectors)
	(run_as p/a - "$@" of="$MNT/f1") 2>/dev/null
	remove_group p/a
	sync
	expect "p has $(($(stat p sectors) - before)) more" "$(stat p sectors) - $before >= 8192"
	leave_files
}

linear() {
	title "dm-linear: direct and buffered writes share 8:1"
	slow_disk
	make_mapped "linear $DEV 0"
	two_ways buffered /dev/mapper/mapped
}

# Writeback of the slower group would fill what dm-crypt and loop have room for, so each writer
# waits for what it has written.
crypt() {
	title "dm-crypt: direct and buffered writes share 8:1"
	slow_disk
	make_mapped "crypt aes-xts-plain64 $CRYPT_KEY 0 $DEV 0"
	two_ways synced /dev/mapper/mapped
}

# Each half has a place of its own on the disk; the first is looked at.
raid1() {
	title "md raid1: direct and buffered writes share 8:1"
	slow_disk
	make_mapped "linear $DEV 0"
	make_mapped "linear $DEV $((700 * MB))" mapped2
	make_raid1 mapped mapped2
	two_ways buffered /dev/md0
}

loop() {
	title "loop over a file of another ext4: direct and buffered writes share 8:1"
	slow_disk
	make_backing_file "$DEV"
	"$LOSETUP" --direct-io=on /dev/loop0 "$BACKING" || fail "no loop device"
	two_ways synced /dev/loop0 "$(first_mb "$BACKING")"
}

# What goes to the disk is submitted by one thread, for one group and the other in turn.
helper_queues() {
	local made nr1 nr2

	title "dm-crypt: what its thread does for a group is on a queue that lasts"
	slow_disk
	make_mapped "crypt aes-xts-plain64 $CRYPT_KEY 0 $DEV 0"
	make_group g1 0
	make_group g2 7
	start_writer g1 /dev/mapper/mapped direct
	start_writer g2 /dev/mapper/mapped direct --offset=300m
	sleep 1
	nr1=$(stat g1 requests)
	nr2=$(stat g2 requests)
	count_queues
	sleep 2
	made=$(queues_made)
	nr1=$(($(stat g1 requests) - nr1))
	nr2=$(($(stat g2 requests) - nr2))
	expect "$nr1 and $nr2 requests" "$nr1 > 4 && $nr2 > 4"
	expect "$made queues were made" "$made == 0"
}

# uring FIO_OPTION...: random reads with eight in flight, by a process that is moved to its group
uring() {
	load_disk
	make_group g1 0
	make_group g2 7
	start_load - - read 1 1000 --thread --ioengine=io_uring --iodepth=8 "$@"
	start_load - - read 1 2000 --thread --ioengine=io_uring --iodepth=8 "$@"
	sleep 0.5
	echo "${LOADS% *}" >"$CG/g1/cgroup.procs"
	echo "${LOADS##* }" >"$CG/g2/cgroup.procs"
	watch_mb 1000 250 2000 250
	split_8_to_1 "reads"
	stop_loads
}

uring_plain() {
	title "io_uring: reads share 8:1"
	uring
}

uring_async() {
	title "io_uring, handed to workers: reads share 8:1"
	uring --force_async=1
}

uring_polled() {
	title "io_uring, submitted by its own thread: reads share 8:1"
	# Polling keeps the processor busy all the time, so this is short, and so are turns
	TUNE="$TUNE group_slice=100"
	DURATION=2
	uring --sqthread_poll=1
}

mount_unified
run_cases raid1 writeback few_async beside_readers afterwards linear crypt helper_queues loop \
	uring_plain uring_async uring_polled
