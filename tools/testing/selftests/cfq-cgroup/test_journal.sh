#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Metadata, the journal and swap: others wait for them who have nothing to do with whose they are,
# so they go out at once, whatever class or limit, and are paid for all the same. Version 2.

. ./test_common.sh
. ./whose_io_common.sh

# Seconds, for one operation beside a flood
WITHIN=1
PATIENCE=10	# seconds after which one has taken too long
FLOOD_MB=10000	# where a flood begins, far from the file systems
DIR=$MNT/d
MEMORY=$TMP/memory

class() {
	echo "$2" >"$CG/$1/$FILES.ioprio_class" || fail "cannot give $1 class $2"
}

# make_three_groups: idle, of the idle class, flood and other
make_three_groups() {
	make_group idle
	make_group flood
	make_group other
	class idle 3
}

# start_flood GROUP: eight direct readers
start_flood() {
	start_load "$1" - read 8 "$FLOOD_MB"
}

# again_and_again GROUP PRIORITY SHELL_COMMANDS: until stop_loops
again_and_again() {
	(run_as "$1" "$2" sh -c "while :; do $3; done") >"$TMP/loop.$1" 2>&1 &
	LOOPS="$LOOPS $!"
}

stop_loops() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$LOOPS" ] || { kill $LOOPS; wait $LOOPS; } 2>/dev/null
	LOOPS=
}

# timed GROUP COMMAND...: leaves in $TOOK how many seconds it took; does not wait longer than
# $PATIENCE
timed() {
	local left=$((10 * PATIENCE)) group=$1

	shift
	rm -f "$TMP/took" "$TMP/went_wrong"
	(
		echo 0 >"$CG/$group/cgroup.procs"
		read -r begin _ </proc/uptime
		"$@" || : >"$TMP/went_wrong"
		read -r end _ </proc/uptime
		awk "BEGIN { printf \"%.2f\", $end - $begin }" >"$TMP/took.part"
		mv "$TMP/took.part" "$TMP/took"
	) &
	LATE=$!
	while [ ! -e "$TMP/took" ] && [ "$left" -gt 0 ]; do
		left=$((left - 1))
		sleep 0.1
	done
	TOOK=$PATIENCE
	[ ! -e "$TMP/took" ] || { TOOK=$(cat "$TMP/took"); LATE=; }
	[ ! -e "$TMP/went_wrong" ] || fail "$* has failed"
}

# times_of NR BEFORE GROUP COMMAND...: leaves in $TIMES what it took so many times, each after the
# command BEFORE, with # for its number in COMMAND
times_of() {
	local nr=$1 before=$2 i=0

	shift 2
	TIMES=
	while [ "$i" -lt "$nr" ] && [ -z "$LATE" ]; do
		i=$((i + 1))
		$before
		# shellcheck disable=SC2046 # words
		timed $(echo "$*" | sed "s/#/$i/")
		TIMES="$TIMES $TOOK"
	done
}

# worst_of, with the arguments of times_of: the longest of them
worst_of() {
	local worst

	times_of "$@"
	# shellcheck disable=SC2086 # words
	worst=$(printf "%s\n" ${TIMES:-$PATIENCE} | sort -n | tail -n 1)
	expect "$4 takes$TIMES${LATE:+ and more} s" "$worst <= $WITHIN"
}

write_and_sync() {
	"$DD" if=/dev/zero of="$1" bs=4k count=1 conv=notrunc,fsync 2>/dev/null
}

# await: the end of all that waits, once nothing stands in its way
await() {
	stop_loads
	stop_loops
	[ -z "$LATE" ] || wait "$LATE"
	LATE=
}

# In place of the usual one, since the disk must be free to go
clean_up() {
	local name

	await
	retry umount_if_mounted "$MNT"
	# What is swapped out need not be read back
	retry umount_if_mounted "$MEMORY"
	[ ! -e /dev/mapper/swap ] || swapoff /dev/mapper/swap
	for name in fs0 fs1 fs2 swap; do
		retry umount_if_mounted "$TMP/$name"
		[ ! -e "/dev/mapper/$name" ] || retry dmsetup remove "$name"
	done
	echo 10 >/proc/sys/vm/dirty_background_ratio
	echo 500 >/proc/sys/vm/dirty_writeback_centisecs
	echo 3000 >/proc/sys/vm/dirty_expire_centisecs
	remove_groups
	[ ! -e "$CG/cgroup.subtree_control" ] || echo -memory >"$CG/cgroup.subtree_control"
	unload_disk
}

