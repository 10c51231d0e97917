#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The file cfq.ioprio takes 0 to 7 and refuses the rest with a clear errno; a refused write changes
# nothing.

. ./test_common.sh

FILE=$CG/g/cfq.ioprio

defaults() {
	title "a new group has priority 4, whatever its parent's"
	make_group g
	expect "a new group has $(cat "$FILE")" "$(cat "$FILE") == 4"
	group_ioprio g 1
	mkdir "$CG/g/child" || return
	expect "its child has $(cat "$CG/g/child/cfq.ioprio")" \
		"$(cat "$CG/g/child/cfq.ioprio") == 4"
	rmdir "$CG/g/child"
}

legal() {
	title "0 to 7 are taken and read back, with a newline, without, and among blanks"
	make_group g
	for format in '%d' '%d\n' ' %d' '%d ' ' %d \n' '\t%d\t\n' '\n%d\n'; do
		for value in 0 1 2 3 4 5 6 7 0; do
			takes "$format" "$value"
		done
	done
}

out_of_range() {
	title "numbers out of range give ERANGE and leave the value"
	make_group g 3
	for text in -1 8 9 10 70 255 256 1000 -2147483648 2147483647 2147483648 \
		4294967295 4294967296 4294967299 \
		9223372036854775807 9223372036854775808 \
		18446744073709551615 18446744073709551616 18446744073709551619 \
		-9223372036854775808 -9223372036854775809 \
		340282366920938463463374607431768211459; do
		refuses "$text" ERANGE
		refuses "$text\n" ERANGE
	done
}

no_number() {
	title "what is not one decimal number gives EINVAL and leaves the value"
	make_group g 3
	# Of a write of nothing the cgroup core tells nobody.
	refuses '' 0
	for text in '\n' ' ' '\t\n' high 3x x3 0x3 0X3 3.0 3e0 '1 2' '1\n2' '1\n2\n' '1,2' \
		'- 1' - + '3-' '3\0004' '\0003' \
		'3\001' 'default' 'default 3' '8:0 3' '\303\277' "3$(printf '%4000s' x)"; do
		refuses "$text" EINVAL
	done
}

too_long() {
	title "a write of more than a page is refused as a whole"
	make_group g 3
	refuses "%5000s2" E2BIG
	refuses "2%5000s" E2BIG
}

root_group() {
	title "the root group has a priority as well"
	mount_groups
	FILE=$CG/cfq.ioprio
	takes %d 2
	refuses 8 ERANGE
	takes %d 4
	FILE=$CG/g/cfq.ioprio
}

everywhere() {
	title "a priority can change while the group does I/O, and shares follow"
	load_disk
	make_group g 0
	make_group h 0
	start_load g - read 5 0
	start_load h - read 5 2000
	watch_mb 0 1250 2000 1250
	sleep 2
	measure 20
	expect "equal priorities, share of the first: $(share 1) %" \
		"$(share 1) > 45 && $(share 1) < 55"
	echo 7 >"$FILE"
	sleep 2
	measure 20
	expect "7 against 0, share of the first: $(share 1) %" "$(share 1) > 8 && $(share 1) < 15"
}

[ "$CONTROLLER" = cfq ] || skip_all "no cfq controller"
run_cases defaults legal out_of_range no_number too_long root_group everywhere
