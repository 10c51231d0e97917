#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Groups on a device without a head: shares, and what they cost; a quiet reader beside a flood.

. ./test_common.sh

# So that the device and not the processor is short
SLOW="read_us=800"

# flood_with_and_without PARAMETERS PRIORITY...: a group for each; leaves in $TMP/ranges what a
# device does for them, and compares with what it does without a scheduler
flood_with_and_without() {
	local device=$1 groups='' all prio

	shift
	# shellcheck disable=SC2086 # parameters
	load_flash $device
	for prio; do
		make_group "g$prio" "$prio"
		groups="$groups g$prio"
	done
	select_sched none
	# shellcheck disable=SC2086 # a list of names
	flood 4 $groups
	all=$(ios)
	stop_loads
	select_sched "$SCHED"
	# shellcheck disable=SC2086 # a list of names
	flood 4 $groups
	expect "requests $(ios), without a scheduler $all" "$(ios) >= 0.98 * $all"
}

shares_and_rate() {
	title "groups 0/4/7, 64 requests each: shares within 0.5 pp, 98 % of what the device can do"
	flood_with_and_without "$SLOW" 0 4 7
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 0.5"
}

# Which does 58.8 thousand in a second, as many as a simple scheduler can ask for in the kernel of
# the VM; one of a distribution needs more instructions for a request
as_fast() {
	title "the same where the device is as fast as the processor: within 2 pp, 98 %"
	flood_with_and_without "read_us=68" 0 4 7
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 2"
}

# Then each would have as much as the processor does for it. That it can be otherwise is found out
# first.
faster() {
	title "the same where the device is twice as fast as the processor: within 2.5 pp"
	load_flash read_us=32
	make_group g0 0
	make_group g4 4
	make_group g7 7
	flood 1 g0 g4 g7
	sleep 1
	measure 3
	expect "shares of device time $(shares) %, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 2.5"
	expect "who is ahead waits: $(shown device strict)" "$(shown device strict) == 1"
}

computing() {
	local alone hog

	title "a processor that computes is no reason to leave a device idle for who reads little"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group a 0
	make_group b 7
	(run_as b - sh -c "while :; do :; done") &
	hog=$!
	start_load b - read 1 1000 --ioengine=libaio --iodepth=3
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 3
	alone=$(ios 2)
	start_load a - read 1 0 --thinktime=1000
	sleep 1
	measure 3
	kill "$hog"
	wait "$hog" 2>/dev/null
	expect "requests: $(ios 2), without who reads little $alone" "$(ios 2) >= 0.8 * $alone"
	expect "who reads little: $(ios 1)" "$(ios 1) > 500"
}

alone() {
	title "a group that is alone has all of the device, however low its priority"
	flood_with_and_without "$SLOW" 7
}

quiet_reader() {
	local quiet

	title "a reader of priority 0 has a third of its rate beside 64 requests of priority 7"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group a 0
	make_group b 7
	start_load a - read 1 0
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 2
	quiet=$(ios 1)
	# shellcheck disable=SC2086 # options
	start_load b - read 4 1000 $DEEP
	sleep 1
	measure 2
	expect "requests of the reader: $(ios 1), alone $quiet" "$(ios 1) >= 0.33 * $quiet"
	expect "requests of the others: $(ios 2)" "$(ios 2) >= 2 * $(ios 1)"
}

# In order of sectors, one would wait until all that came before it on the device is done.
oldest_first() {
	title "the oldest request goes first: of 256 none waits for 2.5 times as long as the mean"
	load_flash read_us=160 queue_depth=16
	echo 256 >"$QUEUE/nr_requests"
	make_group a
	load_with_log a - read 1 0 --ioengine=libaio --iodepth=256
	sleep 3
	stop_loads
	expect "ms: 99.9 % $(log_ms 0 99.900000), mean $(log_ms 0 mean)" \
		"$(log_ms 0 99.900000) <= 2.5 * $(log_ms 0 mean)"
}