# --- someone of the idle class holds a directory ---

colder() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 0.5
}

# Where a directory goes that is made at the top, nothing is yet known of
# shellcheck disable=SC2016 # expanded by who runs it
MAKE_DIRS='i=$((i + 1)); mkdir g$i; : >g$i/f; sleep 0.1'

# hold_directory GROUP PRIORITY DIRECTORY COMMANDS: beside a flood; in group idle, or with another
# priority in the group of the flood.  Who holds it reads up to a dozen blocks one after the other,
# to find a place for what he makes, each of which takes 80 ms beside eight readers; and half a
# second if a hundred that are written back lie nearer to the head.
hold_directory() {
	local WITHIN=2

	make_three_groups
	start_flood flood
	sleep 1
	again_and_again "$1" "$2" "cd $3; $4"
	worst_of 8 colder other mkdir "$3/x#"
}

idle_creates() {
	title "the same with an idle group"
	use_small_groups
	hold_directory idle - "$MNT" "$MAKE_DIRS"
}

# Who looks are workers, which do not return to user mode
idle_uring() {
	local WITHIN=4 i

	title "others of that group look at files by io_uring: mkdir within $WITHIN s"
	use_small_groups make_trees
	make_three_groups
	start_flood flood
	for i in 1 2; do
		(run_as idle - ./uring_stat "$MNT"/d*"$i"/f1 "$MNT"/d*"$i"/f3*) \
			>"$TMP/uring.$i" 2>&1 &
		LOOPS="$LOOPS $!"
	done
	again_and_again idle - "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
	sleep 15
	again_and_again idle - "cd $MNT; $MAKE_DIRS"
	sleep 1
	worst_of 8 colder other mkdir "$MNT/x#"
}

idle_task_creates() {
	title "an idle task makes directories and files: mkdir beside them within 2 s"
	use_small_groups
	hold_directory flood idle "$MNT" "$MAKE_DIRS"
}

make_files() {
	local i=0

	mkdir "$DIR"
	while [ "$i" -lt 3000 ]; do
		: >"$DIR/f$i"
		i=$((i + 1))
	done
}

idle_ls() {
	title "an idle group looks at 3000 files: mkdir in their directory within 2 s"
	use_small_groups make_files
	hold_directory idle - "$DIR" "ls -l >/dev/null"
}

# crowd_ls GROUP PRIORITY: each pays for what it has read, and all together not more than one
crowd_ls() {
	local WITHIN=2 i=0

	use_small_groups make_files
	make_three_groups
	start_flood flood
	while [ "$i" -lt 24 ]; do
		i=$((i + 1))
		again_and_again "$1" "$2" "cd $DIR; ls -l >/dev/null"
	done
	again_and_again idle - "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
	sleep 15
	worst_of 16 colder other mkdir "$DIR/x#"
}

idle_crowd_ls() {
	title "24 of an idle group look at 3000 files: mkdir in their directory within 2 s"
	crowd_ls idle -
}

idle_tasks_ls() {
	title "the same with 24 idle tasks of the group of the flood"
	crowd_ls flood idle
}

# --- a group of the real time class waits for the journal ---

rt_fsync() {
	title "a real time group that reads: its fsync within $WITHIN s"
	use_small_groups
	make_group rt
	class rt 1
	start_flood rt
	sleep 1
	worst_of 8 "sleep 0.5" rt write_and_sync "$MNT/f0"
}

sync_writes_to() {
	"$DD" if=/dev/zero of="$1" bs=4k count=60 conv=notrunc oflag=sync 2>/dev/null
}

sync_writes() {
	local WITHIN=6

	title "beside a stream of another group sixty writes with O_SYNC take $WITHIN s at most"
	use_small_groups
	make_group flood
	make_group other
	start_load flood - seq 1 "$FLOOD_MB"
	sleep 1
	worst_of 1 : other sync_writes_to "$MNT/f0"
}

# ext4 reads more inodes than the one that is needed, as data, and whoever needs one waits for it
idle_ls_ahead() {
	title "the same where inodes are read ahead, as is the default of ext4"
	FS_OPTIONS=noatime use_small_groups make_files
	hold_directory idle - "$DIR" "ls -l >/dev/null"
}

