# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# What programs do side by side, on files of an ext4: common to the loads of section "programs". The groups are those of
# version 2 for every scheduler, with the memory controller, so that what is written back is of the group that wrote it.

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

FILE_MB=2048
WRITTEN_MB=128	# of a file that is written through the page cache, again and again
MNT=$TMP/mnt
# As on a machine of 1 GB: most of the VM's memory is the device's store.
DIRTY=$((128 << 20))

# use_device disk|flash FILES [SIZE]: with an ext4 of that size (60 GB) that has so many files, f0, f1 ...
use_device() {
	load_device "$1"
	use_groups
	echo $DIRTY >/proc/sys/vm/dirty_bytes
	echo $((DIRTY / 2)) >/proc/sys/vm/dirty_background_bytes
	make_ext4 "$DEV" "${3:-60G}" "$2" $FILE_MB
	mkdir "$MNT"
	mount -t ext4 -o noatime,noinit_itable "$DEV" "$MNT" || exit
}

use_groups() {
	[ -n "$CONTROLLER" ] || return 0
	# Those of io.cost are of version 2 already.
	[ "$CONTROLLER" = io ] || mount_unified
	enable_memory_and_io "$CG"
}

# enable_memory_and_io DIRECTORY: for the groups in it
enable_memory_and_io() {
	local controller

	for controller in memory io; do
		echo +$controller >"$1/cgroup.subtree_control" || fail "no $controller controller"
	done
}

# In place of the usual one, which knows bfq in version 1 only
group_ioprio() {
	local weight=$((100 * (8 - $2)))

	case $SCHED in
	cfq) echo "$2" >"$CG/$1/$FILES.ioprio" ;;
	bfq) echo $weight >"$CG/$1/io.bfq.weight" ;;
	*) echo $weight >"$CG/$1/io.weight" ;;
	esac
}

# digit_of GROUP: which its name begins with, its priority
digit_of() {
	local name=${1##*/}

	echo "${name%"${name#?}"}"
}

use_group() {
	[ -z "$CONTROLLER" ] || [ -d "$CG/$1" ] || make_group "$1" "$(digit_of "$1")"
}

# priority_of GROUP: that of its tasks
priority_of() {
	task_prio "$(digit_of "$1")"
}

# first_mb FILE: where it begins on the device; files lie one after the other
first_mb() {
	filefrag -e -b1048576 "$1" | sed -n 's/^ *0: *[0-9]*\.\. *[0-9]*: *\([0-9]*\)\.\..*/\1/p'
}

drop_caches() {
	echo 3 >/proc/sys/vm/drop_caches
}

# start_job NAME GROUP JOB PROCESSES FIRST [FIO_OPTION...]: each process has a file of its own, from the FIRSTth on;
# fio's report is fio.NAME.json then
start_job() {
	local name=$1 group=$2 job=$3 nr=$4 first=$5 dir=$TMP/files.$1 i=0
	local files=--filename_format=f.\$jobnum

	shift 5
	use_group "$group"
	mkdir -p "$dir"
	while [ $i -lt "$nr" ]; do
		ln -sf "$MNT/f$((first + i))" "$dir/f.$i"
		i=$((i + 1))
	done
	# With a format that names one file, one of the processes would read.
	case $job in together*) files=--filename=f.0 ;; esac
	set -- --directory="$dir" "$files" --size="${FILE_MB}m" --norandommap --invalidate=0 \
		--randseed="$((first + 1))" --fallocate=none --time_based --runtime=1000000 --disk_util=0 \
		--ioengine=psync --group_reporting --output="$OUT/fio.$name.json" --output-format=json+ \
		--percentile_list=50:99:99.9 --numjobs="$nr" --name="$job" "$@"
	case $job in
	# Through the page cache
	page) set -- "$@" --rw=randread --bs=4k ;;
	stream) set -- "$@" --rw=read --bs=128k ;;
	writer) set -- "$@" --rw=write --bs=128k --size=${WRITTEN_MB}m ;;
	player) set -- "$@" --rw=read --bs=256k --rate=4m ;;
	# Together they read one file from its begin to its end.
	together*)
		[ "$job" = together ] || set -- "$@" --direct=1
		set -- "$@" --rw=read --bs=16k --size=$((FILE_MB - 1))m --offset_increment=16k \
			--zonemode=strided --zonesize=16k --zoneskip=$(((nr - 1) * 16))k
		;;
	# Past it
	reader) set -- "$@" --direct=1 --rw=randread --bs=4k ;;
	reads) set -- "$@" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=64 ;;
	writes) set -- "$@" --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=64 ;;
	big_writes) set -- "$@" --direct=1 --rw=randwrite --bs=64k --ioengine=libaio --iodepth=128 ;;
	*) fail "no job $job" ;;
	esac
	(run_as "$group" "$(priority_of "$group")" fio "$@") >"$TMP/fio.$name" 2>&1 &
	LOADS="$LOADS $!"
}

# phase NAME GROUP:JOB:PROCESSES:FIRST...: these side by side, from an empty page cache; RAMP seconds later the device
# counts for COUNTED seconds
phase() {
	local name=$1 nr=0 stretches='' job

	shift
	sync
	drop_caches
	for job; do
		nr=$((nr + 1))
		IFS=:
		# shellcheck disable=SC2086 # to be split
		set -- $job
		unset IFS
		start_job "$name.$nr" "$@" --ramp_time="$RAMP"
		case $2 in
		together*) stretches="$(first_mb "$MNT/f$4") $FILE_MB" ;;
		*) stretches="$stretches $(first_mb "$MNT/f$4") $(($3 * FILE_MB))" ;;
		esac
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep "$RAMP"
	measure "$COUNTED"
	cp "$TMP/ranges" "$OUT/ranges.$name"
	stop_loads ""
}

uptime_s() {
	local up

	read -r up _ </proc/uptime
	echo "$up"
}

# device_kb: read and written since it is there
device_kb() {
	awk '{ print ($3 + $7) / 2 }' "/sys/block/$DISK/stat"
}

leave_device() {
	umount "$MNT" || fail "cannot unmount"
	finish
}
