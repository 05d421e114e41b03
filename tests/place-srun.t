#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# place-srun - srun puts ranks where `spoor place` says: by its distributions, and by the files of -o
set -u
. "$(dirname "$0")/jobs.sh"

# Its nodes are all on this host, and each has as many CPUs as it has; --overcommit is for more ranks.
start_site -n 4

# Ranks r and r + 1 of `pairs` send to each other: a trace that needs no run. trace NAME SIZE HOSTS PAIRS...
trace() {
	local name=$1 size=$2 hosts=$3 pair
	shift 3
	{
		echo "size $size"
		echo "hosts $hosts"
		for pair in "$@"; do
			echo "${pair%-*} 2 1000 1000 100 t $((${pair#*-} - ${pair%-*})) 0 w"
		done
		for ((r = 0; r < size; r++)); do
			echo "$r 1 1000 1000"
		done
	} | "$build/tests/virtual" "$work/$name.spoor"
}

# told NAME EXPRESSION [OPTION...]: a Python expression over p, what spoor place says.
told() {
	local name=$1 expression=$2
	shift 2
	spoor place --json "$@" "$work/$name.spoor" | python3 -c 'import json, sys; p = json.load(sys.stdin); print(eval(sys.argv[1], {"p": p}))' "$expression"
}

# Which node each rank is on, in a job of N nodes: where NODES COMMAND...
where() {
	local nodes=$1
	shift
	run_job where -N"$nodes" --exclusive <<-END
		#!/bin/sh
		$* --overcommit sh -c 'echo \$SLURM_PROCID \$SLURM_NODEID'
	END
	sort -n "$out" | awk '{ printf "%s%s", sep, $2; sep = " " }'
}

trace all 16 'a a a a b b b b c c c c d d d d' 0-1
for way in block cyclic plane=2; do
	is "srun --distribution=$way puts ranks where it is said" "$(where 4 "srun -N4 -n16 --distribution=$way")" \
		"$(told all "' '.join(map(str, next(s['nodes'] for s in p['slurm'] if s['placement'] == '$way')))" --nodes-like 4:1:4)"
done
is 'also where ranks cannot be shared out evenly: block' "$(where 4 'srun -N4 -n14 --distribution=block')" '0 0 0 0 1 1 1 1 2 2 2 3 3 3'
trace uneven 14 'a a a a b b b b c c c d d d' 0-1
is 'which spoor place says' "$(told uneven "' '.join(map(str, p['slurm'][0]['nodes']))" --nodes-like 4:1:4)" '0 0 0 0 1 1 1 1 2 2 2 3 3 3'

# Pairs that no distribution of Slurm's has together.
trace odd 8 'n1 n1 n2 n2 n3 n3 n4 n4' 0-3 1-6 2-5 4-7
ok 'files are written' spoor place -o "$work/files" "$work/odd.spoor"
wanted='0 1 2 0 3 2 1 3'
is 'found: each pair on a node' "$(told odd "' '.join(map(str, p['found']['nodes']))")" "$wanted"
chmod -R a+rX "$work/files"
is 'the script srun of -o gives that' "$(where 4 "$work/files/srun")" "$wanted"
is 'SLURM_HOSTFILE does' "$(where 4 "SLURM_HOSTFILE=$work/files/hostfile env -u SLURM_NNODES -u SLURM_JOB_NUM_NODES srun -n8 --distribution=arbitrary")" "$wanted"
run_job mpirun -N4 --exclusive <<-END
	#!/bin/sh
	cd $work/files || exit
	case \$(mpirun --version) in
	*' 4.'*) ranks='--oversubscribe --rankfile $work/files/rankfile' ;;
	*) ranks='--map-by rankfile:file=rankfile' ;; # a path with a - is refused
	esac
	mpirun --allow-run-as-root \$ranks -n 8 sh -c 'echo \$OMPI_COMM_WORLD_RANK \$SLURM_NODEID'
END
is "the rank file does with Open MPI's mpirun" "$(sort -n "$out" | awk '{ printf "%s%s", sep, $2; sep = " " }')" "$wanted"
run_job few -N2 --exclusive <<-END
	#!/bin/sh
	$work/files/srun true
END
ok 'in a smaller job it says why not' grep -q 'fewer than 4 nodes' "$out"
ok 'and fails' [ "$status" != 0 ]

# A job of the archive, by its number, as it ran.
run_job halo --trace -N2 -n4 --exclusive <<-END
	#!/bin/sh
	srun -N2 -n4 --overcommit --distribution=cyclic $build/tests/programs/halo
END
leaves 'a job leaves a trace' 1
said=$(spoor place --json "$job" | python3 -c 'import json, sys; p = json.load(sys.stdin); print(p["ranks"], p["machine"]["nodes"], p["ran"]["nodes"], p["verdict"])')
is 'how a job ran, by its number, and that there is a better way' "$said" "4 2 [0, 1, 0, 1] gain"
done_testing
