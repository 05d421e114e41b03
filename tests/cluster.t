#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cluster - clusters of tests/cluster run side by side, run jobs of any user, and leave nothing behind
set -u
. "$(dirname "$0")/tap.sh"
cluster=$(cd "$(dirname "$0")" && pwd)/cluster
if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP a cluster needs root'
	exit 0
fi
one='' two=''
trap '"$cluster" stop -d "${one:-/}"; "$cluster" stop -d "${two:-/}"; rm -rf "${work:-}"' EXIT
trap 'exit 1' INT TERM HUP
work=$(mktemp -d) && chmod 711 "$work" || exit 1

in_cluster() (
	local environment
	environment=$("$cluster" env -d "$1") && eval "$environment" && cd / && shift && "$@"
)

one=$("$cluster" start -n 3) || bail_out 'the first cluster does not start'
two=$("$cluster" start -n 2 -d "$work/two") || bail_out 'the second cluster does not start'
is 'a cluster where it was asked for' "$two" "$work/two"
is 'starting it again changes nothing' "$("$cluster" start -n 2 -d "$two")" "$two"
ok 'status of the first' "$cluster" status -d "$one"
ok 'status of the second' "$cluster" status -d "$two"
is 'a job in the first' "$(in_cluster "$one" srun -N3 sh -c 'echo $SLURMD_NODENAME' | sort | xargs)" 'n1 n2 n3'
is 'a job in the second' "$(in_cluster "$two" srun -N2 sh -c 'echo $SLURMD_NODENAME' | sort | xargs)" 'n1 n2'
is 'a job of another user' "$(in_cluster "$one" setpriv --reuid=65534 --regid=65534 --clear-groups srun id -u)" 65534

# Jobs that do not want to end: a process group of its own, an ignored SIGTERM.
cat >"$work/job" <<-END
	#!/bin/bash
	setsid sleep 600 & echo \$! >>$work/pids
	trap '' TERM
	sleep 600 & echo \$! >>$work/pids
	wait
END
in_cluster "$one" sbatch -N1 -o /dev/null "$work/job" >/dev/null
in_cluster "$one" sbatch -N1 -o /dev/null --export=NONE "$work/job" >/dev/null
for _ in {1..100}; do
	[ "$(grep -c . "$work/pids" 2>/dev/null)" = 4 ] && break
	sleep 0.1
done
is 'jobs that do not want to end run' "$(grep -c . "$work/pids")" 4
daemons=$(cat "$one"/run/*.pid)
ok 'stop' "$cluster" stop -d "$one"
ok 'stop again' "$cluster" stop -d "$one"

alive() {
	local pid
	for pid in "$@"; do
		readlink "/proc/$pid/exe" && return
	done
	return 1
}
# shellcheck disable=SC2046,SC2086 # lists of words
{
	is 'the processes of its jobs are gone' "$(alive $(cat "$work/pids"))" ''
	is 'its daemons are gone' "$(alive $daemons)" ''
}
ok 'its folder is gone' test ! -e "$one"
is 'the other one still works' "$(in_cluster "$two" srun -N2 echo works | xargs)" 'works works'

# What is refused.
mkdir "$work/full" && touch "$work/full/file"
like 'a folder with files is not taken' "$("$cluster" start -d "$work/full" 2>&1)" "full is not empty"
"$cluster" stop -d "$work/full"
ok 'nor is it removed' test -e "$work/full/file"
like 'a number of nodes' "$("$cluster" start -n 0 2>&1)" '-n 0: expected 1 to 99 nodes'
like 'no cluster' "$("$cluster" env -d "$work/full" 2>&1)" 'no cluster in .*/full'
done_testing