# More is free then than both can use, as long as group a has two requests at a time.
left_over() {
	title "a group that had what another left has its share as soon as that wants its own"
	load_flash channels=16 read_us=1600
	make_group a 0
	make_group b 7
	watch_mb 0 1000 1000 1000
	start_load a - read 2 0
	# shellcheck disable=SC2086 # options
	start_load b - read 4 1000 $DEEP
	sleep 0.5
	measure 3
	expect "shares of device time $(shares) %" "$(share 2) >= 70"
	# shellcheck disable=SC2086 # options
	start_load a - read 4 0 $DEEP
	sleep 0.5
	measure 0.5
	expect "then $(shares) %, error $(share_error 0 7) pp" "$(share_error 0 7) <= 1"
}

# The reader is always behind, and has nothing to send for most of the time.
beside_reader() {
	title "two floods beside a reader share the rest by their weights, within 1 pp"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group a 0
	make_group b 7
	make_group reader 4
	watch_mb 0 1000 1000 1000
	start_load reader - read 1 2000
	# shellcheck disable=SC2086 # options
	start_load a - read 4 0 $DEEP
	# shellcheck disable=SC2086 # options
	start_load b - read 4 1000 $DEEP
	sleep 1
	measure 4
	expect "shares of device time $(shares) %, error $(share_error 0 7) pp" \
		"$(share_error 0 7) <= 1"
}

# The other way round: it is the flood whose weight is large.
beside_light_readers() {
	local nr alone

	title "three readers of priority 7 beside a flood of 0 have a quarter of their rate alone"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	watch_mb 0 750 1000 1000
	for nr in 0 1 2; do
		make_group "r$nr" 7
		start_load "r$nr" - read 1 $((250 * nr))
	done
	sleep 0.5
	measure 1
	alone=$(ios 1)
	make_group flood 0
	# shellcheck disable=SC2086 # options
	start_load flood - read 4 1000 $DEEP
	sleep 1
	measure 2
	expect "requests in two seconds: $(ios 1), in one alone $alone" \
		"$(ios 1) >= 2 * 0.25 * $alone"
}

# By the length of their slices on a disk: 160, 100 and 40 ms
levels() {
	local level first=0

	title "tasks of levels 1, 4 and 7 in a group, 64 requests each: within 1.5 pp of 53/33/13 %"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group g
	watch_mb 0 1000 1000 1000 2000 1000
	for level in 1 4 7; do
		# shellcheck disable=SC2086 # options
		start_load g "be/$level" read 4 "$first" $DEEP
		first=$((first + 1000))
	done
	sleep 1
	measure 4
	expect "shares of device time $(shares) %" "$(distance 53.3 33.3 13.3) <= 1.5"
}

# Nobody is held back for the reader, which would cost an eighth of the device.
equal_levels() {
	local all sched

	title "a reader beside 64 requests of its equals in a group: 98 % of what the device can do"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group g
	watch_mb 0 2000
	for sched in none "$SCHED"; do
		select_sched "$sched"
		start_load g - read 1 0
		# shellcheck disable=SC2086 # options
		start_load g - read 4 1000 $DEEP
		sleep 1
		measure 2
		[ "$sched" != none ] || all=$(ios)
		stop_loads
	done
	expect "requests $(ios), without a scheduler $all" "$(ios) >= 0.98 * $all"
}

# two_floods LOAD [OPTION...]: and another one that reads with these options, of the same priority
two_floods() {
	local first=$1

	shift
	make_group g1
	make_group g2
	# shellcheck disable=SC2086 # options
	start_load g1 - "$first" 4 0 $DEEP
	# shellcheck disable=SC2086 # options
	start_load g2 - read 4 1000 $DEEP "$@"
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 4
}

sizes() {
	title "small requests beside large ones: half of the device each, within 2 pp"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	two_floods read --bs=64k
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 2"
}

