#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The file cfq.nr_group_requests: how many requests a group and all below it may hold on a device,
# and what becomes of those who want more.

. ./test_common.sh

# device [DISK]: its numbers
device() {
	cat "/sys/block/${1:-$DISK}/dev"
}

# limit GROUP TEXT
limit() {
	echo "$2" >"$CG/$1/$FILES.nr_group_requests" || fail "cannot limit $1 to $2"
}

# most_there GROUP: requests, counted or not; leaves in MOST the largest number of many looks
most_there() {
	local nr queued inflight

	MOST=0
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		queued=$(stat "$1" queued)
		inflight=$(stat "$1" inflight)
		nr=$((${queued:-0} + ${inflight:-0}))
		[ "$nr" -le "$MOST" ] || MOST=$nr
		sleep 0.07
	done
}

# holds_more GROUP NUMBER: than that. A task that keeps many under way takes long to have all of
# them under way again after a limit was lifted, as fio counts what is done.
holds_more() {
	most_there "$1"
	expect "$1 has up to $MOST requests" "$MOST > $2"
}

# start_deep GROUP DEPTH FIRST_MB [FIO_OPTION...]: so many random reads of one task at a time
start_deep() {
	local group=$1 depth=$2 first=$3

	shift 3
	start_load "$group" - read 1 "$first" --ioengine=libaio --iodepth="$depth" "$@"
}

# goes_on [NR]: something is read
goes_on() {
	measure 1
	expect "$(ios "$1") requests in a second" "$(ios "$1") > 0"
}

form() {
	title "$1 takes a limit for all devices and for one"
	load_disk nr_devices=2
	make_group g
	FILE=$CG/g/$FILES.nr_group_requests
	dev=$(device)
	other=$(device cfqd1)
	gives '' 'default max' 2>/dev/null
	gives 'default 100' 'default 100'
	gives '2147483647\n' 'default 2147483647'
	gives ' 1 ' 'default 1'
	gives "$dev 20" "default 1
$dev 20"
	gives "$other max\n" "default 1
$dev 20
$other max"
	gives "$dev default" "default 1
$other max"
	gives 'max' "default max
$other max"
	gives "default  7" "default 7
$other max"
	gives "$other default" 'default 7'
	for text in '\n' ' ' x 'default' 'default default' 'default x' 'max max' '1 2' "$dev" \
		"$dev " "$dev 1 2" "$dev x" "$dev:0 1" '1\n2' 'default -' 'max\0' '3.5' '0x10'; do
		refuses "$text" EINVAL
	done
	for text in 0 -1 2147483648 99999999999999999999 'default 0' "$dev 0" "$dev -3"; do
		refuses "$text" ERANGE
	done
	for text in '4095:7 10' '99999999:1 10' '0:0 10' '4095:7 default'; do
		refuses "$text" ENODEV
	done
}

legacy_form() {
	form "version 1: nr_group_requests"
}

unified_form() {
	mount_unified
	form "version 2: nr_group_requests"
}

within() {
	title "a group of tasks, or of one with many requests, holds no more than its limit"
	load_disk nr_devices=2
	select_sched "$SCHED" cfqd1
	make_group deep
	make_group crowd
	watch_mb 0 250 4000 5000
	limit deep 20
	limit crowd 5
	start_deep deep 64 0
	start_load crowd - mix 20 4000
	on cfqd1 start_deep deep 64 0 --offset=1000m
	sleep 1
	holds deep 20
	holds crowd 5
	goes_on 1
	goes_on 2

	note "for one device"
	limit deep "$(device cfqd1) 3"
	sleep 1
	holds deep 20
	holds deep 3 cfqd1
	limit deep max
	sleep 2
	holds_more deep 20
	holds deep 3 cfqd1
	stop_loads
	sleep 1
	left=$(($(held deep) + $(held crowd) + $(held deep cfqd1)))
	expect "$left requests are held without I/O" "$left == 0"
}

