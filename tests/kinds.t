#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# kinds - jobs of many kinds in a cluster: one meaning of cause, state and time in all that is said of them
#
# Each program loses its time, or ends, for one cause. The list, sums, metrics and `spoor why` name the same one; states are Slurm's; nowhere is a rank
# longer in waits than in MPI, or longer in MPI than it runs.
set -u
. "$(dirname "$0")/jobs.sh"
export SPOOR_CLUSTER_CONF="KillWait=2
MinJobAge=7200
OverTimeLimit=0"
start_site -n 4
planted=$work/planted ends=$work/ends jobs=()
mpicc -g -O1 -w -o "$planted" "$top/tests/programs/planted.c" && mpicc -g -O1 -w -o "$ends" "$top/tests/programs/ending.c" || bail_out 'the programs cannot be compiled'

# submit NAME OPTION... -- LINE: of a script; many jobs wait for nodes at a time
submit() {
	local name=$1 folder=$work/$1 options=() job
	shift
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	mkdir "$folder"
	job=$(cd "$folder" && printf '#!/bin/sh\n%s\n' "$2" | sbatch --parsable --trace --job-name="$name" --output=out -N1 -n4 --overcommit "${options[@]}") ||
		bail_out "job $name is refused"
	jobs+=("$job")
}
# Has that many traces in the archive, and is it over?
ended() {
	[ -z "$(squeue --noheader)" ] && spool_is_empty
}

submit limit -t 1 -- "srun --mpi=pmix $ends missing-for-ever"
for kind in efficient together imbalance half slow serial writer decide master small requests pipeline turns moving noise transfer barriers; do
	submit "$kind" -- "srun --mpi=pmix $planted 20 $kind"
done
for kind in signal leave exit abort truncate returned sends receives different; do
	submit "$kind" -- "exec srun --mpi=pmix $ends $kind"
done
for kind in signal abort truncate sends; do
	submit "mpirun-$kind" -- "exec mpirun --oversubscribe $ends $kind"
done
submit mpirun-imbalance -- "mpirun --oversubscribe $planted 20 imbalance"
submit cancelled -- "srun --mpi=pmix $ends missing-for-ever & sleep 8; scancel \$SLURM_JOB_ID; wait"
submit steps -- "srun --mpi=pmix $planted 10 imbalance; srun --mpi=pmix $planted 20 serial; srun --mpi=pmix $planted 5 efficient"
ok 'all jobs are over' wait_for 600 ended
is 'each left a trace' "$(spoor list -P --noheader -o name | sort -u | wc -l)" "${#jobs[@]}"
spoor index >/dev/null || diag 'spoor index failed'
for job in "${jobs[@]}"; do
	scontrol --oneliner show job "$job"
done | sed -n 's/^JobId=\([0-9]*\) .*JobState=\([A-Z_]*\) .*/\1 \2/p' >"$work/states"
python3 "$top/tests/kinds.py" "$work/states" >"$work/said" 2>"$work/problems"
count=0
while read -r verdict title; do
	count=$((count + 1))
	if [ "$verdict" = ok ]; then pass "$title"; else fail "$title" || diag <"$work/problems"; fi
done <"$work/said"
ok 'all was looked at' [ "$count" -ge 6 ] || diag <"$work/problems"
done_testing
