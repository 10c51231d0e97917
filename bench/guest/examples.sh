#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The published examples with two dd. What the selftest expects of cfq need not hold for others.

EXTRA=/guest/peers.sh SAMPLE=/out ./test_examples.sh || :
