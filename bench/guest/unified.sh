#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What cfq costs in every group of version 2, used or not: to make the group, in memory, and for a request of who is in
# one that is two levels down. Instructions are nanoseconds of virtual time.
#
#	kit/vm --kernel 7.3 --with bench/guest -- /guest/unified.sh

# shellcheck source=tools/testing/selftests/cfq-cgroup/test_common.sh
. ./test_common.sh

GROUPS_MADE=2000
REQUESTS=50000

# now: in hundredths of a second
now() {
	sed 's/ .*//; s/[.]//' /proc/uptime
}

memory() {
	sleep 2
	awk '/^(Slab|Percpu):/ { sum += $2 } END { print 1024 * sum }' /proc/meminfo
}

# make_many CONTROLLER...: groups for whose parent these are enabled
make_many() {
	local controller before begin end

	mkdir "$CG/many"
	for controller; do
		echo "+$controller" >"$CG/cgroup.subtree_control"
		echo "+$controller" >"$CG/many/cgroup.subtree_control"
	done
	before=$(memory)
	begin=$(now)
	(cd "$CG/many" && seq "$GROUPS_MADE" | sed 's/^/g/' | xargs mkdir)
	end=$(now)
	printf '%-16s %8d instructions %7d bytes\n' "${*:-none}" \
		$(((end - begin) * 10000000 / GROUPS_MADE)) $((($(memory) - before) / GROUPS_MADE))
	(cd "$CG/many" && seq "$GROUPS_MADE" | sed 's/^/g/' | xargs rmdir)
	rmdir "$CG/many"
	for controller; do
		echo "-$controller" >"$CG/cgroup.subtree_control"
	done
	sleep 2
}

# request CONTROLLER...: what a read takes in such a group of a group
request() {
	local controller begin end

	mkdir "$CG/a"
	for controller; do
		echo "+$controller" >"$CG/cgroup.subtree_control"
		echo "+$controller" >"$CG/a/cgroup.subtree_control"
	done
	mkdir "$CG/a/b"
	begin=$(now)
	(run_as a/b - "$DD" if="$DEV" of=/dev/null bs=4k count="$REQUESTS" iflag=direct) 2>/dev/null
	end=$(now)
	printf '%-16s %8d instructions\n' "${*:-none}" $(((end - begin) * 10000000 / REQUESTS))
	rmdir "$CG/a/b" "$CG/a"
	for controller; do
		echo "-$controller" >"$CG/cgroup.subtree_control"
	done
}

[ "$CONTROLLER" = cfq ] || skip_all "cfq is no subsystem here"
mount_unified
echo "-cfq" >"$CG/cgroup.subtree_control"
sleep 2
make_many >/dev/null
echo "a group, by what is enabled for it:"
make_many
make_many memory
make_many memory io
make_many memory cfq
make_many cfq
load_null
select_sched cfq
echo "a request of a group two levels down:"
request
request memory io
request cfq
