#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The monitor, tools/cgroup/cfq_monitor.py, needs python3: what it shows of groups under load.

. ./test_common.sh

MONITOR=../../../cgroup/cfq_monitor.py

# monitor NAME OPTION...: starts it; what it says goes to $TMP/NAME and $TMP/NAME.errors
monitor() {
	local name=$1

	shift
	python3 "$MONITOR" "$@" >"$TMP/$name" 2>"$TMP/$name.errors"
}

# values NAME: of the JSON in $TMP/NAME, a line for each group: number of the table, device,
# key=value...
values() {
	python3 -c '
import json, sys
for nr, line in enumerate(sys.stdin, 1):
    for device in json.loads(line)["devices"]:
        for group in device["groups"]:
            pairs = (f"{key}={value}" for key, value in group.items())
            print(nr, device["device"], *pairs)' <"$TMP/$1" >"$TMP/$1.values" || fail "no JSON"
	[ ! -s "$TMP/$1.errors" ] || fail "it complains: $(cat "$TMP/$1.errors")"
}

# value NAME NR GROUP KEY: of one group in table NR
value() {
	sed -n "s,^$2 .* group=$3 .*$4=\([^ ]*\).*,\1,p" "$TMP/$1.values"
}

# near WHAT A B DISTANCE
near() {
	expect "$1: $2, $3 expected" "($2) - ($3) <= $4 && ($3) - ($2) <= $4"
}

targets() {
	local nr=0 group prio stretches target had rate queued inflight waiting

	title "three groups of priority 0, 4 and 7 have their target, as any user can see"
	load_disk
	for prio in 0 4 7; do
		make_group "g$prio" "$prio"
		start_load "g$prio" - read 4 $((2000 * nr))
		stretches="$stretches $((2000 * nr)) 2000"
		nr=$((nr + 1))
	done
	# shellcheck disable=SC2086 # a list of numbers
	watch_mb $stretches
	sleep 2
	echo reset >"$MODEL/ranges"
	su user -c "python3 $MONITOR -i 25 -n 1 -d $DISK --json" >"$TMP/json" 2>"$TMP/json.errors"
	stretches >"$TMP/ranges"
	stop_loads
	values json
	nr=0
	for prio in 0 4 7; do
		nr=$((nr + 1))
		group=/g$prio
		target=$(value json 1 "$group" target_percent)
		near "target of $group" "$target" "100 * (8 - $prio) / 13" 0.01
		had=$(value json 1 "$group" share_percent)
		near "share of $group" "$had" "$target" 2
		near "the disk's word on it" "$(share "$nr")" "$had" 2
		rate=$(value json 1 "$group" requests_per_s)
		near "MB/s" "$(value json 1 "$group" mb_per_s)" "$rate * 4096 / 1e6" 0.01
		queued=$(value json 1 "$group" queued)
		inflight=$(value json 1 "$group" inflight)
		expect "$inflight in flight, $queued queued, of 4 tasks" "$inflight + $queued <= 4"
		# Little's law: what waits is what comes in times how long it waits. The first group
		# is seldom held up, as it may send in the turns of others.
		waiting="$rate * $(value json 1 "$group" wait_ms) / 1000"
		expect "waiting on average: $waiting" "$waiting > 0.05 && $waiting < 5"
	done
	expect "weight $(value json 1 /g7 weight)" "$(value json 1 /g7 weight) == 25"
	[ "$(value json 1 /g7 weight_by)" = group ] || fail "by $(value json 1 /g7 weight_by)"
	[ "$(value json 1 /g7 class)" = be ] || fail "class $(value json 1 /g7 class)"
}

