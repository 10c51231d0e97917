# SPDX-License-Identifier: GPL-2.0
# Common to the tests of two-layer CFQ: the modelled disk, groups, loads, shares of device time.
#
# Settings from the environment:
#   SCHED   scheduler under test (cfq); with bfq the groups are blkio's, with weights as cfq's
#   TUNE    its tunables, as "name=value ..."
#   DISK_PARAMS  parameters of the disk module, added to those of a test
#   CASES   the cases to run (all)
#   SAMPLE  directory for the disk's counters over time, a file for each case, and for results.csv
#   EXTRA   a file of more shell functions, to run the same loads in other surroundings

SCHED=${SCHED:-cfq}
CG=/dev/cgroup
MB=2048				# sectors
# By path, since the shell of busybox would take its own, which knows no direct I/O
# shellcheck disable=SC2034 # the tests use it
DD=$([ -x /usr/bin/dd ] && echo /usr/bin/)dd
KSFT_SKIP=4

# has_controller NAME: in the kernel
has_controller() {
	grep -qs "^$1[[:space:]]" /proc/cgroups
}

# io_groups: groups of cfq are those of the io controller; there it may be a module
io_groups() {
	[ "$SCHED" = cfq ] || return 1
	grep -q ' cfq_cpd_alloc' /proc/kallsyms && return
	load_module cfq && grep -q ' cfq_cpd_alloc' /proc/kallsyms
}

# Whose groups they are, and what the names of the scheduler's files begin with: cfq.weight
set_controller() {
	CONTROLLER=cfq
	FILES=cfq
	[ "$SCHED" != bfq ] || { CONTROLLER=blkio FILES=; }
	if has_controller "$CONTROLLER"; then
		:
	elif io_groups 2>/dev/null; then
		CONTROLLER=blkio
		FILES=blkio.cfq
	else
		CONTROLLER=
	fi
}

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

# use_model MODULE DEVICE: what the other functions are about
use_model() {
	MODULE=$1
	DISK=$2
	DEV=/dev/$DISK
	QUEUE=/sys/block/$DISK/queue
	MODEL=/sys/kernel/debug/$MODULE/$DISK
}

use_model cfq_disk cfqd0

FAILSLAB=/sys/kernel/debug/failslab

# memory_fails 0|1: who is to have no memory has none: 0, also where he could wait for it; 1, only
# where he must not
memory_fails() {
	echo "$1" >"$FAILSLAB/ignore-gfp-wait"
	echo 0 >"$FAILSLAB/verbose"
	echo -1 >"$FAILSLAB/times"
}

# --- results ---

note() {
	echo "# $*"
}

fail() {
	note "FAILED: $*"
	FAILED=1
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit "$KSFT_SKIP"
}

# title TEXT...: what the case checks; its first line
title() {
	TITLE=$*
	note "$*"
}

# expect WHAT CONDITION: the arithmetic CONDITION (of awk) holds; WHAT is printed
expect() {
	if awk "BEGIN { exit !($2) }"; then
		note "$1"
	else
		fail "$1, expected $2"
	fi
}

# result FIELD...: a line for those who draw tables
result() {
	[ -z "$SAMPLE" ] || (IFS=,; echo "$*") >>"$SAMPLE/results.csv"
}

# Data races are told apart by who has run the test, as most of them are not ours.
splats() {
	dmesg | grep -v 'BUG: KCSAN: data-race' |
		grep -cE 'BUG:|WARNING:|KASAN:|Oops|possible (circ|recurs)|blocked.* for more|stall'
}

