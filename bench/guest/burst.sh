#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# One group has 500 random reads under way; after 10 s another of the same weight does the same, with "rt" in the real
# time class. When does the newcomer get what is due to it?
#
#	burst.sh be|rt

EXTRA=/guest/peers.sh
SAMPLE=/out
# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

# start_burst NR TASK_PRIORITY [FIO_OPTION...]
start_burst() {
	local nr=$1 prio=$2

	shift 2
	start_load "g$nr" "$prio" read 1 "$((250 * (nr - 1)))" --ioengine=libaio --iodepth=500 "$@"
}

newcomer=-
load_device disk
set_nr_requests 500
make_group g1 4
make_group g2 4
if [ "$1" = rt ]; then
	if [ -e "$CG/g2/cfq.ioprio_class" ]; then
		echo 1 >"$CG/g2/cfq.ioprio_class"
	elif [ "$CONTROLLER" = cfq ] && [ "$SCHED" = cfq ]; then
		cannot "no class of groups"
	elif [ "$SCHED" = none ] || [ "$SCHED" = kyber ]; then
		cannot "no classes"
	else
		newcomer=rt/4
	fi
fi
start_burst 1 -
# fio takes a while to begin, which says nothing of the scheduler.
mkfifo "$TMP/go"
start_burst 2 "$newcomer" --exec_prerun="cat $TMP/go"
watch_mb 0 250 250 250
sleep 10
# fio itself knows of no completion before all its requests are queued; the disk does.
sample_start burst 0.025
echo >"$TMP/go"
sleep 10
sample_stop
stop_loads ""
finish
