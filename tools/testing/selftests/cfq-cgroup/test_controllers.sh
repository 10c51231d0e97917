#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Beside other controllers of block I/O, and beside writeback throttling: limits hold, counts are
# right, and shares are what they are without.

. ./test_common.sh
. ./stress_common.sh

DURATION=${DURATION:-15}	# of virtual time
BOUND=${BOUND:-2}		# percentage points
RATE=$((50 * 1024 * 1024))	# bytes a second; the published limit
BLKIO=/dev/blkio

device_number() {
	cat "/sys/block/$DISK/dev"
}

# timed_dd GROUP MIB DD_ARGUMENT...: so much directly; leaves the seconds it took in $SECONDS_
timed_dd() {
	local group=$1 mib=$2 start end

	shift 2
	read -r start _ </proc/uptime
	(run_as "$group" - "$DD" bs=1M count="$mib" "$@") 2>"$TMP/dd" || fail "$(cat "$TMP/dd")"
	read -r end _ </proc/uptime
	SECONDS_=$(awk "BEGIN { print $end - $start }")
}

# at_limit MIB SECONDS: what was timed took so long, or a little longer
at_limit() {
	expect "$1 MiB took $SECONDS_ s at 50 MiB/s" "$SECONDS_ > 0.98 * $2 && $SECONDS_ < $2 + 0.6"
}

# both_limited SET_LIMITS: reads and writes take as long as the limit says; reads less without
both_limited() {
	timed_dd g 200 if="$DEV" of=/dev/null iflag=direct
	expect "without a limit, 200 MiB took $SECONDS_ s" "$SECONDS_ < 3.8"
	$1
	# The published transfer, which took 30.16 s
	timed_dd g 1500 if="$DEV" of=/dev/null iflag=direct
	at_limit 1500 30
	# The disk keeps what is written in memory
	timed_dd g 200 if=/dev/zero of="$DEV" oflag=direct
	at_limit 200 4
}

# count FILE PATTERN: the number behind it
count() {
	sed -n "s|$2\([0-9]*\).*|\1|p" "$1"
}

legacy_limits() {
	echo "$(device_number) $RATE" >"$BLKIO/t/blkio.throttle.read_bps_device"
	echo "$(device_number) $RATE" >"$BLKIO/t/blkio.throttle.write_bps_device"
}

throttle() {
	local bytes

	title "version 1: blkio.throttle holds, and counts what was done"
	load_disk
	make_group g
	mkdir -p "$BLKIO"
	retry mount -t cgroup -o blkio none "$BLKIO" || fail "cannot mount blkio"
	mkdir "$BLKIO/t"
	echo $$ >"$BLKIO/t/cgroup.procs"
	both_limited legacy_limits
	bytes=$(count "$BLKIO/t/blkio.throttle.io_service_bytes" "^$(device_number) Read ")
	# It counts from its first limit on.
	expect "$bytes bytes read" "$bytes == 1500 * 1048576"
	bytes=$(count "$BLKIO/t/blkio.throttle.io_service_bytes" "^$(device_number) Write ")
	expect "$bytes bytes written" "$bytes == 200 * 1048576"
	echo $$ >"$BLKIO/cgroup.procs"
	retry rmdir "$BLKIO/t" || fail "cannot remove the group"
	umount "$BLKIO"
}

# A hierarchy of version 1 stays if a removed group was not quite gone when it was unmounted.
# Groups with both controllers
mount_with_io() {
	mount_unified
	retry enable_unified io blkio || fail "cannot enable io"
}

unified_limits() {
	echo "$(device_number) rbps=$RATE wbps=$RATE" >"$CG/${1:-g}/io.max"
}

io_max() {
	title "version 2: io.max holds, and io.stat counts what was done"
	mount_with_io
	load_disk
	make_group g
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=10 iflag=direct
		run_as g - "$DD" if=/dev/zero of="$DEV" bs=4k count=5 oflag=direct) 2>/dev/null
	(run_as g - "$DD" if=/dev/zero of="$DEV" bs=4k count=5 oflag=direct) 2>/dev/null
	grep -q "^$(device_number) rbytes=40960 wbytes=20480 rios=10 wios=5 " "$CG/g/io.stat" ||
		fail "io.stat of 10 reads and 5 writes: $(cat "$CG/g/io.stat")"
	both_limited unified_limits
	read_bytes=$((40960 + 1700 * 1048576))
	written_bytes=$((20480 + 200 * 1048576))
	grep -q "^$(device_number) rbytes=$read_bytes wbytes=$written_bytes " \
		"$CG/g/io.stat" || fail "io.stat: $(cat "$CG/g/io.stat")"
}

