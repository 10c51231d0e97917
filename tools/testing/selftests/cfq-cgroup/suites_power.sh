#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The power of the disk is cut while files are written: what its write cache held is lost. When it
# is back, the file system's own check finds nothing, and what fsync has promised is there.

. ./test_common.sh
. ./suites_common.sh

NR_CUTS=${NR_CUTS:-6}
SEED=${SEED:-1}

# write_synced: a file after the other, and a line after the other in one file. $TMP/promised has
# the number of the last that was written and synced.
write_synced() {
	local nr=0

	while nr=$((nr + 1)); do
		content "$nr" | "$DD" of="$MNT/f$nr" bs=12k iflag=fullblock conv=fsync || return
		printf '%07d\n' "$nr" | "$DD" of="$MNT/lines" oflag=append conv=notrunc,fsync ||
			return
		echo "$nr" >"$TMP/promised.new"
		mv "$TMP/promised.new" "$TMP/promised"
	done 2>/dev/null
}

# content NR: of that file
content() {
	yes "$1" | head -c 12000
}

# churn: names come and go, and nobody waits for them
churn() {
	local nr=0

	while nr=$((nr + 1)); do
		mkdir "$MNT/d$nr" && echo "$nr" >"$MNT/d$nr/a" && mv "$MNT/d$nr/a" "$MNT/d$nr/b" ||
			return
		[ "$nr" -le 8 ] || rm -r "$MNT/d$((nr - 8))"
		sleep 0.01
	done 2>/dev/null
}

# start_writers: in one group what is synced, in another what is not, or seldom
start_writers() {
	rm -f "$TMP/promised"
	(run_in synced write_synced) &
	WRITERS=$!
	(run_in other churn) &
	WRITERS="$WRITERS $!"
	(run_in other exec fio --name=w --directory="$MNT" --numjobs=2 --rw=randrw --bs=4k \
		--size=8m --fsync=100 --time_based --runtime=1000 --disk_util=0) >/dev/null 2>&1 &
	WRITERS="$WRITERS $!"
}

# cut_power NR: at a moment that follows from the seed
cut_power() {
	sleep "$(awk "BEGIN { srand($SEED * 1000 + $1); print 1 + 4 * rand() }")"
	# Afterwards nobody would be there who is promised anything
	PROMISED=$(cat "$TMP/promised" 2>/dev/null || echo 0)
	echo 1 >"$MODEL/unplug"
	# shellcheck disable=SC2086 # a list of numbers
	wait $WRITERS
	retry umount "$MNT" || fail "cannot unmount"
	echo 1 >"$MODEL/plug" || fail "the disk does not come back"
	prepare_sched
}

# compare_files: leaves in $MISSING how many are not what they should be
compare_files() {
	local nr file

	MISSING=0
	for nr in $(seq "$PROMISED"); do
		content "$nr" >"$TMP/f$nr"
		printf '%07d\n' "$nr" >>"$TMP/lines"
	done
	for file in "$TMP"/f[0-9]* "$TMP/lines"; do
		[ -e "$file" ] || continue
		if ! cmp -n "$(wc -c <"$file")" "$file" "$MNT/${file##*/}"; then
			MISSING=$((MISSING + 1))
			ls -l "$MNT/${file##*/}"
		fi
	done >"$TMP/wrong" 2>&1
	sed 's/^/# /' "$TMP/wrong"
	rm -f "$TMP"/f[0-9]* "$TMP/lines"
}

# check TYPE: mounting replays the log
check() {
	if mount -t "$1" "$DEV" "$MNT"; then
		compare_files
		umount "$MNT" || fail "cannot unmount"
	else
		MISSING=$PROMISED
		BROKEN=$((BROKEN + 1))
		note "it cannot be mounted"
	fi
	LOST=$(awk '$1 == "lost_sectors" { print $2 }' "$MODEL/stat")
	note "$PROMISED files were synced, $MISSING of them are wrong; $LOST sectors were lost"
	ALL_PROMISED=$((ALL_PROMISED + PROMISED))
	ALL_MISSING=$((ALL_MISSING + MISSING))
	ALL_LOST=$((ALL_LOST + LOST))
	case $1 in
	ext4) e2fsck -fn "$DEV" ;;
	xfs) xfs_repair -n "$DEV" ;;
	btrfs) btrfs check --readonly "$DEV" ;;
	esac >"$TMP/check" 2>&1 && return
	BROKEN=$((BROKEN + 1))
	sed 's/^/# /' "$TMP/check"
}

# cuts TYPE [OPTION]: each on a new file system
cuts() {
	local nr

	ALL_PROMISED=0 ALL_MISSING=0 ALL_LOST=0 BROKEN=0
	for nr in $(seq "$NR_CUTS"); do
		load_disk lossy=1 write_cache=1 capacity_mb=600
		use_fs "$1" "noatime${2:+,$2}"
		make_group synced
		make_group other
		start_writers
		cut_power "$nr"
		check "$1"
		remove_groups
	done
	expect "$ALL_PROMISED synced, $ALL_LOST sectors lost" "$ALL_PROMISED > 0 && $ALL_LOST > 0"
}

# holds TYPE: whatever the moment
holds() {
	title "$1, $NR_CUTS power cuts"
	cuts "$1"
	expect "$ALL_MISSING files are wrong" "$ALL_MISSING == 0"
	expect "$BROKEN file systems are broken" "$BROKEN == 0"
}

ext4() { holds ext4; }
xfs() { holds xfs; }
# Not by the program's name
btrfs_() { holds btrfs; }

# So the others would notice
no_barriers() {
	title "ext4 without flushes, $NR_CUTS power cuts: files are lost"
	cuts ext4 nobarrier
	expect "$ALL_MISSING files are wrong" "$ALL_MISSING > 0"
}

mount_unified
run_cases ext4 xfs btrfs_ no_barriers
