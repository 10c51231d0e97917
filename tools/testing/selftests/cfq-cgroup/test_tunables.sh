#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tunables in /sys/block/DEV/queue/iosched/: they exist, have their defaults, take what is
# legal, refuse the rest.

. ./test_common.sh

value() {
	cat "$QUEUE/iosched/$1"
}

# takes NAME VALUE
takes() {
	local errno

	errno=$(printf '%s\n' "$2" | ./write_errno "$QUEUE/iosched/$1")
	[ "$errno:$(value "$1")" = "0:$2" ] || fail "$1: $2 gives $errno and reads $(value "$1")"
}

# refuses NAME TEXT ERRNO
refuses() {
	local before errno

	before=$(value "$1")
	errno=$(printf '%s\n' "$2" | ./write_errno "$QUEUE/iosched/$1")
	[ "$errno" = "$3" ] || fail "$1: '$2' gives $errno, expected $3"
	[ "$(value "$1")" = "$before" ] || fail "$1: '$2' changes $before to $(value "$1")"
}

has_default() {
	[ "$(value "$1")" = "$2" ] || fail "$1 is $(value "$1"), expected $2"
}

defaults() {
	title "every tunable has its default, and there are no others"
	load_disk
	each_tunable has_default
	set -- "$QUEUE"/iosched/*
	expect "there are $# tunables" "$# == $(echo "$TUNABLES" | grep -c .)"
}

takes_limits() {
	takes "$1" "$3"
	takes "$1" "$4"
	takes "$1" "$2"
}

limits() {
	title "the least and the greatest value are taken and read back"
	load_disk
	each_tunable takes_limits
}

refuses_bad() {
	local text

	[ "$3" = 0 ] || refuses "$1" 0 ERANGE
	for text in -1 $(($4 + 1)) 18446744073709551616; do
		refuses "$1" "$text" ERANGE
	done
	for text in '' x 1x 0x1 '1 2' 1.5 -; do
		refuses "$1" "$text" EINVAL
	done
}

refused() {
	title "what is out of range gives ERANGE, what is no number EINVAL; the value stays"
	load_disk
	each_tunable refuses_bad
}

changes_twin() {
	case $1 in
	*_us)
		takes "${1%_us}" 7
		has_default "$1" 7000
		takes "$1" 1500
		has_default "${1%_us}" 2
		# What is read can be written
		takes "$1" 1
		has_default "${1%_us}" 1
		takes "${1%_us}" 1
		takes "$1" "$2"
		;;
	esac
}

twins() {
	title "a time and its _us twin are one setting"
	load_disk
	each_tunable changes_twin
}

runs_with() {
	for v in "$3" "$2"; do
		takes "$1" "$v"
		measure 1
		[ "$(ios)" -gt 0 ] || fail "nothing is read with $1 = $v"
	done
}

under_load() {
	title "the least values work while reads and writes go on"
	load_disk
	make_group g 0
	make_group h 7
	start_load g - mix 4 0
	start_load h - mix 4 1000
	watch_mb 0 2000
	sleep 1
	each_tunable runs_with
}

# share_with TUNABLE VALUE LEAST MOST: of the device time, half a second after it was set
share_with() {
	echo "$2" >"$QUEUE/iosched/$1"
	sleep 0.5
	measure 5
	expect "$1 $2: $(share 1) % for the writer" "$(share 1) >= $3 && $(share 1) <= $4"
}

# What is written back for no group is of the root group, and so are the readers
while_busy() {
	title "slice_async counts at once for who writes all the time, beside four who read"
	load_disk
	echo 0 >"$QUEUE/iosched/low_latency"
	start_load - - write 4 0 --direct=0
	start_load - - read 4 10000
	watch_mb 0 2500 10000 2500
	sleep 4
	share_with slice_async 40 6 13
	share_with slice_async 400 35 60
	share_with slice_async 10 1 5
	share_with slice_sync 10 10 30
}

# sent_with PENALTY KB MB...: after a read at 200 MB, four of a task that come at once, so ordered
sent_with() {
	local traced=/sys/kernel/tracing/events/block/block_rq_issue/enable order

	echo "$1" >"$QUEUE/iosched/back_seek_penalty"
	echo "$2" >"$QUEUE/iosched/back_seek_max"
	"$DD" if="$DEV" of=/dev/null bs=4k count=1 skip=51200 iflag=direct 2>/dev/null
	echo >/sys/kernel/tracing/trace
	echo 1 >"$traced"
	fio --name=four --read_iolog="$TMP/iolog" --replay_no_stall=1 --direct=1 \
		--ioengine=libaio --iodepth=4 --iodepth_batch_submit=4 >"$TMP/fio.four"
	echo 0 >"$traced"
	order=$(sed -n 's/.* block_rq_issue: .* R .* () \([0-9]*\) .*/\1/p' \
		/sys/kernel/tracing/trace |
		awk '{ printf("%s%d", NR > 1 ? " " : "", $1 / 2048) }')
	echo "# back_seek_penalty $1, back_seek_max $2: $order"
	[ "$order" = "$3 $4 $5 $6" ] || fail "not $3 $4 $5 $6"
}

nearest() {
	title "the nearest to the head is sent next; what is behind counts as further, or as last"
	load_disk
	{
		printf 'fio version 2 iolog\n%s add\n%s open\n' "$DEV" "$DEV"
		for mb in 199 210 191 230; do
			echo "$DEV read $((mb * 1048576)) 4096"
		done
		echo "$DEV close"
	} >"$TMP/iolog"
	sent_with 2 16384 199 210 230 191
	sent_with 100 16384 210 230 191 199
	sent_with 2 512 210 230 191 199
}

run_cases defaults limits refused twins under_load while_busy nearest
