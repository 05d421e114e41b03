#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# chain - jobs in a real Slurm leave the traces that they should, and are otherwise as without spoor
set -u
. "$(dirname "$0")/jobs.sh"

start_site

# What captures and what does not.
run_job srun --trace=lossless -N4 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'srun, 4 nodes x 2 ranks' 1
is 'srun: exit status' "$status" 0
is 'srun: output' "$(cat "$out")" '8 ranks, sum 28, ending: normal
this goes to stderr'
is 'srun: ranks' "$(ranks)" 8

run_job mpirun --trace=lossless -N2 --ntasks-per-node=4 <<-END
	#!/bin/sh
	mpirun $ending
END
leaves 'mpirun, 2 nodes x 4 ranks' 1
is 'mpirun: ranks' "$(ranks)" 8

run_job default -N2 --ntasks-per-node=1 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'no flag, the policy captures by default' 1

run_job directive -N1 -n2 <<-END
	#!/bin/sh
	#SBATCH --trace=lossy:16
	srun $ending
END
leaves '#SBATCH --trace=lossy:16' 1

run_job off --trace=off -N2 --ntasks-per-node=1 <<-END
	#!/bin/sh
	srun $ending
	mpirun $ending
END
leaves '--trace=off' 0

SPOOR_TRACE=off run_job environment -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'SPOOR_TRACE=off' 0

run_job two --trace -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	mpirun $ending
	mpirun $ending
END
leaves 'two mpiruns in one script' 2

run_job steps --trace -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun -N1 -n2 $ending
	srun $ending
	srun /bin/true
END
leaves 'two steps with MPI and one without' 2

# Steps end while Slurm already ends the job or starts the next one: what collects must survive that every time.
run_job many -N2 --ntasks-per-node=1 <<-END
	#!/bin/sh
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do srun $ending; done
END
leaves 'many steps' 12

run_job none --trace=lossless -N2 --ntasks-per-node=1 <<-'END'
	#!/bin/bash
	srun /bin/echo in a step
	seq 3 | tail -n 1
	(ls / >/dev/null; exit 4) || echo "status $?"
	python3 -c 'print("python")'
END
leaves 'no MPI' 0
is 'no MPI: output' "$(cat "$out")" 'in a step
in a step
3
status 4
python'

AS=$other run_job other --trace -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'a user who is not root' 1
is 'a user who is not root: owns the trace' "$(stat --format='%u %a' $(traces))" "$other 440"
is 'a user who is not root: reads the trace' "$(AS=$other as_user cat $(traces) | cksum)" "$(cksum <"$(traces)")"
got=$(AS=$other as_user spoor doctor "$job" 2>&1)
like 'a user who is not root: doctor finds the trace' "$got" "$job.0.0.spoor: is there"
is 'a user who is not root: doctor has no doubt then' "$(grep -c '^doubt' <<<"$got")" 0

# The archive as a whole. Of several tasks the first one says it.
four=$(srun --trace=off -N2 -n4 spoor aggregate --by user --json)
is 'srun -n 4 spoor aggregate: as one process' "$four" "$(spoor aggregate --by user --json)"
like 'srun -n 4 spoor aggregate: of all users' "$four" '"user": "nobody".*"user": "root"|"user": "root".*"user": "nobody"'
like 'spoor aggregate: a user has their own' "$(AS=$other as_user spoor aggregate --json)" '"traces": 1,'

# What a job's environment says is nothing to root: the trace goes where the policy says, and nothing else is made.
mkdir -m 777 "$work/evil" && printf '{"version":1,"archive":"%s","spool":"%s","rules":[],"mode":"off"}' "$work/evil/a" "$work/evil/s" >"$work/evil/policy.json"
AS=$other SPOOR_POLICY=$work/evil/policy.json SPOOR_ARCHIVE=$work/evil/a run_job environment --trace -N1 -n2 <<-END
	#!/bin/sh
	export SPOOR_POLICY=$work/evil/policy.json SPOOR_ARCHIVE=$work/evil/a SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=$work/evil"
	srun $ending
END
leaves 'an environment that leads elsewhere' 1
is 'an environment that leads elsewhere: nothing is there' "$(find "$work/evil" -mindepth 1 -printf '%f ')" 'policy.json '