# Who changes a part of a block holds the journal while he reads the whole
idle_rewrites() {
	local WITHIN=2

	title "an idle group changes parts of blocks: fsync of another within $WITHIN s"
	FS_OPTIONS=$ONLY_WANTED,nodelalloc use_small_groups make_parts
	make_three_groups
	start_flood flood
	start_load idle - read 8 20000
	sleep 1
	# shellcheck disable=SC2016 # expanded by who runs it
	again_and_again idle - "cd $MNT"'; i=0; while [ $i -lt 64 ]; do
		echo x | dd of=p$i bs=1 seek=100 conv=notrunc 2>/dev/null; i=$((i + 1)); done'
	worst_of 8 colder other write_and_sync "$MNT/f#"
}

make_parts() {
	local i=0

	while [ "$i" -lt 64 ]; do
		"$DD" if=/dev/zero of="$MNT/p$i" bs=4k count=1 2>/dev/null
		i=$((i + 1))
	done
}

# What is written back gets its place on the disk within a transaction, and most of it is sent
# there, as its group's
idle_writes() {
	local WITHIN=2

	title "an idle group writes a large file: fsync of another within $WITHIN s"
	FS_OPTIONS=noatime use_small_groups
	make_three_groups
	write_and_sync "$MNT/f0"
	start_flood flood
	echo 16000000 >/proc/sys/vm/dirty_background_bytes
	again_and_again idle - "$DD if=/dev/zero of=$MNT/big bs=1M count=400; rm $MNT/big"
	sleep 8
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
	worst_of 4 "sleep 0.5" other mkdir "$MNT/x#"
}

# --- who holds the journal waits for a place, or for a turn ---

# hold_journal: group light makes directories, beside readers of its own and of group flood
hold_journal() {
	make_group other
	# So that it is found without the lock of the directory
	write_and_sync "$MNT/f0"
	start_flood flood
	start_load light - read 8 5000
	again_and_again light - "cd $MNT; $MAKE_DIRS"
	sleep 1
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
}

limit_journal() {
	# Short turns, as what is written waits for one, too
	local TUNE="$TUNE group_slice=100"

	title "a group at its limit makes directories: fsync of another within $WITHIN s"
	use_small_groups
	make_group light
	make_group flood
	echo 1 >"$CG/light/$FILES.nr_group_requests" || fail "cannot limit light to 1"
	hold_journal
}

light_journal() {
	local TUNE="$TUNE group_slice=100"

	title "a group of small weight makes directories: fsync of another within $WITHIN s"
	use_small_groups
	make_group light 7
	make_group flood 0
	hold_journal
}

# Who looks for what is urgent may be ahead of its class, and then waits like others
light_looks() {
	local WITHIN=2

	title "a group of small weight looks at cold files: mkdir, fsync of others within $WITHIN s"
	use_small_groups make_trees
	make_group light 7
	make_group flood 0
	make_group other
	start_flood flood
	start_lookers light -
	again_and_again light - "cd $MNT; $MAKE_DIRS"
	sleep 8
	worst_of 8 colder other mkdir "$MNT/x#"
	worst_of 8 colder other write_and_sync "$MNT/f0"
}

# --- memory of the idle class is swapped out to make room ---

# fill_memory FILE MB: with what is not zero, since zeros are not written
fill_memory() {
	"$DD" if=/dev/urandom of="$1" bs=1M count="$2" 2>/dev/null
}

# use_swap: on the disk, for the groups in group p, which have 128 MB together
use_swap() {
	load_disk
	make_mapped "linear $DEV 0" swap
	mkswap /dev/mapper/swap >/dev/null
	swapon /dev/mapper/swap || fail "cannot swap"
	echo +memory >"$CG/cgroup.subtree_control" || fail "no memory controller"
	make_group p
	echo +memory >"$CG/p/cgroup.subtree_control"
	echo 128M >"$CG/p/memory.max"
}

swap() {
	title "another needs the memory of an idle group: 8 MB within $WITHIN s"
	use_swap
	mkdir -p "$MEMORY"
	mount -t tmpfs none "$MEMORY"
	make_group p/idle
	make_group p/other
	make_group p/flood
	class p/idle idle
	(
		echo 0 >"$CG/p/idle/cgroup.procs"
		fill_memory "$MEMORY/idle" 100
	)
	start_flood p/flood
	sleep 1
	worst_of 5 "sleep 0.5" p/other fill_memory "$MEMORY/x#" 8
	swapped=$(awk '/^SwapTotal/ { total = $2 } /^SwapFree/ { print total - $2 }' /proc/meminfo)
	expect "$swapped KB are swapped out" "$swapped > 0"
}

# start_user GROUP KIND ARGUMENT...: what uses memory, until stop_loops
start_user() {
	local group=$1 kind=$2

	shift 2
	(run_as "$group" - ./memory_user "$kind" 0 1000000 "$@") >"$TMP/loop.${group#p/}" 2>&1 &
	LOOPS="$LOOPS $!"
}

