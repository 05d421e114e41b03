#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sweep - what could not be delivered is kept in the spool with its facts, and delivered later, exactly once
set -u
. "$(dirname "$0")/tap.sh"

build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/sweep.XXXXXX") || exit 1
chmod 711 "$work"
trap 'rm -rf "$work"' EXIT
SPOOR_PRELOAD=$(python3 "$(dirname "$0")/launch.py")
export SPOOR_PRELOAD SPOOR_ARCHIVE=$work/archive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
PATH=$build:$PATH
cd "$work" || exit 1
if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP only root sweeps a spool'
	exit 0
fi
mkdir -m 711 spool && mkdir -m 755 archive
today=$work/archive/$(date -u +%Y/%m/%d)

# step NAME: a step's folder with a raw trace, as the tracer leaves it. (A copy: making one takes longer than all else here.)
mkdir raw && SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=$work/raw" LD_PRELOAD=$SPOOR_PRELOAD "$build/tests/ending" >/dev/null 2>&1
step() {
	mkdir -m 700 "spool/$1" && cp raw/* "spool/$1"
}
facts() {
	printf '%s\n' "job=$1" step=0 "spool=$work/spool/$1.0.n1" "uid=0" node=n1 exit_code=3 signal=0 exit_task=2 partition=long "${@:2}"
}
printf '{"version": 1, "mode": "lossless", "archive": "%s", "spool": "%s", "rules": []}' "$work/archive" "$work/spool" >policy.json
sweep() {
	spoor sweep --policy policy.json --helper "$build/spoor-helper" "$@" 2>&1 # says how many were delivered, kept, given up, are of steps that run
}
# Waits until the helpers (which are nobody's children) are done with it.
gone() {
	local i
	for i in {1..100}; do
		[ -e "spool/$1" ] || return 0
		sleep 0.1
	done
	return 1
}
archived() {
	find archive -name '*.spoor' -printf '%f\n' | sort | tr '\n' ' '
}

# The archive is away when the step ends.
step 1.0.n1
is 'keep: nothing to say' "$(facts 1 | spoor-helper keep 2>&1; echo $?)" 0
is 'keep: the facts are beside the raw trace' "$(ls spool/1.0.n1 | sed 's/world-.*/world/')" 'facts
world'
is 'keep: for the user alone' "$(stat --format=%a spool/1.0.n1/facts)" 600
like 'sweep: the archive is still away' "$(mv archive away; : >archive; sweep; rm archive; mv away archive)" 'archive: cannot be opened as a folder'
is 'sweep: and the trace is still there' "$(ls spool/1.0.n1 | wc -l)" 2
like 'sweep: delivers' "$(sweep --openmetrics spool.prom)" '1.0.n1: delivered
1 delivered, 0 kept, 0 given up, 0 of steps that run$'
is 'sweep: metrics' "$(grep -c '^spoor_spool_delivered 1$\|^spoor_spool_kept 0$\|^spoor_spool_bytes [0-9]*$' spool.prom)" 3
is 'sweep: the dashboard has those of spools' "$(grep -o 'spoor_spool_[a-z]*' "$SPOOR_SOURCE/etc/grafana-spoor.json" | sort -u | while read -r name; do
	grep -c "^$name " spool.prom
done | uniq -c | tr -s ' ')" ' 3 1'
is 'sweep: to the archive' "$(archived)" '1.0.0.spoor '
is 'sweep: nothing is left in the spool' "$(ls spool)" ''
is 'sweep: with the facts of then' "$(spoor list --json | grep -o '"exit_code":3,"signal":0,"exit_task":2\|"partition":"long"' | sort | tr '\n' ' ')" \
	'"exit_code":3,"signal":0,"exit_task":2 "partition":"long" '
is 'sweep: mode' "$(stat --format=%a "$today/0/1.0.0.spoor")" 440

# Names that are no steps', of which there are many: some are said, the others are counted.
mkdir -m 700 spool/9{01..30}
is 'sweep: what there is very much of is counted' "$(sweep --settled 0 | sed 's/9[0-9]*:/X:/' | sort | uniq -c | tr -s ' ' | grep -v delivered)" " 10 $work/spool/X: is not named JOB.STEP.NODE
 1 $work/spool: and 20 more lines like these"
rmdir spool/9??

