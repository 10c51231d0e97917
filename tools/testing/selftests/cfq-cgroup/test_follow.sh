#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The files that services and containers are set by, io.weight and io.bfq.weight: in version 2, a
# group whose cfq.weight (io.cfq.weight) was not set follows them, for all disks or for one.

. ./test_common.sh

USER_ID=1000			# without privileges
DISKS=20			# more than are read at once
GROUPS_READ=20			# to see whether there are files of all at a time
ALLOCATIONS=60			# more than a write takes
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

# on_disk WEIGHT BY: the weight that group g has on the disk, and by what
on_disk() {
	local weight by

	weight=$(sed -n 's,^group /g weight \([0-9]*\) .*,\1,p' \
		"/sys/kernel/debug/block/$DISK/sched/trees")
	by=$(stat g weight_by)
	expect "on the disk $weight by $by" "\"$weight\" == $1 && \"$by\" == \"$2\""
}

# line [WEIGHT]: that group g shows for the disk, or none
line() {
	local shown

	shown=$(sed -n "s/^$NUMBER //p" "$CG/g/$FILES.weight")
	[ "$shown" = "$1" ] ||
		fail "$FILES.weight has ${shown:-no weight} for the disk, not ${1:-one}"
}

# disk_line: group g on a disk that io.weight takes lines for, and has one of 800
disk_line() {
	group_on_disk
	NUMBER=$(cat "/sys/block/$DISK/dev")
	echo "$NUMBER enable=0" >"$CG/io.cost.qos" || fail "there is no io.cost"
	sets io.weight 300
	sets io.weight "$NUMBER 800"
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

# told: how often the log says that a group has no cfq
told() {
	dmesg | grep -c "cfq: io.weight was set in a group without cfq"
}

not_enabled() {
	title "a weight in a group without cfq is told of, once, if a disk has cfq"
	load_disk
	select_sched none
	controls . "-cfq +io"
	mkdir "$CG/g"
	sets io.weight 800
	expect "without a disk: $(told)" "$(told) == 0"
	select_sched cfq
	sets io.weight 100
	expect "100: $(told)" "$(told) == 0"
	sets io.weight 300
	expect "300: $(told)" "$(told) == 1"
	sets io.weight 800
	expect "again: $(told)" "$(told) == 1"
	controls . +cfq
	one_read g
	weighs 800 io.weight
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
	grep -q "^bfq " /proc/modules || return
	rmmod bfq || fail "cannot remove bfq"
	sleep 0.1
	weighs 100 default
}

for_disk() {
	title "lines for a disk in io.weight count for that disk, behind what is set"
	disk_line
	on_disk 800 io.weight:device
	weighs 300 io.weight:device
	line 800
	sets "$FILES.weight" 50
	on_disk 50 group
	line
	sets "$FILES.weight" "$NUMBER 60"
	on_disk 60 device
	line 60
	sets io.weight "$NUMBER 700"
	sets "$FILES.weight" default
	on_disk 60 device
	sets "$FILES.weight" "$NUMBER default"
	on_disk 700 io.weight:device
	sets io.weight "$NUMBER default"
	on_disk 300 io.weight
	line
}

for_disk_only() {
	title "a line for a disk counts where there is nothing else, and keeps no limit from going"
	disk_line
	sets io.weight 100
	sets io.weight "$NUMBER 100"
	on_disk 100 io.weight:device
	sets "$FILES.nr_group_requests" "$NUMBER 7"
	sets io.weight "$NUMBER default"
	on_disk 100 default
	grep -qx "$NUMBER 7" "$CG/g/$FILES.nr_group_requests" || fail "the limit is gone"
	sets io.weight "$NUMBER 90"
	sets "$FILES.nr_group_requests" "$NUMBER default"
	on_disk 90 io.weight:device
}

another_disk() {
	title "what a disk followed is not for another one with its number"
	disk_line
	on_disk 800 io.weight:device
	load_disk
	expect "the number is $(cat "/sys/block/$DISK/dev")" \
		"\"$(cat "/sys/block/$DISK/dev")\" == \"$NUMBER\""
	one_read g
	sleep 0.1
	on_disk 300 io.weight
	line
}

many_disks() {
	local nr=0

	title "as many lines as there are disks"
	group_on_disk
	[ ! -e modules/configfs.ko ] || insmod modules/configfs.ko 2>/dev/null
	load_module null_blk nr_devices="$DISKS" gb=1 submit_queues=1 ||
		fail "cannot load the disks"
	while [ "$nr" -lt "$DISKS" ]; do
		NUMBER=$(cat "/sys/block/nullb$nr/dev")
		echo "$NUMBER enable=0" >"$CG/io.cost.qos"
		sets io.weight "$NUMBER $((1000 + nr))"
		nr=$((nr + 1))
	done
	expect "$(wc -c <"$CG/g/io.weight") characters" "$(wc -c <"$CG/g/io.weight") > 64"
	sed 1d "$CG/g/io.weight" | sort >"$TMP/lines"
	sed 1d "$CG/g/$FILES.weight" | sort | cmp - "$TMP/lines" || fail "not all count"
	rmmod null_blk || fail "cannot remove the disks"
}

# writes_without_memory NR: 300 to io.weight of group g, by a task whose NRth allocation fails
writes_without_memory() {
	(echo "$1" >/proc/self/fail-nth && echo 300 >"$CG/g/io.weight") 2>/dev/null
}

no_memory() {
	local nr=0 kept=0 now file

	title "a weight that cannot be read does not change, and is read with the next group"
	group_on_disk
	memory_fails 0
	while [ "$nr" -lt "$ALLOCATIONS" ]; do
		nr=$((nr + 1))
		sets io.weight 800
		writes_without_memory "$nr"
		# BY WEIGHT WRITTEN
		now=$(stat g weight_by)
		for file in "$FILES.weight" io.weight; do
			now="$now $(sed -n 's/^default //p' "$CG/g/$file")"
		done
		case $now in
		"io.weight 800 800" | "io.weight 300 300") continue ;;
		"io.weight 800 300") kept=$((kept + 1)) ;;
		*) fail "allocation $nr fails: $now" ;;
		esac
		make_group h
		sleep 0.1
		weighs 300 io.weight
		remove_group h
	done
	expect "the weight is kept $kept times" "$kept > 0"
	dmesg | grep "cfq: cannot follow" || fail "nothing was said"
}

