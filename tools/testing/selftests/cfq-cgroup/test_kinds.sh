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

# load_slow REQUESTS: a device that answers each request after 400 ms, and so many descriptors. A
# command has one, too, and is seen by no scheduler: behind some of them, a task that was let in
# still has to wait.
load_slow() {
	load_scsi ndelay=400000000
	prepare_sched
	# Some are the host's own
	echo $(($1 + $(cat "/sys/block/$DISK/mq/0/nr_reserved_tags"))) >"$QUEUE/nr_requests" ||
		fail "cannot set nr_requests"
	# Nobody is held back for having had more than others
	echo 100000 >"$QUEUE/iosched/group_slice"
	# With two requests at once, and no time, it gives up to see each kind by itself
	./queue_reads "$DEV" read "$CG/cgroup.procs" 0 4 read "$CG/cgroup.procs" 64 4 ||
		fail "a read failed"
	# Many at once show that each costs little
	# shellcheck disable=SC2046 # a list of words
	./queue_reads "$DEV" $(reads . 16) || fail "a read failed"
}

# reads GROUP NR: as queue_reads wants it told, the first after 20 ms, and each 20 ms after the last
reads() {
	local nr

	for nr in $(seq "$2"); do
		echo "sleep 20 read $CG/$1/cgroup.procs $((nr * 64)) 4"
	done
}

admission_lasts() {
	title "a task that may go on is counted until it does, whatever else is done meanwhile"
	mount_groups
	load_slow 8
	make_group g
	# What g has comes back one by one, from 400 ms on, and goes to the commands
	# shellcheck disable=SC2046 # a list of words
	./queue_reads "$DEV" $(reads g 9) command 32 &
	sleep 0.3
	expect "$(shown device waiting) wait, $(stat g inflight) are in the device" \
		"$(shown device waiting) == 1 && $(stat g inflight) == 8"
	sleep 0.4
	expect "$(shown device waiting) wait, $(stat g inflight) are in the device" \
		"$(shown device waiting) == 0 && $(stat g inflight) == 0"
	expect "of one group a request is expected: $(shown trees busy)" "$(shown trees busy) == 1"
	wait $! || fail "a read failed"
	expect "$(stat g requests) requests" "$(stat g requests) == 9"
	expect "then there is nothing to do in $(shown trees busy) groups" \
		"$(shown trees busy) == 0"
}

needs_groups
run_cases zones polled passthrough checksums ${CONTROLLER:+admission_lasts}