beside() {
	title "a limited group beside others has its limit, and these share the rest"
	mount_with_io
	load_disk
	for group in g1 g2 g3; do
		make_group "$group"
	done
	echo "$(device_number) riops=20" >"$CG/g3/io.max"
	echo 300 >"$CG/g1/cfq.weight"
	start_load g1 - read 8 0
	start_load g2 - read 8 2000
	start_load g3 - read 8 4000
	watch_mb 0 2000 2000 2000
	share_out 75 25
	# It waits for its turns as well, with 8 requests at most.
	watch_mb 4000 2000
	measure 10
	expect "the limited group had $(ios) requests in 10 s" "$(ios) > 140 && $(ios) < 210"
}

# share_out PERCENT...: so, within the bound
share_out() {
	sleep 2
	measure "$DURATION" g2
	expect "shares $(shares) %, $(ios) requests, promised $*" "$(distance "$@") <= $BOUND"
}

# three_to_one: readers, with weights 300 and 100
three_to_one() {
	make_group g1
	make_group g2
	echo 300 >"$CG/g1/cfq.weight"
	start_load g1 - read 8 0
	start_load g2 - read 8 2000
	watch_mb 0 2000 2000 2000
}

io_latency() {
	title "io.latency: shares hold where it has nothing to do, and nothing hangs where it has"
	mount_with_io
	load_disk
	three_to_one
	echo "$(device_number) target=2000000" >"$CG/g1/io.latency" || fail "no io.latency"
	echo "$(device_number) target=2000000" >"$CG/g2/io.latency"
	share_out 75 25
	# This cannot be had, so it takes from the other.
	echo "$(device_number) target=100" >"$CG/g1/io.latency"
	sleep 2
	measure 5
	expect "$(ios 1) and $(ios 2) requests with a target of 100 us" \
		"$(ios 1) > 500 && $(ios 2) > 0"
	for group in g1 g2; do
		echo "$(device_number) target=0" >"$CG/$group/io.latency"
	done
	share_out 75 25
}

wbt() {
	title "writeback throttling, set under cfq: shares hold, buffered writes end"
	load_disk
	three_to_one
	echo 2000 >"$QUEUE/wbt_lat_usec" || fail "it cannot be set"
	expect "wbt_lat_usec is $(cat "$QUEUE/wbt_lat_usec")" "$(cat "$QUEUE/wbt_lat_usec") == 2000"
	share_out 75 25
	# Readers that wait for longer than that leave one page at a time to them.
	"$DD" if=/dev/zero of="$DEV" bs=4k seek=2000000 count=16 conv=fsync 2>/dev/null ||
		fail "cannot write"
	share_out 75 25
	echo 0 >"$QUEUE/wbt_lat_usec"
}

prio_class() {
	title "io.prio.class: changes what counts inside a group, and not the shares of groups"
	mount_with_io
	load_disk
	three_to_one
	echo idle >"$CG/g1/io.prio.class" || fail "no io.prio.class"
	echo promote-to-rt >"$CG/g2/io.prio.class"
	share_out 75 25
	# What is queued changes all the time
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		cat "/sys/kernel/debug/block/$DISK/sched/trees"
		sleep 0.07
	done >"$TMP/trees"
	for class in idle rt; do
		grep -q "queue.*class $class" "$TMP/trees" || fail "no queue is of class $class"
	done
}

# cost_and_max NR: io.cost is turned on, or off, for the disk, and a limit is set or taken away
cost_and_max() {
	echo "$(device_number) enable=$(($1 % 2))" >"$CG/io.cost.qos" || fail "no io.cost"
	if [ $(($1 % 3)) = 0 ]; then
		echo "$(device_number) rbps=max wbps=max" >"$CG/g1/io.max"
	else
		unified_limits g1
	fi || fail "no io.max"
}

io_cost() {
	local nr

	title "io.cost and io.max come and go: no wrong byte, and then shares as before"
	mount_with_io
	load_disk
	three_to_one
	start_verifying "$DISK"
	for nr in 1 2 3 4 5 6 7 8 9 10 11 12; do
		cost_and_max "$nr"
		sleep 0.5
	done
	stop_verifying
	share_out 75 25
}

[ "$CONTROLLER" = cfq ] || skip_all "no cfq controller"
run_cases throttle wbt io_max beside io_latency prio_class io_cost