many_groups() {
	local tracing=/sys/kernel/tracing nr=0 most

	title "of all groups, files are open one at a time"
	group_on_disk
	while [ "$nr" -lt "$GROUPS_READ" ]; do
		nr=$((nr + 1))
		make_group "all$nr"
	done
	echo $$ >"$tracing/set_event_pid"
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/kmem/kmem_cache_alloc/enable"
	echo 1 >"$tracing/events/kmem/kmem_cache_free/enable"
	# Written again, it changes nothing, but what there is to follow is read
	controls . "+$CONTROLLER"
	echo 0 >"$tracing/events/kmem/enable"
	most=$(awk '/kmem_cache_alloc: call_site=alloc_empty_file/ { open++; all++ }
		/kmem_cache_free: .* name=filp/ { open-- }
		open > most { most = open }
		END { print most + 0, all + 0 }' "$tracing/trace")
	echo >"$tracing/trace"
	echo >"$tracing/set_event_pid"
	expect "of ${most#* } files ${most% *} are open" \
		"${most#* } >= $GROUPS_READ && ${most% *} > 0 && ${most% *} < 9"
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
set -- follows set_wins bfq_too for_disk for_disk_only another_disk many_disks many_groups \
	by_user remounted meanwhile
if [ "$CONTROLLER" = cfq ]; then
	# Where groups are those of io, its files come with them. What is told once comes first
	set -- not_enabled before "$@"
	controls . +io
elif is_module; then
	set -- "$@" old
fi
[ ! -d "$FAILSLAB" ] || set -- "$@" no_memory
run_cases "$@"
