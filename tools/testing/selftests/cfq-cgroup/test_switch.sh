#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Selecting and leaving cfq at any time, with groups and I/O. The first case is the oops that was
# published.

. ./test_common.sh

OTHERS="none mq-deadline kyber bfq"

# A read that must succeed, in GROUP
read_some() {
	(run_as "$1" - "$DD" if="$DEV" of=/dev/null bs=64k count=16 iflag=direct \
		skip="${2:-0}") 2>/dev/null || fail "a read in group $1 failed"
}

# still_reading: requests are being served; slow processors may need some seconds for the first
still_reading() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		measure 1
		[ "$(ios)" = 0 ] || return 0
	done
	fail "nothing is read with $(cat "$QUEUE/scheduler")"
}

# switch_while_reading: to each other scheduler and back, and each serves requests
switch_while_reading() {
	for other in $OTHERS; do
		select_sched "$other"
		still_reading
		select_sched cfq
		still_reading
	done
}

there_and_back() {
	title "a group that did I/O; from cfq to another scheduler and back"
	load_disk
	make_group g 2
	for other in $OTHERS; do
		read_some g
		select_sched "$other"
		read_some g 100
		select_sched cfq
		read_some g 200
	done
}

under_load() {
	title "switching while groups do I/O; none of it fails"
	load_disk
	make_group g 0
	make_group h 7
	watch_mb 0 8000
	start_load g - read 4 0
	start_load g - write 4 2000
	start_load h - read 4 4000
	start_load h - write 4 6000
	sleep 1
	switch_while_reading
}

flash_under_load() {
	title "the same on flash, with requests of all sizes"
	load_flash
	make_group g 0
	make_group h 7
	watch_mb 0 8000
	start_load g - mix 4 0 --ioengine=libaio --iodepth=16 --bsrange=4k-128k
	start_load h - mix 4 2000 --bsrange=4k-128k
	sleep 1
	switch_while_reading
}

groups_change_meanwhile() {
	title "groups are made and removed while another scheduler is selected"
	load_disk
	make_group old 1
	make_group stays 3
	read_some old
	read_some stays
	for other in $OTHERS; do
		select_sched "$other"
		remove_group old
		make_group new 5
		read_some new
		select_sched cfq
		read_some new
		read_some stays
		remove_group new
		make_group old 1
		read_some old
	done
}

removed_with_requests() {
	title "a group is removed while its requests are queued and in flight"
	load_disk
	for prio in 0 7; do
		make_group g "$prio"
		start_load g - read 8 0
		start_load g - write 8 2000
		sleep 1
		remove_group g
		watch_mb 0 4000
		still_reading
		stop_loads
	done
}

disk_goes() {
	title "the disk goes away with groups present, and comes back"
	make_group g 0
	make_group h 7
	for _ in 1 2 3; do
		load_disk
		read_some g
		read_some h
		unload_disk
	done
	remove_group g
	load_disk
	read_some h
}

# ended GROUP...: no task is left in them
ended() {
	local group

	for group; do
		[ -z "$(cat "$CG/$group/cgroup.procs")" ] || return 1
	done
}

unplugged() {
	local file

	title "the disk is unplugged while tasks wait for a limit: all have an error, and end"
	# Nothing comes back before that
	load_disk timeout_ms=600000
	make_group g
	make_group g/child
	echo 3 >"$CG/g/$FILES.nr_group_requests"
	echo 2 >"$CG/g/child/$FILES.nr_group_requests"
	echo 3 >"$MODEL/hang"
	start_load g - read 8 0
	start_load g/child - mix 8 2000
	start_load g/child - read 1 4000 --ioengine=libaio --iodepth=32
	start_load g - read 1 4250 --ioengine=io_uring --iodepth=32
	retry grep -q '^group /g .* held 3 ' "/sys/kernel/debug/block/$DISK/sched/trees" ||
		fail "the limit is not reached"
	sleep 1
	echo 1 >"$MODEL/unplug"
	retry ended g g/child || retry ended g g/child || retry ended g g/child ||
		fail "tasks are still there: $(cat "$CG/g/cgroup.procs" "$CG/g/child/cgroup.procs")"
	for file in "$TMP"/fio.*; do
		grep -qE 'error=(Input/output error|No such device)' "$file" ||
			fail "fio had no error: $(head -n 3 "$file")"
	done
	stop_loads errors
	retry plug || fail "the disk does not come back"
	select_sched cfq
	read_some g
	read_some g/child
}

plug() {
	echo 1 >"$MODEL/plug"
}

run_cases there_and_back under_load flash_under_load groups_change_meanwhile \
	removed_with_requests disk_goes unplugged
