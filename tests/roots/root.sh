# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# root.sh - what the scripts beside it share: a Debian in a folder of its own, made at the first time, and a command that runs in it
#
# They set, and then source this with their arguments:
#   name      of the script and of the root's folder
#   suite     Debian's name of the release
#   wanted    what `tests/deps list` is asked for
#   about     which Debian that is, for --help
#   standard  the command if none is given
#   machine   what GNU calls the processor of the programs in the root, if it is not this machine's; qemu runs them. Debian calls it $wanted.
usage="Usage: tests/roots/$name [-b DIR]... [COMMAND [ARGUMENT...]]

Runs COMMAND ($standard by default) as root in a copy of this source tree, in a root folder with $about and the
packages that tests/deps names for it. The command has its own mounts, processes, network (a loopback, and a dummy interface
with an address) and host name; /proc, /sys and /dev are there. When it ends, so do all processes that it left behind, and what
it wrote to /tmp is gone, with the copy. Nothing outside of the root changes${machine:+, but that the kernel is told to run programs for
$wanted with qemu}. Its exit status is that of COMMAND.

  -b DIR   DIR is there, too, under the same name; for builds that are to stay

The root is in \${XDG_CACHE_HOME:-~/.cache}/spoor/roots, with its list of packages beside it; when tests/deps names others, or
this script, it is made anew. That needs mmdebstrap, which tests/deps roots installs, and Debian's archive."
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1

die() {
	echo "$name: $*" >&2
	exit 1
}

binds=()
while [[ ${1-} == -* ]]; do
	case $1 in
	-h | --help) echo "$usage" && exit ;;
	-b) [ -d "${2-}" ] || die "-b needs a folder, not '${2-}'" ;;
	*) die "unknown option $1; see tests/roots/$name --help" ;;
	esac
	binds+=("$(realpath -- "$2")")
	shift 2
done
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $standard
[ "$(id -u)" = 0 ] || die "only root can enter another root"
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/spoor/roots
root=$cache/$name

# Has the kernel start qemu for programs of that machine, from whatever root: as Debian's package does where it is installed on a system
# that runs.
emulate() {
	local known=/proc/sys/fs/binfmt_misc
	[ -e $known/register ] || mount -t binfmt_misc binfmt_misc $known || die "this kernel cannot be told what qemu is for"
	[ -e "$known/qemu-$machine" ] || update-binfmts --enable "qemu-$machine" || die "qemu is not known as what runs programs for $wanted"
}

# The tools in the root are this machine's, and so quick. Those that make or read programs have the names that they have on that machine.
name_tools() {
	local tool libraries=/usr/lib/$machine-linux-gnu loader
	for tool in "$root"/usr/bin/"$machine"-linux-gnu-*; do
		[ -L "$root/usr/local/bin/cc" ] || ln -s gcc "$root/usr/local/bin/cc" || return
		ln -sf "${tool#"$root"}" "$root/usr/local/bin/${tool##*/"$machine"-linux-gnu-}" || return
	done
	loader=$(cd "$root/usr/lib/$machine-linux-gnu" && echo ld*.so.1) || return
	printf '#!/bin/sh\nPKG_CONFIG_LIBDIR=%s exec /usr/bin/pkg-config "$@"\n' "$libraries/pkgconfig:/usr/share/pkgconfig" >"$root/usr/local/bin/pkg-config" &&
		printf '#!/bin/sh\nexec %s --list "$@"\n' "$libraries/$loader" >"$root/usr/local/bin/ldd" &&
		chmod +x "$root/usr/local/bin/pkg-config" "$root/usr/local/bin/ldd"
}

# Packages to develop with ask for compilers of that machine; this stands for them.
compilers='mkdir -p "$1/tmp/stand-in/DEBIAN" && cat >"$1/tmp/stand-in/DEBIAN/control" <<END && chroot "$1" dpkg-deb --build /tmp/stand-in && chroot "$1" dpkg -i /tmp/stand-in.deb
Package: stand-in
Version: 1
Architecture: '$wanted'
Maintainer: spoor <spoor@localhost>
Provides: g++, gfortran, gfortran-mod-15
Description: stands for compilers
END'

# What the root is made of: a root with another list beside it is not this one.
make_root() {
	local list=$1 packages log=$root.log
	"$top/tests/deps" roots || exit 1
	echo "$name: making $root"
	rm -rf --one-file-system "$root" "$root.list"
	packages=$(echo "$list" | tr -s ' \n\t' ,)
	# without its security updates, which come for some processors only: libraries of two must have the same version
	mmdebstrap --variant=minbase ${machine:+--architectures="$(dpkg --print-architecture),$wanted" --essential-hook="$compilers"} \
		--aptopt='APT::Install-Recommends "false"' --include="${packages#,}" "$suite" "$root" ${machine:+"deb http://deb.debian.org/debian $suite main"} </dev/null >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "mmdebstrap failed; all that it said is in $log"
	}
	[ -z "$machine" ] || name_tools || exit 1
	mkdir -p "$root/spoor" && echo "127.0.0.1 localhost $name" >"$root/etc/hosts" && echo "$list" >"$root.list"
}

mkdir -p "$cache" || exit 1
list="$("$top/tests/deps" list "$wanted") iproute2" || exit 1 # the latter for the network in it
exec 9>"$root.lock" # a root in use is not made anew
flock --shared 9
if [ -n "$machine" ]; then
	"$top/tests/deps" roots && emulate || exit 1
fi
if [ "$(cat "$root.list" 2>/dev/null)" != "$list" ]; then
	flock 9
	[ "$(cat "$root.list" 2>/dev/null)" = "$list" ] || make_root "$list"
	flock --shared 9
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/spoor-root.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -m 1777 "$work/tmp" && mkdir -m 755 "$work/spoor" || exit 1
tar -C "$top" --exclude=./.git -cf - . | tar -C "$work/spoor" -xf - || die "cannot copy $top"

# In the namespaces. $1: the host's name. $2: the root. $3: what is private to this run. Then folders, --, the command. The root is not
# changed by chroot, in which the kernel makes no namespaces of users. The first process stays a shell, which waits for those that lost
# their parents.
enter() {
	local name=$1 root=$2 work=$3
	mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" && mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup" &&
		mount --rbind /dev "$root/dev" && mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" && mount --bind "$work/tmp" "$root/tmp" &&
		mount --bind "$work/spoor" "$root/spoor" || return
	shift 3
	while [ "$1" != -- ]; do
		mkdir -p "$root$1" && mount --bind "$1" "$root$1" || return
		shift
	done
	shift
	hostname "$name" && cd "$root" && pivot_root . . && umount -l . && cd /spoor || return
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	hash -r
	# An interface that leads nowhere: more kernels have this one than that named dummy
	ip link set lo up && ip link add dummy0 type veth peer name dummy1 && ip link set dummy1 up &&
		ip addr add 10.99.0.1/24 dev dummy0 && ip link set dummy0 up || return
	# shellcheck disable=SC2086 # a list of words
	env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 PATH="$PATH" $EMULATED "$@"
}
# qemu has no process_vm_readv. Open MPI 4.1 then has windows only if it makes them of messages.
EMULATED=${machine:+OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_osc=pt2pt,sm}
export EMULATED
unshare --mount --propagation private --pid --fork --kill-child --net --uts --ipc bash -c "$(declare -f enter)"'; trap : INT TERM HUP; enter "$@"; exit $?' \
	bash "$name" "$root" "$work" ${binds+"${binds[@]}"} -- "$@"
