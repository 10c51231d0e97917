#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The files of a group, in version 1 and 2: defaults, what they take and how it reads back. What
# they refuse is tested by test_bad_input.sh.

. ./test_common.sh

# in_group FILE: of a new group g
in_group() {
	[ -d "$CG/g" ] || make_group g
	FILE=$CG/g/$1
}

# default_is TEXT: nothing was set yet
default_is() {
	expect "a new group has ${FILE##*/} '$(cat "$FILE")'" "\"$(cat "$FILE")\" == \"$1\""
}

weight_file() {
	title "cfq.weight is 1 to 10000, and another view of cfq.ioprio"
	in_group "$FILES.weight"
	default_is 100
	for value in 1 10000 99 300; do
		takes '%d' "$value"
		takes ' %d\t\n' "$value"
	done
	for pair in 1:7 37:7 38:6 100:4 150:2 200:0 10000:0; do
		takes '%d' "${pair%:*}"
		expect "weight ${pair%:*} is priority $(cat "$CG/g/$FILES.ioprio")" \
			"$(cat "$CG/g/$FILES.ioprio") == ${pair#*:}"
	done
	group_ioprio g 7
	expect "priority 7 is weight $(cat "$FILE")" "$(cat "$FILE") == 25"
}

leaf_weight_file() {
	title "cfq.leaf_weight is 1 to 10000; the root group has none"
	in_group "$FILES.leaf_weight"
	default_is 100
	takes '%d' 1
	takes '%d\n' 10000
	[ ! -e "$CG/$FILES.leaf_weight" ] || fail "the root group has a leaf_weight"
}

class_file() {
	title "cfq.ioprio_class is 1 to 3, or a name"
	in_group "$FILES.ioprio_class"
	default_is 2
	for value in 1 2 3; do
		takes '%d' "$value"
		takes '\t%d \n' "$value"
	done
	gives 'realtime' 1
	gives 'best-effort\n' 2
	gives ' idle ' 3
	gives 'rt\n' 1
	gives 'be' 2
}

# The forms that files with a line for each device have in common; the disks are there.
device_lines() {
	local first=$1 a b

	a=$(cat /sys/block/cfqd0/dev)
	b=$(cat /sys/block/cfqd1/dev)
	gives "$a 200" "$first$a 200"
	gives "$b 300\n" "$first$a 200
$b 300"
	gives " $a \t 1\n" "$first$a 1
$b 300"
	gives "$a default\n" "$first$b 300"
	gives "$a default\n" "$first$b 300"
	gives "0$b 17" "$first$b 17"
}

weight_device_file() {
	title "cfq.weight_device takes weights of disks, one a write"
	load_disk nr_devices=2
	in_group "$FILES.weight_device"
	default_is ''
	gives "$(cat /sys/block/cfqd0/dev) 0" ""
	device_lines ""
	gives "$(cat /sys/block/cfqd1/dev) 0" ""
}

replugged() {
	title "a weight of a disk outlives the disk, and can be removed without it"
	load_disk
	in_group "$FILES.weight_device"
	dev=$(cat "/sys/block/$DISK/dev")
	gives "$dev 200" "$dev 200"
	unload_disk
	expect "it is still there" "\"$(cat "$FILE")\" == \"$dev 200\""
	refuses "$dev 300" ENODEV
	gives "$dev default" ""
	refuses "$dev default" ENODEV
}

unified() {
	title "version 2: the same files in its form, for threads as well"
	mount_unified
	load_disk nr_devices=2
	in_group "$FILES.weight"
	default_is 'default 100'
	gives "100" "default 100"
	gives "default 250" "default 250"
	gives "default\n" "default 100"
	gives " default \t 70\n" "default 70"
	device_lines "default 70
"
	in_group "$FILES.ioprio"
	takes '%d' 0
	in_group "$FILES.ioprio_class"
	default_is 2
	gives 'rt' 1
	for file in weight_device leaf_weight; do
		[ ! -e "$CG/g/$FILES.$file" ] || fail "there is a $FILES.$file"
	done

	# The io controller is for whole processes
	[ "$CONTROLLER" = cfq ] || return
	make_group g/threads
	echo threaded >"$CG/g/threads/cgroup.type" || fail "a group cannot be threaded"
	enable_children g || fail "the controller is not for threads"
	[ -e "$CG/g/threads/$FILES.weight" ] || fail "a threaded group has no weight"
}

needs_groups
run_cases weight_file leaf_weight_file class_file weight_device_file replugged unified