tree() {
	local found group pid

	title "groups nest, come, and go while it runs; the target is what the active ones are due"
	load_disk
	make_group a
	make_group a/1
	make_group b
	make_group idle
	echo 200 >"$CG/a/$FILES.weight"
	echo 300 >"$CG/a/1/$FILES.weight"
	echo "$(cat "/sys/block/$DISK/dev") 50" >"$CG/b/$FILES.weight_device"
	echo idle >"$CG/idle/$FILES.ioprio_class"
	start_load a - read 2 0
	start_load a/1 - read 2 1000
	start_load b - read 2 2000
	start_load idle - read 2 3000
	sleep 1
	rm -f "$TMP/json"
	monitor json -i 3 -n 3 --json &
	pid=$!
	# While it starts, and takes its first sample
	retry test -s "$TMP/json" || retry test -s "$TMP/json"
	stop_loads
	remove_group a/1
	remove_group a
	make_group late
	start_load b - read 2 2000
	start_load late - read 2 0
	wait "$pid"
	stop_loads
	values json
	near "a" "$(value json 1 /a target_percent)" 80 0.01
	near "its tasks" "$(value json 1 '/a/(tasks)' target_percent)" 20 0.01
	near "its group" "$(value json 1 /a/1 target_percent)" 60 0.01
	near "b" "$(value json 1 /b target_percent)" 20 0.01
	for group in /:default '/a/(tasks):None' /a:group /b:device; do
		found=$(value json 1 "${group%:*}" weight_by)
		[ "$found" = "${group#*:}" ] || fail "the weight of ${group%:*} is by $found"
	done
	near "the idle class" "$(value json 1 /idle target_percent)" 0 0
	expect "it waits: $(value json 1 /idle queued)" "$(value json 1 /idle queued) > 0"
	# Some turns only
	near "had a" "$(value json 1 /a share_percent)" 80 15
	near "had its tasks" "$(value json 1 '/a/(tasks)' share_percent)" 20 15
	near "both parts of a" "$(value json 1 /a share_percent)" \
		"$(value json 1 '/a/(tasks)' share_percent) + $(value json 1 /a/1 share_percent)" 1
	near "b at last" "$(value json 3 /b target_percent)" 33.333 0.01
	near "late at last" "$(value json 3 /late target_percent)" 66.667 0.01
	[ -z "$(value json 3 /a weight)" ] || fail "a is still there"
}

# inside ARGUMENT...: runs the Python of standard input, in which the monitor is a module
inside() {
	{
		cat <<-END
		import importlib.util, os, sys
		spec = importlib.util.spec_from_file_location("monitor", "$MONITOR")
		monitor = importlib.util.module_from_spec(spec)
		spec.loader.exec_module(monitor)
		END
		cat
	} >"$TMP/inside.py"
	python3 "$TMP/inside.py" "$@"
}

# active TIME...: the active groups of a tree without a kernel, whose topmost group's time, in us,
# reads as given: before and after its children's, twice. Each of these had 600 ms, and then 400
# more.
active() {
	mkdir -p "$TMP/tree/a" "$TMP/tree/b"
	touch "$TMP/tree/cfq.stat" "$TMP/tree/a/cfq.stat" "$TMP/tree/b/cfq.stat"
	inside "$TMP/tree" "$@" <<-END
		top = sys.argv[1]
		times = {name: iter((600000, 1000000)) for name in "ab"}
		times["."] = map(int, sys.argv[2:])
		zero = dict.fromkeys(monitor.COUNTERS, 0)
		def name(files):
		    return os.path.relpath(os.path.dirname(files), top)
		monitor.read_stats = lambda files: {
		    "1:1": {**zero, "time": next(times[name(files)])}
		}
		samples = monitor.Sample(top), monitor.Sample(top)
		(device,) = monitor.compare(*samples, [], "/", True)["devices"]
		print(*(group["group"] for group in device["groups"] if group["active"]))
	END
}

late() {
	local found

	title "what is done while it reads is not taken for something of the tasks above"
	found=$(active 900000 1200000 2000000 2000000)
	[ "$found" = "/ /a /b" ] || fail "its tasks did nothing, and active are $found"
	found=$(active 1200000 1200000 2300000 2300000)
	[ "$found" = "/ /(tasks) /a /b" ] || fail "its tasks had 300 ms, and active are $found"
}

plain() {
	title "plain text when piped, in place on a terminal, only what was asked for"
	load_disk nr_devices=2
	select_sched "$SCHED" cfqd1
	make_group a
	make_group b
	start_load a - read 2 0
	start_load b - read 2 1000
	"$DD" if=/dev/cfqd1 of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
	# As those of dm are there
	ln -s "/dev/$DISK" "$TMP/mapper"
	monitor text -i 1 -n 2 -g "$CG/a" -d "$TMP/mapper" -a
	# What a terminal is sent
	python3 -c '
import os, sys
pid, master = os.forkpty()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while text := os.read(master, 4096):
        os.write(1, text)
except OSError:
    pass' python3 "$MONITOR" -i 1 -n 1 >"$TMP/typescript"
	stop_loads
	sed 's/^/# /' "$TMP/text"
	expect "$(grep -c "^$DISK ([0-9]*:[0-9]*), busy [0-9]* %\$" "$TMP/text") tables" \
		"$(grep -c "^$DISK ([0-9]*:[0-9]*), busy [0-9]* %\$" "$TMP/text") == 2"
	expect "$(grep -cE '^  /a +100 +be +50.0( +[0-9.-]+){6}$' "$TMP/text") lines of the group" \
		"$(grep -cE '^  /a +100 +be +50.0( +[0-9.-]+){6}$' "$TMP/text") == 2"
	expect "$(wc -l <"$TMP/text") lines" "$(wc -l <"$TMP/text") == 8"
	grep -q "$(printf '\033')" "$TMP/text" && fail "there are escape sequences in it"
	grep -q "$(printf '\033\\[H')" "$TMP/typescript" || fail "the terminal is not refreshed"
	grep -q "  /b .*be" "$TMP/typescript" || fail "not all groups are on the terminal"
}

