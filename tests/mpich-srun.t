#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpich-srun - programs with MPICH under Slurm: srun --mpi=pmi2, and MPICH's own launcher in a batch job
set -u
. "$(dirname "$0")/jobs.sh"
compiler=$(sed -n 's/^MPICH_CC = //p' "$build/Makefile")
if [ -z "$compiler" ]; then
	rm -rf "$work"
	echo '1..0 # SKIP spoor was built without MPICH'
	exit 0
fi
start_site -n 2
ending=$work/ending
ok 'a program is compiled for MPICH' "$compiler" -std=gnu11 -O1 -g -o "$ending" "$top/tests/ending.c"

# What the archive says of the job's traces: ranks, why they are partial, the library; a line each.
told() {
	spoor list --json | python3 -c '
import json, sys
for line in sys.stdin:
	for job in (lambda v: v if isinstance(v, list) else [v])(json.loads(line)):
		if str(job.get("job")) == sys.argv[1]: print(job.get("ranks"), job.get("reason"))' "$job" | sort
}
# whole TITLE RANKS...: the job's output is that of these worlds, and it leaves a whole trace of each.
whole() {
	local title=$1 n
	shift
	is "$title: output, status" "$status $(sort "$out")" "0 $(for n; do
		echo "$n ranks, sum $((n * (n - 1) / 2)), ending: normal"
		echo 'this goes to stderr'
	done | sort)"
	leaves "$title" $#
	is "$title: of all ranks" "$(told)" "$(printf '%s None\n' "$@" | sort)"
}

run_job one --trace -N1 -n4 <<-END
	#!/bin/sh
	srun --mpi=pmi2 $ending
END
whole 'one step on one node' 4
like 'the library is named' "$(spoor show --json "$(traces)")" 'MPICH Version'

run_job nodes --trace -N2 -n5 <<-END
	#!/bin/sh
	srun --mpi=pmi2 $ending
END
whole 'one step on two nodes, unevenly' 5

run_job steps --trace -N1 -n6 <<-END
	#!/bin/sh
	srun --mpi=pmi2 -n2 $ending
	srun --mpi=pmi2 -n3 --overlap $ending & srun --mpi=pmi2 -n3 --overlap $ending & wait
	srun --mpi=pmi2 -n1 $ending
END
whole 'several steps, two of them at once' 1 2 3 3

AS=$other run_job other --trace -N2 -n4 <<-END
	#!/bin/sh
	srun --mpi=pmi2 $ending
END
whole 'another user' 4

# Hydra starts its proxies by srun, also on the script's node; one such step takes all that the job has.
run_job hydra --trace -N1 -n4 <<-END
	#!/bin/sh
	mpiexec.hydra -n 4 $ending
	export SLURM_OVERLAP=1
	mpiexec.hydra -n 2 $ending & mpiexec.hydra -n 3 $ending & wait
END
whole 'mpiexec in a batch job, two at once' 4 2 3

run_job hydra-nodes --trace -N2 -n4 <<-END
	#!/bin/sh
	mpiexec.hydra -n 4 $ending
END
whole 'mpiexec in a batch job on two nodes' 4

run_job killed --trace -N1 -n2 <<-END
	#!/bin/sh
	srun --mpi=pmi2 $ending abort
END
leaves 'MPI_Abort' 1
is 'MPI_Abort: why there is no more' "$(told)" '2 abort'

# Both libraries in one job, with one installation.
run_job both --trace -N1 -n2 <<-END
	#!/bin/sh
	srun --quiet --mpi=pmi2 $ending
	srun --quiet --mpi=pmix $build/tests/ending
END
whole 'steps with MPICH and with Open MPI' 2 2
# Exact: each program a step, with the flat logger in front of what the plugin preloads. The archive's traces are compared.
mkdir "$work/exact" "$work/exact/logs"
ok 'the programs and the flat logger are compiled' sh -c 'python3 "$1" "$2" >"$2/list"' sh "$top/tests/mpich_programs.py" "$work/exact"
if [ -s "$work/exact/list" ]; then
	job_seconds=$((${SPOOR_TEST_ALL:-0} * 900 + 120))
	for ranks in 4 16; do
		steps=()
		{
			echo '#!/bin/sh'
			while read -r name many option arguments; do
				# without more words, as few as show C, mpif.h and f08
				case ${SPOOR_TEST_ALL:-0}$name,$ranks$many in
				1*,4* | 1*,16many | 0halo,* | 0types,4* | 0collectives,4* | 0fixed,4* | 0f08,4*) ;;
				*) continue ;;
				esac
				steps+=("$name $option")
				mkdir "$work/exact/logs/$name-$ranks"
				nodes=
				case $name in # windows of shared memory, which MPICH 4.2 refuses between nodes
				windows | shared | more | f08) nodes='-N1 --overcommit' ;;
				esac
				echo "FLATLOG_DIR=$work/exact/logs/$name-$ranks srun --mpi=pmi2 $nodes -n$ranks" \
					"sh -c 'LD_PRELOAD=$work/exact/flatlog.so:\$LD_PRELOAD exec \"\$@\"' sh $work/exact/$name $arguments || echo $name ended with status \$?"
			done <"$work/exact/list"
		} >"$work/exact/script"
		run_job "exact-$ranks" --trace -N2 -n"$ranks" <"$work/exact/script"
		is "$ranks ranks: each program ends with status 0" "$(grep 'ended with status' "$out")" ''
		leaves "programs of $ranks ranks" ${#steps[@]}
		for i in "${!steps[@]}"; do
			read -r name option <<<"${steps[i]}"
			[ "$option" != - ] || option=
			ok "$name, $ranks ranks under srun: exact" "$top/tests/exact" -n "$ranks" $option \
				--trace "$(find "$site/archive" -name "$job.$i.*spoor")" --logs "$work/exact/logs/$name-$ranks"
		done
	done
fi
done_testing
