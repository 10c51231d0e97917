#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every kind of load in a group of weight 500 beside nothing and beside every kind in one of weight 100.
#
#	matrix.sh DEVICE RAMP SECONDS

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

device=$1
RAMP=$2
COUNTED=$3
use_device "$device" 2
for heavy in reads stream writes writer; do
	phase "$heavy.nothing" "3:$heavy:1:0"
	for light in reads stream writes writer; do
		phase "$heavy.$light" "3:$heavy:1:0" "7:$light:1:1"
	done
done
leave_device
