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

# shellcheck disable=SC2034 # test_common.sh has it
[ "$PEER" != iocost ] || { CONTROLLER=io FILES=; }
[ -z "$IONICE" ] || CONTROLLER=
# The loads are processes, as in the record, and as what they stand for.
# shellcheck disable=SC2034
THREADS=

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

# prepare_device: what is under test on a device that is there
prepare_device() {
	local number

	prepare_sched
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

# load_device DEVICE: disk, flash or null; of null_blk with DISK_PARAMS, of flash with FLASH_PARAMS
load_device() {
	# shellcheck disable=SC2086 # lists of parameters
	case $1 in
	disk) load_disk ;;
	flash) load_flash $FLASH_PARAMS ;;
	null) load_null $DISK_PARAMS ;;
	esac
	prepare_device
}

# crowd_device WAY MS GROUPS [PARAMETER...]: null_blk with these parameters, for crowd WAY MS GROUPS
crowd_device() {
	shift 3
	DISK_PARAMS=$*
	load_device null
	mkdir -p "$CG"
}

# crowd direct|buffered MS GROUPS...: groups with one synchronous random reader each; 3x1000: with three
crowd() {
	local groups=${3#*x} each=${3%x*}

	[ "$groups" != "$3" ] || each=1
	/guest/crowd "$1" "$DEV" "$2" "$((groups * each))" "${CONTROLLER:+$CG}" "$each" || fail "the readers failed"
}

# start_batches GROUPS JOBS: each job reads at random, 32 deep, and sends 8 requests at a time
start_batches() {
	local nr=0

	while [ "$nr" -lt "$1" ]; do
		make_group "g$nr"
		start_load "g$nr" - read "$2" $((1000 * nr)) --ioengine=io_uring --iodepth=32 \
			--iodepth_batch_submit=8 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=8
		nr=$((nr + 1))
	done
}

# batch_device batch MS GROUPS [PARAMETER...]: null_blk with these parameters, and groups with a job of
# start_batches each, that have begun
batch_device() {
	local groups=$3

	crowd_device "$@"
	start_batches "$groups" 1
	sleep 0.5
}

sleep_ms() {
	sleep "$(awk "BEGIN { print $1 / 1000 }")"
}

# requests: that the device has read
requests() {
	awk '{ print $1 }' "/sys/block/$DISK/stat"
}

# record SECONDS: what the device counts for the groups in that time, and no more of the loads
record() {
	measure "$1"
	cp "$TMP/ranges" "$OUT/ranges"
	stop_loads ""
}
