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

# start_burst NR TASK_PRIORITY
start_burst() {
	start_load "g$1" "$2" read 1 "$((250 * ($1 - 1)))" --ioengine=libaio --iodepth=500
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
watch_mb 0 250 250 250
sleep 10
# fio itself knows of no completion before all its requests are queued; the disk does.
sample_start burst 0.05
start_burst 2 "$newcomer"
sleep 10
sample_stop
stop_loads ""
finish
