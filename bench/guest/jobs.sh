# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# What programs do side by side, on files of an ext4: common to the loads of section "programs". The groups are those of
# version 2 for every scheduler, with the memory controller, so that what is written back is of the group that wrote it.

EXTRA=/guest/peers.sh
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

FILE_MB=2048
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
	local controller

	[ -n "$CONTROLLER" ] || return 0
	# Those of io.cost are of version 2 already.
	[ "$CONTROLLER" = io ] || mount_unified
	for controller in memory io; do
		echo +$controller >"$CG/cgroup.subtree_control" || fail "no $controller controller"
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

# use_group NAME: its first digit is its priority
use_group() {
	[ -z "$CONTROLLER" ] || [ -d "$CG/$1" ] || make_group "$1" "${1%"${1#?}"}"
}

# priority_of GROUP: that of its tasks
priority_of() {
	task_prio "${1%"${1#?}"}"
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