swap_hog() {
	# So fast it would have most of the device, and not come to the end of the space
	local set_mb=70 seconds=24 mb_per_s=38 alone

	title "who takes ever more memory has his share of the device to swap, others have theirs"
	use_swap
	make_group p/server 0
	make_group p/hog 7
	# And what else it needs, so that nothing of it is swapped out
	echo "$((set_mb + 10))M" >"$CG/p/server/memory.low"
	watch_mb 0 700 2000 40000
	start_user p/server server "$set_mb" "$DEV" 2000 40000
	sleep 3
	measure "$seconds"
	alone=$(ios 2)
	start_user p/hog hog "$mb_per_s"
	# Until it has had what may be owed
	sleep 6
	measure "$seconds"
	expect "the server: $(ios 2) reads, $alone without a hog" \
		"$(ios 2) >= 0.93 * 8 / 9 * $alone"
	set -- "$(awk 'NR == 1 { print int($3 / 1e6) }' "$TMP/ranges")"
	expect "swapping has $1 of $((1000 * seconds)) ms, a ninth being its share" \
		"$1 >= 0.8 * 1000 * $seconds / 9"
}

# --- who pays ---

# use_fs NR: the NRth file system, of 12 files, in 700 MB of its own; a small journal is often full
use_fs() {
	local name=fs$1

	make_mapped "linear $DEV $(($1 * 700 * MB))" "$name"
	make_fs "/dev/mapper/$name" 12 20 -J size=4
	use_ext4 "/dev/mapper/$name" "$TMP/$name"
}

# start_syncers GROUP NR: 12 tasks that write 4 KB and wait for it, each in a file of the NRth file
# system
start_syncers() {
	# shellcheck disable=SC2016 # fio expands it
	(run_as "$1" - fio --name=syncer --directory="$TMP/fs$2" --filename_format='f$jobnum' \
		--numjobs=12 --size=20m --rw=randwrite --bs=4k --fsync=1 --direct=0 --overwrite=1 \
		--ioengine=psync --fallocate=none --invalidate=0 --norandommap --time_based \
		--runtime=1000000 --disk_util=0) >"$TMP/fio.$1" 2>&1 &
	LOADS="$LOADS $!"
}

fsync_shares() {
	local nr=0 prio

	title "three groups of priority 0, 4 and 7, each with fsync loops: shares by weight"
	load_disk
	for prio in 0 4 7; do
		make_group "g$prio" "$prio"
		use_fs "$nr"
		start_syncers "g$prio" "$nr"
		nr=$((nr + 1))
	done
	watch_mb 0 700 700 700 1400 700
	sleep 3
	measure 40 g7
	expect "$(shares) %, $(ios) requests, error $(share_error 0 4 7) pp" \
		"$(share_error 0 4 7) <= 1 && $(ios) > 200"
}

fsync_only() {
	title "fsync loops beside readers of equal weight: half of the time"
	load_disk
	make_group syncs
	make_group reads
	use_fs 0
	start_syncers syncs 0
	start_flood reads
	watch_mb 0 700 "$FLOOD_MB" 2000
	sleep 3
	measure 20 syncs
	expect "fsync loops have $(share 1) %, $(ios 1) requests" \
		"$(share 1) <= 52 && $(ios 1) > 50"
}

# Each directory at the top has a place of its own.
make_trees() {
	local i=0 j

	while [ "$i" -lt 160 ]; do
		mkdir "$MNT/d$i"
		j=0
		while [ "$j" -lt 40 ]; do
			: >"$MNT/d$i/f$j"
			j=$((j + 1))
		done
		i=$((i + 1))
	done
}

# start_lookers GROUP PRIORITY: eight that look at all files of every eighth directory
start_lookers() {
	local i

	for i in 0 1 2 3 4 5 6 7; do
		again_and_again "$1" "$2" "i=$i; cd $MNT; \
			while [ \$i -lt 160 ]; do ls -l d\$i >/dev/null; i=\$((i + 8)); done"
	done
	# Nothing stays known
	again_and_again "$1" "$2" "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
}

meta_flood() {
	title "eight look at cold files, beside readers of equal weight: half of the time"
	use_small_groups make_trees
	make_group looks
	make_group reads
	start_flood reads
	start_lookers looks -
	watch_mb 0 600 "$FLOOD_MB" 2000
	# Then they have had what they may borrow
	sleep 5
	measure 40 reads
	expect "who looks has $(share 1) %, $(ios 1) requests" \
		"$(share 1) >= 45 && $(share 1) <= 55 && $(ios 1) > 400"
}

