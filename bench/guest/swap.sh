#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A server that has all its pages in use and reads the device, and a hog that grows twice as fast as the device writes:
# together they may have MEMORY_MB, and swap space is on the same device. What each has alone, and beside the other.
#
#	swap.sh GROUP GROUP_OF_HOG		each begins with its priority

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

MEMORY_MB=256
SET_MB=$((MEMORY_MB * 6 / 10))
SWAP_MB=4096
SERVED_MB=40000
GROWS_MB_S=150	# the disk writes 75 MB a second where that is swapped to
WAIT=5
COUNTED=20

# user NAME GROUP KIND ARGUMENT...: its count is fact NAME
user() {
	local name=$1 group=$2 kind=$3 count

	shift 3
	count=$(run_as "$group" "$(priority_of "$group")" \
		./memory_user "$kind" $((1000 * WAIT)) $((1000 * COUNTED)) "$@") || fail "$name has failed"
	fact "$name" "$count"
}

server() {
	user "server_$1" "$group" server $SET_MB "$DEV" $SWAP_MB $SERVED_MB
}

hog() {
	user "hog_$1" "$other" hog $GROWS_MB_S
}

# count NAME: what the device counts for reads of the server, and for swapping
count() {
	sleep $WAIT
	measure $COUNTED
	cp "$TMP/ranges" "$OUT/ranges.$1"
	wait
}

group=all/$1
other=all/$2
load_device disk
use_groups
if [ -n "$CONTROLLER" ]; then
	make_group all
	enable_memory_and_io "$CG/all"
	echo ${MEMORY_MB}M >"$CG/all/memory.max" || fail "cannot limit memory"
fi
use_group "$group"
use_group "$other"
[ -z "$CONTROLLER" ] || echo ${SET_MB}M >"$CG/$group/memory.low" || fail "cannot protect memory"
mkswap "$DEV" $((SWAP_MB * 1024)) >/dev/null
swapon "$DEV" || fail "no swap space"
watch_mb $SWAP_MB $SERVED_MB 0 $SWAP_MB
server alone &
count server_alone
hog alone &
count hog_alone
SETTLED=$WAIT
WAIT=$((2 * SETTLED))
server beside &
WAIT=$SETTLED
sleep $WAIT
hog beside &
count beside
swapoff "$DEV" || fail "cannot end swapping"
finish