# The helper is killed between the archive and the spool.
step 2.0.n1 && cp -r spool/2.0.n1 copy
is 'collect' "$(facts 2 "day=$today" | spoor-helper collect 2>&1; echo $?; ls -A spool/2.0.n1)" 0
rm -r spool/2.0.n1 && mv copy spool/2.0.n1 && facts 2 "folders=$today/0" >spool/2.0.n1/facts
like 'delivered already: the raw trace goes' "$(sweep)" '2.0.n1: delivered'
is 'delivered already: there is one' "$(archived)" '1.0.0.spoor 2.0.0.spoor '
# The same, found on another day.
step 3.0.n1 && cp -r spool/3.0.n1 copy && mkdir -p archive/2026/02/01
is 'collect, another day' "$(facts 3 "day=$work/archive/2026/02/01" | spoor-helper collect 2>&1; echo $?; ls -A spool/3.0.n1)" 0
rm -r spool/3.0.n1 && mv copy spool/3.0.n1 && facts 3 "folders=$work/archive/2026/02/01/0" >spool/3.0.n1/facts
like 'delivered on another day: the raw trace goes' "$(sweep)" '3.0.n1: delivered'
is 'delivered on another day: there is one' "$(archived)" '1.0.0.spoor 2.0.0.spoor 3.0.0.spoor '

# The archive is full, or the day's folder went.
step 4.0.n1
like 'collect: cannot be archived' "$(facts 4 "day=$work/archive/nowhere" | spoor-helper collect 2>&1; echo "status $?")" 'not archived: .*nowhere.*status 3'
is 'collect: and is kept with its facts' "$(ls spool/4.0.n1 | sed 's/world-.*/world/')" 'facts
world'
: >"$today/0/.4.0.0.spoor.99999.tmp" && touch -d '2 hours ago' "$today/0/.4.0.0.spoor.99999.tmp"
facts 4 "folders=$today/0" >spool/4.0.n1/facts
like 'collect: later' "$(sweep)" '4.0.n1: delivered'
is 'collect: what the killed helper left unfinished is gone' "$(find archive -name '*.tmp')" ''

# Steps that run, helpers that work, and folders that are none of a step.
step 5.0.n1 && step 6.0.n1 && facts 5 >spool/5.0.n1/facts
(
	exec 9<spool/5.0.n1 && flock --shared 9 && : >ready
	until [ -e over ]; do sleep 0.1; done
) &
until [ -e ready ]; do sleep 0.1; done
is 'sweep: leaves running steps alone, and those about to start' "$(sweep; ls spool)" '0 delivered, 0 kept, 0 given up, 2 of steps that run
5.0.n1
6.0.n1'
: >over && wait
step 7.0.n1 && facts 7 >spool/7.0.n1/facts && : >spool/7.0.n1/lock
(
	exec 9<spool/7.0.n1/lock && flock 9 && : >ready2
	until [ -e over2 ]; do sleep 0.1; done
) &
until [ -e ready2 ]; do sleep 0.1; done
got=$(sweep --settled 0)
like 'sweep: leaves what a helper is at' "$got" '7.0.n1: another helper is delivering it'
is 'sweep: a node that went down left no facts' "$(ls spool; archived)" '7.0.n1
1.0.0.spoor 2.0.0.spoor 3.0.0.spoor 4.0.0.spoor 5.0.0.spoor 6.0.0.spoor '
: >over2 && wait
like 'sweep: tried again only after a while' "$(sweep)" '0 delivered, 1 kept'
like 'sweep --all: now' "$(sweep --all)" '1 delivered, 0 kept'
mkdir spool/8 spool/nonsense && : >spool/8/a && ln -s /etc spool/9.0.n1 && : >spool/10.0.n1
like 'sweep: a name that is none' "$(sweep --settled 0)" '8: is not named JOB.STEP.NODE'
is 'sweep: symbolic links and files are not followed' "$(ls spool | tr '\n' ' ')" '10.0.n1 8 9.0.n1 nonsense '
rm -r spool/8 spool/nonsense spool/9.0.n1 spool/10.0.n1

# Many at once: each trace is delivered once.
for job in 20 21 22 23 24 25; do
	step $job.0.n1 && facts $job >spool/$job.0.n1/facts
done
for i in 1 2 3 4 5; do sweep >/dev/null & done
wait
for job in 20 21 22 23 24 25; do gone $job.0.n1; done
is 'five sweeps at once: each once' "$(archived | tr ' ' '\n' | grep ^2[0-5] | tr '\n' ' ')" \
	'20.0.0.spoor 21.0.0.spoor 22.0.0.spoor 23.0.0.spoor 24.0.0.spoor 25.0.0.spoor '

