#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# situations - every way in which a job can be started under Slurm: it runs as without spoor, and leaves the traces that it should
set -u
. "$(dirname "$0")/jobs.sh"

# A job that is queued again waits until its credential has expired: two minutes by default.
export SPOOR_CLUSTER_CONF='AuthInfo=socket='$site'/cluster/munge/socket,cred_expire=10
LaunchParameters=use_interactive_step
InteractiveStepOptions="--interactive --preserve-env $SHELL"
PrologFlags=Alloc,Contain
JobRequeue=1'
start_site
said='sum [0-9]+, ending: normal'

# The table: a row for each situation. row TITLE TRACES OUTPUT: of the job that was run last; OUTPUT is a pattern for all of it.
table=()
row() {
	local title=$1 count=$2 output=$3 text
	text=$(cat "$out")
	leaves "$title" "$count"
	like "$title: output" "$text" "$output"
	is "$title: exit status" "$status" "${4-0}"
	table+=("$(printf '%-46s %6s  %-12s %4s' "$title" "$(traces | grep -c .)" "$(ranks | sort -n | uniq -c | awk '{printf "%s%sx%s", sep, $1, $2; sep = " "}')" "$status")")
}

# As run_job, for a command that is no batch job and prints its job's number first. A job that is over has left.
run_here() {
	local name=$1
	shift
	out=$work/$name.out
	"$@" >"$out" 2>&1 </dev/null
	status=$?
	job=$(sed -n 's/.*\(Granted job allocation\|job number\) \([0-9]*\).*/\2/p' "$out" | head -n 1)
}

# --- ways to start ---

run_here srun srun -N2 --ntasks-per-node=2 sh -c "[ \$SLURM_PROCID != 0 ] || echo job number \$SLURM_JOB_ID; exec $ending"
row 'srun' 1 "4 ranks, $said"

run_job sbatch -n1 <<-END
	#!/bin/sh
	exec $ending
END
row 'sbatch: the script becomes an MPI program' 1 "1 ranks, $said"

run_here salloc salloc -N2 -n2 srun "$ending" exit
row 'salloc + srun' 1 '2 ranks, sum 1, ending: exit' 3

run_job srun-in-sbatch -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun $ending
END
row 'srun in sbatch' 1 "4 ranks, $said"

run_job mpirun -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	mpirun $ending
END
row 'mpirun in sbatch' 1 "4 ranks, $said"

# An array: each task is a job of its own.
run_job array --array=1-3 -n2 --output="$work/array-%a" <<-END
	#!/bin/sh
	srun $ending
END
arrays_ended() {
	[ "$(cat "$work"/array-[123] 2>/dev/null | grep -c ending)" -ge 3 ] && spool_is_empty
}
wait_for 30 arrays_ended
found=$(spoor list --json | python3 -c '
import json, sys
rows = [row for line in sys.stdin for row in (lambda v: v if isinstance(v, list) else [v])(json.loads(line))]
print(*sorted(row["array_task"] for row in rows if row.get("array_job") == int(sys.argv[1])))' "$job")
is 'job array: a trace for each task, which says which' "$found" '1 2 3'
table+=("$(printf '%-46s %6s  %-12s %4s' 'job array' 3 3x2 0)")

run_job het -n1 -N1 : -n2 -N1 <<-END
	#!/bin/sh
	srun --het-group=0 $ending
	srun --het-group=1 $ending
END
first=$job
job=$((first + 1))
wait_for 20 is_delivered 1
is 'heterogeneous job: the second component' "$(traces | grep -c .)" 1
job=$first
row 'heterogeneous job, a step in each component' 1 "1 ranks, $said
2 ranks, $said"

# --- environments ---

# Slurm since 23.11 gives steps no HOME then, and Open MPI 5 does not run without.
echo "$environment" >"$work/environment"
run_job none --export=NONE -N2 -n2 <<-END
	#!/bin/sh
	. $work/environment
	srun /usr/bin/env HOME=/ $ending
END
row 'sbatch --export=NONE' 1 "2 ranks, $said"

SPOOR_TRACE=off run_job none-off --export=NONE -n2 <<-END
	#!/bin/sh
	. $work/environment
	srun /usr/bin/env HOME=/ $ending
END
row 'SPOOR_TRACE=off with --export=NONE' 0 "2 ranks, $said"

run_job srun-none -n2 <<-END
	#!/bin/sh
	srun --export=NONE /usr/bin/env HOME=/ OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_MCA_btl=self,tcp $ending
END
row 'srun --export=NONE' 1 "2 ranks, $said"

run_job var --export=VAR=value,SLURM_CONF,PATH,OMPI_MCA_btl,OMPI_MCA_pml -n2 <<-END
	#!/bin/sh
	srun --export=ALL,OTHER=1 sh -c 'echo \$VAR \$OTHER >&2; exec $ending'
END
row '--export=VAR' 1 "2 ranks, $said"

SPOOR_TRACE=lossy:9 run_job variable -n2 <<-END
	#!/bin/sh
	srun $ending
END
row 'no option, the environment alone' 1 "2 ranks, $said"
like 'no option, the environment alone: the mode' "$(spoor list --json | grep "\"job\": *$job\b")" '"mode": *"lossy:9"'

