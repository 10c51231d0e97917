#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The modelled disk is the published one, and its accounts are right; the unit tests of disk and
# scheduler pass.

. ./test_common.sh

# The disk by itself
SCHED=none

# count NAME: a line of the disk's own account
count() {
	awk -v name="$1" '$1 == name { print $2 }' "$MODEL/stat"
}

unit_tests() {
	local module before passed failed

	title "the KUnit modules pass"
	for module in modules/cfq*kunit*.ko modules/cfq*test*.ko; do
		[ -e "$module" ] || continue
		before=$(dmesg | wc -l)
		insmod "$module" || fail "cannot load $module"
		dmesg | tail -n "+$((before + 1))" | sed 's/^\[[^]]*\] *//' >"$TMP/kunit"
		passed=$(grep -c '^ *ok ' "$TMP/kunit")
		failed=$(grep -c '^ *not ok ' "$TMP/kunit")
		grep 'not ok' "$TMP/kunit" | sed 's/^/# /'
		expect "$(basename "$module"): $passed passed, $failed failed" \
			"$passed > 1 && $failed == 0"
		rmmod "$(basename "$module" .ko)"
	done
}

# The published disk: about 75 MB/s
sequential() {
	local mb

	title "sequential reads: about 75 MB/s outside, less inside"
	load_disk
	watch_mb 0 1000
	start_load - - seq 1 0 --size=1g
	sleep 1
	measure 5
	mb=$(awk '{ print $6 * 512 / 5 / 1e6 }' "$TMP/ranges")
	stop_loads
	expect "outside $mb MB/s" "$mb > 67 && $mb < 83"
	watch_mb 200000 1000
	start_load - - seq 1 200000 --size=1g
	sleep 1
	measure 5
	inner=$(awk '{ print $6 * 512 / 5 / 1e6 }' "$TMP/ranges")
	expect "inside $inner MB/s" "$inner > 25 && $inner < 0.8 * $mb"
}

# iops READERS LEAST MOST: each with 250 MB of its own
iops() {
	local rate

	title "$1 random readers of 4 KB: $2 to $3 requests a second"
	load_disk
	run_groups 10 "$1" 4 read
	rate=$(ios | awk '{ print $1 / 10 }')
	expect "$rate requests a second" "$rate >= $2 && $rate <= $3"
}

random_alone() { iops 1 120 150; }
random_many() { iops 75 180 225; }

accounts() {
	local busy ranges

	title "the ranges' time is the busy time, and busy and idle are all the time"
	load_disk
	watch_mb 0 500 1000 500
	echo reset >"$MODEL/ranges"
	echo reset >"$MODEL/stat"
	before=$(clock)
	start_load - - mix 2 0
	start_load - - seq 1 1000
	start_load - - read 1 3000
	sleep 10
	stop_loads
	sleep 1
	ranges=$(awk '$1 != "start" { sum += $3 } END { printf "%.0f", sum }' "$MODEL/ranges")
	busy=$(count busy_ns)
	all=$((busy + $(count idle_ns)))
	elapsed=$(($(clock) - before))
	expect "ranges $ranges ns, busy $busy ns" "$ranges == $busy && $busy > 9e9"
	expect "busy and idle $all ns, elapsed $elapsed ns" \
		"$all > $elapsed - 5e7 && $all < $elapsed + 5e7"
	# shellcheck disable=SC2046 # a list of numbers
	set -- $(awk '$1 != "start" { print $4 + $5 }' "$MODEL/ranges")
	expect "requests of the ranges $*" \
		"$1 > 0 && $2 > 0 && $3 > 0 && $1 + $2 + $3 == $(count requests) - $(count flushes)"
}

# clock: ns since boot, to 10 ms
clock() {
	local up

	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}0000000"
}

keeps_data() {
	title "what was written comes back, the rest is zero"
	load_disk
	"$DD" if=/dev/urandom of="$TMP/data" bs=1M count=4 2>/dev/null
	"$DD" if="$TMP/data" of="$DEV" bs=64k seek=100 oflag=direct 2>/dev/null ||
		fail "cannot write"
	"$DD" if="$DEV" of="$TMP/back" bs=64k skip=100 count=64 iflag=direct 2>/dev/null ||
		fail "cannot read"
	cmp "$TMP/data" "$TMP/back" || fail "it is not what was written"
	"$DD" if="$DEV" bs=64k skip=164 count=1 iflag=direct 2>/dev/null |
		cmp -n 65536 - /dev/zero || fail "the rest is not zero"
}

read_sector() {
	"$DD" if="$DEV" of=/dev/null bs=512 count=1 iflag=direct skip="$1" 2>/dev/null
}

faults() {
	title "requests fail and time out where and as often as told; an unplugged disk is gone"
	load_disk timeout_ms=1000
	echo "1000 10 2" >"$MODEL/fail"
	read_sector 999 || fail "sector 999 fails"
	! read_sector 1009 || fail "sector 1009 does not fail"
	! read_sector 1000 || fail "sector 1000 does not fail"
	read_sector 1000 || fail "sector 1000 fails a third time"
	echo 1 >"$MODEL/hang"
	! read_sector 5 || fail "a hung request succeeds"
	read_sector 5 || fail "the next one fails"
	echo "1 requeue" >"$MODEL/hang"
	read_sector 5 || fail "a requeued request fails"
	expect "$(count timed_out) timed out" "$(count timed_out) == 2"
	echo 1 >"$MODEL/unplug"
	sleep 1
	! read_sector 5 || fail "an unplugged disk answers"
	[ ! -e "/sys/block/$DISK" ] || fail "/sys/block/$DISK is still there"
	echo 1 >"$MODEL/plug"
	retry read_sector 5 || fail "a plugged disk does not answer"
}

# written BLOCK: are the 64 blocks of $TMP/data from there on as they were written?
written() {
	"$DD" if="$DEV" bs=64k skip="$1" count=64 iflag=direct 2>/dev/null | cmp -s "$TMP/data" -
}

power_cut() {
	local lost

	title "a power cut loses what was in the write cache, and what was flushed is there"
	load_disk lossy=1 write_cache=1
	"$DD" if=/dev/urandom of="$TMP/data" bs=1M count=4 2>/dev/null
	"$DD" if="$TMP/data" of="$DEV" bs=64k oflag=direct conv=fsync 2>/dev/null
	# Elsewhere and over it
	"$DD" if="$TMP/data" of="$DEV" bs=64k seek=100 oflag=direct 2>/dev/null
	"$DD" if=/dev/zero of="$DEV" bs=64k seek=40 count=1 oflag=direct 2>/dev/null
	echo 1 >"$MODEL/unplug"
	echo 1 >"$MODEL/plug"
	retry read_sector 5 || fail "a plugged disk does not answer"
	lost=$(count lost_sectors)
	expect "$lost sectors are lost" "$lost > 0 && $lost <= 8320"
	written 0 || fail "what was flushed is not there"
	! written 100 || fail "what was in the cache is there"
}

run_cases unit_tests sequential random_alone random_many accounts keeps_data faults power_cut