below() {
	title "a limit is for all groups below, which are never above their parent"
	load_disk
	make_group p
	make_group p/a
	make_group p/b
	watch_mb 0 250 250 250
	limit p 8
	limit p/a 100
	start_deep p/a 64 0
	sleep 1
	holds p 8
	holds p/a 8
	start_deep p/b 64 250
	sleep 1
	holds p 8
	goes_on 1
	goes_on 2
	limit p/b 2
	sleep 1
	holds p 8
	holds p/b 2
	limit p 1
	sleep 1
	holds p 1
	goes_on 1
	goes_on 2
	limit p max
	sleep 1
	holds_more p/a 8
	holds p/b 2
}

not_overtaken() {
	title "who waits for room above has his part, though the group beside may have all of it"
	load_disk
	make_group p
	make_group p/a
	make_group p/b
	watch_mb 0 5000 5000 5000
	limit p 8
	limit p/a 8
	start_load p/a - read 20 0
	sleep 1
	start_load p/b - read 20 5000
	sleep 1
	measure 4
	expect "$(ios 1) and $(ios 2) reads, $(held p) held" \
		"$(ios 2) >= 0.5 * $(ios 1) && $(held p) <= 8"
}

# Version 2: with memory in the same hierarchy what is written back is of those who wrote it.
beside_written_back() {
	title "what is written back for a group leaves room in its parent to those beside it"
	mount_unified
	load_disk
	make_group p
	make_group p/a
	make_group p/b
	watch_mb 0 5000 5000 5000
	limit p 8
	start_load p/a - write 4 0 --direct=0
	sleep 5
	start_load p/b - read 2 5000
	sleep 1
	measure 4
	expect "$(ios 1) writes, $(ios 2) reads" "$(ios 1) > 0 && $(ios 2) > 100"
}

lowered() {
	title "a limit that is lowered below what is held does no harm, raised it lets in who waits"
	load_disk
	make_group g
	watch_mb 0 10000
	start_load g - read 40 0
	sleep 1
	holds_more g 39
	for number in 30 1 20 5; do
		limit g "$number"
		goes_on
		sleep 1
		holds g "$number"
	done
	limit g max
	sleep 1
	holds_more g 39
}

raised() {
	title "a limit is raised while the tasks of a limited group below wait for it: they go on"
	load_disk timeout_ms=10000
	make_group p
	make_group p/a
	watch_mb 0 2000
	start_load p/a - read 8 0
	sleep 1
	limit p/a 3
	limit p 1
	sleep 1
	# The next read stays in the disk, so that nothing else makes room for the others
	echo "1 requeue" >"$MODEL/hang"
	sleep 1
	holds p 1
	measure 1
	expect "$(ios) requests while the disk hangs" "$(ios) == 0"
	limit p 10
	goes_on
	holds p/a 3
	holds p 3
	limit p/a 20
	sleep 1
	holds p 8
}

nowait() {
	title "who must not wait gets EAGAIN, at once, and leaves nothing behind"
	load_disk timeout_ms=2000
	make_group g
	limit g 4
	first=$(run_as g - ./read_nowait "$DEV")
	[ "$first" = 0 ] || fail "a read within the limit gives $first"
	start_deep g 64 0
	sleep 1
	holds g 4
	before=$(cut -d ' ' -f 1 /proc/uptime)
	refused=$(for _ in 1 2 3 4 5 6 7 8 9 10; do
		(run_as g - ./read_nowait "$DEV")
	done | grep -c EAGAIN)
	expect "$refused of 10 reads are refused" "$refused == 10"
	after=$(cut -d ' ' -f 1 /proc/uptime)
	expect "in $before to $after s" "$after - $before < 0.5"
	other=$(run_as - - ./read_nowait "$DEV")
	[ "$other" = 0 ] || fail "a read of another group gives $other"
	holds g 4
	stop_loads
	sleep 1
	requests=$(awk '{ print $1 }' "/sys/block/$DISK/stat")
	limit g 1
	# It stays in the disk for a while
	echo "1 requeue" >"$MODEL/hang"
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null &
	sleep 0.5
	beside=$(run_as g - ./read_nowait "$DEV")
	[ "$beside" = EAGAIN ] || fail "a read past the limit gives $beside"
	wait $!
	second=$(run_as g - ./read_nowait "$DEV")
	[ "$second" = 0 ] || fail "a read within the limit gives $second"
	expect "$(($(awk '{ print $1 }' "/sys/block/$DISK/stat") - requests)) reads counted" \
		"$(awk '{ print $1 }' "/sys/block/$DISK/stat") - $requests == 2"
	expect "$(awk '{ print $9 }' "/sys/block/$DISK/stat") in flight" \
		"$(awk '{ print $9 }' "/sys/block/$DISK/stat") == 0"
	expect "$(held g) requests held" "$(held g) == 0"
}

