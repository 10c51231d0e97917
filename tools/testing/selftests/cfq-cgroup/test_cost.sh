#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a request costs the processor, on a device that only answers. In virtual time an instruction
# takes 1 ns, and the processor is always busy here, so the time of a request is its instructions.

. ./test_common.sh

# Short enough for what is read to fit into memory
MEASURED_S=0.5

# ns_of_read SCHEDULER [FIO_OPTION...]: leaves in NS what a read takes, with a reader in each group
ns_of_read() {
	local reads

	select_sched "$1"
	shift
	start_load a - read 1 0 --size=50g "$@"
	start_load b - read 1 1000 --size=50g "$@"
	sleep 1
	reads=$(nr_reads)
	sleep "$MEASURED_S"
	reads=$(($(nr_reads) - reads))
	stop_loads
	echo 3 >/proc/sys/vm/drop_caches
	NS=$(awk "BEGIN { printf(\"%d\", $MEASURED_S * 1e9 / $reads) }")
}

nr_reads() {
	awk '{ print $1 }' "/sys/block/$DISK/stat"
}

# added MORE [FIO_OPTION...]: what cfq adds to a read, at most MORE than mq-deadline
added() {
	local most=$1 none_ns peer_ns

	shift
	unload_disk
	load_null hw_queue_depth=128
	make_group a
	make_group b
	ns_of_read none "$@"
	none_ns=$NS
	ns_of_read mq-deadline "$@"
	peer_ns=$NS
	ns_of_read "$SCHED" "$@"
	note "instructions of a read without a scheduler: $none_ns"
	expect "with it $((NS - none_ns)) more, with mq-deadline $((peer_ns - none_ns))" \
		"$NS - $peer_ns <= $most"
}

buffered() {
	title "a request costs at most 650 instructions more than with mq-deadline"
	added 650 --direct=0 --fadvise_hint=random
}

direct() {
	title "with direct I/O, which a kernel thread may send, at most 780 more"
	added 780
}

limited_elsewhere() {
	local without

	title "a limit for another group costs a read at most 400 instructions"
	load_null hw_queue_depth=128
	make_group a
	make_group b
	make_group other
	ns_of_read "$SCHED" --direct=0 --fadvise_hint=random
	without=$NS
	echo 5 >"$CG/other/$FILES.nr_group_requests" || fail "cannot limit it"
	ns_of_read "$SCHED" --direct=0 --fadvise_hint=random
	expect "$((NS - without)) more" "$NS - $without <= 400"
}

needs_groups
run_cases buffered direct limited_elsewhere