# not_full NR FILE VALUE SIZE SIZE: floods of these sizes, beside readers with that setting. As who
# is ahead is held back, parts of the device have nothing to do, and work is dear: for all sizes.
not_full() {
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW channels=16
	make_group g1
	make_group g2
	make_group g3
	echo "$3" >"$CG/g3/$FILES.$2" || fail "cannot set $2"
	start_load g3 - read "$1" 2000
	# shellcheck disable=SC2086 # options
	start_load g1 - read 4 0 $DEEP --bs="$4"
	# shellcheck disable=SC2086 # options
	start_load g2 - read 4 1000 $DEEP --bs="$5"
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 4
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 2"
}

sizes_beside_readers() {
	title "4 and 64 KiB beside readers of weight 800: half of the rest each, within 2 pp"
	not_full 2 weight 800 4k 64k
}

sizes_beside_rt() {
	title "16 and 128 KiB beside a reader of real time: half of the rest each, within 2 pp"
	not_full 1 ioprio_class 1 16k 128k
}

# Volumes of which the number of requests a second is limited; the second by how many at a time
costs_by_request() {
	title "the same where a read takes as long whatever its size, $1 at a time: within 2 pp"
	load_flash page_kb=64 interface_us=600 channels="$1" read_us="$2"
	two_floods read --bs=64k
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 2"
	expect "a read of 64 KiB counts as $(shown device read_64k_work) of 4 KiB" \
		"$(shown device read_64k_work) < 1.5"
}

by_request() {
	costs_by_request 1 333
}

by_request_16() {
	costs_by_request 16 2000
}

# Many have these inside.
pages_of_16k() {
	title "flash that reads 16 KiB at once: reads of 4, 16 and 64 KiB, a third each within 2 pp"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW page_kb=16
	make_group g3
	two_floods read --bs=64k
	# shellcheck disable=SC2086 # options
	start_load g3 - read 4 2000 $DEEP --bs=16k
	watch_mb 0 1000 1000 1000 2000 1000
	sleep 2
	measure 4
	expect "shares of device time $(shares) %" "$(distance 33.3 33.3 33.3) <= 2"
	expect "a read of 64 KiB counts as $(shown device read_64k_work) of 4 KiB" \
		"$(shown device read_64k_work) >= 3.5 && $(shown device read_64k_work) <= 4.5"
}

# By itself a large read takes an eighth of what it takes of the volume
rented() {
	title "a volume of 100 MB/s with a burst: reads of 4 and 256 KiB, a half each within 3 pp"
	load_flash read_us=20 limit_mb_s=100
	two_floods read --bs=256k
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 3"
}

# A trial of these would take too long
rented_slow() {
	title "a volume of 20 MB/s: reads of 4 KiB come to such of 1 MiB, a half each within 5 pp"
	load_flash read_us=20 limit_mb_s=20
	make_group g1
	make_group g2
	# shellcheck disable=SC2086 # options
	start_load g1 - read 4 0 $DEEP --bs=1m
	watch_mb 0 1000 1000 1000
	sleep 3
	# shellcheck disable=SC2086 # options
	start_load g2 - read 4 1000 $DEEP
	sleep 1
	measure 8
	expect "shares of device time $(shares) %" "$(distance 50 50) <= 5"
}

writes_of_pages() {
	title "flash that writes 16 KiB at once: writes of 4 and 64 KiB, a half each within 3 pp"
	load_flash page_kb=16 read_us=200 program_us=1000 erase_us=2500
	make_group g1
	make_group g2
	# shellcheck disable=SC2086 # options
	start_load g1 - write 4 0 $DEEP
	# shellcheck disable=SC2086 # options
	start_load g2 - write 4 1000 $DEEP --bs=64k
	watch_mb 0 1000 1000 1000
	sleep 2
	measure 4
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 3"
}