run_job preloaded -n2 <<-END
	#!/bin/sh
	export LD_PRELOAD=$build/tests/tools/transparent.so
	srun sh -c '[ \$SLURM_PROCID != 0 ] || echo "[\$LD_PRELOAD]"; exec $ending'
END
row "a user's own LD_PRELOAD" 1 "\[$build/prefix/lib/spoor/[$]PLATFORM/libspoor-gate.so:$build/tests/tools/transparent.so\]"

# --- several programs ---

run_job requeue -n2 <<-END
	#!/bin/sh
	srun $ending
	[ -n "\$SLURM_RESTART_COUNT" ] || { scontrol requeue \$SLURM_JOB_ID; sleep 60; }
END
row 'requeue: a trace of each run' 2 "2 ranks, $said"

run_job after -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	for i in 1 2 3; do mpirun $ending; done
END
row 'MPI jobs one after another in one step' 3 "4 ranks, $said"

run_job side -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	mpirun -n 2 $ending & mpirun -n 3 $ending & wait
END
row 'MPI jobs side by side in one step' 2 "[23] ranks, $said"

cp "$ending" "$work/another"
printf '0 %s\n1-2 %s\n' "$ending" "$work/another" >"$work/programs"
run_job mpmd -N1 -n3 <<-END
	#!/bin/sh
	srun --multi-prog $work/programs
END
row 'srun --multi-prog' 1 "3 ranks, $said"

if mpirun -n 1 true : -n 1 true >/dev/null 2>&1; then
	run_job mpmd-mpirun -N1 -n3 <<-END
		#!/bin/sh
		mpirun -n 1 $ending : -n 2 $work/another
	END
	row 'mpirun A : B' 1 "3 ranks, $said"
else
	pass 'mpirun A : B # skip without spoor, too, mpirun crashes (tests/launch.py)'
fi

# --- programs that make no MPI calls, or cannot be captured ---

# What it prints with and without the tracer is the same.
same_output() {
	local title=$1 name=$2 script
	shift 2
	script=$(cat)
	run_job "$name" --trace=off -n1 "$@" <<<"$script"
	cp "$out" "$work/off"
	run_job "$name" --trace=lossless -n1 "$@" <<<"$script"
	ok "$title: the same output" diff -u "$work/off" "$out"
	row "$title" "${traces-0}" ''
}
cp /usr/bin/id "$work/id" && chmod 4755 "$work/id"
AS=$other same_output 'a setuid program' setuid <<-END
	#!/bin/sh
	$work/id
	srun $work/id
END
printf '#include <stdio.h>\nint main(void) { puts("static"); return 0; }\n' >"$work/static.c"
if gcc -static -o "$work/static" "$work/static.c" 2>"$work/gcc"; then
	same_output 'a static program' linked <<-END
		#!/bin/sh
		$work/static
		srun $work/static
	END
fi
same_output 'a Python program without MPI' python <<-END
	#!/usr/bin/env python3
	import subprocess, os
	print(sum(range(10)), subprocess.run(["sh", "-c", "exit 7"]).returncode, os.fork() and os.wait()[1])
END
run_job mpi4py -N1 -n2 <<-END
	#!/bin/sh
	srun /usr/bin/python3 -c 'from mpi4py import MPI
	print(MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank + 1))'
END
row 'a Python program with MPI' 1 '3'
cp /bin/sh "$work/apptainer"
same_output 'a program that starts a container' container <<-END
	#!/bin/sh
	srun $work/apptainer -c 'echo "[\$LD_PRELOAD]"; /bin/echo in it'
END
like 'a program that starts a container: without the tracer' "$(cat "$out")" '^\[\]'

# --- names ---

name=$'a "job" of \'mine\'\n\t;%=$(x) \xc3\xa9'
file=$work/$'b "c" \'d\'\n\xc3\xa9;%=$(x)\xff'
cp "$ending" "$file"
FILE=$file run_job names --job-name="$name" -n2 <<-'END'
	#!/bin/sh
	srun "$FILE"