# named PATH NAME: the group is shown as that
named() {
	local name

	name=$(inside "$1" <<-END
		print(monitor.name_of(sys.argv[1]))
	END
	)
	[ "$name" = "$2" ] || fail "$1 is $name, not $2"
}

names() {
	local id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	local podman=/var/lib/containers/storage/vfs-containers docker=/var/lib/docker/containers

	title "a group has the name of its unit, container or machine"
	named / None
	named /database None
	named /database/a None
	named /system.slice system.slice
	named /system.slice/nginx.service nginx.service
	named '/system.slice/dev-disk-by\x2dlabel.swap' dev-disk-by-label.swap
	named '/system.slice/caf\xc3\xa9.mount' "$(printf 'caf\303\251.mount')"
	named '/machine.slice/machine-qemu\x2d3\x2dweb\x2d1.scope' web-1
	named '/machine.slice/machine-lxc\x2d12\x2ddb.scope/libvirt' db/libvirt
	named /lxc.payload.mail mail
	named "/machine.slice/libpod-$id.scope" 0123456789ab
	named "/docker/$id" 0123456789ab
	named "/kubepods.slice/cri-containerd-$id.scope" 0123456789ab
	named "/kubepods.slice/kubepods-pod1.slice/crio-$id.scope" 0123456789ab
	named "/machine.slice/libpod-conmon-$id.scope" "libpod-conmon-$id.scope"
	named "/kubepods.slice/Cri-$id.scope" "Cri-$id.scope"
	mkdir -p "$podman" "$docker/$id"
	echo "[{\"id\": \"$id\", \"names\": [\"web\"]}]" >"$podman/containers.json"
	named "/machine.slice/libpod-$id.scope" web
	named "/machine.slice/libpod-$id.scope/container" web/container
	echo "broken" >"$podman/containers.json"
	named "/machine.slice/libpod-$id.scope" 0123456789ab
	rm -r "$podman"
	echo '{"Name": "/db"}' >"$docker/$id/config.v2.json"
	named "/system.slice/docker-$id.scope" db
	rm -r "$docker"
}

# has FILE TEXT: a line of it
has() {
	grep -qF "$2" "$1" || fail "nothing has $2: $(cat -v "$1")"
}

odd() {
	local name

	title "names of any bytes are UTF-8, and in the table without control characters"
	name=$(printf 'a\377\033[1m')
	mkdir -p "$TMP/odd/$name"
	echo "1:1 time=1 sectors=1 requests=1 wait=1 queued=0 inflight=0" >"$TMP/odd/cfq.stat"
	cp "$TMP/odd/cfq.stat" "$TMP/odd/$name"
	inside "$TMP/odd" >"$TMP/names" <<-END
		import json
		sys.stdout.reconfigure(errors="strict")
		sample = monitor.Sample(sys.argv[1])
		result = monitor.compare(sample, sample, [], "/", True)
		print(*monitor.table(result, False), sep="\n")
		print(*monitor.metrics(sample, [], "/"), sep="\n")
		print(json.dumps(result))
	END
	has "$TMP/names" '  /a\xff\x1b[1m '
	has "$TMP/names" "group=\"/a\\\\xff$(printf '\033')[1m\""
	has "$TMP/names" '"group": "/a\\xff\u001b[1m"'
}

columns() {
	local name=kubepods-besteffort.slice-and-so-on.service

	title "a long name leaves the figures on a terminal of 80 columns"
	mkdir -p "$TMP/long/$name"
	echo "1:1 time=1 sectors=1 requests=1 wait=1 queued=0 inflight=0" >"$TMP/long/cfq.stat"
	cp "$TMP/long/cfq.stat" "$TMP/long/$name"
	inside "$TMP/long" >"$TMP/columns" <<-END
		sample = monitor.Sample(sys.argv[1])
		result = monitor.compare(sample, sample, [], "/", True)
		for columns in 80, 100, 200, None:
		    lines = monitor.table(result, False, columns)
		    print(columns, lines[1][:columns])
		    print(columns, lines[3][:columns])
	END
	has "$TMP/columns" "80   GROUP                  WEIGHT CLASS "
	has "$TMP/columns" "80   kubepods-b..on.service    100    be "
	grep -q '^80 .* WAIT$' "$TMP/columns" ||
		fail "80 columns end otherwise: $(cat "$TMP/columns")"
	has "$TMP/columns" "100   kubepods-bes..o-on.service    100 "
	grep -q '^100 .* QUEUED$' "$TMP/columns" || fail "100 columns are too few"
	has "$TMP/columns" "200   $name "
	has "$TMP/columns" "None   $name "
}

