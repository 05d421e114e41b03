#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# where - in a real Slurm, spoor where says of running jobs in which call their ranks are; as their user and as root, and nobody else
set -u
. "$(dirname "$0")/jobs.sh"

stuck=$build/tests/programs/stuck
start_site

# begin NAME [sbatch's OPTION...]: submits the script on stdin as another user, and sets $job.
begin() {
	local folder=$work/$1
	shift
	mkdir "$folder" && cat >"$folder/script" && chown -R "$other" "$folder" && cd "$folder" || exit 1
	job=$(AS=$other as_user sbatch --parsable --output="$folder/out" "$@" script)
	job=${job%%;*}
	cd / || exit 1
}

where() {
	AS=${other#0} as_user spoor where "$@" 2>&1 | grep -v '^    '
}

# Without times; groups of the same size in one order.
said() {
	where "$@" | grep -v '^Verdict: ' | sed 's/, for .*//' | sort -r
}

# The lines of all ranks of a job that stands still: job, and how those that wait are said to.
stands() {
	[ -n "$(find "$site/spool" -name '*.arena')" ] || return # a step of ours before the job's own would take its number
	said "$1" >"$work/said"
	[ $# = 1 ] || grep -qE "$2" "$work/said" || return
	grep -qE '^1 rank \([0-9]\) after MPI_Barrier' "$work/said" && grep -qE ': ([0-9]+) of \1 ranks' "$work/said" &&
		! grep -q 'not initialised' "$work/said"
}

begin srun --trace -N4 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun $stuck 0 receive
END
wait_for 30 stands "$job"
receive="6 ranks (1-6) in MPI_Barrier comm=MPI_COMM_WORLD
1 rank (7) after MPI_Barrier
1 rank (0) in MPI_Recv count=1 source=7 tag=1 comm=MPI_COMM_WORLD"
for _ in 1 2 3 4 5; do # the last of them may be on their way there
	[ "$(grep -v ' of ' "$work/said")" != "$receive" ] || break
	sleep 1
	where "$job" >"$work/said"
done
is 'srun, 4 nodes: who waits where, and for whom' "$(grep -v ' of ' "$work/said")" "$receive"
is 'the job and its step' "$(grep ' of ' "$work/said")" "$job.0: 8 of 8 ranks"
begun=$(date +%s%N)
where "$job" >"$work/said"
took=$((($(date +%s%N) - begun) / 1000000))
ok "it does not wait for ranks that stand still: $took ms" [ $took -lt 10000 ] # alone it takes half a second
like 'since when' "$(cat "$work/said")" 'source=7 tag=1 comm=MPI_COMM_WORLD, for [0-9.]+ s'
verdict='Verdict: Rank gone: rank 7 has computed for [0-9.]+ s after MPI_Barrier, or has ended, and 7 wait for it'
like 'the verdict' "$(where --hung 100ms "$job")" "$verdict"
is 'the step alone' "$(said "$job.0" | grep -v ' of ')" "$receive"
is 'as root, who becomes the user before srun is started' "$(other=0 said "$job" | grep -v ' of ')" "$receive"
is 'as somebody else' "$(AS=1 as_user spoor where "$job" 2>&1; echo $?)" "spoor where: job $job is nobody's: only that user, or root, may look into it
1"
# The job's user attacks what root starts with their number.
touch "$work/hostile.log" && chown "$other" "$work/hostile.log"
mkfifo "$work/end"
python=$(python3 -c "import os, sys; print(os.path.realpath(sys.executable))")
AS=$other as_user "$python" "$top/tests/hostile.py" attack "$work/hostile.log" SECRET=of-root <"$work/end" >"$work/tried" &
attacker=$!
exec 9>"$work/end"
sleep 1
export SECRET=of-root
is 'as root in a terminal, while the user attacks: the same' "$(for _ in 1 2 3; do python3 "$top/tests/hostile.py" terminal spoor where "$job" | grep -E '^[0-9]+ rank|^typed' | sed 's/, for .*//' | sort -r; done | sort | uniq -c | sed 's/^ *//' | sort -r)" "3 typed b''
3 6 ranks (1-6) in MPI_Barrier comm=MPI_COMM_WORLD
3 1 rank (7) after MPI_Barrier
3 1 rank (0) in MPI_Recv count=1 source=7 tag=1 comm=MPI_COMM_WORLD"
like 'and top' "$(python3 "$top/tests/hostile.py" terminal spoor top --once)" "$job .*typed b''\$"
for _ in {1..30}; do # on a busy machine it takes a while to find one of so short a life
	grep -q srun "$work/tried" && break
	python3 "$top/tests/hostile.py" terminal spoor where "$job" >"$work/said"
done
exec 9>&-
wait $attacker
like 'srun was attacked, and nothing of it got: no control, memory, environment, descriptor or terminal' "$(cat "$work/hostile.log")" '^tried [0-9]+: .*srun'
unset SECRET
json=$(AS=$other as_user spoor where --json "$job")
is 'as JSON' "$(python3 -c 'import json, sys
t = json.load(sys.stdin)[0]
print(t["ranks"], t["ranks_here"], t["ranks_missing"], sorted((g["function"], g["where"], g["ranks"], g["arguments"], g["min_ns"] > 0, len(g["path"]) > 1) for g in t["last"] if g["ranks"] == [0]))' <<<"$json")" \
	"8 8 0 [('MPI_Recv', 'in', [0], {'count': 1, 'source': 7, 'tag': 1, 'comm': 'MPI_COMM_WORLD'}, True, True)]"
like 'a step that there is not' "$(where "$job.7")" "no process of it is traced; .spoor doctor $job. on one of its nodes says why"

# The same in one line, and told once. The state file is nobody else's.
like 'a running job can be saved' "$(cd "$work/srun" && where -o now.spoor "$job"; spoor show now.spoor)" 'Ranks +8.*Verdict +(Slow|Rank gone)'
like 'top: one line' "$(AS=$other as_user spoor top --once --hung 1s | tail -n 1)" "^$job +[a-z]+ +8 +7 +[0-9]+ .* HANGS 00:00"
is 'top: within 80 columns' "$(spoor top --once | awk 'length > 80' | wc -l)" 0
is 'top: others see their own alone' "$(AS=1 as_user spoor top --once | grep -c "^$job ")" 0
is 'top: as JSON' "$(spoor top --once --json --hung 1s nobody | python3 -c 'import json, sys
print([(j["ranks"], j["waiting"], j["state"], 0 < j["mpi_share"] <= 1, j["step"]) for j in json.load(sys.stdin)])')" "[(8, 7, 'hangs', True, '$job.0')]"
mkdir -m 700 "$work/state"
watch() { spoor watch --hung 1s --state "${state:-$work/state/told}" --notify "cat >>$work/verdict; echo \$SPOOR_JOB \$SPOOR_USER \$SPOOR_VERDICT >>$work/told" "$@" 2>&1; }
is 'watch: no job has hung so long' "$(watch --hung 1h)$(ls "$work" | grep -c told)" 0
is 'watch: tells of it once' "$(watch; watch; cat "$work/told")" "$job nobody gone"
is 'watch: with the verdict' "$(python3 -c 'import json, sys
v = json.load(sys.stdin)
print(v["job"], v["step"], v["ranks"], v["verdict"], v["seconds"] > 0, v["text"][:16])' <"$work/verdict")" "$job $job.0 8 gone True Rank gone: rank "
like 'watch: a command that fails is run again' "$(state=$work/state/2 watch --notify 'echo no >&2; exit 3'; state=$work/state/2 watch | cat - "$work/told")" "job $job: .*: no.*gone.*gone"
ln -s told "$work/state/link"
: >"$work/state/others" && chown "$other" "$work/state/others"
like 'watch: a link in the place of its file' "$(state=$work/state/link watch)" 'link: Too many levels of symbolic links'
like 'watch: a file of somebody else' "$(state=$work/state/others watch)" 'others: is no file of which others cannot write'
mkdir -m 777 "$work/open"
like 'watch: a folder that others can write' "$(state=$work/open/told watch)" 'others can write there'
is 'watch: one at a time' "$(flock "$work/state/told" env work="$work" spoor watch --state "$work/state/told" --notify true 2>&1)" 'spoor watch: told: another `spoor watch` has it'

# A node that does not answer: its slurmd is stopped.
daemon=$(cat "$site/cluster/run/slurmd-n3.pid")
kill -STOP "$daemon"
said=$(where --timeout 3 "$job")
kill -CONT "$daemon"
like 'a node that does not answer is named' "$said" 'node n3 did not answer'

# The trace says the same as what was seen while it ran.
scancel "$job"
wait_for 20 is_delivered 1
is 'after scancel, its trace says the same' "$(other=0 said "$(traces)" | grep -v ' of ')" "$receive"
like 'and so is the verdict' "$(other=0 where --hung 100ms "$(traces)")" "$verdict"
like 'a job that has ended' "$(where "$job")" "job $job does not run \(CANCELLED\); when its trace is in the archive, .spoor why $job. says how it ended"

begin off --trace=off -N1 -n2 <<-END
	#!/bin/sh
	srun $stuck 0
END
running() { [ "$(squeue -h -j "$job" -o %T)" = RUNNING ]; }
wait_for 20 running
like 'a job that is not traced' "$(where "$job")" "job $job: no process of it is traced"
scancel "$job"

begin mpirun --trace -N2 --ntasks-per-node=2 <<-END
	#!/bin/sh
	mpirun $stuck 0
END
wait_for 30 stands "$job" '^3 ranks .* MPI_Bcast'
like 'mpirun in a batch job' "$(cat "$work/said")" '4 of 4 ranks
3 ranks \(0-2\) in MPI_Bcast count=1 root=3 comm=MPI_COMM_WORLD'
scancel "$job"

begin array --trace -N1 -n2 --array=1-2 <<-END
	#!/bin/sh
	srun $stuck 0
END
wait_for 30 stands "${job}_2" '^1 rank .* MPI_Bcast'
like 'one task of an array' "$(cat "$work/said")" '2 of 2 ranks
1 rank \(1\) after MPI_Barrier
1 rank \(0\) in MPI_Bcast'
both() { [ "$(where "$job" | grep -c '2 of 2 ranks')" = 2 ]; }
ok 'all tasks of an array' wait_for 30 both
scancel "$job"

begin het <<-END
	#!/bin/sh
	#SBATCH --trace -N1 -n2
	#SBATCH hetjob
	#SBATCH --trace -N1 -n1
	srun --het-group=0,1 $stuck 0
END
wait_for 30 stands "$job" '^2 ranks .* MPI_Bcast'
like 'a heterogeneous job is one' "$(cat "$work/said")" '3 of 3 ranks
2 ranks \(0-1\) in MPI_Bcast count=1 root=2'
scancel "$job"
like 'a job that there is not' "$(where 99999)" 'job 99999: squeue does not know it'
like 'no job, no file' "$(where no.spoor)" 'no.spoor: .*no job'
done_testing