# A few of the largest take so long that it is not measured what one takes.
slow_sizes() {
	title "slow flash, reads of 4 KiB, 1 MiB and 256 KiB: shares of 12.5, 75 and 12.5 %"
	load_flash channels=2 read_us=400
	make_group g1 7
	make_group g2 2
	make_group g3 7
	watch_mb 0 1000 1000 4000 5000 1000
	start_load g1 - read 4 0 --ioengine=libaio --iodepth=16
	start_load g2 - read 16 1000 --ioengine=libaio --iodepth=2 --bs=1m
	start_load g3 - read 1 5000 --ioengine=libaio --iodepth=32 --bs=256k
	sleep 4
	# A single read of 1 MiB takes 51 ms.
	measure 12
	expect "shares of device time $(shares) %" "$(distance 12.5 75 12.5) <= 1"
}

# What is large is held for the other group's reader, which cannot have what small ones take.
own_small() {
	title "a stream of 512 KiB beside four small readers of its group: as much as one of them"
	load_flash
	make_group g
	make_group h
	watch_mb 0 1000 1000 1000 2000 1000
	start_load g - read 4 0
	start_load g - seq 1 1000 --bs=512k --ioengine=libaio --iodepth=8
	start_load h - read 1 2000
	sleep 1
	measure 4
	expect "shares of device time $(shares) %" \
		"$(share 2) >= 0.2 * $(share 1) && $(share 2) <= 0.3 * $(share 1)"
}

# What a write costs is only roughly known, and the device stalls by chance.
writes() {
	title "writes, five times as long as reads, beside these: half each, within 15 pp"
	load_flash read_us=400 program_us=2000 erase_us=12500
	two_floods write
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 15"
}

# Slow, so that the processor is not short. Many of these are sent at once, which says
# nothing of how many the device works on at the same time.
writes_of_4m() {
	local seconds=$1

	shift
	load_flash read_us=400 program_us=2000 erase_us=12500 "$@"
	make_group g1
	make_group g2
	# shellcheck disable=SC2086 # options
	start_load g1 - read 4 0 $DEEP
	# shellcheck disable=SC2086 # options
	start_load g2 - write 4 1000 $DEEP --bs=4m
	watch_mb 0 1000 1000 1000
	sleep 1
	measure "$seconds"
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 15"
}

huge_writes() {
	title "reads beside 64 writes of 4 MiB: half of the device each, within 15 pp"
	writes_of_4m 8
}

# The same in single requests, as of a program that has huge pages
huger_writes() {
	title "reads beside 64 writes of 4 MiB in one piece: half of the device each, within 15 pp"
	writes_of_4m 20 max_segments=1024
}

# Who waits for each of its reads has nothing to send for a moment after each
stream() {
	title "a stream beside 64 writes of 4 MiB: half of the device each, within 5 pp"
	load_flash
	make_group g1
	make_group g2
	start_load g1 - seq 1 0
	# shellcheck disable=SC2086 # options
	start_load g2 - write 4 1000 $DEEP --bs=4m
	watch_mb 0 1000 1000 1000
	sleep 2
	measure 6
	expect "shares of device time $(shares) %, of $(ios 1) and $(ios 2) requests" \
		"$(distance 50 50) <= 5"
}

# One of these keeps all channels busy for longer than a read takes, so the next one waits until the
# reader has had its share.
large_writes() {
	local alone

	title "a reader of priority 0 beside 64 writes of 64 KiB of 7: 0.8 of its reads alone"
	load_flash
	make_group g0 0
	make_group g7 7
	watch_mb 0 1000 1000 1000
	start_load g0 - read 1 0
	sleep 0.5
	measure 1
	alone=$(ios 1)
	# shellcheck disable=SC2086 # options
	start_load g7 - write 4 1000 $DEEP --bs=64k
	sleep 2
	measure 4
	expect "$(ios 1) reads, alone $((4 * alone)), $(ios 2) writes" \
		"$(ios 1) >= 0.8 * 4 * $alone && $(ios 1) >= 0.9 * $(ios 2) && $(ios 2) > 100"
}

