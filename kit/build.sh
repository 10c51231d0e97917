# shellcheck shell=sh disable=SC2154
# How kernels are configured and made, for kernel and lint. Expects name, tree, objects and, for configure, fragments.

# One build at a time: two only get in each other's way.
exec 9>"$build/kernel.lock"
flock --nonblock 9 || {
	say "waiting for another build to end" >&2
	flock 9
}

version=$(echo "$name" | cut -d. -f1,2)

# What is built says nothing of when and where. What was compiled before at the same place, for a tree as it was or in a
# clone that is gone, comes from the compiler's cache.
make_kernel() {
	CCACHE_DEPEND=1 make -C "$tree" "O=$objects" -j "$jobs" CC="ccache gcc" HOSTCC="ccache gcc" \
		KBUILD_BUILD_USER=cfq KBUILD_BUILD_HOST=kit KBUILD_BUILD_TIMESTAMP=2020-01-01 \
		KBUILD_BUILD_VERSION=1 CFLAGS_apic.o="-include $kit/config/apic-calibration.h" "$@"
}

# configure: a configuration with what the fragments ask for, the last word counting, and otherwise as little as can be.
# A fragment may have an addition for one kernel, FRAGMENT-VERSION. What cannot be had is an error, unless without_ours
# is set: then options of ours may not be there yet.
configure() {
	mkdir -p "$objects"
	for fragment in $fragments; do
		cat "$kit/config/$fragment"
		[ ! -f "$kit/config/$fragment-$version" ] || cat "$kit/config/$fragment-$version"
	done | sed -n 's/^\(CONFIG_[A-Za-z0-9_]*\)=\(.*\)/\1 \2/p' |
		awk '{ value[$1] = $2 } END { for (symbol in value) print symbol "=" value[symbol] }' |
		sort >"$objects/asked.new"
	if cmp -s "$objects/asked.new" "$objects/asked" &&
		[ -z "$(find "$tree/block/Kconfig.iosched" -newer "$objects/asked")" ]; then
		return
	fi
	log=$(log_of "config-${objects##*/obj-}")
	KCONFIG_ALLCONFIG=$objects/asked.new make_kernel -s allnoconfig >"$log" 2>&1 || {
		cat "$log" >&2
		die "the kernel cannot be configured"
	}
	missing=$(while IFS='=' read -r symbol value; do
		have=$(sed -n "s/^$symbol=//p" "$objects/.config")
		[ "${have:-n}" = "$value" ] || echo "    $symbol=$value (is ${have:-n})"
	done <"$objects/asked.new")
	[ -z "$missing" ] || [ -n "${without_ours:-}" ] || die "the kernel's configuration does not come out as asked for:
$missing"
	mv "$objects/asked.new" "$objects/asked"
}
