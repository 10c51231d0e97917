#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The flags for a share of the disk that services and containers have anyway, on a distribution with
# systemd and the module: weights 800 and 100 by each divide the disk 8 : 1.

. ./test_common.sh
. ./clients_common.sh

BOUND=${BOUND:-2}		# percentage points

# until_told COMMAND...: a load that is not a child; COMMAND ends it
until_told() {
	STOP="$*"
	trap '$STOP; kill $!; exit 143' TERM
	sleep infinity &
	wait
}

# tasks_at FIRST_MB: of the load that reads there
tasks_at() {
	grep -lz -e "^--offset=$1m\$" /proc/[0-9]*/cmdline | sed 's,/proc/\(.*\)/cmdline,\1,' |
		sort -n | tail -n 1 | grep .
}

# where FIRST_MB: the groups above the tasks of a load that have a weight, from the bottom up
where() {
	local path file weight

	path=$(sed -n 's/^0:://p' "/proc/$(tasks_at "$1")/cgroup")
	note "tasks in $path"
	while [ -n "$path" ]; do
		for file in io.weight io.bfq.weight io.cfq.weight; do
			weight=$(paste -sd , "/sys/fs/cgroup$path/$file" 2>/dev/null)
			[ "${weight:-default 100}" = "default 100" ] ||
				note "  $path/$file: $weight"
		done
		path=${path%/*}
	done
}

# start_by CLIENT: readers in two groups that it makes
start_by() {
	CLIENT=$1
	load_disk
	start_load g1 "$WEIGHT" read "$PROCESSES" 0
	start_load g2 100 read "$PROCESSES" "$SPREAD"
	retry tasks_at 0 >"$TMP/pids" && retry tasks_at "$SPREAD" >>"$TMP/pids"
	sleep 4
}

# read_by CLIENT [WEIGHTS]: what they have of the disk; WEIGHTS are those that the client sets, if
# not as told
read_by() {
	start_by "$1"
	shift
	where 0
	where "$SPREAD"
	share_out "$@"
}

by_set_property() {
	local group=$1 weight=$2

	shift 2
	systemd-run --quiet --unit="$group" "$@"
	systemctl set-property --runtime "$group.service" "IOWeight=$weight"
	until_told systemctl stop "$group.service"
}

by_unit() {
	local group=$1 weight=$2

	shift 2
	cat >"/run/systemd/system/$group.service" <<-END
	[Service]
	ExecStart=$*
	IOWeight=$weight
	END
	systemctl daemon-reload
	systemctl start "$group.service"
	until_told systemctl stop "$group.service"
}

by_systemd_run() {
	local group=$1 weight=$2

	shift 2
	exec systemd-run --quiet --scope --unit="$group" -p "IOWeight=$weight" "$@"
}

# run_podman GROUP OPTION COMMAND...
run_podman() {
	local group=$1 option=$2 directory

	shift 2
	make_root "$TMP/$group/root"
	set -- --rootfs "$TMP/$group/root" "$@"
	for directory in $BINDS; do
		set -- -v "$directory:$directory" "$@"
	done
	exec podman --storage-driver=vfs run --rm --name="$group" --privileged --network=host \
		--log-driver=none "$option" "$@"
}

by_podman_blkio() {
	local group=$1 weight=$2

	shift 2
	run_podman "$group" --blkio-weight="$weight" "$@"
}

by_podman_property() {
	local group=$1 weight=$2

	shift 2
	run_podman "$group" --annotation="org.systemd.property.IOWeight=uint64 $weight" "$@"
}

by_docker() {
	local group=$1 weight=$2 directory

	shift 2
	set -- --privileged --network=none --blkio-weight="$weight" empty "$@"
	for directory in $BINDS; do
		set -- -v "$directory:$directory" "$@"
	done
	exec docker run --rm --name="$group" "$@"
}

# A container may use the disk.
DEVICES='"devices": [{ "allow": true, "access": "rwm" }]'

by_runc() {
	local group=$1 weight=$2

	shift 2
	make_bundle "$group" "\"blockIO\": { \"weight\": $weight }, $DEVICES" "$@"
	exec runc run --bundle "$TMP/$group" "$group"
}

by_crun() {
	local group=$1 weight=$2

	shift 2
	make_bundle "$group" "\"blockIO\": { \"weight\": $weight }, $DEVICES" "$@"
	exec crun run --bundle "$TMP/$group" "$group"
}

by_lxc() {
	local group=$1 weight=$2 directory

	shift 2
	make_root "$TMP/$group/root"
	mkdir -p "$TMP/lxc"
	cat >"$TMP/$group.conf" <<-END
	lxc.cgroup2.io.weight = $weight
	lxc.rootfs.path = dir:$TMP/$group/root
	lxc.mount.auto = proc
	lxc.autodev = 0
	lxc.console.path = none
	lxc.net.0.type = none
	lxc.apparmor.profile = unconfined
	END
	for directory in $BINDS; do
		echo "lxc.mount.entry = $directory ${directory#/} none rbind 0 0"
	done >>"$TMP/$group.conf"
	lxc-execute -P "$TMP/lxc" -n "$group" -f "$TMP/$group.conf" -- "$@" &
	until_told lxc-stop -k -P "$TMP/lxc" -n "$group"
}

by_libvirt() {
	local group=$1 weight=$2 word

	shift 2
	{
		cat <<-END
		<domain type='lxc'><name>$group</name><memory unit='MiB'>128</memory>
		<blkiotune><weight>$weight</weight></blkiotune>
		<os><type>exe</type><init>$(command -v "$1")</init>
		END
		shift
		for word; do
			echo "<initarg>$word</initarg>"
		done
		cat <<-END
		</os>
		<devices>
		<filesystem type='mount'><source dir='/'/><target dir='/'/></filesystem>
		<hostdev mode='capabilities' type='storage'>
		<source><block>$DEV</block></source>
		</hostdev>
		<console type='pty'/>
		</devices>
		</domain>
		END
	} >"$TMP/$group.xml"
	virsh -c lxc:/// create "$TMP/$group.xml"
	until_told virsh -c lxc:/// destroy "$group"
}

# version PROGRAM: with its name
version() {
	"$1" --version | head -n 1
}

set_property() {
	title "systemctl set-property IOWeight= ($(version systemctl))"
	read_by set_property
}

unit() {
	title "a unit file with IOWeight="
	read_by unit
}

systemd_run() {
	title "systemd-run -p IOWeight="
	read_by systemd_run
}

podman_() {
	title "podman run --annotation=org.systemd.property.IOWeight ($(version podman))"
	read_by podman_property
}

# How crun puts it for systemd: 100 stays as it is, and 1000 becomes 10000.
podman_blkio() {
	title "podman run --blkio-weight is 100 + 11 * (weight - 100) ($(version crun))"
	read_by podman_blkio $((100 + 11 * (WEIGHT - 100))) 100
}

podman_cgroupfs() {
	title "podman run --blkio-weight with cgroup_manager=cgroupfs"
	echo "[engine]
	cgroup_manager = \"cgroupfs\"" >"$TMP/containers.conf"
	export CONTAINERS_CONF="$TMP/containers.conf"
	read_by podman_blkio
	unset CONTAINERS_CONF
}

docker_() {
	title "docker run --blkio-weight ($(version docker))"
	mkdir -p /etc/docker
	echo '{ "iptables": false, "ip6tables": false, "bridge": "none",
		"storage-driver": "vfs" }' \
		>/etc/docker/daemon.json
	systemctl start docker || fail "docker does not start"
	make_root "$TMP/empty"
	tar -cf - -C "$TMP/empty" . | docker import - empty >"$TMP/said" || fail "no image"
	read_by docker
	stop_loads
	systemctl stop docker.socket docker containerd
}

runc_() {
	title "runc, blockIO.weight ($(version runc))"
	read_by runc
}

crun_() {
	title "crun, blockIO.weight ($(version crun))"
	read_by crun
}

lxc() {
	title "lxc.cgroup2.io.weight ($(version lxc-execute))"
	read_by lxc
}

libvirt() {
	title "libvirt, <blkiotune><weight> ($(version virsh))"
	read_by libvirt
}

top() {
	title "cfq-top shows containers by name"
	start_by podman_property
	cfq-top -d "$DISK" -i 10 -n 1 >"$TMP/top" 2>&1
	sed 's/^/# /' "$TMP/top"
	grep -qE '^  g1 +800 +be +88.9 ' "$TMP/top" || fail "no g1 of weight 800"
	grep -qE '^  g2 +100 +be +11.1 ' "$TMP/top" || fail "no g2 of weight 100"
}

# sets_weight FILE TEXT ERRNO
sets_weight() {
	local errno

	errno=$(echo "$2" | ./write_errno "$1")
	[ "$errno" = "$3" ] || fail "$2 to $1 gives $errno, expected $3"
}

device_weight() {
	local number group=/sys/fs/cgroup/system.slice/g3.service

	title "IODeviceWeight= is refused by the kernel, unless io.cost is on, and is not followed"
	load_disk
	number=$(cat "/sys/block/$DISK/dev")
	systemd-run --quiet --unit=g3 sleep infinity
	systemctl set-property --runtime g3.service "IODeviceWeight=$DEV 800"
	retry test -e "$group/io.weight"
	sets_weight "$group/io.weight" "$number 800" EOPNOTSUPP
	grep "^$number" "$group/io.weight" && fail "it was taken"
	sets_weight /sys/fs/cgroup/io.cost.qos "$number enable=1" 0
	sets_weight "$group/io.weight" "$number 800" 0
	grep "^$number" "$group/io.cfq.weight" && fail "that is followed"
	sets_weight /sys/fs/cgroup/io.cost.qos "$number enable=0" 0
	systemctl stop g3.service
}

[ -d /run/systemd/system ] || skip_all "no systemd"
[ "$CONTROLLER" = blkio ] || skip_all "groups are not those of the io controller"
CONTROLLER=			# others make the groups here
run_cases set_property unit systemd_run podman_ podman_blkio podman_cgroupfs docker_ runc_ crun_ \
	lxc libvirt device_weight top
