# shellcheck shell=sh disable=SC2034
# What the scripts of the kit share: where things are, and how they speak.

kit=$(dirname "$(readlink -f "$0")")
root=$(dirname "$kit")
build=$root/build
jobs=$(nproc)
# Of apt and the compiler words are looked for; the kernel's Makefile does away with LC_ALL.
export LC_ALL=C LC_MESSAGES=C

say() {
	echo "$*"
}

die() {
	echo "$*" >&2
	exit 1
}

# log_of NAME: the file that a long step writes all of its output to.
log_of() {
	mkdir -p "$build/logs"
	echo "$build/logs/$1.log"
}

# with_progress WHAT LOG COMMAND...: runs a long command, its output going to LOG; shows how far it is.
with_progress() {
	what=$1
	log=$2
	shift 2
	begin=$(date +%s)
	: >"$log"
	show_progress &
	progress=$!
	status=0
	"$@" >"$log" 2>&1 || status=$?
	kill "$progress"
	wait "$progress" 2>/dev/null || :
	if [ -t 1 ]; then
		printf '\r\033[K'
	fi
	if [ "$status" != 0 ]; then
		tail -n 40 "$log" >&2
		die "$what failed; all of its output is in $log"
	fi
	say "  $what: $(($(date +%s) - begin)) s"
}

# On a terminal, one line that changes; elsewhere a line now and then.
show_progress() {
	ticks=0
	while kill -0 $$ 2>/dev/null; do
		sleep 0.3
		ticks=$((ticks + 1))
		state="$(wc -l <"$log") steps, $(($(date +%s) - begin)) s"
		if [ -t 1 ]; then
			printf '\r  %s: %s ' "$what" "$state"
		elif [ $((ticks % 100)) = 0 ]; then
			say "  $what: $state"
		fi
	done
}