# run_cases FUNCTION... [: LONG...]: runs each in a clean state, prints KTAP, exits. Of those that
# take long it is the first, with another $SEED another one, or with $LONG all.
run_cases() {
	local case_nr=0 nr_failed=0 chosen='' splats_before case_

	while [ $# -gt 0 ] && [ "$1" != : ]; do
		chosen="$chosen $1"
		shift
	done
	[ $# = 0 ] || shift
	if [ $# -gt 1 ] && [ -z "$LONG" ]; then
		shift $((${seed:-0} % $#))
		set -- "$1"
	fi
	# shellcheck disable=SC2086 # a list of names
	set -- ${CASES:-$chosen $*}
	echo "KTAP version 1"
	echo "1..$#"
	for case_; do
		case_nr=$((case_nr + 1))
		FAILED=
		TITLE=$case_
		splats_before=$(splats)
		$case_
		[ "$TITLE" != "$case_" ] || fail "$case_ is no case: it has no title"
		clean_up
		[ "$(splats)" = "$splats_before" ] || fail "the kernel complained, see its log"
		[ -z "$FAILED" ] || nr_failed=$((nr_failed + 1))
		echo "${FAILED:+not }ok $case_nr $TITLE"
	done
	[ $nr_failed = 0 ]
	exit
}

# What a case may have left behind; the disk goes when nobody uses it.
clean_up() {
	sample_stop
	stop_loads
	remove_groups
	unload_disk
}

# retry COMMAND...: for some seconds, until it succeeds
retry() {
	local left=150

	until "$@" 2>/dev/null; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# --- the disk ---

# load_module NAME PARAMETER...
load_module() {
	local name=$1

	shift
	if [ -e "modules/$name.ko" ]; then
		insmod "modules/$name.ko" "$@"
	else
		modprobe "$name" "$@"
	fi
}

# load_disk PARAMETER...: fresh disks, with the scheduler under test
load_disk() {
	unload_disk
	load_model "$@"
}

load_model() {
	# shellcheck disable=SC2086 # a list of parameters
	load_module "$MODULE" "$@" $DISK_PARAMS || fail "cannot load the disk"
	prepare_sched
}

# prepare_sched: the scheduler under test on a device that is there
prepare_sched() {
	local t

	select_sched "$SCHED"
	[ "$SCHED" != none ] || return 0
	for t in $TUNE; do
		echo "${t#*=}" >"$QUEUE/iosched/${t%%=*}" || fail "cannot set $t"
	done
}

# load_flash PARAMETER...: the same with the flash device in its place, for the rest of the case
load_flash() {
	unload_disk
	use_model cfq_flash cfqf0
	load_model "$@"
}

# load_null PARAMETER...: the device that only answers, and no scheduler yet
load_null() {
	use_model null_blk nullb0
	# As a module, it needs one that modprobe would load before
	[ ! -e modules/configfs.ko ] || insmod modules/configfs.ko 2>/dev/null
	load_module null_blk nr_devices=1 gb=64 bs=4096 submit_queues=1 "$@" ||
		fail "cannot load the device"
}

# scsi_disk: the name of it, while it is there
scsi_disk() {
	ls /sys/bus/pseudo/devices/adapter0/host*/target*/*/block 2>/dev/null
}

find_scsi_disk() {
	DISK=$(scsi_disk) && [ -n "$DISK" ] && [ -e "/dev/$DISK" ] || return 1
	DEV=/dev/$DISK
	QUEUE=/sys/block/$DISK/queue
}

# load_scsi PARAMETER...: a disk of 64 MB, and no scheduler yet
load_scsi() {
	use_model scsi_debug none
	# As a module, it needs one that modprobe would load before
	[ ! -e modules/crc-t10dif.ko ] || insmod modules/crc-t10dif.ko 2>/dev/null
	load_module scsi_debug dev_size_mb=64 max_queue=16 "$@" || fail "cannot load the host"
	retry find_scsi_disk || fail "there is no disk"
}

# mke2fs_ext4 FEATURES NR FILE_MB OPTION...: with files f0, f1 ... that the file system takes for
# written. They stay in place on a loop device, too: nothing is discarded.
mke2fs_ext4() {
	local features=$1 nr=$2 mb=$3

	shift 3
	cat >"$TMP/mke2fs.conf" <<-END
		[defaults]
		blocksize = 4096
		inode_size = 256
		[fs_types]
		ext4 = {
			features = has_journal,extent,huge_file,sparse_super,filetype,$features
			make_hugefiles = true
			zero_hugefiles = false
			hugefiles_size = ${mb}M
			num_hugefiles = $nr
			hugefiles_name = f
			hugefiles_digits = 1
		}
	END
	# By path, for busybox has one of its own
	MKE2FS_CONFIG=$TMP/mke2fs.conf /usr/bin/mke2fs -q -t ext4 "$@" ||
		fail "cannot make a file system: $*"
}

# make_ext4 DEVICE SIZE NR FILE_MB: the files begin behind its metadata
make_ext4() {
	mke2fs_ext4 flex_bg "$3" "$4" -N 1024 -E packed_meta_blocks=1,nodiscard "$1" "$2"
}

# add_partition: of 16 sectors, from sector 8 on
add_partition() {
	{
		head -c 450 /dev/zero
		printf '\203\0\0\0\10\0\0\0\20\0\0\0'
		head -c 48 /dev/zero
		printf '\125\252'
	} | "$DD" of="$DEV" conv=fsync 2>/dev/null
	blockdev --rereadpt "$DEV"
	[ -e "/sys/block/$DISK/${DISK}p1" ] || fail "there is no partition"
}

unload_disk() {
	if [ -d "/sys/module/$MODULE" ]; then
		retry rmmod "$MODULE" || fail "the disk is still in use"
	fi
	use_model cfq_disk cfqd0
}

# select_sched SCHEDULER [DISK]
select_sched() {
	local file=/sys/block/${2:-$DISK}/queue/scheduler selected

	if echo "$1" >"$file" && read -r selected <"$file"; then
		case $selected in
		*"[$1]"*) return ;;
		esac
	fi
	fail "cannot select $1 on ${2:-$DISK}"
	return 1
}

# --- groups; without a controller everything stays where it is ---

# Version 1, mounted where the published manual mounts it; io is there in version 2 only
mount_groups() {
	[ -n "$CONTROLLER" ] || return 0
	[ ! -e "$CG/cgroup.procs" ] || return 0
	mkdir -p "$CG"
	if [ "$CONTROLLER" = io ]; then
		mount -t cgroup2 cgroup2 "$CG" && echo +io >"$CG/cgroup.subtree_control"
	else
		mount -t cgroup -o "$CONTROLLER" "$CONTROLLER" "$CG"
	fi
}

# enable_unified NAME [OLD]: the controller, OLD in version 1. A hierarchy of that version stays if
# a removed group was not quite gone when it was unmounted: then that is done again.
enable_unified() {
	echo "+$1" >"$CG/cgroup.subtree_control" && return
	mkdir -p /dev/cgroup
	mount -t cgroup -o "${2:-$1}" none /dev/cgroup && umount /dev/cgroup
	return 1
}

# mount_unified [DIRECTORY]: for the rest of the test, groups are those of version 2
mount_unified() {
	[ ! -e "$CG/cgroup.procs" ] || umount "$CG"
	CG=${1:-/dev/unified}
	mkdir -p "$CG"
	mount -t cgroup2 none "$CG"
	if [ "$CONTROLLER" = blkio ]; then
		CONTROLLER=io
		FILES=io.cfq
		retry enable_unified io blkio || fail "cannot enable io in version 2"
		return
	fi
	retry enable_unified "$CONTROLLER" || fail "cannot enable $CONTROLLER in version 2"
}

# enable_children NAME: the controller, for the child groups of NAME
enable_children() {
	echo "+$CONTROLLER" >"$CG/$1/cgroup.subtree_control"
}

# make_group NAME [PRIORITY]: NAME is a path below the root group, whose parent is there
make_group() {
	[ -n "$CONTROLLER" ] || return 0
	mount_groups
	mkdir "$CG/$1" || fail "cannot make group $1"
	case $1 in
	*/*) [ ! -e "$CG/cgroup.subtree_control" ] || enable_children "${1%/*}" ;;
	esac
	[ -z "$2" ] || group_ioprio "$1" "$2" || fail "cannot give group $1 priority $2"
}

group_ioprio() {
	case ${FILES:-$CONTROLLER} in
	io) echo "$((100 * (8 - $2)))" >"$CG/$1/io.weight" ;;
	blkio) echo "$((100 * (8 - $2)))" >"$CG/$1/blkio.bfq.weight" ;;
	*) echo "$2" >"$CG/$1/$FILES.ioprio" ;;
	esac
}

# try_remove_group NAME: its tasks go to the root group first
try_remove_group() {
	local pid

	while read -r pid; do
		echo "$pid" >"$CG/cgroup.procs"
	done 2>/dev/null <"$CG/$1/cgroup.procs"
	rmdir "$CG/$1"
}

# remove_group NAME: once the last task is really gone, and none is forked any more
remove_group() {
	retry try_remove_group "$1" || fail "cannot remove group $1"
}

remove_groups() {
	local dir

	[ -n "$CONTROLLER" ] && [ -d "$CG" ] || return 0
	# shellcheck disable=SC2044 # no name has a blank
	for dir in $(find "$CG" -mindepth 1 -depth -type d); do
		remove_group "${dir#"$CG/"}"
	done
}

# --- tunables ---

# name, default, least, greatest
TUNABLES="
quantum			8	1	100000
fifo_expire_sync	125	1	2147483647
fifo_expire_async	250	1	2147483647
back_seek_max		16384	0	2147483647
back_seek_penalty	2	1	2147483647
slice_sync		100	1	100000
slice_sync_us		100000	1	100000000
slice_async		40	1	100000
slice_async_us		40000	1	100000000
slice_async_rq		2	1	100000
slice_idle		8	0	100000
slice_idle_us		8000	0	100000000
group_idle		8	0	100000
group_idle_us		8000	0	100000000
target_latency		300	1	100000
target_latency_us	300000	1	100000000
low_latency		1	0	1
"
GROUP_TUNABLES="
group_slice		400	1	100000
group_slice_us		400000	1	100000000
"

# each_tunable FUNCTION: called with every line of the table
each_tunable() {
	while read -r name default min max; do
		[ -z "$name" ] || "$1" "$name" "$default" "$min" "$max"
	done <<-END
		$TUNABLES
	END
}

# --- what is written to $FILE ---

FILE=

# takes PRINTF_FORMAT VALUE: VALUE in that format is taken, and reads back
takes() {
	local errno

	# shellcheck disable=SC2059 # the format is the test
	errno=$(printf -- "$1" "$2" | ./write_errno "$FILE")
	[ "$errno:$(cat "$FILE")" = "0:$2" ] ||
		fail "'$1' of $2 gives $errno and reads $(cat "$FILE")"
}

# refuses PRINTF_FORMAT ERRNO: the value stays
refuses() {
	local before errno

	before=$(cat "$FILE")
	# shellcheck disable=SC2059 # the format is the test
	errno=$(printf -- "$1" | ./write_errno "$FILE")
	[ "$errno" = "$2" ] || fail "'$1' gives $errno, expected $2"
	[ "$(cat "$FILE")" = "$before" ] || fail "'$1' changes $before to $(cat "$FILE")"
}

# gives PRINTF_FORMAT TEXT: it is taken, and the file reads TEXT then
gives() {
	local errno

	# shellcheck disable=SC2059 # the format is the test
	errno=$(printf -- "$1" | ./write_errno "$FILE")
	[ "$errno" = 0 ] || fail "'$1' to ${FILE##*/} gives $errno"
	[ "$(cat "$FILE")" = "$2" ] || fail "after '$1' ${FILE##*/} reads '$(cat "$FILE")'"
}

# --- loads ---

# run_as GROUP PRIORITY COMMAND...: becomes COMMAND; call it in a subshell.
# GROUP is a cgroup, PRIORITY is rt/LEVEL, be/LEVEL or idle; "-" leaves either as it is.
run_as() {
	local group=$1 prio=$2

	shift 2
	[ "$group" = - ] || [ -z "$CONTROLLER" ] || echo 0 >"$CG/$group/cgroup.procs" || exit
	case $prio in
	rt/*) exec ionice -c 1 -n "${prio#*/}" "$@" ;;
	be/*) exec ionice -c 2 -n "${prio#*/}" "$@" ;;
	idle) exec ionice -c 3 "$@" ;;
	*) exec "$@" ;;
	esac
}

