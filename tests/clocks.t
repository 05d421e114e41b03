#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# clocks - two nodes whose clocks are 0.3 s apart: the times of all events are brought to one of them
set -u
. "$(dirname "$0")/jobs.sh"

[ "$(uname -m)" = x86_64 ] || { echo '1..0 # SKIP the wrong clock is made for x86-64'; exit 0; }
start_site -n 2
gcc -shared -fPIC -DAHEAD_NS=300000000 -o "$work/ahead.so" "$top/tests/ahead.c"
install -m 755 "$build/bench/apps/together" "$work/together"
cp "$site/policy.json" "$work/policy.json"

# The largest difference, in ms, between the ends of one MPI_Allreduce on the ranks, of the call in which it is least.
apart() {
	python3 - "$top/tests" "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		import reader
		t = reader.Trace(sys.argv[2])
		name = [site[0] for site in t.sites].index("MPI_Allreduce")
		ends = []
		for rank in range(t.size):
		    times = t.rank_times(rank)
		    ends.append([t.flows[rank]["start"] + times[k][1] for k, site in enumerate(t.walk(rank)) if site == name])
		print(round(min(max(e) - min(e) for e in zip(*ends)) / 1e6, 3))
	END
}

# clocks NAME TIMING MODE: four ranks on two nodes; the second one's clock is ahead
clocks() {
	sed "s/\"rules\"/\"timing\": \"$2\", \"deadline\": 60, \"rules\"/" "$work/policy.json" >"$site/policy.json"
	run_job "$1" --trace -N2 --ntasks-per-node=2 <<-END
		#!/bin/sh
		srun -N2 --ntasks-per-node=2 sh -c '[ \$SLURM_NODEID = 1 ] && export LD_PRELOAD=$work/ahead.so:\$LD_PRELOAD; exec $work/together 50 1 2000 --sleep'
	END
	is "$1: the program ran" "$status" 0
	leaves "$1" 1
	facts=$(spoor show --json "$(traces)" | grep -o '"clocks_[a-z]*_ns": "*[0-9]*' | sort)
}

clocks full full
echo "# $facts"
ms=$(apart "$(traces)")
ok "a collective call ends at the same time on both nodes (within $ms ms)" awk "BEGIN {exit !($ms < 20)}"
like "metadata say how far the clocks were apart" "$facts" 'clocks_apart_ns": "*(29[0-9]|30[0-9])[0-9]{6}'
clocks histogram histogram
is 'without the times of all events nothing is compared' "$facts" ''
done_testing