# beside_idle GROUP PRIORITY [FUNCTION]: of those who look; the readers are in group reads. By
# chance one window of 25 s has 1 % more than another, one of 100 s half of that
beside_idle() {
	local alone

	use_small_groups make_trees
	make_group idle
	make_group reads
	class idle 3
	start_flood reads
	watch_mb 0 600 "$FLOOD_MB" 2000
	sleep 1
	measure 100
	alone=$(ios 2)
	"${3:-start_lookers}" "$1" "$2"
	# Then they have had what they may borrow
	sleep 15
	measure 100
	expect "$(ios 2) reads, alone $alone; $(ios 1) requests of who looks" \
		"$(ios 2) >= 0.95 * $alone && $(ios 1) > 50"
}

idle_meta_flood() {
	title "an idle group looks at cold files: readers keep 95 % of what they have alone"
	beside_idle idle -
}

# Of an io_context that another group uses as well
start_sharers() {
	local i

	make_group with
	class with 3
	for i in 0 1 2 3 4 5 6 7; do
		# shellcheck disable=SC2016 # expanded by who runs it
		./share_io "$DEV" "i=$i; cd $MNT"'; while [ $i -lt 160 ]; do
			for f in d$i/f*; do [ -s $f ]; done; i=$((i + 8)); done' \
			"$CG/with/cgroup.procs" "$CG/idle/cgroup.procs" &
		LOOPS="$LOOPS $!"
	done
	again_and_again idle - "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
}

idle_sharers() {
	title "the same where tasks of two groups share their io_context"
	beside_idle idle - start_sharers
}

idle_task_meta_flood() {
	title "the same with tasks of the idle class, in the group of the readers"
	beside_idle reads idle
}

# What is urgent fills a disk that does one thing at a time, so nothing else would come to it
meta_crowd() {
	local longest

	title "a disk that does one thing at a time, others look at files: 99 % of reads in 0.2 s"
	use_small_groups make_trees ncq_depth=1
	echo 62 >"$QUEUE/nr_requests"
	make_group looks
	make_group reads
	start_lookers looks -
	sleep 5
	load_with_log reads - read 1 "$FLOOD_MB" --thinktime=20000
	watch_mb 0 600 "$FLOOD_MB" 250
	measure 30
	stop_loads
	# One of them waited for 0.4 s in one run of seven; why is not known
	longest=$(log_ms "$FLOOD_MB" 99.000000)
	expect "99 % of reads take $longest ms at most, $(ios 1) requests of who looks" \
		"$longest <= 200 && $(ios 1) > 1000"
}

# What goes first and is done must not make all others wait for it anew
meta_hangs() {
	local before pid

	title "metadata that the disk does not answer hold up others for a second, and no more"
	use_small_groups make_trees timeout_ms=30000
	make_three_groups
	watch_mb "$FLOOD_MB" 4000
	start_flood flood
	start_load idle - read 2 30000
	sleep 2
	measure 5
	before=$(ios)
	stop_loads
	colder
	# So soon after a first one a second goes out of order, though nothing else is to be sent
	ls "$MNT/d1" >/dev/null
	echo "1 requeue" >"$MODEL/hang"
	ls "$MNT/d2" >/dev/null &
	pid=$!
	sleep 0.1
	start_flood flood
	start_load idle - read 2 30000
	sleep 3
	measure 5
	expect "$(ios) reads in 5 s, before $before" "$(ios) > 0.8 * $before"
	kill -0 "$pid" || fail "ls was not held up"
	stop_loads
	wait "$pid" || fail "ls has failed"
}

# changed_by_idle: group idle, whose are all inodes in memory; what it changes is soon written back
changed_by_idle() {
	local vm=/proc/sys/vm

	use_small_groups make_trees
	make_group idle
	make_group reads
	(run_as idle - sh -c "touch $MNT/d*/*; sync")
	class idle 3
	echo 100 | tee "$vm/dirty_expire_centisecs" >"$vm/dirty_writeback_centisecs"
	mount -o remount,commit=1 "$MNT" || fail "cannot remount"
}

# Metadata of an idle group that is written back is not held back, as whoever changes something in
# the same block waits for it.
meta_wanted() {
	local WITHIN=2

	title "another group changes inodes that are written back for an idle one: within $WITHIN s"
	changed_by_idle
	start_load reads - read 1 "$FLOOD_MB"
	again_and_again idle - "touch $MNT/d*/*; sleep 3"
	# Then it has had what it may borrow
	sleep 15
	worst_of 16 "sleep 0.5" reads touch "$MNT"/d*/f1
}

