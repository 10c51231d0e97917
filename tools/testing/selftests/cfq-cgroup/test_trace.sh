#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tracepoints of cfq: their sums are those of cfq.stat

. ./test_common.sh

TRACING=/sys/kernel/tracing
EVENTS=$TRACING/events/cfq

# Empty, and large enough for a case
trace_clear() {
	echo 16384 >"$TRACING/buffer_size_kb"
	echo >"$TRACING/trace"
}

trace_start() {
	trace_clear
	echo 1 >"$EVENTS/enable"
}

# trace_stop: leaves it in $TMP/trace
trace_stop() {
	echo 0 >"$EVENTS/enable"
	grep -v '^#' "$TRACING/trace" >"$TMP/trace"
	cat "$TRACING"/per_cpu/cpu*/stats >"$TMP/lost"
	must "$(awk '/^overrun:/ { sum += $2 } END { print sum }' "$TMP/lost")" "events lost" "== 0"
}

# id GROUP: by which the trace names it
id() {
	if [ -n "$CONTROLLER" ]; then
		command stat -c %i "$CG/$1"
	else
		echo 1
	fi
}

# events NAME [TEXT...]: those with all of the texts
events() {
	local name=$1

	shift
	awk -v texts="cfq_$name: $*" '
	BEGIN { n = split(texts, text, " ") }
	{
		line = $0 " "
		for (i = 1; i <= n; i++)
			if (!index(line, " " text[i] " "))
				next
		print
	}' "$TMP/trace"
}

count() {
	events "$@" | wc -l
}

# sum FIELD NAME [TEXT...]: of a field of these events
sum() {
	local field=$1

	shift
	events "$@" | sed "s/.* $field=\([0-9]*\).*/\1/" |
		awk '{ sum += $1 } END { printf "%.0f", sum }'
}

# must NUMBER WHAT CONDITION: it holds for the number, which is on its left side
must() {
	expect "$1 $2" "$1 $3"
}

# same GROUP NS US: the nanoseconds charged to the group are its time in microseconds
same() {
	expect "$1: $2 ns charged, $3 us" "int($2 / 1000) == $3"
}

charges() {
	title "charges sum up to the time in cfq.stat, of each group"
	load_disk
	make_group a
	make_group b
	make_group b/c
	trace_start
	start_load a - read 4 0
	start_load b - seq 1 1000 --thinktime=2000
	start_load b/c - seq 2 2000
	start_load . - write 1 3000
	sleep 5
	stop_loads
	sleep 1
	trace_stop
	for g in a b/c; do
		same "$g" "$(sum ns charge "group=$(id "$g")")" "$(stat "$g" time)"
	done
	# Without those of b/c
	own=$(($(stat b time) - $(stat b/c time)))
	ns=$(sum ns charge "group=$(id b)")
	expect "b: $ns ns charged, $own us" "$ns / 1000 - $own <= 1 && $own - $ns / 1000 <= 1"
	same . "$(sum ns charge)" "$(stat . time)"
	must "$(count charge reason=request)" "requests charged" "== $(stat . requests)"
	must "$(sum ns charge reason=idle)" "ns waited in vain" "/ 1000 <= $(stat . idle)"
}