# Each of them keeps the device busy by itself, however many requests that are.
streams() {
	title "streams of two reads of 256 KiB each at a time, priorities 0 and 7: within 2 pp"
	load_flash
	make_group g0 0
	make_group g7 7
	start_load g0 - seq 1 0 --bs=256k --ioengine=libaio --iodepth=2
	start_load g7 - seq 1 1000 --bs=256k --ioengine=libaio --iodepth=2
	watch_mb 0 1000 1000 1000
	sleep 2
	measure 3
	expect "shares of device time $(shares) %" "$(share_error 0 7) <= 2"
}

# Between one read and the next nothing is sent that takes long.
one_page() {
	local alone

	title "a reader beside two streams of 512 KiB, equal weights: 0.9 to 1.25 of its share"
	load_flash
	make_group reader
	make_group g1
	make_group g2
	watch_mb 0 1000 1000 1000 2000 1000
	start_load reader - read 1 0
	sleep 0.5
	measure 1
	alone=$(ios 1)
	start_load g1 - seq 1 1000 --bs=512k
	start_load g2 - seq 1 2000 --bs=512k
	sleep 1
	measure 3
	expect "$(ios 1) reads, alone $((3 * alone)), $(ios 2) and $(ios 3) of the streams" \
		"$(ios 1) >= 0.9 * $alone && $(ios 1) <= 1.25 * $alone && $(ios 2) > 200"
}

# The first one waits for the reader each time, and must not lose what it is owed meanwhile.
stream_owed() {
	title "a stream of weight 800 beside reads of 64 KiB and a reader of 100: 7 times as much"
	load_flash
	make_group stream
	make_group reads
	make_group reader
	echo 800 >"$CG/stream/$FILES.weight" || fail "cannot set a weight"
	watch_mb 0 1000 1000 1000 2000 1000
	start_load stream - seq 1 0 --bs=512k --ioengine=libaio --iodepth=8
	start_load reads - read 2 1000 --bs=64k
	start_load reader - read 1 2000
	sleep 1
	measure 4
	# For how long it was kept for the reader the device does not know.
	expect "shares of device time $(shares) %" "$(share 1) >= 7 * $(share 2)"
}

# busy NR: device time of the NRth stretch
busy() {
	awk -v nr="$1" 'NR == nr { print $3 }' "$TMP/ranges"
}

# A stream waits for an eighth of what its request takes, and not until the reader comes again. What
# waits is merged, so its requests say nothing.
thinking() {
	local alone

	title "a stream of 512 KiB beside a reader that thinks for 2 ms: 0.75 of its rate alone"
	load_flash
	make_group stream
	make_group reader
	watch_mb 0 1000 1000 1000
	start_load stream - seq 1 0 --bs=512k --ioengine=libaio --iodepth=8
	sleep 1
	measure 2
	alone=$(busy 1)
	start_load reader - read 1 1000 --thinktime=2000
	sleep 1
	measure 2
	expect "of its time alone the stream has $(awk "BEGIN { print $(busy 1) / $alone }")" \
		"$(busy 1) >= 0.75 * $alone && $(ios 2) > 500"
}

# Those of 256 KiB take longer than such a read of a disk, one beside the other
no_disk_for_large() {
	local alone

	title "reads of 256 KiB beside a reader that thinks for 3 ms: 0.75 of the rate alone"
	load_flash channels=4 read_us=200
	make_group large
	make_group reader
	watch_mb 0 1000 1000 1000
	start_load large - read 4 0 --bs=256k --ioengine=libaio --iodepth=8
	sleep 2
	measure 2
	alone=$(ios 1)
	start_load reader - read 1 1000 --thinktime=3000
	sleep 1
	measure 2
	expect "of $alone reads alone it has $(ios 1), the reader $(ios 2)" \
		"$(ios 1) >= 0.75 * $alone && $(ios 2) > 300"
}