# Tasks of a load are threads of one process, between which an emulated processor switches sooner;
# where they move one by one it is processes
THREADS=--thread

# start_load GROUP PRIORITY LOAD PROCESSES FIRST_MB [FIO_OPTION...]: direct I/O, each process in
# 250 MB of its own.
# LOAD: read, write (random, 4 KB), mix (half of the processes read, half write), seq (128 KB, in
# sequence)
start_load() {
	local group=$1 prio=$2 load=$3 nr=$4 first=$5 half

	shift 5
	set -- --filename="$DEV" --direct=1 --ioengine=psync --size=250m --offset_increment=250m \
		--bs=4k --norandommap --invalidate=0 --randseed="$((first + 1))" --time_based \
		--runtime=1000000 --disk_util=0 $THREADS "$@"
	case $load in
	read | write | trim)
		set -- "$@" --offset="${first}m" --numjobs="$nr" --name="$load" --rw="rand$load"
		;;
	mix)
		half=$((nr / 2))
		set -- "$@" \
			--name=read --rw=randread --numjobs="$((nr - half))" \
			--offset="${first}m" \
			--name=write --rw=randwrite --numjobs="$half" \
			--offset="$((first + 250 * (nr - half)))m"
		;;
	seq) set -- "$@" --offset="${first}m" --numjobs="$nr" --name=seq --rw=read --bs=128k ;;
	*) fail "no load $load" ;;
	esac
	(run_as "$group" "$prio" fio "$@") >"$TMP/fio.$first" 2>&1 &
	LOADS="$LOADS $!"
}

