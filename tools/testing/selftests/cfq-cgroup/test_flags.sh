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

# The guest stands still, since it would be slow on an emulated processor. QEMU itself reads, what
# the load asks it for by NBD.
by_qemu() {
	local group=$1 weight=$2 socket=/tmp/$1.nbd

	shift 2
	cat >"$TMP/$group.xml" <<-END
	<domain type='qemu'><name>$group</name><memory unit='MiB'>32</memory>
	<blkiotune><weight>$weight</weight></blkiotune>
	<os><type machine='pc'>hvm</type></os>
	<devices>
	<disk type='block'>
	<driver name='qemu' type='raw' cache='none' io='native'/>
	<source dev='$DEV'/><target dev='vda'/><readonly/>
	</disk>
	</devices>
	</domain>
	END
	virsh -c qemu:///system create --paused "$TMP/$group.xml"
	tell_qemu "$group" nbd-server-start \
		"\"addr\": { \"type\": \"unix\", \"data\": { \"path\": \"$socket\" } }"
	tell_qemu "$group" block-export-add \
		"\"type\": \"nbd\", \"id\": \"disk\", \"name\": \"\",
		\"node-name\": \"libvirt-1-storage\""
	"$@" --ioengine=nbd --uri="nbd+unix:///?socket=$socket" &
	until_told stop_qemu "$group" $!
}

# stop_qemu GUEST LOAD: first what would miss it
stop_qemu() {
	kill "$2"
	wait "$2"
	virsh -c qemu:///system destroy "$1"
}

# tell_qemu GUEST COMMAND ARGUMENTS
tell_qemu() {
	virsh -c qemu:///system qemu-monitor-command "$1" \
		"{ \"execute\": \"$2\", \"arguments\": { $3 } }"
}

# The classes of Kubernetes, as containerd reads them, and its groups: that of a container is in
# that of the POD, or each in a pod of its own if that is empty.
by_class() {
	local group=$1 weight=$2 directory slice=kubepods-besteffort-pod${POD:-$1}.slice

	shift 2
	make_root "$TMP/$group/root"
	cat >"$TMP/$group.classes" <<-END
	Classes:
	  class-of-$group:
	  - Weight: $weight
	END
	set -- "$TMP/$group/root" "$group" "$@"
	for directory in $BINDS; do
		set -- --mount "type=bind,src=$directory,dst=$directory,options=rbind:rw" "$@"
	done
	exec ctr run --rm --null-io --privileged --net-host --env "PATH=$PATH" \
		--runc-systemd-cgroup --cgroup "$slice:cri-containerd:$group" \
		--blockio-config-file "$TMP/$group.classes" --blockio-class "class-of-$group" \
		--rootfs "$@"
}

# It knows ten priorities, each a weight of 100.
by_incus() {
	local group=$1 weight=$2

	shift 2
	incus create empty "$group" --no-profiles <<-END
	config:
	  limits.disk.priority: "$((weight / 100))"
	  security.privileged: "true"
	  raw.lxc: |-
	    lxc.init.cmd = $*
	devices:
	  root: { type: disk, pool: pool, path: / }
	  usr: { type: disk, source: /usr, path: /usr }
	  disk: { type: unix-block, source: $DEV, path: $DEV }
	END
	incus start "$group"
	until_told incus delete --force "$group"
}

# as_user COMMAND...: of a user, whose own systemd runs
as_user() {
	setpriv --reuid=user --regid=user --clear-groups env XDG_RUNTIME_DIR=/run/user/1000 "$@"
}

