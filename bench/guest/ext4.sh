#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Two groups on one ext4; each process reads and writes, by turns and at random places, a file of its own.
#
#	ext4.sh RAMP SECONDS PRIORITY:PROCESSES PRIORITY:PROCESSES

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

NR_FILES=60	# of a group
FILE_MB=250
MNT=$TMP/mnt

# Files that are written all over as far as the file system knows, without writing 30 GB
make_files() {
	local nr

	make_ext4 "$DEV" 33G $((2 * NR_FILES)) $FILE_MB
	mkdir "$MNT"
	mount -t ext4 -o noatime,noinit_itable "$DEV" "$MNT" || exit
	mkdir "$MNT/1" "$MNT/2"
	nr=0
	while [ $nr -lt $NR_FILES ]; do
		mv "$MNT/f$nr" "$MNT/1/f.$nr"
		mv "$MNT/f$((NR_FILES + nr))" "$MNT/2/f.$nr"
		nr=$((nr + 1))
	done
}

# first_mb FILE: where it begins on the disk; files lie one after the other
first_mb() {
	filefrag -e -b1048576 "$1" | sed -n 's/^ *0: *[0-9]*\.\. *[0-9]*: *\([0-9]*\)\.\..*/\1/p'
}

# start_group NR PRIORITY PROCESSES
start_group() {
	make_group "g$1" "$2"
	(run_as "g$1" "$(task_prio "$2")" fio --directory="$MNT/$1" --filename_format=f.\$jobnum --direct=1 \
		--ioengine=psync --size="${FILE_MB}m" --bs=4k --rw=randrw --norandommap --invalidate=0 --randseed="$1" \
		--time_based --runtime=1000000 --disk_util=0 --numjobs="$3" --name=both --ramp_time="$RAMP" \
		--group_reporting --output="$OUT/fio.$1.json" --output-format=json+ \
		--percentile_list=50:99:99.9) >"$TMP/fio.$1" 2>&1 &
	LOADS="$LOADS $!"
}

RAMP=$1
seconds=$2
load_device disk
make_files
start_group 1 "${3%:*}" "${3#*:}"
start_group 2 "${4%:*}" "${4#*:}"
watch_mb "$(first_mb "$MNT/1/f.0")" $((NR_FILES * FILE_MB)) "$(first_mb "$MNT/2/f.0")" $((NR_FILES * FILE_MB))
sleep "$RAMP"
record "$seconds"
umount "$MNT" || fail "cannot unmount"
finish