# The one of real time is always there or expected back, and small reads of its own class are served
# meanwhile.
stream_behind() {
	local alone

	title "beside real time a stream of 512 KiB and small reads of equal weight: both go on"
	load_flash
	make_group rt
	make_group web
	make_group backup
	echo 1 >"$CG/rt/$FILES.ioprio_class" || fail "cannot set a class"
	watch_mb 0 1000 1000 1000 2000 1000
	start_load rt - read 1 0
	sleep 0.5
	measure 1
	alone=$(ios 1)
	start_load web - read 4 1000
	start_load backup - seq 1 2000 --bs=512k --ioengine=libaio --iodepth=8
	sleep 1
	measure 4
	expect "shares of device time $(shares) %, $(ios 1) of real time, alone $((4 * alone))" \
		"$(share 2) >= 0.6 * $(share 3) && $(share 3) >= 0.6 * $(share 2) &&
		$(ios 1) >= 0.3 * 4 * $alone"
	stop_loads
}

# Where it competes, best effort has what real time leaves of the device, and so have others.
beside_rt() {
	title "a group with real time and a flood beside one with a flood: half each, within 5 pp"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW
	make_group both
	make_group both/rt
	make_group both/flood
	make_group flood
	echo 1 >"$CG/both/rt/$FILES.ioprio_class" || fail "cannot set a class"
	watch_mb 0 1000 1000 1000 2000 1000
	start_load both/rt - read 1 0
	# shellcheck disable=SC2086 # options
	start_load both/flood - read 4 1000 $DEEP
	# shellcheck disable=SC2086 # options
	start_load flood - read 4 2000 $DEEP
	sleep 1
	measure 4
	expect "shares of device time $(shares) %" "$(share 3) >= 45 && $(share 3) <= 55"
}

in_writeback_kb() {
	awk '$1 == "Writeback:" { print $2 }' /proc/meminfo
}

# Written back by the kernel, for the root group; each takes so long that those in the device
# seem to hang, and the last ones are queued by then. The disk is kept open, or it would be
# synced when it is closed.
slow_writes() {
	local seconds=0

	title "written-back data that is slow, beside a reader in its group, is all written"
	load_flash program_us=20000
	echo 1000000 >/proc/sys/vm/dirty_background_bytes
	start_load - - read 1 0
	exec 9<"$DEV"
	"$DD" if=/dev/zero of="$DEV" bs=1M seek=1000 count=64 2>/dev/null
	while sleep 10 && [ "$(in_writeback_kb)" -gt 1000 ] && [ "$seconds" -lt 200 ]; do
		seconds=$((seconds + 10))
	done
	exec 9<&-
	echo 10 >/proc/sys/vm/dirty_background_ratio
	expect "$(in_writeback_kb) KB left after $seconds s" "$(in_writeback_kb) <= 1000"
}

# What a discard takes is not seen by its size; each keeps all channels busy
idle_discards() {
	local alone

	title "an idle task discards, 2 ms each, beside readers: they keep 90 % of their rate"
	load_flash discard_us=2000
	make_group g
	watch_mb 0 1000
	start_load g - read 4 0
	sleep 1
	measure 4
	alone=$(ios 1)
	start_load g idle trim 1 1000 --bs=1m
	sleep 1
	measure 4
	expect "$(ios 1) reads, alone $alone" "$(ios 1) >= 0.9 * $alone"
}

discards() {
	title "discards, 5 ms each, beside reads: half of the device each, within 10 pp"
	load_flash discard_us=5000
	make_group g1
	make_group g2
	# shellcheck disable=SC2086 # options
	start_load g1 - read 4 0 $DEEP
	start_load g2 - trim 4 1000 --bs=1m
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 6
	expect "shares of device time $(shares) %, of $(ios 1) reads" "$(distance 50 50) <= 10"
}

# A write takes 0.3 s, ten times as long as a read
usb_stick() {
	title "a stream beside writes of 128 KiB on a USB stick: half of the time, within 10 pp"
	load_flash channels=1 read_us=1000 program_us=10000 erase_us=50000 erase_pages=64
	make_group g1
	make_group g2
	start_load g1 - seq 1 0
	start_load g2 - write 1 1000 --bs=128k
	watch_mb 0 1000 1000 1000
	sleep 8
	measure 20
	expect "shares of device time $(shares) %" "$(distance 50 50) <= 10"
}