by_user() {
	local group=$1 weight=$2

	shift 2
	chmod 666 "$DEV"
	as_user systemd-run --user --quiet --unit="$group" -p "IOWeight=$weight" "$@"
	until_told as_user systemctl --user stop "$group.service"
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

qemu() {
	title "libvirt, <blkiotune><weight> ($(version qemu-system-x86_64))"
	start_by qemu
	grep . /sys/fs/cgroup/machine.slice/machine-qemu*/io.weight | sed 's/^/# /'
	share_out
}

class() {
	title "ctr run --blockio-class in one pod ($(containerd --version | cut -d ' ' -f 1,3))"
	systemctl start containerd || fail "containerd does not start"
	POD=1
	read_by class
	stop_loads
	systemctl stop containerd
}

# Their pods compete, and a pod has no class.
class_of_pods() {
	title "ctr run --blockio-class counts for nothing between pods, whose own IOWeight= does"
	systemctl start containerd || fail "containerd does not start"
	POD=
	read_by class 100 100
	systemctl set-property --runtime kubepods-besteffort-podg1.slice "IOWeight=$WEIGHT"
	share_out
	stop_loads
	systemctl stop containerd
}

incus_() {
	title "incus, limits.disk.priority ($(version incus))"
	export INCUS_CONF="$TMP/incus"
	systemctl start incus || fail "incus does not start"
	incus storage create pool dir >"$TMP/said" 2>&1 || fail "no pool: $(cat "$TMP/said")"
	mkdir -p "$TMP/image/rootfs/proc" "$TMP/image/rootfs/usr"
	for link in bin lib lib64 sbin; do
		ln -s "usr/$link" "$TMP/image/rootfs/$link"
	done
	printf '%s\n' "architecture: x86_64" "creation_date: 1" >"$TMP/image/metadata.yaml"
	tar -cf "$TMP/image.tar" -C "$TMP/image" .
	incus image import "$TMP/image.tar" --alias empty >"$TMP/said" 2>&1 ||
		fail "no image: $(cat "$TMP/said")"
	read_by incus
	stop_loads
	systemctl stop incus.socket incus lxcfs
}

start_user() {
	id user >/dev/null 2>&1 || useradd --uid 1000 user
	systemctl start user@1000.service || fail "the user has no systemd"
}

user_not_delegated() {
	title "systemd-run --user -p IOWeight= counts for nothing where io is not delegated"
	start_user
	read_by user 100 100
	stop_loads
	systemctl stop user@1000.service
}

user_delegated() {
	local directory=/run/systemd/system/user@.service.d

	title "systemd-run --user -p IOWeight= with Delegate=io for user@.service"
	mkdir -p "$directory"
	printf '[Service]\nDelegate=io\n' >"$directory/io.conf"
	systemctl daemon-reload
	start_user
	read_by user
	stop_loads
	systemctl stop user@1000.service
	rm -r "$directory"
	systemctl daemon-reload
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

	title "IODeviceWeight= is refused by the kernel, until io.cost was told of the disk"
	load_disk
	number=$(cat "/sys/block/$DISK/dev")
	systemd-run --quiet --unit=g3 sleep infinity
	systemctl set-property --runtime g3.service "IODeviceWeight=$DEV 800"
	retry test -e "$group/io.weight"
	sets_weight "$group/io.weight" "$number 800" EOPNOTSUPP
	grep "^$number" "$group/io.weight" && fail "it was taken"
	sets_weight /sys/fs/cgroup/io.cost.qos "$number enable=0" 0
	systemctl set-property --runtime g3.service "IODeviceWeight=$DEV 700"
	retry grep -x "$number 700" "$group/io.weight" || fail "systemd does not set it"
	retry grep -x "$number 700" "$group/io.cfq.weight" || fail "that does not count"
	systemctl stop g3.service
}

[ -d /run/systemd/system ] || skip_all "no systemd"
[ "$CONTROLLER" = blkio ] || skip_all "groups are not those of the io controller"
CONTROLLER=			# others make the groups here
run_cases set_property unit systemd_run user_not_delegated user_delegated podman_ podman_blkio \
	podman_cgroupfs docker_ class class_of_pods runc_ crun_ lxc incus_ libvirt qemu \
	device_weight top
