# SPDX-License-Identifier: GPL-2.0
# Common to the tests of programs that make groups: a load of two groups, started by such a program.
# They set BOUND, in percentage points.

PROCESSES=${PROCESSES:-4}	# readers a group; a guest has 8 reads under way
DURATION=${DURATION:-18}	# of virtual time
WEIGHT=${WEIGHT:-800}		# of the first group; the second has 100
SPREAD=$((250 * PROCESSES))	# MB of the disk for a group

# A container has these directories of the host and little else.
BINDS="/bin /lib /lib64 /usr /dev /tmp"

# run_as GROUP WEIGHT COMMAND...: by the client, in place of what test_common.sh has
run_as() {
	"by_$CLIENT" "$@"
}

needs() {
	local program

	for program; do
		command -v "$program" >/dev/null && continue
		TITLE="$TITLE # SKIP needs $program"
		return 1
	done
}

# share_out [WEIGHT WEIGHT]: by weight, within the bound
share_out() {
	local first=${1:-$WEIGHT} second=${2:-100} promised error

	promised=$(awk "BEGIN { w = 100 * $first / ($first + $second); print w, 100 - w }")
	watch_mb 0 "$SPREAD" "$SPREAD" "$SPREAD"
	sleep 4
	measure "$DURATION"
	# shellcheck disable=SC2086 # two numbers
	error=$(distance $promised)
	expect "shares $(shares) %, $(ios) requests, promised $promised, error $error pp" \
		"$error <= $BOUND"
}

# make_root DIRECTORY: for a container, with what the directories of the host are mounted on
make_root() {
	local directory

	for directory in $BINDS /proc /sys; do
		mkdir -p "$1$directory"
	done
}

# quoted WORD...: as JSON, with commas
quoted() {
	printf '"%s"' "$1"
	shift
	[ $# = 0 ] || printf ', "%s"' "$@"
}

# make_bundle GROUP RESOURCES COMMAND...: a container for programs that take those of OCI, with its
# resources in JSON
make_bundle() {
	local group=$1 resources=$2 bundle=$TMP/$1 directory mounts=

	shift 2
	make_root "$bundle/root"
	for directory in $BINDS; do
		mounts="$mounts, { \"destination\": \"$directory\", \"source\": \"$directory\",
			\"type\": \"bind\", \"options\": [\"rbind\"] }"
	done
	cat >"$bundle/config.json" <<-END
	{
		"ociVersion": "1.0.0",
		"process": {
			"user": { "uid": 0, "gid": 0 }, "cwd": "/", "env": ["PATH=$PATH"],
			"args": [$(quoted "$@")]
		},
		"root": { "path": "root" },
		"mounts": [
			{ "destination": "/proc", "source": "proc", "type": "proc" }$mounts
		],
		"linux": {
			"namespaces": [{ "type": "pid" }, { "type": "mount" }],
			"cgroupsPath": "/$group",
			"resources": { $resources }
		}
	}
	END
}