# The job is as it is without tracing: output byte for byte, and exit status. Of an abort, what the ranks say is compared.
same() {
	local how=$1 launcher=$2 mode
	rm -f "$work"/*.result
	for mode in off lossless; do
		run_job "$how" --trace=$mode -N2 --ntasks-per-node=2 <<-END
			#!/bin/sh
			$launcher $ending $how
			exit \$?
		END
		if [ "$how" = abort ]; then
			# what Slurm, mpirun and Open MPI say of it, and how often, differs from run to run without spoor, too; and mpirun's null bytes
			tr -d '\0' <"$out" | grep -E '^([0-9]+ ranks, sum|this goes to stderr)' | sort >"$work/$mode.result"
		else
			# mpirun makes up a number; that of Open MPI 5 is its process's, and the node's name before it
			sed -E 's/\[\[[0-9]+,1\],/[[JOB,1],/; s/prterun-[^@ ]*@/JOB@/' "$out" >"$work/$mode.result"
		fi
		echo "exit status $status" >>"$work/$mode.result"
	done
	[ "$how" = abort ] || leaves "$launcher, $how" 1
	ok "$launcher, $how: same output and exit status as without tracing" diff -u "$work/off.result" "$work/lossless.result"
}
same normal srun
same exit srun
is 'srun, exit: exit status' "$status" 3
same abort srun
same normal mpirun
same exit mpirun
same abort mpirun

# What a script starts, after it was requeued (after which Slurm waits for two minutes): its own nodes and tasks, and how its ranks ended.
echo "#!/bin/sh
[ \${SLURM_RESTART_COUNT:-0} = 0 ] && touch $work/began && sleep 60
srun -n2 $ending >/dev/null 2>&1
mpirun -n 2 $ending abort >/dev/null 2>&1
$ending >/dev/null 2>&1
echo done" >"$work/script"
job=$(cd "$work" && sbatch --parsable --requeue --output="$work/requeued" --trace -N1 -n3 script)
out=$work/requeued
wait_for 20 test -e "$work/began"
scontrol requeue "$job"
# Again and again: Slurm says when it is to begin only after it says that it is pending.
begins_again() {
	scontrol update "JobId=$job" StartTime=now 2>/dev/null
	case $(squeue --noheader --jobs="$job" --format=%T) in PENDING | COMPLETING | REQUEUED) return 1 ;; esac
}
sleep 1
wait_for 30 begins_again
leaves 'a job that was requeued' 3
is 'requeues, nodes, tasks, and how it ended' "$(spoor list --json | python3 -c '
import json, sys
for m in map(json.loads, sys.stdin):
	if m["job"] == int(sys.argv[1]): print(m["step"], *(m.get(key) for key in ("restart", "nodes", "tasks", "state", "exit_code")))' "$job" | sort)" \
	'0 1 1 2 COMPLETED 0
1 1 1 1 FAILED None
batch 1 1 1 COMPLETED 0'

# What users say in other ways.
decided() {
	spoor doctor "$(squeue --noheader --states=all --format=%A | sort -n | tail -n 1)" | sed -n 's/.*decided by.* says //p'
}
ok 'srun --spoor=off --trace=lossless' srun --spoor=off --trace=lossless "$ending"
is 'the last one counts' "$(decided)" lossless
ok 'srun --trace=lossless --spoor=no' srun --trace=lossless --spoor=no "$ending"
is 'the last one counts, the other one' "$(decided)" off
like '--trace=help says what may be said' "$(srun --trace=help "$ending" 2>&1)" 'lossy:N.*memory .*Invalid --trace'
like '--trace lossless: a = is missing' "$(srun --trace lossless "$ending" 2>&1)" 'write --trace=lossless'
like 'of sbatch, too, which misses a script of that name' "$(sbatch --trace lossless "$ending" 2>&1)" 'write --trace=lossless'
printf '#!/bin/sh\n' >"$site/off.sh"
is 'what follows the script is for the script' "$(sbatch --parsable -o /dev/null "$site/off.sh" --trace lossless 2>&1 | tr -d 0-9)" ''

# Bad input.
bad_value() {
	local message
	message=$("$@" 2>&1 </dev/null) && fail "$1: an unknown value of --trace is refused" && return
	pass "$1: an unknown value of --trace is refused"
	like "$1: the message names the value and the choices" "$message" 'sometimes.*off.*on.*lossless.*lossy'
}
newest=$(squeue --noheader --states=all --format=%A | sort -n | tail -n 1)
bad_value sbatch --trace=sometimes --wrap=true
bad_value srun --trace=sometimes /bin/echo ran
bad_value salloc --trace=sometimes /bin/echo ran
for bad in lossy:many on,bins=0 on,timing=often on,counters=PAPI_TOT_INST; do
	message=$(sbatch --trace=$bad --wrap=true 2>&1 </dev/null) && message="was taken: $message"
	like "--trace=$bad is refused, with the reason" "$message" 'trace.*expected'
done
is 'an unknown value starts no job' "$(squeue --noheader --states=all --format=%A | sort -n | tail -n 1)" "$newest"

policy=$site/policy.json # of the cluster; only root may write it
cp "$policy" "$work/policy.json"
for bad in 's/}//' 's/"lossless"/"sometimes"/' 's/"mode"/"moed"/' 's/"version": 1/"version": 99/' 'd'; do
	sed "$bad" "$work/policy.json" >"$policy"
	ok "policy with $bad: spoor policy check refuses it" eval "! spoor policy check $policy"
	run_job "policy" --trace -N2 --ntasks-per-node=1 <<-END
		#!/bin/sh
		srun $ending
	END
	leaves "policy with $bad" 0
	is "policy with $bad: the job runs" "$status $(cat "$out")" '0 2 ranks, sum 1, ending: normal
this goes to stderr'
done
rm "$policy"
run_job "no-policy" -N2 --ntasks-per-node=1 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'no policy' 0
is 'no policy: the job runs' "$status" 0

sed 's/"lossless"/"lossless", "user": "none"/' "$work/policy.json" >"$policy"
run_job refused --trace=off -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'the policy lets users choose nothing' 1
is 'which is told once' "$(grep -c 'spoor: --trace=off is ignored: .*"user": "none"' "$out") $(grep -c spoor "$out")" '1 1'
cp "$work/policy.json" "$policy"

sed 's/"lossless"/"off"/' "$work/policy.json" >"$policy"
run_job asked --trace -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'policy off, the user asks' 1
run_job unasked -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'policy off, nobody asks' 0
cp "$work/policy.json" "$policy"

# Why is there a trace, or none?
got=$(spoor doctor "$job")
like 'doctor: a job that nobody asked to trace' "$got" " node n[0-9, n]*, 2 steps until [^ ]* \\(batch, 0\\), user 0: is not captured
 +decided by default, .*there is no trace of job $job in the archive"
is 'doctor: one summary of all steps' "$(grep -c 'is not captured' <<<"$got")" 1
chmod 644 "$policy"
like 'doctor: its user asks' "$(AS=61001 as_user spoor doctor "$job" 2>&1)" 'mode lossless, decided by default, [^ ]*policy.json:[0-9]+: '

tracer=$build/prefix/lib/spoor/libspoor-abi.so
mv "$tracer" "$tracer.aside"
like 'doctor: a tracer that is not there' "$(spoor doctor)" 'libspoor-abi.so: is not there: programs of the standard ABI of MPI 5 run untraced'
head -c 100000 "$tracer.aside" >"$tracer"
like 'doctor: a tracer that is not whole' "$(spoor doctor 2>&1)" 'libspoor-abi.so: cannot be loaded into a process'
mv -f "$tracer.aside" "$tracer"
like 'doctor: the tracers' "$(spoor doctor)" 'libspoor-abi.so: the tracer for the standard ABI of MPI 5 can be loaded'
run_job doctor --trace=lossless -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
	srun /bin/true
END
leaves 'doctor' 1
got=$(spoor doctor "$job")
like 'doctor: a job with a trace' "$got" '3 steps until [^ ]* \(batch, 0, 1\), user 0: is captured, mode lossless
 +decided by command line: .*step 0, user 0: ended; its trace was delivered'
like 'doctor: steps without MPI' "$got" '[(, ]1[,)].* user 0: ended, and left nothing here
 +no process of the step called MPI_Init'
like 'doctor: the trace' "$got" "$job.0.0.spoor: is there"
gone=$(find "$site/archive" -name "$job.0.0.spoor") && mv "$gone" "$work/gone"
like 'doctor: a trace that was delivered, and is gone' "$(spoor doctor "$job")" "doubt .*traces of job $job, steps 0 were delivered: they are not here"
mv "$work/gone" "$gone"

# spoor doctor --test: a job of two ranks
got=$(spoor doctor --test --nodes 2 --json)
like 'doctor --test: its trace' "$got" '"text": "[^"]*[.]0[.]0[.]spoor: is there'
like 'doctor --test: the nodes have one policy' "$got" 'the nodes of the test job have one policy'
like 'doctor --test: a job that fails' "$(spoor doctor --test --program /nowhere/at/all)" 'wrong +the test job failed'
printf '{' >"$policy"
run_job doctor -N1 <<-END
	#!/bin/sh
	srun /bin/true
END
like 'doctor: a bad policy' "$(spoor doctor "$job")" 'is not captured, because something is wrong
 +[^ ]*policy.json:1:'
cp "$work/policy.json" "$policy"

# The archive is away when a job ends, and is there again when the next one does.
mv "$site/archive" "$site/away" && : >"$site/archive"
run_job away --trace -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
is 'archive away: the job does not notice' "$status $(cat "$out")" '0 2 ranks, sum 1, ending: normal
this goes to stderr'
away=$job
wait_for 60 eval "spoor doctor $away | grep -q 'is kept in the spool'"
like 'archive away: doctor knows where the trace is' "$(spoor doctor "$away")" "could not be delivered and is kept.*/$away.0.[^ ]*: is kept; \`spoor sweep\` delivers it"
rm "$site/archive" && mv "$site/away" "$site/archive"
run_job back --trace -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'archive back' 1
job=$away
leaves 'archive back: what was kept is delivered' 1

# What is left at the end.
ok 'the spool is empty' wait_for 20 spool_is_empty
is 'nothing in the archive is readable by the world' "$(find "$site/archive" -type f -perm /007)" ''
is 'nothing in the archive is unfinished' "$(find "$site/archive" -name .index -prune -o -type f ! -name '*.spoor' ! -name '*.exit' -print)" ''
is 'no node was drained' "$(sinfo --noheader --format=%T)" idle
done_testing