# start_flushes GROUP PRIORITY TIMES: processes, one after the other, that each flush the disk's
# cache so often
start_flushes() {
	# shellcheck disable=SC2016 # expanded by who runs it
	(run_as "$1" "$2" sh -c 'while :; do sync -d $0; done' "$(yes "$DEV" | head -n "$3")") &
	LOADS="$LOADS $!"
}

# load_with_log GROUP PRIORITY LOAD PROCESSES FIRST_MB [OPTION...]: start_load, whose report log_ms
# reads at the end
load_with_log() {
	start_load "$@" --group_reporting --output="$TMP/log.$5" --output-format=json
}

# log_ms FIRST_MB FIELD: of the times that the load's requests took, "max", "mean" or "99.900000"
log_ms() {
	awk -v field="\"$2\"" '
		/"clat_ns"/ { inside = 1 }
		inside && $1 == field { ms = $3 / 1e6; if (ms > max) max = ms }
		/"lat_ns"/ { inside = 0 }
		END { printf("%.0f\n", max) }' "$TMP/log.$1"
}

# on DISK COMMAND...: a function that uses $DEV, for another disk than the first
on() {
	local DEV=/dev/$1

	shift
	"$@"
}

# run_groups SECONDS PROCESSES PRIORITY LOAD [PRIORITY LOAD...]: a group for each pair, side by side
# on the disk; leaves what the disk did for each in $TMP/ranges. Where there is no controller,
# PRIORITY is that of the tasks.
run_groups() {
	local seconds=$1 nr=$2 first=0 g=0 stretches='' tasks=-

	shift 2
	while [ $# -gt 1 ]; do
		g=$((g + 1))
		make_group "g$g" "$1"
		[ -n "$CONTROLLER" ] || tasks=be/$1
		start_load "g$g" "$tasks" "$2" "$nr" "$first"
		stretches="$stretches $first $((250 * nr))"
		first=$((first + 250 * nr))
		shift 2
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 2
	measure "$seconds"
	stop_loads
}

DEEP="--ioengine=libaio --iodepth=16"

# flood SECONDS GROUP...: four processes 16 deep in each; leaves what the device did for each in
# $TMP/ranges
flood() {
	local seconds=$1 first=0 stretches='' group

	shift
	for group; do
		# shellcheck disable=SC2086 # options
		start_load "$group" - read 4 "$first" $DEEP
		stretches="$stretches $first 1000"
		first=$((first + 1000))
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 1
	measure "$seconds"
}

# live_jobs PID: the processes that fio PID has started
live_jobs() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v pid="$1" '$4 == pid && $3 != "Z" { print $1 }'
}

