#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# package - builds the packages, installs them, has the installed files trace a job in the cluster, and removes them without a trace
#
# The spec file is that of real packages; only its folders are below one of the build folder's, so that the machine stays as it is.
# It is compiled without optimisation, and its source is hardly compressed, which takes half the time.
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
root=$build/rpmroot
if [ "$(id -u)" != 0 ] || ! command -v rpmbuild >/dev/null; then
	echo '1..0 # SKIP needs root, and rpmbuild'
	exit 0
fi
clean_up() {
	"$top/tests/cluster" stop -d "$build/rpmcluster" >/dev/null 2>&1
	rm -rf --one-file-system "$root" "$build/rpmcluster"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
rm -rf "$root" && mkdir -m 755 -p "$root" || exit 1
defines=
for define in "_prefix $root/usr" "_exec_prefix $root/usr" "_bindir $root/usr/bin" "_libdir $root/usr/lib" "_libexecdir $root/usr/libexec" \
	"_sysconfdir $root/etc" "_localstatedir $root/var" "_datadir $root/usr/share" "_mandir $root/usr/share/man" "_includedir $root/usr/include" \
	"optflags -O0" "_docdir $root/usr/share/doc" "_defaultdocdir $root/usr/share/doc" "_defaultlicensedir $root/usr/share/licenses" "_infodir $root/usr/share/info"; do
	defines="$defines --define '$define'"
done
log=$build/rpm.log
if ! XZ_OPT=-0 make -C "$build" rpm RPM_DEFINES="$defines" >"$log" 2>&1; then
	fail 'make rpm' || tail -n 40 "$log" | diag
	done_testing
fi
pass 'make rpm'
packages=$(cd "$build/rpm/RPMS" && find . -name '*.rpm' -printf '%f\n' | sed 's/-[0-9].*//' | sort | tr '\n' ' ')
is 'three packages' "$packages" 'spoor spoor-devel spoor-slurm '
database=$root.db
rm -rf "$database"
rpm_() {
	rpm --dbpath "$database" "$@"
}
ok 'they are installed' eval 'rpm_ -i --nodeps --noscripts --nosignature "$build"/rpm/RPMS/*/*.rpm'
like 'the plugin wants the Slurm that it was made for' "$(rpm_ -q --requires spoor-slurm)" 'slurm (>=|<) [0-9]+\.[0-9]+'
is 'configuration is configuration' "$(rpm_ -q --configfiles spoor-slurm | sed "s|$root||" | sort | tr '\n' ' ')" '/etc/spoor/plugstack.conf /etc/spoor/policy.json '
ok 'the command runs' "$root/usr/bin/spoor" --version
ok 'there is a tracer for each ABI' ls "$root"/usr/lib*/spoor/libspoor-{openmpi,mpich,abi}.so
ok 'nothing has a path of the build in it' eval "! grep -rl '$build/\\.libs' '$root'"

# A job, traced by what is installed.
sed -i "s|\"/var/|\"$root/data/|; s|\"mode\": \"off\"|\"mode\": \"lossless\"|" "$root/etc/spoor/policy.json"
ok 'spoor setup' "$root/usr/bin/spoor" setup
echo "include $root/etc/spoor/plugstack.conf" >"$root.plugstack"
if "$top/tests/cluster" start -n 1 -d "$build/rpmcluster" --plugstack "$root.plugstack" >/dev/null; then
	environment=$("$top/tests/cluster" env -d "$build/rpmcluster") && eval "$environment"
	is 'a job runs' "$(timeout 60 srun -n 2 "$build/tests/ending" 2>/dev/null)" '2 ranks, sum 1, ending: normal'
	for i in {1..100}; do
		[ -z "$(find "$root/data/lib/spoor/archive" -name '*.spoor')" ] || break
		sleep 0.1
	done
	like 'and left a trace' "$("$root/usr/bin/spoor" list)" '1\.0\.0 +root +COMPLETED .* 2 +1 .*ending'
	"$top/tests/cluster" stop -d "$build/rpmcluster" >/dev/null
else
	fail 'no cluster'
fi

# Removed.
ok 'they are removed' rpm_ -e --nodeps --noscripts spoor spoor-slurm spoor-devel
is 'and leave nothing but what was changed, and data' "$(cd "$root" && find . -type f ! -path './data/*' | sort)" './etc/spoor/policy.json.rpmsave'
rm -rf "$database" "$root.plugstack"
done_testing