uring() {
	title "io_uring, which first tries without waiting, keeps within the limit and goes on"
	load_disk
	make_group g
	watch_mb 0 250
	limit g 6
	start_load g - read 1 0 --ioengine=io_uring --iodepth=32 --iodepth_batch_submit=8
	sleep 1
	holds g 6
	goes_on
}

# Those of a batch have descriptors before any of them is queued
uring_batch() {
	title "eight reads that io_uring sends at once keep within a limit of two from the first on"
	load_null irqmode=2 completion_nsec=400000000 gb=1
	prepare_sched
	make_group g
	limit g 2
	start_load g - read 1 0 --ioengine=io_uring --iodepth=8 --iodepth_batch_submit=8
	most_there g
	expect "g has up to $MOST requests" "$MOST == 2"
}

# NOWAIT writes that pass through a flush, as the device has a cache and does not know FUA
flush_nowait() {
	title "who must not wait, with writes that flush: none is lost, and the kernel is content"
	load_null memory_backed=1 cache_size=16 irqmode=2 completion_nsec=1000000 gb=1 fua=0
	echo "write back" >"$QUEUE/write_cache" 2>/dev/null
	prepare_sched
	make_group g
	limit g 4
	start_load g - write 1 0 --ioengine=io_uring --iodepth=16 --sync=dsync
	sleep 1
	# By one at a time it may be exceeded, as nothing could be refused in time. Near it there
	# are refusals, and these moments are a sample.
	most=$(most_held g)
	expect "g holds up to $most requests" "$most >= 2 && $most <= 5"
	before=$(stat g requests)
	sleep 1
	expect "$(($(stat g requests) - before)) requests in a second" \
		"$(stat g requests) - $before > 100"
	stop_loads
	sleep 0.2
	expect "$(held g) requests held" "$(held g) == 0"
}

# shared_io GROUP...: two processes with one io_context, one in each group
shared_io() {
	local reads=200

	title "tasks of two groups that share an io_context keep their queues, and their places"
	load_disk
	make_group a
	make_group b
	for turns in "max 1" "1 1" "max 2" "1 2"; do
		limit a "${turns% *}"
		limit b "${turns% *}"
		count_queues
		./share_io "$DEV" "$reads" "$CG/a/cgroup.procs" "$CG/b/cgroup.procs" \
			"${turns#* }" || fail "a read failed"
		made=$(queues_made)
		expect "$made queues were made for $((2 * reads)) reads" "$made > 0 && $made < 10"
		for group in a b; do
			expect "$(held "$group") requests of $group held" "$(held "$group") == 0"
		done
	done
	for group in a b; do
		expect "$(stat "$group" requests) requests of $group" \
			"$(stat "$group" requests) >= 4 * $reads"
	done
}

NR_ROUNDS=${NR_ROUNDS:-50}