places() {
	local found

	title "-g takes a path from the topmost group also where the machine has that directory"
	mkdir -p "$TMP/top/tmp"
	touch "$TMP/top/cfq.stat" "$TMP/top/tmp/cfq.stat"
	found=$(inside "$TMP/top" <<-END
		monitor.find_hierarchy = lambda: sys.argv[1]
		print(*(monitor.place(group)[1] for group in ["/tmp", "tmp", sys.argv[1] + "/tmp"]))
	END
	)
	[ "$found" = "/tmp /tmp /tmp" ] || fail "these are $found"
}

# metric NAME GROUP: of the disk, in $TMP/metrics
metric() {
	sed -n "s|^cfq_$1{device=\"$DISK\",group=\"$2\",name=\"[^\"]*\"} \(.*\)|\1|p" "$TMP/metrics"
}

metrics() {
	local line='cfq_[a-z_]*\{device="[^"]*",group="[^"]*",name="[^"]*"\} [0-9.e+-]*'
	local name number

	title "--metrics is what the kernel has counted, as Prometheus reads it"
	load_disk
	make_group a
	make_group a.service
	echo 300 >"$CG/a/$FILES.weight"
	start_load a - read 2 0
	start_load a.service - read 2 1000
	sleep 2
	stop_loads
	monitor metrics --metrics
	sed 's/^/# /' "$TMP/metrics"
	[ ! -s "$TMP/metrics.errors" ] || fail "it complains: $(cat "$TMP/metrics.errors")"
	number=$(grep -vcE "^($line|# (HELP|TYPE) cfq_[a-z_]* .*)\$" "$TMP/metrics")
	expect "$number lines of another form" "$number == 0"
	for name in time_seconds_total bytes_total requests_total wait_seconds_total weight; do
		number=$(grep -c "^# TYPE cfq_$name \(counter\|gauge\)\$" "$TMP/metrics")
		expect "$name has $number types" "$number == 1"
	done
	near "requests" "$(metric requests_total /a)" "$(stat a requests)" 0
	near "bytes" "$(metric bytes_total /a)" "512 * $(stat a sectors)" 0
	near "time" "$(metric time_seconds_total /a)" "$(stat a time) / 1e6" 1e-9
	near "wait" "$(metric wait_seconds_total /a.service)" "$(stat a.service wait) / 1e6" 1e-9
	near "weight" "$(metric weight /a)" 300 0
	grep -q 'group="/a.service",name="a.service"' "$TMP/metrics" || fail "the unit has no name"
	monitor metrics --metrics -g /a -d "$DISK"
	number=$(grep -c "^cfq_" "$TMP/metrics")
	expect "$number of one group" "$number == 7"
}

# refused TEXT OPTION...: it ends with a line that has TEXT
refused() {
	local text=$1

	shift
	if monitor refused -n 1 "$@"; then
		fail "it takes $*"
	fi
	note "$(cat "$TMP/refused.errors")"
	[ "$(wc -l <"$TMP/refused.errors")" = 1 ] || fail "with $* it says more than a line"
	grep -q "^cfq_monitor: .*$text" "$TMP/refused.errors" ||
		fail "with $* it does not say $text"
}

errors() {
	title "it says what is wrong in one line"
	mount_groups
	refused "no device nosuch" -d nosuch
	refused "nosuch is no group" -g nosuch
	refused "/tmp is no group" -g /tmp
	umount "$CG"
	refused "no hierarchy with the cfq controller"
}

unified() {
	title "it finds version 2 and reads its files"
	mount_unified
	load_disk
	make_group a
	make_group b
	echo "default 200" >"$CG/a/$FILES.weight"
	echo "$(cat "/sys/block/$DISK/dev") 300" >"$CG/b/$FILES.weight"
	start_load a - read 2 0
	start_load b - read 2 1000
	sleep 1
	monitor json -i 4 -n 1 -g /b --json
	stop_loads
	values json
	near "b" "$(value json 1 /b target_percent)" 60 0.01
	near "had b" "$(value json 1 /b share_percent)" 60 15
	[ -z "$(value json 1 /a weight)" ] || fail "a was not asked for"
}

needs_groups
[ -e "$MONITOR" ] || skip_all "no $MONITOR"
command -v python3 >/dev/null || skip_all "no python3"
run_cases targets tree late plain names odd columns places metrics errors unified
