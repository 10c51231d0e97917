#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What commits of a data base take, alone and beside a writer whose data the journal of the file system orders before
# them; and what the writer has, alone and beside.
#
#	commit.sh GROUP GROUP_OF_WRITER		each begins with its priority

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

COMMITS=100
WRITER_S=10	# of the writer alone

# commits NAME: what each takes is in commits.NAME
commits() {
	(run_as "$group" "$(priority_of "$group")" sqlite3 "$MNT/$1.db") <"$TMP/statements" \
		>"$OUT/commits.$1" || fail "sqlite3 has failed"
}

# written: one new file after the other, so that blocks are allocated for what it writes; two are kept
written() {
	local nr=2

	while [ ! -e "$TMP/enough" ]; do
		"$DD" if=/dev/zero of="$MNT/written.$nr" bs=1M count=256 2>/dev/null || fail "dd has failed"
		rm -f "$MNT/written.$((nr - 2))"
		nr=$((nr + 1))
	done
}

# start_writer: until as much is dirty as may be
start_writer() {
	sync
	(
		[ -z "$CONTROLLER" ] || echo 0 >"$CG/$writer/cgroup.procs"
		[ -z "$IONICE" ] || ionice -c 2 -n "${writer%"${writer#?}"}" -p "$(exec sh -c 'echo $PPID')"
		written
	) &
	sleep 5
}

stop_writer() {
	touch "$TMP/enough"
	wait
	rm -f "$TMP/enough" "$MNT"/written.*
}

# timed NAME COMMAND...: how long it takes, and what the device does meanwhile
timed() {
	local name=$1 begin kb

	shift
	begin=$(uptime_s)
	kb=$(device_kb)
	"$@"
	fact "${name}_kb" "$(($(device_kb) - kb))"
	fact "${name}_s" "$begin" "$(uptime_s)"
}

group=$1
writer=$2
use_device disk 1 3500M
use_group "$group"
use_group "$writer"
{
	echo 'PRAGMA synchronous=FULL; CREATE TABLE t(n INTEGER PRIMARY KEY, text TEXT);'
	echo .timer on
	for nr in $(seq $COMMITS); do
		echo "INSERT INTO t(text) VALUES('a line of some length that somebody wants to find again, number $nr');"
	done
} >"$TMP/statements"
timed alone commits alone
start_writer
timed writer sleep $WRITER_S
stop_writer
start_writer
timed beside commits beside
stop_writer
leave_device
