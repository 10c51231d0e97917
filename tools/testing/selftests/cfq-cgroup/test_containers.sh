#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Two containers of podman that share a disk 8 : 1, by the commands that a user is told to type, on
# a distribution where the module was just installed.

. ./test_common.sh

# What is told: to select the scheduler, to start one container and to start the other
COMMANDS=${COMMANDS:-/root/commands}
BOUND=2				# percentage points

# typed NR: that command, for the modelled disk
typed() {
	local command

	command=$(sed -n "$1p" "$COMMANDS" | sed "s/\<sda\>/$DISK/g")
	echo "# \$ $command"
	eval "$command" >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
}

# make_debian: what is pulled by that name elsewhere; all that runs here is dd
make_debian() {
	local file root=$TMP/debian

	mkdir -p "$root"
	for file in "$DD" $(ldd "$DD" | grep -o '/[^ ]*'); do
		mkdir -p "$root${file%/*}"
		cp "$file" "$root$file"
	done
	tar -cf - -C "$root" . | podman import - debian >"$TMP/said" 2>&1 ||
		fail "$(cat "$TMP/said")"
}

share_of_db() {
	title "four commands, and two containers have 8/9 and 1/9 of the disk"
	load_module "$MODULE" || fail "cannot load the disk"
	make_debian
	typed 1
	[ -d /sys/module/cfq ] || fail "that has not loaded the module"
	watch_mb 0 20000 20000 20000
	sample_start containers
	typed 2
	sleep 4
	typed 3
	sleep 6
	measure 20
	expect "shares $(shares) %, error $(distance 88.89 11.11) pp" \
		"$(distance 88.89 11.11) <= $BOUND"
	note "\$ cfq-top -d $DISK -i 10 -n 1"
	cfq-top -d "$DISK" -i 10 -n 1 >"$TMP/top" 2>&1
	sed 's/^/# /' "$TMP/top"
	grep -qE '^  db +800 +be +88.9 ' "$TMP/top" || fail "no db of weight 800"
	grep -qE '^  backup +100 +be +11.1 ' "$TMP/top" || fail "no backup of weight 100"
	podman rm -f -t 0 db >/dev/null
	sleep 4
	sample_stop
	podman rm -f -t 0 backup >/dev/null
}

[ -e "$COMMANDS" ] || skip_all "no commands to type"
CONTROLLER=			# others make the groups here
run_cases share_of_db
