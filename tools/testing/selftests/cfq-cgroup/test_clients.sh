#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of cfq divide a disk with it, as the recipes of the manual say: cgexec
# and the shell in version 1, and a guest of QEMU as the load of a group.

. ./test_common.sh

PROCESSES=${PROCESSES:-4}	# readers a group; a guest has 8 reads under way
DURATION=${DURATION:-36}	# of virtual time
BOUND=${BOUND:-1}		# percentage points
WEIGHT=${WEIGHT:-800}		# of the first group; the second has 100
SPREAD=$((250 * PROCESSES))	# MB of the disk for a group

# run_as GROUP WEIGHT COMMAND...: by the client, in place of what test_common.sh has
run_as() {
	"by_$CLIENT" "$@"
}

needs() {
	local program

	for program; do
		command -v "$program" >/dev/null && continue
		TITLE="$TITLE # SKIP needs $program"
		return 1
	done
}

# fresh_groups: nothing is set in the root group
fresh_groups() {
	[ ! -e "$CG/cgroup.procs" ] || umount "$CG"
	mkdir -p "$CG"
	retry mount -t cgroup -o cfq none "$CG" || fail "cannot mount cfq"
}

# read_by CLIENT: readers in two groups that it makes
read_by() {
	CLIENT=$1
	start_load g1 "$WEIGHT" read "$PROCESSES" 0
	start_load g2 100 read "$PROCESSES" "$SPREAD"
	share_out
}

# share_out: by weight, within the bound
share_out() {
	local promised error

	promised=$(awk "BEGIN { w = 100 * 800 / 900; print w, 100 - w }")
	watch_mb 0 "$SPREAD" "$SPREAD" "$SPREAD"
	sleep 4
	measure "$DURATION"
	# shellcheck disable=SC2086 # two numbers
	error=$(distance $promised)
	expect "shares $(shares) %, $(ios) requests, promised $promised, error $error pp" \
		"$error <= $BOUND"
}

by_shell() {
	mkdir "$CG/$1"
	echo "$2" >"$CG/$1/cfq.weight"
	echo 0 >"$CG/$1/cgroup.procs"
	shift 2
	exec "$@"
}

by_cgexec() {
	cgcreate -g "cfq:/$1"
	cgset -r "cfq.weight=$2" "/$1"
	group=$1
	shift 2
	exec cgexec -g "cfq:/$group" "$@"
}

# start_guest GROUP WEIGHT FIRST_MB AIO: a machine in the group, its disk on a stretch of ours
start_guest() {
	local disk="file=$DEV,offset=$(($3 * 1048576)),size=$((SPREAD * 1048576))"

	(
		by_shell "$1" "$2" qemu-system-x86_64 -accel tcg,tb-size=16 -m 8 \
			-M microvm,acpi=off,ioapic2=off,rtc=off,pit=off,pic=on,isa-serial=off \
			-nodefaults -no-user-config -display none -no-reboot \
			-bios /usr/share/qemu/qboot.rom -kernel ./vm_reader \
			-drive "if=none,id=disk,$disk,format=raw,cache=none,aio=$4" \
			-device virtio-blk-device,drive=disk
	) >"$TMP/guest" 2>&1 &
	GUEST=$!
}

stop_guest() {
	kill "$GUEST" 2>/dev/null || fail "the guest has ended before its time: $(cat "$TMP/guest")"
	wait "$GUEST"
	GUEST=
}

# guest_beside_readers AIO
guest_beside_readers() {
	load_disk
	fresh_groups
	CLIENT=shell
	start_guest g1 "$WEIGHT" 0 "$1"
	start_load g2 100 read "$PROCESSES" "$SPREAD"
	share_out
	stop_guest
}

shell() {
	title "the shell: groups of weight 800 and 100 share within $BOUND pp"
	load_disk
	fresh_groups
	read_by shell
}

cgexec_() {
	title "cgexec: groups of weight 800 and 100 share within $BOUND pp"
	needs cgcreate cgset cgexec || return
	if [ ! -e /proc/net/unix ]; then
		TITLE="$TITLE # SKIP cgexec needs CONFIG_UNIX"
		return
	fi
	load_disk
	fresh_groups
	read_by cgexec
}

qemu_threads() {
	title "a guest of QEMU with aio=threads beside readers: 800 and 100 share within $BOUND pp"
	needs qemu-system-x86_64 || return
	guest_beside_readers threads
}

qemu_native() {
	title "a guest of QEMU with aio=native beside readers: 800 and 100 share within $BOUND pp"
	needs qemu-system-x86_64 || return
	guest_beside_readers native
}

[ "$CONTROLLER" = cfq ] || skip_all "no cfq controller"
run_cases shell cgexec_ qemu_threads qemu_native