# end_by_force: loads that do not end.  Told to end while it ends anyway, as after errors, fio 3.33
# may wait for itself, with no job left: its signal handler uses malloc(). Who has lost a request
# does not end even so, and what it waits for is shown.
end_by_force() {
	local pid task pids=

	sleep 20
	for pid in $LOADS; do
		[ -n "$(live_jobs "$pid")" ] || kill -9 "$pid" 2>/dev/null
	done
	sleep 80
	for pid in $LOADS; do
		pids="$pids $pid $(live_jobs "$pid")"
	done
	for pid in $pids; do
		for task in /proc/"$pid"/task/*; do
			note "is still there: $(cut -d " " -f 1-4 "$task/stat")" \
				"$(cat "$task/syscall")"
			sed 's/^/# /' "$task/stack"
		done
	done 2>/dev/null
	# shellcheck disable=SC2086 # a list of numbers
	kill -9 $pids
}

# stop_loads [errors]: none may have ended before, or had an error unless told so
stop_loads() {
	local pid file watcher=

	[ -n "$LOADS" ] || return 0
	# shellcheck disable=SC2086 # a list of numbers
	kill $LOADS 2>/dev/null
	if [ "$1" = errors ]; then
		end_by_force &
		watcher=$!
	fi
	for pid in $LOADS; do
		# fio ends with 128 when it is told to
		wait "$pid" 2>/dev/null
		[ $? -ge 128 ] || [ "$1" = errors ] || fail "fio has ended before its time"
	done
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null
	LOADS=
	for file in "$TMP"/fio.*; do
		if [ "$1" != errors ] && grep -qsE 'error|err= *[1-9]' "$file"; then
			fail "fio: $(grep -m 1 -E 'error|err= *[1-9]' "$file")"
		fi
		rm -f "$file"
	done
}

# stop_last_loads [NR]: of those that were started, 1 unless told otherwise, and they had no error
stop_last_loads() {
	local left=${1:-1} pid

	while [ "$left" -gt 0 ]; do
		pid=${LOADS##* }
		LOADS=${LOADS% *}
		kill "$pid"
		wait "$pid"
		[ $? -ge 128 ] || fail "fio has ended before its time"
		left=$((left - 1))
	done 2>/dev/null
}

# --- what the disk did ---

# watch_mb FIRST NR ...: the disk counts for these stretches, in MB
watch_mb() {
	echo clear >"$MODEL/ranges"
	while [ $# -gt 1 ]; do
		echo "$(($1 * MB)) $(($2 * MB))" >"$MODEL/ranges"
		shift 2
	done
}

ALLOCATIONS=/sys/kernel/tracing/events/kmem/kmalloc

# count_queues: of the scheduler, as they are made, until queues_made
count_queues() {
	echo >/sys/kernel/tracing/trace
	echo "call_site.function == cfqq_alloc" >"$ALLOCATIONS/filter" || fail "cannot trace"
	echo 1 >"$ALLOCATIONS/enable"
}

queues_made() {
	echo 0 >"$ALLOCATIONS/enable"
	grep -c kmalloc: /sys/kernel/tracing/trace
}

# stat GROUP NAME [DISK [FILE]]: the number in its stat. Without another process, as some ask often.
stat() {
	local device number line

	read -r device <"/sys/block/${3:-$DISK}/dev" || return
	while read -r number line; do
		[ "$number" = "$device" ] || continue
		line=" $line"
		case $line in
		*" $2="*)
			line=${line##* "$2"=}
			echo "${line%% *}"
			;;
		esac
	done <"${4:-$CG/$1/$FILES.stat}"
}

# shown FILE NAME: a number in debugfs
shown() {
	sed -n "s/^$2 //p" "/sys/kernel/debug/block/$DISK/sched/$1"
}

# held GROUP [DISK]: requests that it holds now
held() {
	sed -n "s|^group /$1 .* held \([0-9]*\) .*|\1|p" \
		"/sys/kernel/debug/block/${2:-$DISK}/sched/trees"
}

# most_held GROUP [DISK]: the largest number of many looks
most_held() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		held "$@"
		sleep 0.07
	done | sort -n | tail -n 1
}

# holds GROUP NUMBER [DISK]: that many at most, and as many at some time
holds() {
	local most

	most=$(most_held "$1" "$3")
	expect "$1 holds up to $most requests${3:+ on $3}" "${most:-0} == $2"
}

# turn_begins GROUP: waits for it, if there are turns
turn_begins() {
	local disk=${MODEL##*/} left=150 before

	before=$(stat "$1" slices "$disk")
	while [ "$(stat "$1" slices "$disk")" = "$before" ] && [ "$left" -gt 0 ]; do
		left=$((left - 1))
		sleep 0.01
	done
}