# no_read_waits COMMANDS: beside whom an idle group does that to inodes
no_read_waits() {
	local longest

	changed_by_idle
	again_and_again idle - "$1"
	# Then it has had what it may borrow
	sleep 15
	load_with_log reads - read 1 $((2 * FLOOD_MB))
	watch_mb 0 600
	measure 40
	stop_loads
	longest=$(log_ms $((2 * FLOOD_MB)) max)
	expect "a read takes $longest ms at most, $(ios 1) requests of who changes" \
		"$longest <= 400 && $(ios 1) > 200"
}

# Half of the time what is written back goes before all others, half of it like what others write
meta_written_back() {
	title "an idle group changes inodes again and again: no read of a reader waits for 0.4 s"
	no_read_waits "touch $MNT/d*/*; sleep 3"
}

meta_synced() {
	title "nor if it syncs them"
	no_read_waits "touch $MNT/d*/*; sync; sleep 3"
}

# make_cold_files: at the top, each in a directory of its own
make_cold_files() {
	local i=0

	while [ "$i" -lt 32 ]; do
		mkdir "$MNT/x$i"
		echo something >"$MNT/x$i/f"
		i=$((i + 1))
	done
}

# What is urgent is done in the turn of others, who then are there before its group
cold_file() {
	local WITHIN=0.4

	title "beside a flood another group looks into a cold file: within $WITHIN s"
	use_small_groups make_cold_files
	make_group flood
	make_group other
	start_flood flood
	sleep 1
	worst_of 20 colder other grep -q something "$MNT/x#/f"
}

# Who borrows little does not pay for what others have borrowed
borrows_little() {
	local sum

	title "beside real time and who looks at cold files another looks at one in 4 s on average"
	use_small_groups make_trees
	make_group rt
	make_group looks
	make_group other
	class rt 1
	start_load rt - read 1 "$FLOOD_MB"
	start_lookers looks -
	# Then these are in debt
	sleep 20
	times_of 6 "sleep 1" other cat "$MNT/d#7/f3"
	sum=$(echo "$TIMES" | awk '{ for (i = 1; i <= NF; i++) sum += $i; print sum }')
	expect "cat takes$TIMES${LATE:+ and more} s" "$sum <= 6 * 4 && ${LATE:-0} == 0"
}

# Of 62 descriptors, more than they may have. What all need to find their directories stays known:
# who holds a block of that would wait in line behind all others.
many_look() {
	local WITHIN=2 i=0

	title "a hundred of an idle group look at cold files: others' look, fsync within $WITHIN s"
	use_small_groups make_trees
	echo 62 >"$QUEUE/nr_requests"
	make_three_groups
	write_and_sync "$MNT/f0"
	while [ "$i" -lt 8 ]; do
		i=$((i + 1))
		again_and_again other - "cd $MNT/d$i; exec sleep 10000"
	done
	start_load flood - read 1 "$FLOOD_MB"
	i=0
	while [ "$i" -lt 96 ]; do
		again_and_again idle - "cd $MNT/d$((20 + i)); cat * >/dev/null"
		i=$((i + 1))
	done
	again_and_again idle - "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
	sleep 15
	worst_of 8 colder other cat "$MNT/d#/f3"
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
}

SMALL_JOURNAL="-J size=4"

# What a journal has no room for is written by who needs some, and all wait for him
idle_checkpoints() {
	local WITHIN=2

	title "an idle group changes inodes, the journal is small: others' fsync within $WITHIN s"
	MORE=$SMALL_JOURNAL use_small_groups make_trees
	make_three_groups
	write_and_sync "$MNT/f0"
	(run_as idle - sh -c "ls -l $MNT/d* >/dev/null")
	start_flood flood
	again_and_again idle - "touch $MNT/d*/*"
	sleep 60
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
	worst_of 4 "sleep 0.5" other mkdir "$MNT/x#"
}

