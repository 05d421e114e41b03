#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# steps - a step is over for Slurm when its processes are gone: what is delivered is delivered without it, by few processes, which outlive step and job
set -u
. "$(dirname "$0")/jobs.sh"

mend() {
	[ -z "${mounted-}" ] || umount -l "$mounted" 2>/dev/null
	mounted=
	[ -z "${hanging-}" ] || kill "$hanging" 2>/dev/null
	hanging=
}
# SPOOR_STEPS_CONF: more lines for slurm.conf, to try it with cgroups
# EpilogSlurmctld: nothing until the end of this test.
export SPOOR_CLUSTER_CONF="KillWait=2
EpilogSlurmctld=$work/epilog
${SPOOR_STEPS_CONF-}"
printf '#!/bin/sh\n' >"$work/epilog" && chmod 755 "$work/epilog"
start_site -n 2
policy=$site/policy.json

# A script with many steps, with MPI and without: as without spoor, and every trace once.
script() {
	cat <<-END
		#!/bin/sh
		for i in 1 2 3 4 5 6 7 8 9 10; do
			srun -n2 $ending
			srun /bin/true
		done
	END
}
# A busy Slurm is late by itself to say that a step is over; srun then says that it asks again. How often is chance, with and without spoor: it is told, not judged.
said() {
	diag <<<"$1: srun had to ask again $(grep -c retrying "$out") times" >&2
	grep -v 'step creation temporarily disabled\|Step created for\|TMPDIR' "$out" # root's TMPDIR is not another user's to write
}
# Open MPI 4.1 crashes at the end of a process once in some hundred runs, traced or not: then once more.
twenty() {
	local _
	for _ in 1 2 3; do
		run_job "$@" < <(script)
		library_crashed "$out" || break
	done
}
twenty untraced --trace=off -N1 -n2
said 'twenty steps, not traced' >"$work/normal"
twenty many --trace -N1 -n2
is 'twenty steps: output as without spoor, and nothing on stderr' "$(said 'twenty steps, traced')" "$(cat "$work/normal")"
leaves 'twenty steps, ten with MPI' 10
is 'twenty steps: doctor knows of each' "$(spoor doctor "$job" | sed -n 's/.* \([0-9]*\) steps until .*: \(ended; its trace was delivered\|ended, and left nothing here\)$/\1/p' | sort -n | xargs)" '10 11'

AS=$other twenty many-other --trace -N1 -n2
leaves 'twenty steps of another user' 10

# The processes of spoor that deliver for this cluster: their pids.
couriers() {
	local pid
	for pid in $(pgrep -f "^$build/prefix/libexec/spoor/spoor-helper end"); do
		[ "$(readlink "/proc/$pid/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ] || echo "$pid" # another row's have another
	done
}
idle() {
	[ "$(sinfo --noheader --format=%T)" = idle ]
}
one_courier() {
	[ "$(couriers | wc -l)" = "${1-1}" ]
}

# An archive that hangs: the job does not notice, and few processes wait for it.
mkdir -p "$work/disk"
python3 "$top/tests/tools/hang.py" "$work/disk" >"$work/hang" 2>&1 &
hanging=$!
if wait_for 5 grep -q mounted "$work/hang"; then
	mounted=$work/disk
	cp "$policy" "$work/policy.json"
	sed "s|\"archive\": \"[^\"]*\"|\"archive\": \"$work/disk\"|" "$work/policy.json" >"$policy"
	run_job hang --trace -N1 -n2 < <(script)
	hung=$job
	is 'the archive hangs: output as without spoor' "$(said 'the archive hangs')" "$(cat "$work/normal")"
	ok 'the archive hangs: the node is free for others' wait_for 20 idle
	sleep 3 # KillWait is over
	ok 'the archive hangs: one process of the user waits for it, of twenty that were started' wait_for 20 one_courier
	pid=$(couriers | head -n 1)
	is 'it is nobody of the job: its parent, its cgroups, its environment' \
		"$(ps -o comm= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" | grep -c slurm) $(grep -c '/job_' "/proc/$pid/cgroup") $(tr '\0' '\n' <"/proc/$pid/environ" | grep -c SLURM)" '0 0 0'
	is 'it is nice, and the first to go when memory is short' "$(ps -o nice= -p "$pid" | tr -d ' ') $(cat "/proc/$pid/oom_score_adj")" '10 500'
	spoor doctor "$hung" >"$work/doctor" 2>&1 & # which looks into the archive as well, in the end
	ok 'the archive hangs: doctor' wait_for 10 grep -q 'is being delivered' "$work/doctor"
	AS=$other run_job hang-other --trace -N1 -n2 < <(script)
	theirs=$job
	is 'the archive hangs, another user: output as without spoor' "$(said 'the archive hangs, another user')" "$(cat "$work/normal")"
	ok 'the archive hangs, another user: a process of theirs' wait_for 20 one_courier 2
	cp "$work/policy.json" "$policy"
	mend
	ok 'the archive fails: nobody waits any more' wait_for 20 one_courier 0
	spoor sweep >"$work/swept"
	job=$hung
	leaves 'the archive is back' 10
	job=$theirs
	leaves 'the archive is back, another user' 10
else
	pass 'the archive hangs # SKIP no FUSE here'
fi

# A job that is killed while its steps are delivered, by scancel: everything comes, with what slurmctld says of it, which is asked once for the job.
run_job killed --trace -N2 -n2 <<-END
	#!/bin/sh
	srun -N1 -n1 --overlap $build/tests/crash loop & srun -N1 -n1 --overlap $build/tests/crash loop &
	sleep 4
	scancel \$SLURM_JOB_ID
	sleep 60
END
wait_for 60 is_delivered 2
is 'a cancelled job: traces, and why' "$(spoor list --json | python3 -c '
import json, sys
rows = [row for line in sys.stdin for row in (lambda v: v if isinstance(v, list) else [v])(json.loads(line))]
print(*[row.get("reason") for row in rows if row.get("job") == int(sys.argv[1])])' "$job")" 'cancelled cancelled'
ok 'nothing is left' wait_for 20 spool_is_empty
ok 'no process is left' wait_for 20 one_courier 0

# The administrators' guide's puts a line into the job's AdminComment; there is no slurmdbd here.
mkdir "$work/bin" && printf '#!/bin/sh\necho "$*" >>%s/accounted\n' "$work" >"$work/bin/sacctmgr" && chmod 755 "$work/bin/sacctmgr"
sed -n '/EpilogSlurmctld=/,/^A trace arrives/s/^    //p' "$top/doc/admin-guide.md" |
	sed "1a PATH=$work/bin:$PATH SPOOR_POLICY=$policy; export PATH SPOOR_POLICY" >"$work/epilog"
AS=$other run_job commented --trace -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
ok 'an epilog of slurmctld' wait_for 30 test -s "$work/accounted"
like 'it puts the line of spoor why into the AdminComment' "$(cat "$work/accounted")" "^-i modify job where jobid=$job set AdminComment=[A-Z].*; MPI [0-9]+ %; efficiency [0-9]+ %"
is 'no node was drained' "$(sinfo --noheader --format=%T)" idle
done_testing
