#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every allocation of the scheduler's fails, at some moment.

. ./test_common.sh
. ./whose_io_common.sh

KMEM=/sys/kernel/tracing/events/kmem
GOT_NONE="$KMEM/kmalloc $KMEM/kmem_cache_alloc"

# trace_failures 0|1: who asks for memory and has none
trace_failures() {
	local event

	for event in $GOT_NONE; do
		echo 'ptr == 0' >"$event/filter"
		echo "$1" >"$event/enable"
	done
}

# failed_in FUNCTION...: one of these, as one may be part of another when they are compiled
failed_in() {
	local function

	for function; do
		! grep -q "call_site=${function}[+.]" "$TMP/trace" || return 0
	done
	fail "none of $* was without memory"
}

# tell_failures: which of ours had none, since this was begun
tell_failures() {
	trace_failures 0
	cp /sys/kernel/tracing/trace "$TMP/trace"
	echo >/sys/kernel/tracing/trace
	note "without memory: $(sed -n 's/.*call_site=\(c[fi][qc][a-z_]*\).*/\1/p' "$TMP/trace" |
		sort | uniq -c | tr -s ' \n' ' ')"
}

# each_fails, some_fail PERCENT: allocations of the task that asks for it; or, of marked tasks,
# those that cannot wait
each_fails() {
	memory_fails 0
	trace_failures 1
}

some_fail() {
	memory_fails 1
	echo 1 >"$FAILSLAB/task-filter"
	echo "$1" >"$FAILSLAB/probability"
	trace_failures 1
}

none_fails() {
	echo 0 >"$FAILSLAB/probability"
	echo 0 >"$FAILSLAB/task-filter"
	tell_failures
}

each() {
	./fail_nth "$@" || fail "$* does not fail as it should"
}

one_by_one() {
	title "each allocation fails: selecting cfq, groups, settings, the first request of a group"
	load_disk
	mount_groups
	make_group g
	each_fails
	each write "$QUEUE/scheduler" cfq none
	select_sched cfq
	each mkdir "$CG/new"
	for file in weight_device nr_group_requests; do
		each write "$CG/g/cfq.$file" "$(cat "/sys/block/$DISK/dev") 7" \
			"$(cat "/sys/block/$DISK/dev") default"
	done
	each read "$CG/new" "$DEV" max
	each read "$CG/new" "$DEV" 5
	tell_failures
	failed_in cfq_init_sched
	failed_in cfqc_css_alloc
	failed_in cfq_cgroup_set_for_device
	failed_in cfq_group_of
	failed_in cfqq_alloc cic_renew_cfqq cfqd_get_shared_cfqq
	left=$(grep -c ' held [1-9]' "/sys/kernel/debug/block/$DISK/sched/trees")
	expect "$left groups hold requests without I/O" "$left == 0"
}

# keep_moving PID...: between groups that live for a moment, NR times
keep_moving() {
	local nr pid

	for nr in $(seq "$NR_GROUPS"); do
		make_group "new$nr"
		for pid; do
			echo "$pid" >"$CG/new$nr/cgroup.procs" || fail "cannot move $pid"
		done
		sleep 0.05
		[ "$nr" = 1 ] || remove_group "new$((nr - 1))"
	done
}

NR_GROUPS=${NR_GROUPS:-40}

often() {
	local option

	title "who must not wait for memory has none every third time: none hangs, no wrong byte"
	load_disk
	mount_groups
	some_fail 33
	PIDS=
	for option in --rw=randwrite --rw=write; do
		(echo 1 >/proc/self/make-it-fail && run_as - - fio --name=verify --filename="$DEV" \
			--offset=$((${#PIDS} * 4))m --size=2m --direct=1 --bsrange=4k-16k \
			--ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1 \
			--disk_util=0 --thread --loops=1000 "$option") >"$TMP/verify$option" 2>&1 &
		PIDS="$PIDS $!"
	done
	# shellcheck disable=SC2086 # a list of numbers
	keep_moving $PIDS
	none_fails
	failed_in cfq_group_of
	failed_in cfqq_alloc cic_renew_cfqq cfqd_get_shared_cfqq
	for option in $PIDS; do
		kill "$option" || fail "fio has ended: $(sed -n '1,9s/^/# /p' "$TMP"/verify*)"
		wait "$option"
	done 2>/dev/null
	! grep -q 'verify:.*bad\|err= *[1-9]' "$TMP"/verify* ||
		fail "fio found wrong data or an error: $(grep -h 'bad\|err=' "$TMP"/verify*)"
}

NR_DIRS=60

# It seldom has to: it tries until it had no memory for that.
repays() {
	local round

	title "a task of the idle class makes directories, and has no memory to pay for it"
	use_small_groups
	make_group flood
	start_load flood - read 8 10000
	sleep 1
	some_fail 80
	for round in $(seq 60); do
		# shellcheck disable=SC2016 # expanded by who runs it
		(cd "$MNT" && run_as - idle sh -c 'echo 1 >/proc/self/make-it-fail && i=0
			while [ $i -lt '"$NR_DIRS"' ]; do
				i=$((i + 1)); mkdir '"$round"'.$i; : >'"$round"'.$i/f
			done') || fail "it cannot make directories"
		! grep -q 'call_site=cfq_\(repay_later\|insert_requests\)[+.]' \
			/sys/kernel/tracing/trace || break
	done
	none_fails
	failed_in cfq_repay_later cfq_insert_requests
	stop_loads
	expect "$(find "$MNT" -name f | wc -l) files are there" \
		"$(find "$MNT" -name f | wc -l) == $round * $NR_DIRS"
	umount "$MNT" || fail "cannot unmount"
}

read_in_g() {
	(run_as g - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null ||
		fail "cannot read"
}

followed() {
	local dev

	title "each allocation fails: groups of version 2, and weights that they follow"
	mount_unified
	echo +io >"$CG/cgroup.subtree_control" || fail "there is no io"
	load_disk
	dev=$(cat "/sys/block/$DISK/dev")
	make_group g
	# Or io.cost takes memory with a lock held.
	read_in_g
	each_fails
	each mkdir "$CG/new"
	each write "$CG/g/io.weight" "default 300" "default 200"
	echo "$dev enable=0" >"$CG/io.cost.qos"
	each write "$CG/g/io.weight" "$dev 300" "$dev default"
	each write "$CG/cgroup.subtree_control" "+$CONTROLLER" "-$CONTROLLER"
	tell_failures
	failed_in cfq_take_line cfq_take_file
	echo "default 300" >"$CG/g/io.weight"
	read_in_g
	grep -q 'weight_by=io.weight' "$CG/g/$FILES.stat" ||
		fail "io.weight is not followed"
}

needs_groups
[ -d "$FAILSLAB" ] || skip_all "the kernel has no failslab"
run_cases one_by_one often repays followed