# Where there is no room all the time
idle_touches() {
	local alone i

	title "eight of them: readers keep 85 % of what they have alone"
	MORE=$SMALL_JOURNAL use_small_groups make_trees
	make_group idle
	make_group reads
	class idle 3
	(run_as idle - sh -c "ls -l $MNT/d* >/dev/null")
	start_flood reads
	watch_mb 0 600 "$FLOOD_MB" 2000
	sleep 3
	measure 40
	alone=$(ios 2)
	for i in 0 1 2 3 4 5 6 7; do
		again_and_again idle - "touch $MNT/d*$i/*"
	done
	sleep 20
	measure 40
	expect "$(ios 2) reads, alone $alone; $(ios 1) requests of who changes inodes" \
		"$(ios 2) >= 0.85 * $alone && $(ios 1) > 50"
}

# make_pieces [MB]: the half of these is a file of pieces
make_pieces() {
	local mb=${1:-128}

	fio --name=pieces --filename="$MNT/pieces" --rw=write:4k --bs=4k --size="${mb}m" \
		--io_size=$((mb / 2))m --fallocate=none --direct=0 --end_fsync=1 --disk_util=0 \
		>"$TMP/fio.pieces" 2>&1 || fail "cannot make a file of pieces"
}

make_many_pieces() {
	make_pieces 1024
}

# Where pieces of a file lie is read with its map locked; who adds one has a transaction open
idle_maps() {
	local WITHIN=4

	title "an idle group reads a file of many pieces: others' append to it within $WITHIN s"
	use_small_groups make_pieces
	make_three_groups
	start_flood flood
	start_load idle - read 4 20000
	sleep 1
	# shellcheck disable=SC2016 # expanded by who runs it
	again_and_again idle - "cd $MNT"'; i=$(((i * 5 + 997) % 32768))
		dd if=pieces of=/dev/null bs=4k skip=$i count=1 2>/dev/null'
	again_and_again idle - "sleep 1; echo 3 >/proc/sys/vm/drop_caches"
	sleep 2
	worst_of 8 "sleep 1" other "$DD" if=/dev/zero of="$MNT/pieces" bs=4k count=1 \
		seek=4000# conv=notrunc,fsync status=none
}

# What lies where, and what is free, is read with a transaction open, in one call
idle_removes() {
	local WITHIN=0.7

	title "an idle group removes a file of many pieces: others' fsync within $WITHIN s"
	use_small_groups make_many_pieces
	make_three_groups
	start_flood flood
	write_and_sync "$MNT/f0"
	colder
	(run_as idle - rm "$MNT/pieces") &
	LOOPS=$!
	# It is in debt then
	until [ "$(stat idle requests)0" -ge 4500 ] || [ ! -d "/proc/$LOOPS" ]; do
		sleep 0.5
	done
	worst_of 20 "sleep 0.3" other write_and_sync "$MNT/f0"
	[ -d "/proc/$LOOPS" ] || fail "it is removed already"
}

# What a journal's thread writes in pieces, as it is too large for the disk
idle_pieces() {
	local WITHIN=2

	title "an idle group writes 64 KB a request, placed at once: others' fsync within $WITHIN s"
	FS_OPTIONS=noatime,nodelalloc use_small_groups
	echo 64 >"$QUEUE/max_sectors_kb"
	make_three_groups
	write_and_sync "$MNT/f0"
	start_flood flood
	# All is written for the journal: what others have queued for this group it waits for
	echo 0 >/proc/sys/vm/dirty_writeback_centisecs
	echo 100000000 >/proc/sys/vm/dirty_background_bytes
	again_and_again idle - "i=\$((i + 1)); $DD if=/dev/zero of=$MNT/b\$i bs=1M count=4; sleep 1"
	sleep 8
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
}