# Each waits for one of 109 ms
behind_long() {
	local alone

	title "a reader beside writes of 109 ms has 0.9 of its share: none of its reads is lost"
	load_flash channels=1 read_us=300 program_us=3400 erase_pages=0
	make_group g1
	make_group g2
	start_load g1 - read 1 0
	watch_mb 0 1000 1000 1000
	sleep 1
	measure 2
	alone=$(ios 1)
	start_load g2 - write 1 1000 --bs=128k
	sleep 2
	measure 8
	expect "$(ios 1) reads in 8 s, $alone alone in 2; shares of device time $(shares) %" \
		"$(ios 1) / 4 >= 0.45 * $alone"
}

# Before the first write, few reads are to be in the device; with these there are too many.
stuck() {
	title "requests that hang in the device do not hold up the others"
	# shellcheck disable=SC2086 # parameters
	load_flash $SLOW timeout_ms=10000
	make_group g
	watch_mb 0 1000 1000 250
	# shellcheck disable=SC2086 # options
	start_load g - read 4 0 $DEEP
	sleep 0.5
	echo "3 requeue" >"$MODEL/hang"
	sleep 0.5
	start_load g - write 1 1000
	sleep 0.5
	measure 1
	expect "$(ios 1) reads and $(ios 2) writes in a second" "$(ios 1) > 2000 && $(ios 2) > 20"
}

hung_group() {
	local class alone

	title "a request that hangs in the device holds up no other group, of whatever class"
	load_flash timeout_ms=3000
	watch_mb 0 250
	make_group a
	make_group b
	start_load b - read 1 0
	sleep 0.5
	measure 1
	alone=$(ios)
	stop_loads
	for class in be rt; do
		echo "$class" >"$CG/a/$FILES.ioprio_class"
		echo "1 requeue" >"$MODEL/hang"
		(run_as a - "$DD" if="$DEV" of=/dev/null bs=4k count=1 skip=700000 iflag=direct) \
			2>/dev/null &
		sleep 0.1
		start_load b - read 1 0
		sleep 0.5
		measure 1
		expect "$(ios) reads in a second beside one of class $class, alone $alone" \
			"$(ios) > 0.9 * $alone"
		stop_loads
		wait
	done
}

needs_groups
told_anew() {
	title "who says while it runs that the device has a head, or none, is believed"
	load_flash
	echo 20 >"$QUEUE/iosched/group_slice" || fail "cannot set group_slice"
	make_group a
	make_group b
	start_load a - read 1 0
	start_load b - read 1 1000
	sleep 1
	expect "as flash $(stat a slices) turns" "$(stat a slices) == 0"
	echo 1 >"$QUEUE/rotational"
	sleep 5
	turns=$(stat a slices)
	expect "as a disk $turns turns" "$turns >= 3"
	echo 0 >"$QUEUE/rotational"
	sleep 0.5
	turns=$(stat a slices)
	sleep 3
	expect "as flash $(($(stat a slices) - turns)) more" "$(stat a slices) == $turns"
	watch_mb 0 1000 1000 1000
	measure 1
	expect "$(ios 1) and $(ios 2) reads" "$(ios 1) > 0 && $(ios 2) > 0"
}

OUR_KERNEL=
[ "$CONTROLLER" != cfq ] || OUR_KERNEL=y
run_cases shares_and_rate alone quiet_reader oldest_first left_over beside_reader \
	beside_light_readers levels equal_levels sizes sizes_beside_readers sizes_beside_rt \
	pages_of_16k slow_sizes by_request by_request_16 rented rented_slow writes_of_pages \
	writes huge_writes stream streams one_page stream_owed thinking no_disk_for_large \
	own_small beside_rt usb_stick behind_long stuck hung_group \
	: slow_writes faster computing huger_writes large_writes idle_discards discards \
	stream_behind \
	${CONTROLLER:+told_anew} ${OUR_KERNEL:+as_fast}