END
row 'a job and a program with strange names' 1 "2 ranks, $said"
found=$(spoor list --json | python3 -c '
import json, sys
rows = [row for line in sys.stdin for row in (lambda v: v if isinstance(v, list) else [v])(json.loads(line))]
print(*[ascii(row[key]) for row in rows if row.get("job") == int(sys.argv[1]) for key in ("job_name", "exe", "command")], sep="\n")' "$job")
like 'strange names: the job in the metadata' "$found" "^'a \"job\" of "'.*mine.*\\n\\t;%=\$\(x\) \\xe9'
like 'strange names: the program' "$found" 'b "c" .*d.*\\n\\xe9;%=\$\(x\)\\ufffd'
is 'strange names: a line each in the list' "$(spoor list | grep -c "^$job\.")" 1
is 'strange names: a line each in what is shown' "$(spoor show "$(traces)" | LC_ALL=C grep -c $'^\xc3\xa9')" 0
is 'strange names: loops' "$(spoor show --loops "$(traces)" | LC_ALL=C grep -c $'^\xc3\xa9')" 0

# --- rules that only the program can answer ---

cp "$site/policy.json" "$work/policy.json"
sed -i 's/"lossless"/"off"/; s|"rules": \[\]|"rules": [{ "name": "by program", "match": { "executable": "anoth*", "ranks_min": 3 }, "mode": "lossless", "retention": 9 }]|' \
	"$site/policy.json"
run_job other-program -n3 <<-END
	#!/bin/sh
	mpirun $ending
	srun $ending
END
row 'a rule for another program' 0 "3 ranks, $said"
run_job this-program -n3 <<-END
	#!/bin/sh
	mpirun $work/another
	mpirun -n 2 $work/another
END
row 'a rule for this program, with enough ranks' 1 "3 ranks, $said
2 ranks, $said"
like 'a rule for this program: the metadata names it' "$(spoor list --json | grep "\"job\": *$job\b")" '"rule": *"by program".*"retention": *9'
run_job one-program -n3 <<-END
	#!/bin/sh
	srun --multi-prog $work/programs
END
row 'a rule for one of two programs' 1 "3 ranks, $said"
cp "$work/policy.json" "$site/policy.json"

# A script of 300 commands, three times each way, alternating. The processor time of its children counts, the least of each way: how long it takes
# is up to what else the machine does.
cat >"$work/commands" <<-'END'
	#!/bin/bash
	for ((i = 0; i < 300; i++)); do /bin/true; done
	times >"$1.times"
	{ read -r _; read -r user system; } <"$1.times"
	python3 -c 'import re, sys; print(int(sum(60e6 * float(m) + 1e6 * float(s) for m, s in (re.match("(.*)m(.*)s", t).groups() for t in sys.argv[1:]))))' \
		"$user" "$system" >>"$1"
END
chmod 755 "$work/commands"
for i in 1 2 3; do
	for mode in off lossless; do
		run_job short --trace=$mode -n1 <<-END
			#!/bin/sh
			exec $work/commands $work/times.$mode
		END
	done
done
off=$(sort -n "$work/times.off" | head -n 1) on=$(sort -n "$work/times.lossless" | head -n 1)
row 'a shell script of 300 commands' 0 ''
slower=$(((on - off) / 300))
diag <<<"a script of 300 commands takes $((off / 1000)) ms of processor time without, $((on / 1000)) ms with the tracer loaded: $slower us more a command"
ok 'a shell script of 300 commands: less than half a millisecond more a command' [ $slower -lt 500 ]

# --- steps of other kinds ---

cat >"$work/interactive" <<-END
	#!/bin/sh
	mpirun $ending
END
chmod 755 "$work/interactive"
run_here interactive env SHELL="$work/interactive" salloc -n2
row 'an interactive step' 1 "2 ranks, $said"
like 'there are extern steps' "$(cat "$site"/cluster/log/slurmd-n*)" '\.extern\]'
is 'the extern step is left alone' "$(find "$site/archive" -name '*.extern.*')" ''
table+=("$(printf '%-46s %6s' 'an extern step' 0)")

ok 'the spool is empty' wait_for 20 spool_is_empty
is 'no node was drained' "$(sinfo --noheader --format=%T)" idle
{
	printf '%-46s %6s  %-12s %4s\n' situation traces 'jobs x ranks' exit
	printf '%s\n' "${table[@]}"
} | sed 's/^/# /'
done_testing