# measure SECONDS [GROUP]: leaves the counts of that time in $TMP/ranges, one line a stretch. With
# GROUP it begins and ends where a turn of that group begins: a round is counted as a whole or not
# at all.
measure() {
	[ -z "$2" ] || turn_begins "$2"
	echo reset >"$MODEL/ranges"
	sleep "$1"
	[ -z "$2" ] || turn_begins "$2"
	stretches >"$TMP/ranges"
}

stretches() {
	grep '^[0-9]' "$MODEL/ranges"
}

# shares [FILE]: of device time, in percent
shares() {
	awk '{ t[NR] = $3; sum += $3 }
	     END { for (i = 1; i <= NR; i++)
			printf("%s%.1f", i == 1 ? "" : " ", sum ? 100 * t[i] / sum : 0) }' \
		"${1:-$TMP/ranges}"
}

# share NR [FILE]: of the NRth stretch, in percent
share() {
	# shellcheck disable=SC2046 # a list of numbers
	set -- "$1" $(shares "$2")
	shift "$1"
	echo "$1"
}

# ios [NR]: requests of all stretches, or of one
ios() {
	awk -v nr="$1" '!nr || NR == nr { sum += $4 + $5 } END { print sum + 0 }' "$TMP/ranges"
}

# distance PERCENT...: largest distance of a share from what it should be, in percentage points
distance() {
	awk -v list="$*" '
	BEGIN { n = split(list, percent, " ") }
	{ time[NR] = $3; sum += $3 }
	END {
		for (i = 1; i <= n; i++) {
			e = (sum ? 100 * time[i] / sum : 0) - percent[i]
			e = e < 0 ? -e : e
			max = e > max ? e : max
		}
		printf "%.2f", max
	}' "$TMP/ranges"
}