turns() {
	title "the turns of groups begin and end, for a reason, as often as cfq.stat says"
	load_disk
	make_group a 0
	make_group b 4
	trace_start
	start_load a - read 4 0
	start_load b - seq 2 1000
	sleep 6
	stop_loads
	sleep 1
	trace_stop
	for g in a b; do
		group=group=$(id "$g")
		slices=$(stat "$g" slices)
		must "$slices" "turns of $g" "> 4"
		must "$(count select "$group" pid=0 choice=turn)" "of them begun" "== $slices"
		must "$(count expire "$group" pid=0)" "ended" "== $slices"
	done
	a=group=$(id a)
	slices=$(stat a slices)
	must "$(count select "$a" choice=turn weight=200)" "of a at weight 200" "== $slices"
	must "$(count expire "$a" pid=0 reason=used)" "of them used up" "> $slices / 2"
	# 400 ms for two groups, of which a has two thirds
	awk -v id="$a" '$0 ~ id " pid=0 .*reason=used" {
		sub(/.*used_ns=/, ""); n++; if ($1 < 533e6 || $1 > 600e6) bad++
	} END { exit !n || bad }' "$TMP/trace" || fail "a turn of a was not of group_slice by share"

	begun=$(count select "group=$(id b)" choice=slice)
	must "$begun" "slices of the streams of b begun" "> 10"
	must "$(events expire "group=$(id b)" | grep -cv ' pid=0 ')" "ended" "== $begun"
	sent=$(stat a requests)
	must "$(count select "$a" choice=request)" "of $sent requests of a chosen one by one" \
		"/ $sent > 0.9"
}

# after_mark: leaves of the trace what came after the mark
after_mark() {
	awk 'marked { print } / changed$/ { marked = 1 }' "$TMP/trace" >"$TMP/after"
	mv "$TMP/after" "$TMP/trace"
}

changes() {
	local a b

	title "a weight and a class count from the next choice of a group on"
	load_disk
	make_group a
	make_group b
	a=group=$(id a)
	b=group=$(id b)
	start_load a - read 4 0
	start_load b - read 4 1000
	sleep 2
	trace_start
	echo 300 >"$CG/a/$FILES.weight"
	echo changed >"$TRACING/trace_marker"
	sleep 3
	trace_stop
	after_mark
	must "$(count select "$a" choice=turn weight=300)" "turns of a at weight 300" "> 2"
	must "$(count select "$a" choice=turn weight=100)" "at weight 100" "== 0"
	trace_start
	echo rt >"$CG/b/$FILES.ioprio_class"
	echo changed >"$TRACING/trace_marker"
	sleep 3
	trace_stop
	after_mark
	must "$(count select "$b" choice=turn)" "turns of b when it is real time" "> 2"
	# What keeps a class from waiting for ever
	must "$(count select "$a")" "choices of a then" "<= 4"
}

queues() {
	title "queues are chosen, charged and expire, without groups too"
	load_disk
	trace_start
	start_load - be/0 seq 1 0
	start_load - be/7 seq 1 1000
	sleep 3
	(exec ionice -c 1 "$DD" if="$DEV" of=/dev/null bs=4k count=10 iflag=direct) 2>/dev/null
	stop_loads
	trace_stop
	group=group=$(id .)
	for weight in 180 40; do
		must "$(count select "$group" choice=slice weight="$weight")" \
			"slices of weight $weight" "> 5"
	done
	note "$(events expire "$group" | sed 's/.*reason=//' | sort | uniq -c | tr -s ' \n' ' ')"
	for reason in used preempted left; do
		must "$(count expire "$group" sync=1 reason="$reason")" "ended: $reason" "> 0"
	done
	[ "$(count charge)" = "$(count charge "$group")" ] || fail "other groups were charged"
}

mixed() {
	title "where groups are mixed there are no turns, but charges"
	load_flash
	make_group a 0
	make_group b 4
	trace_start
	start_load a - read 2 0
	start_load b - read 2 1000
	sleep 0.5
	stop_loads
	trace_stop
	must "$(count select choice=turn)" "turns" "== 0"
	for g in a b; do
		sent=$(stat "$g" requests)
		must "$sent" "requests of $g" "> 100"
		must "$(stat "$g" slices)" "turns in cfq.stat" "== 0"
		must "$(count select "group=$(id "$g")" choice=request)" "of them chosen" "== $sent"
		same "$g" "$(sum ns charge "group=$(id "$g")")" "$(stat "$g" time)"
	done
}

[ "$SCHED" = cfq ] || skip_all "about cfq"
[ -d "$EVENTS" ] || skip_all "no tracepoints"
if [ -n "$CONTROLLER" ]; then
	mount_groups
	run_cases charges turns changes queues mixed
else
	run_cases queues
fi
