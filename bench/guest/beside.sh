#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Jobs in groups: what each has alone, and what they have side by side.
#
#	beside.sh DEVICE RAMP SECONDS GROUP:JOB:PROCESSES...
#
# GROUP begins with its priority; JOB is one of start_job's. Jobs that are alike are run alone once.

# shellcheck source=bench/guest/jobs.sh
. /guest/jobs.sh

device=$1
RAMP=$2
COUNTED=$3
shift 3
use_device "$device" 17
nr=0
first=0
jobs=
known=
for job; do
	nr=$((nr + 1))
	case $known in
	*" ${job#*:} "*) ;;
	*)
		known="$known ${job#*:} "
		phase "alone.$nr" "$job:$first"
		;;
	esac
	jobs="$jobs $job:$first"
	first=$((first + ${job##*:}))
done
# shellcheck disable=SC2086 # a list of jobs
phase beside $jobs
leave_device
