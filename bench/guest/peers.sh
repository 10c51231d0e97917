# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# What the bench adds to the selftests' test_common.sh, which reads this file at its end: schedulers that are not
# under test there, the other devices, and where figures go.
#
# Settings from the environment, beside those of test_common.sh:
#   PEER         "iocost": the groups are those of io.cost, on top of scheduler SCHED
#   IONICE       not empty: no groups, their priorities are given to the tasks
#   NR_REQUESTS  request descriptors of the device (what the kernel chooses)
#   QOS, MODEL_OF_COST  for io.cost: the rest of the lines of io.cost.qos and io.cost.model

OUT=/out

[ "$PEER" != iocost ] || CONTROLLER=io
[ -z "$IONICE" ] || CONTROLLER=

# A scheduler that cannot do what is asked has no result.
cannot() {
	note "cannot: $*"
	exit "$KSFT_SKIP"
}

finish() {
	[ -z "$FAILED" ]
	exit
}

# fact NAME VALUE...
fact() {
	echo "$*" >>"$OUT/facts"
}

mount_groups() {
	[ -n "$CONTROLLER" ] || return 0
	grep -q " $CG cgroup" /proc/mounts && return
	mkdir -p "$CG"
	if [ "$CONTROLLER" = io ]; then
		mount -t cgroup2 cgroup2 "$CG" && echo +io >"$CG/cgroup.subtree_control"
	else
		mount -t cgroup -o "$CONTROLLER" "$CONTROLLER" "$CG"
	fi
}

group_ioprio() {
	case $CONTROLLER in
	io) echo "$((100 * (8 - $2)))" >"$CG/$1/io.weight" ;;
	blkio) echo "$((100 * (8 - $2)))" >"$CG/$1/blkio.bfq.weight" ;;
	*) echo "$2" >"$CG/$1/cfq.ioprio" ;;
	esac
}

# task_prio PRIORITY: that of the tasks of a group of this priority
task_prio() {
	if [ -n "$IONICE" ]; then
		echo "be/$1"
	else
		echo -
	fi
}

set_nr_requests() {
	# Without a scheduler there are as many as the device takes.
	[ "$SCHED" = none ] || echo "$1" >"$QUEUE/nr_requests" || fail "cannot set nr_requests"
}

# use_device DISK DEBUGFS_DIRECTORY
# shellcheck disable=SC2034 # test_common.sh uses them
use_device() {
	DISK=$1
	DEV=/dev/$DISK
	QUEUE=/sys/block/$DISK/queue
	MODEL=/sys/kernel/debug/$2/$DISK
}

# prepare_device: the scheduler under test on a device that is there
prepare_device() {
	local t number

	select_sched "$SCHED"
	for t in $TUNE; do
		echo "${t#*=}" >"$QUEUE/iosched/${t%%=*}" || fail "cannot set $t"
	done
	[ -z "$NR_REQUESTS" ] || set_nr_requests "$NR_REQUESTS"
	mount_groups
	if [ "$CONTROLLER" = io ]; then
		number=$(cat "/sys/block/$DISK/dev")
		[ -z "$MODEL_OF_COST" ] ||
			echo "$number ctrl=user model=linear $MODEL_OF_COST" >"$CG/io.cost.model" ||
			fail "cannot set io.cost.model"
		# shellcheck disable=SC2086 # a list of settings
		echo "$number enable=1 $QOS" >"$CG/io.cost.qos" || fail "cannot set io.cost.qos"
	fi
	fact nr_requests "$(cat "$QUEUE/nr_requests")"
}

# load_device DEVICE: disk, flash or null; DISK_PARAMS are added to the module's
load_device() {
	case $1 in
	disk) use_device cfqd0 cfq_disk ;;
	flash) use_device cfqf0 cfq_flash ;;
	null) use_device nullb0 none ;;
	esac
	# shellcheck disable=SC2086 # a list of parameters
	if [ "$1" = null ]; then
		load_module null_blk nr_devices=1 gb=64 bs=4096 submit_queues=1 $DISK_PARAMS
	else
		load_module "cfq_$1" $DISK_PARAMS
	fi || fail "cannot load the $1"
	prepare_device
}
