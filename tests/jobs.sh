# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# jobs - jobs in the cluster of tests/site, and what they leave; to be sourced instead of tests/tap.sh
#
#     . "$(dirname "$0")/jobs.sh"
#     start_site [OPTION...]     # of tests/site start
#
# Sets $top (the sources), $build, $site (the site's folder), $work (a folder of the test's own that all users may enter), $ending (the program
# tests/ending.c) and $other (a user who is not root); start_site sets $environment, which lets a shell use the cluster. When the test ends, the
# cluster is stopped, and `mend` is run before if there is one.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$here/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
site=${SPOOR_SITE:-$build/site}
ending=$build/tests/ending
other=65534
if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP a cluster needs root'
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0").XXXXXX") || exit 1
chmod 711 "$work"
unset TMPDIR # jobs of other users could not use it

clean_up() {
	[ "$(type -t mend)" != function ] || mend
	"$top/tests/site" stop "$build"
	rm -rf "$work"
}

start_site() {
	trap clean_up EXIT
	trap 'exit 1' INT TERM HUP
	rm -f "$build/prefix/var/log/spoor/node.log" # the last cluster's jobs have the same numbers
	"$top/tests/site" start "$@" "$build" || bail_out 'no cluster with spoor'
	environment=$("$top/tests/site" env "$build") && eval "$environment" || bail_out 'no environment for the cluster'
}

# Submits the script on stdin as NAME, with what else sbatch gets, and waits until it ended. Sets $job, $status, $out (a file).
# With AS set, as that user. stderr is behind stdout, since their order is chance. (sbatch --wait looks only every ten seconds.)
run_job() {
	local name=$1 folder=$work/$1 end=$((SECONDS + ${job_seconds:-180})) shown
	shift
	out=$folder/out
	rm -rf "$folder" && mkdir "$folder" && cat >"$folder/script" && chown -R "${AS:-0}" "$folder" && cd "$folder" || exit 1
	job=$(as_user sbatch --parsable --job-name="$name" --output="$out" --error="$folder/err" "$@" script 2>&1)
	cd / || exit 1
	while :; do
		shown=$(scontrol --oneliner show job "$job" 2>&1)
		[[ $shown =~ JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING) ]] ||
			{ [[ $shown =~ \ ExitCode=([0-9]+): ]] && break; }
		[[ $job =~ ^[0-9]+$ && $SECONDS -lt $end ]] || bail_out "job $name: $job: $shown"
		sleep 0.1
	done
	status=${BASH_REMATCH[1]}
	cat "$folder/err" >>"$out"
}

# Did Open MPI's own thread crash while the process ended, as it does now and then without the tracer as well (tests/launch.py)? A test may then try once more.
library_crashed() {
	grep -q 'Signal: Segmentation fault' "$1" && grep -q 'Address not mapped' "$1" && ! grep -qF '[ 0] ' "$1"
}

as_user() {
	if [ -n "${AS-}" ]; then
		setpriv --reuid="$AS" --regid="$AS" --clear-groups "$@"
	else
		"$@"
	fi
}

traces() {
	find "$site/archive" -name "$job.*.spoor" | sort
}

# Nothing waits for a job: its traces are delivered when it is over for Slurm. wait_for SECONDS COMMAND...: until that is true.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# What is hidden in the spool is root's.
spool_is_empty() {
	[ -z "$(find "$site/spool" -mindepth 1 -maxdepth 1 -name '[0-9]*')" ]
}

is_delivered() {
	[ "$(traces | grep -c .)" -ge "$1" ] && spool_is_empty
}

# leaves TITLE COUNT: the job leaves that many traces, all of them sound.
leaves() {
	local found count
	wait_for 60 is_delivered "$2"
	found=$(traces)
	count=$(grep -c . <<<"$found")
	if [ "$count" != "$2" ]; then
		fail "$1: $2 traces" || diag <<-END
			job $job left $count:
			$found
			its output:
			$(tail -n 20 "$out")
			in the spool: $(find "$site/spool" -mindepth 1 | head)
			as doctor has it: $(spoor doctor "$job")
			of spoor in the logs of the nodes:
			$(grep -h "\[$job\..*spoor" "$site"/cluster/log/slurmd-n* | tail -n 20)
		END
		return
	fi
	pass "$1: $2 traces"
	[ "$2" = 0 ] || ok "$1: verified" spoor verify $found
}

ranks() {
	spoor list --json | python3 -c '
import json, sys
for line in sys.stdin:
	for job in (lambda v: v if isinstance(v, list) else [v])(json.loads(line)):
		if str(job.get("job")) == sys.argv[1]: print(job.get("ranks"))' "$job"
}
