#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the version 2 hierarchy: the controller is enabled and disabled, serves threads, can be
# delegated, and does no harm to groups that are frozen or killed with I/O under way.

. ./test_common.sh

DURATION=${DURATION:-25}	# of virtual time
BOUND=${BOUND:-2}		# percentage points
USER_ID=1000			# without privileges
# By path, since the shell of busybox would take its own, which knows no cgroup namespaces
UNSHARE=$([ -x /usr/bin/unshare ] && echo /usr/bin/)unshare

# share_out GROUP PERCENT...: so, within the bound; GROUP is one of them
share_out() {
	local group=$1

	shift
	sleep 2
	measure "$DURATION" "$group"
	expect "shares $(shares) %, promised $*" "$(distance "$@") <= $BOUND"
}

enabled() {
	title "the controller can be enabled and disabled while its groups do I/O"
	mount_unified
	load_disk
	grep -qw cfq "$CG/cgroup.controllers" || fail "cfq is not among the controllers"
	make_group a
	make_group b
	start_load a - read 4 0
	start_load b - read 4 1000
	watch_mb 0 1000 1000 1000
	echo 300 >"$CG/a/cfq.weight"
	share_out a 75 25
	echo -cfq >"$CG/cgroup.subtree_control" || fail "it cannot be disabled"
	[ ! -e "$CG/a/cfq.weight" ] || fail "its files are still there"
	sleep 1
	measure 2
	expect "without groups $(ios 1) and $(ios 2) requests" "$(ios 1) > 100 && $(ios 2) > 100"
	enable_children .
	expect "a weight is back at $(cat "$CG/a/cfq.weight")" \
		"\"$(cat "$CG/a/cfq.weight")\" == \"default 100\""
	echo 300 >"$CG/b/cfq.weight"
	share_out a 25 75
}

threads() {
	title "threads of one process share by the weights of their threaded groups"
	mount_unified
	load_disk
	make_group p
	for group in a b; do
		make_group "p/$group"
		echo threaded >"$CG/p/$group/cgroup.type" || fail "$group cannot be threaded"
	done
	enable_children p || fail "not for threads"
	echo 300 >"$CG/p/a/cfq.weight"
	(run_as p - ./threads "$DEV" 6 "$CG/p/a/cgroup.threads" 0 1500 \
		"$CG/p/b/cgroup.threads" 1500 1500) >"$TMP/fio.threads" 2>&1 &
	LOADS=" $!"
	watch_mb 0 1500 1500 1500
	share_out p/a 75 25
	echo 50 >"$CG/p/a/cfq.weight"
	share_out p/a 33.3 66.7
}

# as_user COMMAND: by that user in a cgroup namespace of group user, or of a group in it
as_user() {
	(echo 0 >"$CG/user/cgroup.procs" || echo 0 >"$CG/user/inside/cgroup.procs"
		exec "$UNSHARE" -C -S "$USER_ID" -G "$USER_ID" sh -c "$1") 2>>"$TMP/as_user"
}

delegated() {
	title "a user to whom a group is delegated divides its share, and cannot enlarge it"
	mount_unified
	mount -o remount,nsdelegate "$CG" || fail "cannot mount with nsdelegate"
	load_disk
	make_group user
	make_group other
	chown "$USER_ID" "$CG/user" "$CG/user/cgroup.procs" "$CG/user/cgroup.threads" \
		"$CG/user/cgroup.subtree_control"
	# Until the last one that was in it is gone
	as_user "cd $CG/user && mkdir inside a b && echo 0 >inside/cgroup.procs &&
		for i in 1 2 3 4 5; do
			sleep 0.2
			echo +cfq >cgroup.subtree_control && break
		done && echo 300 >a/cfq.weight && echo 0 >b/cfq.ioprio" ||
		fail "the user cannot set up groups: $(cat "$TMP/as_user")"
	expect "its groups: $(cat "$CG/user/a/cfq.weight"), $(cat "$CG/user/b/cfq.weight")" \
		"\"$(cat "$CG/user/b/cfq.weight")\" == \"default 200\""
	for file in cfq.weight cfq.ioprio cfq.ioprio_class cfq.nr_group_requests; do
		as_user "echo 1 >$CG/user/$file" && fail "the user can write its own $file"
		as_user "echo 1 >$CG/other/$file" && fail "the user can write the $file of others"
		# Even as the owner, as it is the root of the namespace
		chown "$USER_ID" "$CG/user/$file"
		as_user "echo 1 >$CG/user/$file" && fail "as its owner, the user can write $file"
	done
	expect "its own weight: $(cat "$CG/user/cfq.weight")" \
		"\"$(cat "$CG/user/cfq.weight")\" == \"default 100\""
	start_load user/a - read 4 0
	start_load user/b - read 4 1000
	start_load other - read 4 2000
	watch_mb 0 1000 1000 1000 2000 1000
	share_out other 30 20 50
	stop_loads
	mount -o remount "$CG"
}