# share_error PRIORITY...: the same for what the groups' priorities promise
share_error() {
	# shellcheck disable=SC2046 # a list of numbers
	distance $(echo "$*" | awk '{
		for (i = 1; i <= NF; i++)
			sum += 8 - $i
		for (i = 1; i <= NF; i++)
			print 100 * (8 - $i) / sum
	}')
}

# sample_start CASE [SECONDS]: notes the counters every quarter of a second, or so often
sample_start() {
	local every=${2:-0.25}

	[ -n "$SAMPLE" ] || return 0
	echo reset >"$MODEL/ranges"
	(
		echo seconds,start,nr,time_ns,reads,writes,read_sectors,written_sectors
		while read -r up _ </proc/uptime; do
			stretches | sed "s|^|$up |; s|[[:space:]][[:space:]]*|,|g"
			sleep "$every"
		done
	) >"$SAMPLE/$1.csv" &
	SAMPLER=$!
}

sample_stop() {
	[ -z "$SAMPLER" ] || { kill "$SAMPLER"; wait "$SAMPLER"; } 2>/dev/null
	SAMPLER=
}

# needs_groups: of this scheduler, wherever they come from
needs_groups() {
	[ "$SCHED" = cfq ] || skip_all "for cfq"
	[ -n "$CONTROLLER" ] || skip_all "no groups of cfq"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
set_controller
[ -z "$CONTROLLER" ] || TUNABLES="$TUNABLES$GROUP_TUNABLES"

# shellcheck source=/dev/null
[ -z "$EXTRA" ] || . "$EXTRA"
