#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of cfq divide a disk with it, as the recipes of the manual say:
# containers by crun and podman in version 2, cgexec and the shell in version 1, and a guest of QEMU
# as the load of a group.

. ./test_common.sh
. ./clients_common.sh

BOUND=${BOUND:-1}		# percentage points

# fresh_groups VERSION: groups are those of this version, and nothing is set in the root group
fresh_groups() {
	[ ! -e "$CG/cgroup.procs" ] || umount "$CG"
	if [ "$1" = 2 ]; then
		CG=/sys/fs/cgroup	# where containers want it
		mount -t cgroup2 none "$CG"
		retry enable_children . || fail "cannot enable cfq in version 2"
	else
		CG=/dev/cgroup
		mkdir -p "$CG"
		retry mount -t cgroup -o cfq none "$CG" || fail "cannot mount version 1"
	fi
}

# read_by CLIENT VERSION: readers in two groups that it makes
read_by() {
	CLIENT=$1
	load_disk
	fresh_groups "$2"
	start_load g1 "$WEIGHT" read "$PROCESSES" 0
	start_load g2 100 read "$PROCESSES" "$SPREAD"
	share_out
}

by_shell() {
	mkdir "$CG/$1"
	echo "$2" >"$CG/$1/cfq.weight"
	echo 0 >"$CG/$1/cgroup.procs"
	shift 2
	exec "$@"
}

by_cgexec() {
	local group=$1

	cgcreate -g "cfq:/$group"
	cgset -r "cfq.weight=$2" "/$group"
	shift 2
	exec cgexec -g "cfq:/$group" "$@"
}

# The field that is for us: linux.resources.unified
by_crun() {
	local group=$1 weight=$2

	shift 2
	make_bundle "$group" "\"unified\": { \"cfq.weight\": \"$weight\" }" "$@"
	# The root of an initramfs cannot be pivoted.
	exec crun --cgroup-manager=cgroupfs run --no-pivot --bundle "$TMP/$group" "$group"
}

by_podman() {
	local group=$1 weight=$2 directory

	shift 2
	make_root "$TMP/$group/root"
	cat >"$TMP/containers.conf" <<-END
	[engine]
	events_logger = "none"
	no_pivot_root = true	# as with crun
	END
	set -- --rootfs "$TMP/$group/root" "$@"
	for directory in $BINDS; do
		set -- -v "$directory:$directory" "$@"
	done
	# Without privileges, a container is kept from devices by a BPF program.
	CONTAINERS_CONF=$TMP/containers.conf exec podman --cgroup-manager=cgroupfs \
		--storage-driver=vfs --root="$TMP/storage" --runroot="$TMP/storage.run" run \
		--cgroup-conf="cfq.weight=$weight" --privileged --network=host --log-driver=none \
		"$@"
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
	fresh_groups 1
	CLIENT=shell
	start_guest g1 "$WEIGHT" 0 "$1"
	start_load g2 100 read "$PROCESSES" "$SPREAD"
	share_out
	stop_guest
}

shell() {
	title "the shell: groups of weight 800 and 100 share within $BOUND pp"
	read_by shell 1
}

cgexec_() {
	title "cgexec: groups of weight 800 and 100 share within $BOUND pp"
	needs cgcreate cgset cgexec || return
	read_by cgexec 1
}

crun_() {
	title "crun: groups of weight 800 and 100 share within $BOUND pp"
	needs crun || return
	read_by crun 2
}

podman_() {
	title "podman: groups of weight 800 and 100 share within $BOUND pp"
	needs podman conmon crun || return
	read_by podman 2
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
run_cases crun_ podman_ shell cgexec_ qemu_threads qemu_native
