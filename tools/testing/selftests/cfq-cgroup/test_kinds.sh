#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Kinds of devices and requests: zones that are written in order, reads that are polled for,
# commands that do not pass through the scheduler, data with checksums beside it.

. ./test_common.sh

# --- zones ---

# write_zones GROUP FIRST_MB: 32 MB, zone by zone; one that is not the next of its zone fails
write_zones() {
	(run_as "$1" - fio --name="zones$1" --filename="$DEV" --direct=1 --zonemode=zbd \
		--rw=write --bsrange=4k-64k --ioengine=libaio --iodepth=16 --numjobs=2 \
		--offset="$2m" --offset_increment=16m --size=16m --output="$TMP/zones.$1") &
	WRITERS="$WRITERS $!"
}

zones() {
	local pid

	title "two groups write zones beside readers, each tenth request comes back: no error"
	load_null zoned=1 zone_size=4 gb=1 memory_backed=1 irqmode=2 completion_nsec=500000 \
		hw_queue_depth=16 requeue=1,10,0,-1
	prepare_sched
	make_group g0 0
	make_group g7 7
	start_load g0 - read 2 500 --size=20m --offset_increment=20m
	WRITERS=
	write_zones g0 0
	write_zones g7 100
	for pid in $WRITERS; do
		wait "$pid" || fail "a write failed: $(grep -h err= "$TMP"/zones.*)"
	done
	stop_loads
}

# --- requests that are polled for ---

# Who has sent them is stopped again and again, and nobody else asks whether they are done
polled() {
	local alone=0 nr

	title "64 KB reads that nobody polls for: a reader of another group keeps 85 % of its rate"
	load_null gb=8 poll_queues=1 irqmode=2 completion_nsec=1000000 hw_queue_depth=256
	prepare_sched
	make_group g1
	make_group g2
	start_load g1 - read 1 0
	sleep 1
	nr=$(stat g1 requests)
	sleep 3
	alone=$(($(stat g1 requests) - nr))
	start_load g2 - read 1 4000 --ioengine=io_uring --hipri=1 --iodepth=200 --bs=64k --thread
	sleep 1
	nr=$(stat g1 requests)
	for _ in 1 2 3 4 5 6; do
		kill -STOP "${LOADS##* }"
		sleep 0.4
		kill -CONT "${LOADS##* }"
		sleep 0.1
	done
	nr=$(($(stat g1 requests) - nr))
	stop_loads
	expect "$nr reads, alone $alone" "$nr >= 0.85 * $alone && $(stat g2 requests) > 200"
}

# --- SCSI ---

# Commands of SG_IO are of no group, and wait for nobody: of each of 8 there is one at a time
passthrough() {
	local longest

	title "commands beside a flood of a better class: none waits, none is counted"
	load_scsi ndelay=500000
	prepare_sched
	make_group flood
	make_group commands
	echo 1 >"$CG/flood/$FILES.ioprio_class"
	start_load flood - read 4 0 --size=10m --offset_increment=10m --ioengine=libaio --iodepth=8
	load_with_log commands - read 1 50 --size=10m --ioengine=sg
	sleep 5
	stop_loads
	longest=$(log_ms 50 99.900000)
	expect "99.9 % of them within $longest ms, 0$(stat commands requests) are counted" \
		"$longest > 0 && $longest <= 40 && 0$(stat commands requests) == 0"
}

checksums() {
	local merges

	title "data with checksums, written in pieces that are merged: none is wrong"
	load_scsi ndelay=500000 dif=1 dix=1
	prepare_sched
	make_group g
	(run_as g - fio --name=sums --filename="$DEV" --direct=1 --rw=write --bs=4k --size=8m \
		--ioengine=libaio --iodepth=64 --iodepth_batch=1 --verify=crc32c) \
		>"$TMP/sums" 2>&1 ||
		fail "$(grep -m 1 err= "$TMP/sums")"
	merges=$(stat g merges)
	expect "$merges merges of 4096 requests; $(cat /sys/block/"$DISK"/integrity/format)" \
		"$merges > 100"
}

needs_groups
run_cases zones polled passthrough checksums