# workers: of io_uring, of which each task that does I/O shares the io_context with the others
workers() {
	local nr group pid pids

	title "tasks that share an io_context move to another group and back $NR_ROUNDS times"
	load_flash
	make_group a
	make_group b
	limit a 8
	limit b 8
	watch_mb 0 250
	start_load a - read 1 0 --ioengine=io_uring --force_async=1 --iodepth=16 --thread=0
	sleep 1
	pids=$(cat "$CG/a/cgroup.procs")
	for nr in $(seq "$NR_ROUNDS"); do
		for group in b a; do
			for pid in $pids; do
				echo "$pid" >"$CG/$group/cgroup.procs" ||
					fail "move $nr of $pid"
			done
			sleep 0.01
		done
	done
	# A sample of moments, on a fast device
	most=$(most_held a)
	expect "a holds up to $most requests" "$most >= 4 && $most <= 8"
	goes_on
	stop_loads
	sleep 0.2
	expect "$(held a) and $(held b) requests held" "$(held a) + $(held b) == 0"
}

waiters() {
	title "with many tasks waiting: other schedulers, kills, a removed group; nobody hangs"
	load_disk
	make_group g
	make_group h
	limit g 2
	watch_mb 0 16000
	for _ in 1 2; do
		start_load g - read 32 0
		start_deep g 64 8000
		sleep 2
		holds g 2
		for other in none mq-deadline; do
			select_sched "$other"
			goes_on
			select_sched cfq
			goes_on
			holds g 2
		done
		# shellcheck disable=SC2046 # a list of numbers
		kill -9 $(cat "$CG/g/cgroup.procs")
		# Does not return before they are gone
		stop_loads
		sleep 1
		expect "$(held g) requests held" "$(held g) == 0"
	done
	start_load g - read 32 0
	sleep 2
	remove_group g
	goes_on
	make_group g
	limit g 1
	stop_loads
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=100 iflag=direct) 2>/dev/null ||
		fail "cannot read with a limit of 1"
}

# burst LIMIT LIMIT [CLASS]: g1 has 500 reads under way; after 10 s g2, of equal weight, has
burst() {
	local total kept=0.85

	load_disk
	echo 500 >"$QUEUE/nr_requests" || fail "cannot set nr_requests"
	make_group g1
	make_group g2
	limit g1 "$1"
	limit g2 "$2"
	[ -z "$3" ] || echo "$3" >"$CG/g2/$FILES.ioprio_class"
	watch_mb 0 250 250 250
	start_deep g1 500 0
	sleep 5
	if [ "$1" -lt 500 ]; then
		holds g1 "$1"
	else
		holds_more g1 400
		# Alone, so many have the head in one place
		kept=0.75
	fi
	measure 5
	total=$(ios)
	start_deep g2 500 250
	# Before it has its first request there is nothing to be served
	until [ "$(held g2)" -gt 0 ]; do
		sleep 0.01
	done 2>/dev/null
	measure 0.3
	expect "g2 had $(share 2) % in the first 0.3 s, with $(ios 2) reads" "$(share 2) > 50"
	measure 10
	note "then $(share 2) % of $(ios) reads in 10 s"
	if [ -z "$3" ]; then
		expect "which is half" "$(share 2) > 45 && $(share 2) < 55"
	else
		expect "which is all" "$(share 2) > 97"
		# What g1 has queued keeps its descriptors, so there are less to choose from
		kept=0.6
	fi
	expect "before that there were $((2 * total))" "$(ios) > $kept * 2 * $total"
}

burst_500_500() {
	title "500 requests deep, limit 500: a newcomer of equal weight is served within 0.3 s"
	burst 500 500
}

burst_100_100() {
	title "the same with 100 requests for each"
	burst 100 100
}

burst_100_500() {
	title "the same with 100 requests for the first and 500 for the newcomer"
	burst 100 500
}

burst_real_time() {
	title "the same with 500 for each and a newcomer of the real time class"
	burst 500 500 rt
}

needs_groups
run_cases legacy_form within below not_overtaken lowered raised nowait uring uring_batch \
	flush_nowait shared_io workers waiters burst_500_500 burst_100_100 burst_100_500 \
	burst_real_time unified_form beside_written_back
