#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every file, of groups, of the scheduler and of the queue, in any order, while groups come and go,
# tasks move, schedulers change and the disk is unplugged: the same steps for the same seed.

. ./test_common.sh

STEPS=${STEPS:-700}
# That of the run, unless another one is asked for
SEED=${SEED:-${seed:-1}}

steps() {
	"$1" timeout_ms=300
	./fuzz_files "$SEED" "$STEPS" "$CG" "$DISK" "$MODEL" || fail "seed $SEED"
	# What waits for the disk ends first
	retry nobody_left || fail "tasks are still there"
}

nobody_left() {
	! pidof fuzz_files
}

version1() {
	title "version 1, disk: $STEPS steps at random, seed $SEED"
	mount_groups
	steps load_disk
}

flash() {
	title "version 1, flash: $STEPS steps at random, seed $SEED"
	mount_groups
	steps load_flash
}

version2() {
	title "version 2, disk: $STEPS steps at random, seed $SEED"
	mount_unified
	echo "+$CONTROLLER" >"$CG/cgroup.subtree_control"
	steps load_disk
}

needs_groups
run_cases version1 flash version2
