#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The files that services and containers are set by, io.weight and io.bfq.weight: in version 2, a
# group whose cfq.weight (io.cfq.weight) was not set follows them.

. ./test_common.sh

USER_ID=1000			# without privileges
# By path, since the shell of busybox would take its own, which cannot become a user
UNSHARE=$([ -x /usr/bin/unshare ] && echo /usr/bin/)unshare

# sets NAME TEXT: a file of group g
sets() {
	echo "$2" >"$CG/g/$1" || fail "cannot write $2 to $1"
}

# weighs WEIGHT BY [GROUP]: what group g has, or another one, and by which file
weighs() {
	local weight by group=${3:-g}

	weight=$(sed -n 's/^default //p' "$CG/$group/$FILES.weight")
	by=$(stat "$group" weight_by)
	expect "a weight of $weight by $by" "$weight == $1 && \"$by\" == \"$2\""
}

is_module() {
	grep -q "^cfq " /proc/modules
}

# one_read GROUP: so that it is known on the disk
one_read() {
	(run_as "$1" - "$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct) 2>/dev/null
}

# group_on_disk: group g, with I/O on a disk
group_on_disk() {
	load_disk
	make_group g
	one_read g
	# Who makes the first group of all is too fast
	sleep 0.1
}

# controls GROUP CONTROLLERS: for its children, "+" or "-" before each
controls() {
	echo "$2" >"$CG/$1/cgroup.subtree_control" || fail "$1 does not take $2"
}

before() {
	title "what was written before cfq was enabled counts"
	load_disk
	controls . "-cfq +io"
	mkdir "$CG/p"
	echo 300 >"$CG/p/io.weight"
	controls . +cfq
	# It is the first group of all, which may be too fast
	sleep 0.1
	one_read p
	weighs 300 io.weight p
	controls p +io
	mkdir "$CG/p/g"
	echo 800 >"$CG/p/g/io.weight"
	controls p +cfq
	one_read p/g
	weighs 800 io.weight p/g
	controls p -io
	weighs 100 default p/g
	controls p +io
	weighs 800 io.weight p/g
}

follows() {
	title "the weight follows io.weight, at once"
	group_on_disk
	weighs 100 default
	sets io.weight 800
	weighs 800 io.weight
	sets io.weight "default 25"
	weighs 25 io.weight
	echo 10001 2>/dev/null >"$CG/g/io.weight" && fail "io.weight takes 10001"
	weighs 25 io.weight
	sets io.weight 100
	weighs 100 default
}

set_wins() {
	title "a weight that is set wins until it is taken back"
	group_on_disk
	sets io.weight 800
	sets "$FILES.weight" 50
	weighs 50 group
	sets io.weight 700
	weighs 50 group
	sets "$FILES.weight" default
	weighs 700 io.weight
	sets "$FILES.ioprio" 0
	weighs 200 group
	sets "$FILES.weight" "default default"
	weighs 700 io.weight
	sets "$FILES.weight" "$(cat "/sys/block/$DISK/dev") 60"
	weighs 700 device
	sets "$FILES.weight" 100
	sets "$FILES.weight" "$(cat "/sys/block/$DISK/dev") default"
	weighs 100 group
}

bfq_too() {
	title "io.bfq.weight counts where io.weight is 100"
	group_on_disk
	[ -e "$CG/g/io.bfq.weight" ] || load_module bfq || fail "cannot load bfq"
	sets io.bfq.weight 300
	weighs 300 io.bfq.weight
	sets io.weight 800
	weighs 800 io.weight
	sets io.weight 100
	weighs 300 io.bfq.weight
	! grep -q "^bfq " /proc/modules || rmmod bfq || fail "cannot remove bfq"
}

by_user() {
	title "it counts as well if who writes it may not read it"
	group_on_disk
	chown "$USER_ID" "$CG/g/io.weight"
	chmod 200 "$CG/g/io.weight"
	"$UNSHARE" -S "$USER_ID" sh -c "echo 700 >$CG/g/io.weight" || fail "the user cannot write"
	weighs 700 io.weight
}

remounted() {
	title "it does not matter how often version 2 is mounted, and where"
	group_on_disk
	sets io.weight 800
	umount "$CG" || fail "version 2 is in use"
	mount_unified "$TMP/elsewhere"
	sets io.weight 300
	weighs 300 io.weight
	remove_groups
	umount "$CG"
	mount_unified
}

old() {
	title "what was written before the module came counts"
	group_on_disk
	select_sched none
	rmmod cfq || fail "cannot remove the module"
	sets io.weight 800
	select_sched cfq
	one_read g
	weighs 800 io.weight
}

# writes: to io.weight of groups that come and go, for ever
writes() {
	local nr=0 group=$1

	while :; do
		nr=$((nr % 9000 + 101))
		mkdir -p "$CG/$group" && echo "$nr" >"$CG/$group/io.weight" && rmdir "$CG/$group"
	done 2>/dev/null
}

# comes_and_goes: cfq as a whole if it is a module, or else in the groups
comes_and_goes() {
	if is_module; then
		select_sched none
		rmmod cfq || fail "cannot remove the module"
		select_sched cfq
	else
		controls . "-$CONTROLLER"
		controls . "+$CONTROLLER"
	fi
}

meanwhile() {
	local pids nr=0

	title "cfq comes and goes while weights are written, and groups come and go"
	group_on_disk
	writes a &
	pids=$!
	writes b &
	pids="$pids $!"
	while [ "$nr" -lt 20 ]; do
		comes_and_goes
		sleep 0.05
		nr=$((nr + 1))
	done
	# shellcheck disable=SC2086 # a list of numbers
	kill $pids
	# shellcheck disable=SC2086 # a list of numbers
	wait $pids 2>/dev/null
	one_read g
	sets io.weight 800
	weighs 800 io.weight
}

needs_groups
mount_unified
set -- follows set_wins bfq_too by_user remounted meanwhile
if [ "$CONTROLLER" = cfq ]; then
	# Where groups are those of io, its files come with them
	set -- before "$@"
	controls . +io
elif is_module; then
	set -- "$@" old
fi
run_cases "$@"
