#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# apart - ranks on several nodes, some not traced, late or stopped: nobody waits for them in MPI_Finalize, and each rank's trace is kept once
set -u
. "$(dirname "$0")/jobs.sh"

deadline=100 soon=50 # waiting to the deadline cannot be taken for a busy machine
start_site -n 2
sed -i "s/\"rules\"/\"deadline\": $deadline, \"rules\"/" "$site/policy.json"
install -m 755 "$build/tests/programs/late" "$work/late"

# What tracers said to the nodes, while their traces were delivered.
tells() {
	said=$(printf '%b\n' "$(sed -n "s/.* job=$job .* why=//p" "$build/prefix/var/log/spoor/node.log" | sed 's/%/\\x/g')" | sed -n 's/.*tracer: //p' | sort -u)
	[[ $said =~ $1 ]]
}

# apart TITLE MISSING PATTERN SRUN-OPTIONS WRAPPER ARGUMENT...: four ranks on two nodes. MISSING: ranks that the trace lacks, as `spoor show --last` says it; PATTERN: what
# the node's log must say of the tracer, or nothing; WRAPPER: shell code before the program.
apart() {
	local title=$1 missing=$2 pattern=$3 options=$4 wrapper=$5 normal shown said calls
	shift 5
	local script="#!/bin/sh
begin=\$(date +%s)
srun -N2 --ntasks-per-node=2 $options sh -c '$wrapper exec \"\$@\"' sh $work/late $*
status=\$?
echo \$((\$(date +%s) - begin)) >seconds
exit \$status"
	run_job untraced --trace=off -N2 --ntasks-per-node=2 <<<"$script"
	normal="$status $(cat "$out")"
	run_job traced --trace -N2 --ntasks-per-node=2 <<<"$script"
	is "$title: output and exit status" "$status $(cat "$out")" "$normal"
	ok "$title: nobody waits ($(cat "$work/traced/seconds") s)" test "$(cat "$work/traced/seconds")" -lt $soon
	leaves "$title" 1
	shown=$(spoor show --last "$(traces)" | sed -n 's/.*not in this trace: //p')
	is "$title: the ranks that the trace lacks" "$shown" "$missing"
	calls=$(for rank in 0 1 2 3; do spoor dump --rank $rank "$(traces)" 2>/dev/null | grep -c MPI_Allreduce; done | xargs)
	is "$title: each rank is there once" "$calls" "$(for rank in 0 1 2 3; do [[ $missing == *$rank* ]] && echo 0 || echo 10; done | xargs)"
	wait_for 15 tells "^${pattern}$"
	like "$title: the nodes' logs" "$said" "^${pattern}$"
}

# a busy machine may have them come too far apart for that
apart='(not all ranks came to MPI_Finalize within 1 s|the ranks came to MPI_Finalize too far apart|no communicator within the deadline|
)*'
apart 'all' '' "$apart" '' ''
apart 'the second node is not traced' 2-3 'not all ranks came to MPI_Finalize within 1 s' '' '[ $SLURM_NODEID = 1 ] && unset LD_PRELOAD;'
apart 'the first node is not traced' 0-1 'not all ranks came to MPI_Finalize within 1 s' '' '[ $SLURM_NODEID = 0 ] && unset LD_PRELOAD;'
apart 'a rank of one node is not traced' 2 '1 of the 2 ranks of this node are not traced
not all ranks came to MPI_Finalize within 1 s' '' '[ $SLURM_PROCID = 2 ] && unset LD_PRELOAD;'
apart 'rank 0 is late' '' "$apart" '' '' 0 4
apart 'a rank is late' '' "$apart" '' '' 3 4
apart 'a rank is stopped' '' "$apart" '' '' 3 stop
done_testing