# two_loads: b reads, a reads and writes in queues of 16; $alone is what b had by itself
two_loads() {
	mount_unified
	load_disk
	make_group a 0
	make_group b
	start_load b - read 4 2000
	watch_mb 0 2000 2000 1000
	sleep 1
	measure 5
	alone=$(ios 2)
	start_load a - mix 4 0 --ioengine=libaio --iodepth=16
	sleep 2
	expect "$(stat a queued) requests of a are queued" "$(stat a queued) > 0"
}

# a_does_nothing: nothing of it is left, and b has the disk
a_does_nothing() {
	sleep 1
	measure 5
	expect "nothing of a is queued: $(stat a queued)" "$(stat a queued) == 0"
	expect "a had $(ios 1) requests" "$(ios 1) == 0"
	expect "b had $(ios 2), alone $alone" "$(ios 2) > 0.95 * $alone"
}

frozen() {
	title "a group is frozen with I/O queued: that ends, others go on at full speed"
	two_loads
	echo 1 >"$CG/a/cgroup.freeze"
	retry grep -q "frozen 1" "$CG/a/cgroup.events" || fail "it does not freeze"
	a_does_nothing
	echo 0 >"$CG/a/cgroup.freeze"
	sleep 1
	measure 5
	expect "shares afterwards $(shares) %" "$(share 1) > 60"
	echo 1 >"$CG/a/cgroup.freeze"
	sleep 1
	echo 1 >"$CG/a/cgroup.kill"
	remove_group a
	measure 5
	expect "killed while frozen, b had $(ios 2)" "$(ios 2) > 0.95 * $alone"
}

killed() {
	title "a group is killed with I/O queued: that ends, others go on, and it can be removed"
	two_loads
	echo 1 >"$CG/a/cgroup.kill"
	retry grep -q "populated 0" "$CG/a/cgroup.events" || fail "its tasks are still there"
	a_does_nothing
	rmdir "$CG/a" || fail "it cannot be removed"
	sleep 1
	expect "no trace of it is left" \
		"$(grep -c '^group (removed)' "/sys/kernel/debug/block/$DISK/sched/trees") == 0"
}

# wait_for_limit: readers in p/a and p/b, which wait for the requests that p may have
wait_for_limit() {
	mount_unified
	load_disk
	make_group p
	enable_children p
	make_group p/a
	make_group p/b
	echo 4 >"$CG/p/cfq.nr_group_requests"
	watch_mb 0 2000 2000 2000
	start_load p/b - read 8 2000
	sleep 1
	measure 5
	alone=$(ios 2)
	start_load p/a - read 8 0
	both_read
	holds p 4
}

# both_read: p/a and p/b have about the same
both_read() {
	sleep 1
	measure 5
	expect "p/a has $(share 1) %" "$(share 1) > 35 && $(share 1) < 65"
}

# not_held_up: nothing of p/a is left, and p/b has all that p may have
not_held_up() {
	sleep 1
	measure 5
	expect "p/a had $(ios 1) requests" "$(ios 1) == 0"
	expect "p/b had $(ios 2), alone $alone" "$(ios 2) > 0.9 * $alone"
}

limited_frozen() {
	title "tasks that wait for a limit are frozen: others have it, and killed they are gone"
	wait_for_limit
	echo 1 >"$CG/p/a/cgroup.freeze"
	retry grep -q "frozen 1" "$CG/p/a/cgroup.events" || fail "it does not freeze"
	not_held_up
	echo 0 >"$CG/p/a/cgroup.freeze"
	both_read
	echo 1 >"$CG/p/a/cgroup.freeze"
	echo 1 >"$CG/p/a/cgroup.kill"
	remove_group p/a
	not_held_up
}

limited_killed() {
	title "tasks that wait for a limit are killed: they end at once, and others have it"
	wait_for_limit
	echo 1 >"$CG/p/a/cgroup.kill"
	retry grep -q "populated 0" "$CG/p/a/cgroup.events" || fail "its tasks are still there"
	not_held_up
	rmdir "$CG/p/a" || fail "it cannot be removed"
}

[ "$CONTROLLER" = cfq ] || skip_all "no cfq controller"
run_cases enabled threads delegated frozen killed limited_frozen limited_killed