# The end of a file within a block is written before the transaction that it belongs to ends
idle_truncates() {
	local WITHIN=4

	title "an idle group cuts files within a block: fsync of another within $WITHIN s"
	FS_OPTIONS=noatime use_small_groups
	make_three_groups
	write_and_sync "$MNT/f0"
	# shellcheck disable=SC2016 # expanded by who runs it
	(run_as idle - sh -c "cd $MNT"'; i=0; while [ $i -lt 100 ]; do
		mkdir e$i; dd if=/dev/zero of=e$i/f bs=80k count=1 2>/dev/null; i=$((i + 1))
	done; sync')
	start_flood flood
	# shellcheck disable=SC2016 # expanded by who runs it
	again_and_again idle - "cd $MNT"'; s=$(((s + 1) % 3000)); for f in e*/f; do
		truncate -s $((77825 + s)) $f; truncate -s 80k $f; done; sleep 1'
	sleep 8
	worst_of 8 "sleep 0.5" other write_and_sync "$MNT/f0"
	worst_of 4 "sleep 0.5" other mkdir "$MNT/x#"
}

# appended GROUP: leaves in $APPENDED how many blocks it appends to a file with O_SYNC in 4 s
appended() {
	local pid

	rm -f "$MNT/log"
	sync
	(run_as "$1" - "$DD" if=/dev/zero of="$MNT/log" bs=4k oflag=sync count=100000) 2>/dev/null &
	pid=$!
	sleep 4
	kill "$pid"
	wait "$pid" 2>/dev/null
	APPENDED=$(($(wc -c <"$MNT/log") / 4096))
}

# commits_beside PERCENT PRIORITY GROUP LOAD PROCESSES [OPTION...]: who commits, alone and beside a
# load of a group of priority 7, or his own; of a disk with the parameter $CACHE
commits_beside() {
	local least=$1 other=$3 alone

	load_disk ${CACHE:+"$CACHE"}
	make_ext4 "$DEV" 2G 1 1
	use_ext4 "$DEV" "$MNT"
	make_group commits "$2"
	make_group other 7
	appended commits
	alone=$APPENDED
	shift 3
	start_load "$other" - "$1" "$2" "$FLOOD_MB" ${3:+"$3" ${4:+"$4"}}
	sleep 1
	appended commits
	expect "alone $alone times, beside others $APPENDED" \
		"$alone > 50 && $APPENDED >= $alone * $least / 100"
	await
	leave_files
	CACHE=
}

commits_flood() {
	title "beside 32 reads of an eighth of its weight who commits has 70 % of its rate"
	commits_beside 70 0 other read 1 --ioengine=libaio --iodepth=32
}

commits_equal() {
	title "beside eight readers of equal weight 40 %"
	commits_beside 40 7 other read 8
}

# Each of his commits flushes the cache
commits_cached() {
	title "and on a disk with a write cache beside 32 reads of an eighth of its weight 70 %"
	CACHE=write_cache=1
	commits_beside 70 0 other read 1 --ioengine=libaio --iodepth=32
}

commits_cached_equal() {
	title "beside four streams of equal weight 40 %"
	CACHE=write_cache=1
	commits_beside 40 7 other seq 4
}

commits_in_group() {
	title "beside four streams of its own group 15 %"
	commits_beside 15 7 commits seq 4 --direct=0
}

commits_cached_in_group() {
	title "and on a disk with a write cache beside one stream of its own group 40 %"
	CACHE=write_cache=1
	commits_beside 40 7 commits seq 1
}

# Such data are queued as others are, and no flush begins before they are written
flush_after_data() {
	local before

	title "where a disk has no FUA, data for which a flush waits do not wait for it"
	load_disk write_cache=1 fua=0
	make_group commits 0
	make_group other 4
	start_load commits - write 1 0 --fdatasync=1
	start_load other - write 4 "$FLOOD_MB" --sync=dsync
	sleep 1
	before=$(stat commits requests)
	sleep 4
	expect "$(($(stat commits requests) - before)) requests in 4 s" \
		"$(stat commits requests) - $before > 100"
}

# The first one to read a block of inodes owns its memory.
looked_before() {
	title "who has only looked at a directory does not pay for commits in it"
	load_disk
	make_ext4 "$DEV" 2G 1 1
	use_ext4 "$DEV" "$MNT"
	echo +memory >"$CG/cgroup.subtree_control"
	make_group looks
	make_group commits
	: >"$MNT/log"
	umount "$MNT" || fail "cannot unmount"
	use_ext4 "$DEV" "$MNT"
	echo 3 >/proc/sys/vm/drop_caches
	(run_as looks - ls -l "$MNT") >/dev/null
	appended commits
	expect "us: who commits $(stat commits time), who looked $(stat looks time)" \
		"$APPENDED > 50 && $(stat looks time) * 10 < $(stat commits time)"
	leave_files
	remove_groups
	echo -memory >"$CG/cgroup.subtree_control"
}

mount_unified
run_cases idle_task_creates swap_hog idle_creates idle_uring idle_ls idle_crowd_ls idle_ls_ahead \
	idle_writes idle_pieces idle_truncates idle_checkpoints rt_fsync sync_writes \
	limit_journal light_journal light_looks many_look swap fsync_only commits_flood \
	commits_equal commits_cached commits_cached_equal commits_in_group \
	commits_cached_in_group flush_after_data looked_before meta_flood \
	meta_hangs meta_wanted cold_file \
	: idle_sharers idle_rewrites idle_removes idle_touches fsync_shares idle_meta_flood \
	idle_task_meta_flood meta_written_back meta_synced borrows_little idle_tasks_ls \
	idle_maps meta_crowd