# Of another user: by a process of theirs, and as theirs.
step 30.0.n1 && facts 30 >spool/30.0.n1/facts && chown -R 65534:65534 spool/30.0.n1
like 'another user' "$(sweep)" '30.0.n1: delivered'
is 'another user: owns the trace' "$(stat --format='%u %a' "$today/65534/30.0.0.spoor")" '65534 440'
step 31.0.n1 && ln -s /etc/shadow spool/31.0.n1/facts && chown -hR 65534:65534 spool/31.0.n1
like 'facts that lead elsewhere are not read' "$(sweep)" 'facts: a symbolic link, not a regular file'

# What the policy does not want by Slurm's word. Its user can end the helper that is to remove it, as often as they like.
mkdir bin && cat >bin/squeue <<-'END'
	#!/bin/sh
	for a; do case $a in --jobs=*) job=${a#--jobs=} ;; esac; done
	test ! -e gone || { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }
	echo "$job|0|$job|2026-03-01T10:00:00|60|secret|all|normal|(null)"
END
cat >helper <<-END
	#!/bin/sh
	[ "\$1" != discard ] || [ -e $work/lives ] || kill -KILL \$\$
	exec "$build/spoor-helper" "\$@"
END
chmod 755 bin/squeue helper
cat >claims.json <<-END
	{ "version": 1, "mode": "lossless", "archive": "$work/archive", "spool": "$work/spool",
	  "rules": [ { "name": "confidential", "match": { "account": "secret" }, "mode": "off" } ] }
END
noted() { # JOB [FACT...]: what root knows of a step
	facts "$1" gid=0 account=open "deliver_policy=$work/claims.json" "slurm_bin=$work/bin" "${@:2}" >"spool/.waiting/0/$1.0.n1"
}
fact() { # JOB NAME
	sed -n "s/^$2=//p" "spool/.waiting/0/$1.0.n1"
}
before=$(archived)
step 40.0.n1 && noted 40
like 'unwanted: the helper that removes it is ended' "$(sweep --helper "$work/helper")" '0 delivered, 1 kept'
is 'unwanted: nothing is delivered' "$(archived)" "$before"
is 'unwanted: that is remembered' "$(fact 40 deliver_denied)" 1
noted 40 deliver_denied=1 deliver_policy= deliver_tries=20 deliver_since=1000 deliver_next=1000
like 'unwanted: nor is it given up' "$(sweep --helper "$work/helper")" '0 delivered, 1 kept, 0 given up'
: >lives
like 'unwanted: once a helper lives, it is gone' "$(sweep --all --helper "$work/helper")" '0 delivered, 0 kept'
is 'unwanted: from the spool, and it is not in the archive' "$(ls spool) $(archived)" " $before"

# A user who makes it wait until slurmctld has forgotten the job gains nothing: the question comes first.
step 41.0.n1 && noted 41
(
	exec 9<spool/41.0.n1 && flock 9 && : >ready3
	until [ -e over3 ]; do sleep 0.1; done
) &
until [ -e ready3 ]; do sleep 0.1; done
like 'unwanted: its user has locked it' "$(sweep)" '0 delivered, 1 kept'
: >over3 && wait && : >gone
like 'unwanted: slurmctld has forgotten the job' "$(sweep --all)" '0 delivered, 0 kept'
is 'unwanted: it is removed' "$(ls spool) $(archived)" " $before"
rm gone

# A step that nobody has said the end of: its node went down.
step 42.0.n1 && noted 42 deliver_begun=1
is 'begun: it may still run' "$(sweep; ls spool)" '0 delivered, 0 kept, 0 given up, 1 of steps that run
42.0.n1'
like 'begun: its node went down' "$(sweep --settled 0)" '0 delivered, 0 kept'
is 'begun: what Slurm says of it counts' "$(ls spool) $(archived)" " $before"
step 43.0.n1 && noted 43 deliver_begun=1 && sed -i 's/secret"/other"/' claims.json
like 'begun: wanted' "$(sweep --settled 0)" '43.0.n1: delivered'
is 'begun: it has what is known of it' "$(spoor list --json | grep '"job":43,' | grep -o '"account":"secret"')" '"account":"secret"'

chmod 777 spool
like 'a spool that others can write is not swept' "$(sweep)" "spool must be root's"
done_testing
