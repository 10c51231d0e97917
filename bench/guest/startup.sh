#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How long a program takes to start, which is to read what is in no cache, a little here and there, one after the
# other: alone, and beside readers and writers in sequence, five each or so many; and what these have before, meanwhile and after.
#
#	startup.sh GROUP GROUP_OF_OTHERS [READERS WRITERS]	each group begins with its priority

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

READS=200
RAMP=5
COUNTED=10	# seconds of the others before and after

# start NAME: the program, from an empty page cache; fio's report is fio.NAME.json. The device counts for the others
# from its first read to its last.
start() {
	drop_caches
	(run_as "$group" "$(priority_of "$group")" fio --name=program --filename="$MNT/f10" --size="${FILE_MB}m" \
		--rw=randread --bsrange=4k-28k --number_ios="$READS" --ioengine=psync --invalidate=0 --randseed=1 \
		--disk_util=0 --output="$OUT/fio.$1.json" --output-format=json+ --percentile_list=50:99:99.9 \
		--exec_prerun="sh -c 'echo reset >$MODEL/ranges'" \
		--exec_postrun="sh -c 'grep ^[0-9] $MODEL/ranges >$OUT/ranges.$1'") >"$TMP/fio.$1" 2>&1 ||
		fail "the program has failed"
}

# count NAME: what the others have for a while
count() {
	measure "$COUNTED"
	cp "$TMP/ranges" "$OUT/ranges.$1"
}

group=$1
others=$2
readers=${3:-5}
writers=${4:-5}
use_device disk 11
use_group "$group"
watch_mb "$(first_mb "$MNT/f0")" $((10 * FILE_MB))
start alone
start_job readers "$others" stream "$readers" 0
[ "$writers" = 0 ] || start_job writers "$others" writer "$writers" "$readers"
sleep $RAMP
fact counted_s "$COUNTED"
count before
start beside
count after
stop_loads ""
leave_device
