#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Readers that work together: one file, of which each reads every PROCESSESth piece, and one reader that has it alone.
#
#	together.sh RAMP SECONDS PROCESSES [JOB]	together, or together_direct: past the page cache

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

RAMP=$1
COUNTED=$2
use_device disk 1
phase one "4:${4:-together}:1:0"
phase all "4:${4:-together}:$3:0"
leave_device
