#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where cfq is a module, with groups of the io controller: it comes and goes, beside bfq, and says
# why when it cannot.

. ./test_common.sh

# weight [TEXT]: of group g, set if there is a text
weight() {
	[ -z "$1" ] || echo "$1" >"$CG/g/$FILES.weight" || fail "cannot set the weight"
	cat "$CG/g/$FILES.weight"
}

comes() {
	title "selecting cfq loads the module, and groups that are there have its files"
	rmmod cfq || fail "cannot remove the module"
	make_group g
	[ ! -e "$CG/g/$FILES.weight" ] || fail "there are files without the module"
	load_disk
	[ -d /sys/module/cfq ] || fail "the module is not loaded"
	expect "a weight of $(weight)" "\"$(weight)\" == \"default 100\""
}

goes() {
	title "the module is not removed while a disk uses cfq, and takes its files with it then"
	load_disk
	make_group g
	start_load g - read 4 0
	weight 300 >/dev/null
	sleep 1
	rmmod cfq 2>/dev/null && fail "it was removed while it was in use"
	expect "a weight of $(weight)" "\"$(weight)\" == \"default 300\""
	select_sched none
	rmmod cfq || fail "cannot remove the module"
	[ ! -e "$CG/g/$FILES.weight" ] || fail "there are files without the module"
	sleep 1
	select_sched cfq
	expect "a weight of $(weight)" "\"$(weight)\" == \"default 100\""
	sleep 1
	expect "$(stat g requests) requests" "$(stat g requests) > 50"
}

again() {
	local nr=0

	title "it comes and goes many times with groups and I/O there"
	load_disk
	make_group g
	make_group h
	start_load g - read 2 0
	start_load h - write 2 1000
	while [ "$nr" -lt 20 ]; do
		select_sched none
		rmmod cfq || fail "cannot remove the module"
		select_sched cfq
		[ "$nr" != 10 ] || { mkdir "$CG/late" && rmdir "$CG/late"; }
		sleep 0.2
		nr=$((nr + 1))
	done
	sleep 1
	expect "$(stat g requests) requests" "$(stat g requests) > 30"
}

beside_bfq() {
	title "beside bfq on another disk, with other weights there, groups have theirs, 8 : 1"
	load_disk nr_devices=2
	select_sched bfq cfqd1
	make_group g
	make_group h
	weight 800 >/dev/null
	# Unset, it would follow that of bfq
	echo 100 >"$CG/h/$FILES.weight" || fail "cannot set the weight"
	echo 100 >"$CG/g/io.bfq.weight" || fail "cannot set a weight of bfq"
	echo 800 >"$CG/h/io.bfq.weight" || fail "cannot set a weight of bfq"
	start_load g - read 8 0
	start_load h - read 8 2000
	DEV=/dev/cfqd1
	start_load g - read 8 4000
	start_load h - read 8 6000
	DEV=/dev/$DISK
	watch_mb 0 2000 2000 2000
	sleep 2
	measure 20 g
	expect "on cfq $(shares) %, error $(distance 88.9 11.1) pp" "$(distance 88.9 11.1) <= 2"
	MODEL=${MODEL%/*}/cfqd1
	watch_mb 4000 2000 6000 2000
	measure 20
	# How well bfq shares a disk is not of interest here
	expect "on bfq $(shares) %" "$(share 1) > 0 && $(share 2) > 0"
	MODEL=${MODEL%/*}/cfqd0
}

no_place() {
	title "without a place for a policy it is not loaded, and the kernel log says why"
	rmmod cfq || fail "cannot remove the module"
	load_module cfq_policies || fail "cannot take all places"
	load_module cfq 2>/dev/null && fail "it was loaded all the same"
	[ ! -d /sys/module/cfq ] || fail "it is there"
	dmesg | grep 'cfq: all .* places' || fail "nothing was said"
	rmmod cfq_policies
	load_module cfq || fail "it is not loaded with places"
}

# From then on the kernel refuses modules: so this is the last case, and needs no other module.
unsigned() {
	local enforce=/sys/module/module/parameters/sig_enforce

	title "where modules need a signature that the kernel knows it is not loaded, and says why"
	load_disk
	select_sched none
	rmmod cfq || fail "cannot remove the module"
	[ ! -d /sys/module/bfq ] || rmmod bfq || fail "cannot remove bfq"
	[ -e "$enforce" ] || fail "this kernel knows no signatures"
	echo Y >"$enforce"
	load_module cfq 2>"$TMP/said" && fail "it was loaded all the same"
	note "$(cat "$TMP/said")"
	grep -qE 'key|Key' "$TMP/said" || fail "nothing was said about a key"
	(select_sched cfq) >/dev/null 2>&1 && fail "cfq can be selected"
	expect "none stays: $(cat "$QUEUE/scheduler")" \
		"\"$(cat "$QUEUE/scheduler")\" ~ /\\[none\\]/"
	"$DD" if="$DEV" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null || fail "no I/O"
	load_module bfq || fail "that of the distribution is not loaded either"
}

needs_groups
grep -q "^cfq " /proc/modules || skip_all "cfq is no module here"
mount_unified
run_cases comes goes again beside_bfq no_place unsigned
