#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# package - the packages hold what they should, need what they should, and the same sources make the same tarball
#
# What is built already is packed, for its own prefix. tests/packages builds, installs and removes packages for real.
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/package.XXXXXX") || exit 1
trap 'rm -rf "$work" "$build/rpm"' EXIT
trap 'exit 1' INT TERM HUP
if ! command -v rpmbuild >/dev/null; then
	echo '1..0 # SKIP needs rpmbuild'
	exit 0
fi

prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
case $prefix in
"$build"/*) ;;
*) echo '1..0 # SKIP packs for a prefix below the build folder' && exit 0 ;;
esac
if ! make -C "$build" rpm-built >"$work/log" 2>&1; then
	fail 'make rpm-built' || tail -n 40 "$work/log" | diag
	done_testing
fi
pass 'each installed file is in a package'
names=$(cd "$build/rpm/RPMS" && find . -name '*.rpm' -printf '%f\n' | sed 's/-[0-9].*//' | sort | tr '\n' ' ')
mpich=$([ ! -e "$prefix/libexec/spoor/spoor-replay-mpich" ] || echo 'spoor-mpich ')
debuginfo='spoor-debuginfo ' # which rpm before 4.20 makes though there is nothing for it
case "$names" in
*debuginfo*) ;;
*) readelf -S "$prefix/bin/spoor" | grep -q '\.debug_info' || debuginfo= ;;
esac
is 'the packages' "$names" "python3-spoor spoor ${debuginfo}spoor-devel ${mpich}spoor-openmpi spoor-slurm spoor-tombstone "
# What rpm says of a package: query PACKAGE OPTION...
query() {
	local package=$1
	shift
	rpm -q "$@" -p "$build"/rpm/RPMS/*/"$package"-[0-9]*.rpm 2>/dev/null
}
# Names of libraries that a package has to do with, by that option
libraries() {
	query "$1" "$2" | grep -o '^lib[^(]*' | sort -u | tr '\n' ' '
}
is 'the plugin and the tracers need libc, and no MPI' "$(libraries spoor-slurm --requires | sed 's/lib\(jansson\|zstd\|c\|m\)\.so[.0-9]* //g')" ''
is 'and are nobody'"'"'s libraries' "$(libraries spoor-slurm --provides)$(libraries spoor-openmpi --provides)" ''
is 'the command needs no MPI' "$(libraries spoor --requires | grep -oE 'lib(mpi|open|pmix|spoor)[^ ]*')" ''
is 'and provides the library' "$(libraries spoor --provides)" 'libspoor.so.1 '
is 'the package for Python is apart' "$(query python3-spoor --list | grep -v pyc | sed 's|.*/||' | sort | tr '\n' ' ')" \
	'__init__.py _archive.py _extrap.py _library.py _trace.py plot.py py.typed spoor '
like 'the plugin wants the Slurm that it was made for' "$(query spoor-slurm --requires)" 'slurm (>=|<) [0-9]+\.[0-9]+'
is 'configuration is configuration' "$(for package in spoor spoor-slurm; do query $package --configfiles; done | sed "s|$prefix||" | tr '\n' ' ')" \
	'/etc/spoor/policy.json /etc/spoor/plugstack.conf '
is 'the MPI programs are apart' "$(query spoor-openmpi --list | sed "s|$prefix/||" | grep -v build-id | tr '\n' ' ')" \
	'lib/spoor/libspoor-outcome-openmpi.so libexec/spoor/spoor-replay-openmpi '
is 'a user may not read the helper' "$(query spoor-slurm --list -v | grep -o '^[-a-z]* .*spoor-helper$' | cut -c 1-10)" '-rwx--x--x'
is 'debug symbols are nobody'"'"'s libraries' "$(libraries spoor-debuginfo --provides)" ''
mkdir "$work/installed"
for rpm in "$build"/rpm/RPMS/*/*.rpm; do
	rpm2archive - <"$rpm" | tar -C "$work/installed" -xz
done
if readelf -S "$prefix/bin/spoor" | grep -q '\.debug_info'; then
	is 'all programs and libraries have some' "$("$top/tests/debug-symbols" "$work/installed")" ''
else
	pass 'all programs and libraries have some # skip they were built without -g; tests/packages looks at others'
fi
like 'they have a history' "$(query spoor --changelog)" 'First packages'
if command -v systemd-analyze >/dev/null; then
	is 'the units are good' "$(systemd-analyze verify --man=no "$prefix"/lib/systemd/system/spoor-*.{service,timer} 2>&1 | grep spoor)" ''
fi
if [ "$(id -u)" = 0 ] && command -v systemd-tmpfiles >/dev/null; then
	mkdir "$work/root"
	ok 'folders at start' systemd-tmpfiles --create --root="$work/root" - < <(sed "s|$prefix||" "$prefix/lib/tmpfiles.d/spoor.conf")
	is 'with their modes' "$(cd "$work/root" && stat --format='%n %a' var/{lib,log,spool}/spoor | tr '\n' ' ')" 'var/lib/spoor 755 var/log/spoor 750 var/spool/spoor 711 '
fi
# Debian's packages are split alike: each file of an RPM is named by one file *.install.
is 'Debian'"'"'s packages have the same files' "$(for package in spoor spoor-slurm spoor-openmpi $mpich spoor-tombstone spoor-devel; do
	query $package --list -v | sed -n "s|^[^d].* $prefix/\([^ ]*\).*|$package \1|p"
done | python3 /dev/fd/3 "$top/packaging/debian" 3<<-'END'
	import fnmatch, glob, os, re, sys
	wanted = [(os.path.basename(f)[:-len(".install")], line.strip()) for f in glob.glob(sys.argv[1] + "/*.install") for line in open(f)]
	for line in sys.stdin:
	    package, path = line.split(" ", 1)
	    path = path.strip()
	    path = path if path.startswith(("etc/", "var/")) else path.replace("lib/", "lib/arch/", 1) if re.match(r"lib/(spoor|slurm|libspoor|pkgconfig)", path) else path
	    path = path if path.startswith(("etc/", "var/", "lib/systemd")) else "usr/" + path.replace("arch/slurm/", "arch/slurm-wlm/")
	    if re.match(r"usr/share/(licenses|doc)/|var/log/spoor/node", path):
	        continue
	    found = {name for name, pattern in wanted if fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/")}
	    alike = {"spoor": {"spoor", "libspoor1"}, "spoor-devel": {"libspoor-dev"}}.get(package, {package})
	    if len(found) != 1 or not found <= alike:
	        print(package, path, *sorted(found))
END
)" ''
# Another release of Slurm beside the one here
mkdir -p "$work/slurm/include/slurm"
for header in /usr/include/slurm/*.h; do
	sed 's/\(SLURM_VERSION_NUMBER\) 0x[0-9a-f]*/\1 0x170b05/' "$header" >"$work/slurm/include/slurm/${header##*/}"
done
ok 'plugins for other releases' make -s -C "$build" install-plugins SLURMS="$work/slurm" DESTDIR="$work/plugins" CFLAGS=-O0 2>"$work/log" || diag <"$work/log"
plugins=$work/plugins$prefix/lib/spoor
choose() {
	"$top/spank/choose-plugin" "$plugins" "$work/plugindir" "$1" 2>&1
}
is 'the one for the installed Slurm is taken' "$(choose 23.11; readlink "$work/plugindir/spoor.so")" "$plugins/slurm-23.11/spoor.so"
is 'which it is made for' "$(SPOOR_PLUGIN=$plugins/slurm-23.11/spoor.so python3 -c 'import ctypes, os
print(hex(ctypes.c_uint.in_dll(ctypes.CDLL(os.environ["SPOOR_PLUGIN"], mode=os.RTLD_LAZY), "plugin_version").value))')" 0x170b05
like 'there is none for a later one' "$(choose 24.05; ls "$work/plugindir")" 'no plugin for Slurm 24.05'

# The same bytes, at another time
pack() {
	XZ_OPT=-0 make -s -C "$build" dist >"$work/log" 2>&1 && cksum <"$(echo "$build"/spoor-*.tar.xz)"
	rm -f "$build"/spoor-*.tar.xz
}
first=$(pack)
like 'a tarball' "$first" '^[0-9]+ [0-9]+$'
is 'and the same once more' "$(umask 077; pack)" "$first"
done_testing
