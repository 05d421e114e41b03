#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# placement - a trace knows where its ranks sat: CPUs, local ranks, sockets; who shares a core; how far messages went
set -u
. "$(dirname "$0")/jobs.sh"

# Slurm binds here as it does on a large machine. Its nodes are all on this host, and have as many CPUs as it has: so
# nodes and their names are stand-ins, CPUs and what the kernel says of them are real.
cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo '1..0 # SKIP one CPU only'; exit 0; }
export SPOOR_CLUSTER_CONF='TaskPlugin=task/affinity'
start_site -n 2
halo=$build/tests/programs/halo

# seats TRACE EXPRESSION: a Python expression over p, the object `placement` of its summary, and m, its matrix.
seats() {
	spoor show --json "$1" >"$work/summary.json" && spoor show --matrix --json "$1" >"$work/matrix.json" &&
		python3 -c '
import json, sys
with open(sys.argv[1]) as s, open(sys.argv[2]) as m:
    shown, matrix = json.load(s), json.load(m)["matrix_distances"]
p, ranks = shown["placement"], shown["placement"]["ranks"]
print(eval(sys.argv[3], {"p": p, "m": matrix, "r": ranks, "all": all, "sorted": sorted, "len": len}))' \
		"$work/summary.json" "$work/matrix.json" "$2"
}

# placed TITLE SRUN-OPTIONS: the trace of halo by srun with these.
placed() {
	local title=$1
	shift
	run_job placed --trace -N2 -n4 --exclusive <<-END
		#!/bin/sh
		srun $* $halo
	END
	leaves "$title" 1
	trace=$(traces | head -n 1)
}

placed 'block' -N2 -n4 --distribution=block --cpu-bind=map_cpu:0,1
is 'block: nodes' "$(seats "$trace" '[x["node"] for x in r]')" "['n1', 'n1', 'n2', 'n2']"
is 'block: local ranks' "$(seats "$trace" '[x["local_rank"] for x in r]')" '[0, 1, 0, 1]'
is 'block: CPUs' "$(seats "$trace" '[x["cpus"] for x in r]')" "['0', '1', '0', '1']"
is 'block: nobody shares' "$(seats "$trace" 'p["shared"]')" '[]'
is 'block: sockets as the kernel has them' "$(seats "$trace" 'p["sockets"]')" \
	"$(cat /sys/devices/system/cpu/cpu*/topology/package_cpus_list | sort -u | wc -l)"
ok 'block: messages within a node and to another one' [ "$(seats "$trace" 'm["far"][0] > 0 and m["socket"][0] + m["node"][0] > 0 and m["unknown"] == [0, 0]')" = True ]
like 'the summary says it' "$(spoor show "$trace")" 'Placement +4 ranks on 2 nodes of .* 2 on each; a rank may run on 1 core'
like 'the matrix says it' "$(spoor show --matrix "$trace")" 'to another node'

is 'the independent reader finds the same' "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import reader
print([v[0] for _, v in sorted(reader.Trace(sys.argv[2]).placement.items())])' "$top/tests" "$trace")" '[[0], [1], [0], [1]]'

placed 'cyclic' -N2 -n4 --distribution=cyclic --cpu-bind=map_cpu:0,1
is 'cyclic: nodes' "$(seats "$trace" '[x["node"] for x in r]')" "['n1', 'n2', 'n1', 'n2']"
is 'cyclic: CPUs' "$(seats "$trace" '[x["cpus"] for x in r]')" "['0', '0', '1', '1']"

placed 'overlapping' -N1 -n2 --overlap --cpu-bind=map_cpu:1,1
is 'overlapping: who shares what' "$(seats "$trace" '[(x["node"], x["cpus"], x["ranks"]) for x in p["shared"]]')" "[('n1', '1', '0-1')]"
like 'overlapping: it is told' "$(spoor show "$trace")" 'Shared +ranks 0-1 share 1 core of node n1 \(CPUs 1\)'
spoor report -o "$work/page.html" "$trace"
ok 'overlapping: the page says it, too' grep -q 'ranks 0-1 share 1 core of node n1' "$work/page.html"

placed 'unbound' -N1 -n2 --cpu-bind=none
is 'unbound: all CPUs' "$(seats "$trace" '[x["cpus"] for x in r]')" "['0-$((cpus - 1))', '0-$((cpus - 1))']"
is 'unbound: two ranks on two CPUs or more share nothing' "$(seats "$trace" 'p["shared"]')" '[]'

# Without Slurm: as many ranks as fit, and one more. One of two ranks alone on a CPU: what sharing does is measured.
run_local() {
	spoor run -o "$work/$1.spoor" -- mpirun --allow-run-as-root --oversubscribe --bind-to none "${@:2}" >"$work/said" 2>&1
}
run_local crowd -n $((cpus + 1)) "$halo"
is 'more ranks than CPUs share them' "$(seats "$work/crowd.spoor" '[(x["cores"], x["count"]) for x in p["shared"]]')" "[($(cat /sys/devices/system/cpu/cpu*/topology/core_cpus_list | sort -u | wc -l), $((cpus + 1)))]"
# shellcheck disable=SC2016 # each rank's own
run_local three -n 3 sh -c 'exec taskset -c $((OMPI_COMM_WORLD_RANK / 2)) "$0"' "$halo"
is 'two of three share a CPU' "$(seats "$work/three.spoor" '[x["shares"] for x in r]')" '[True, True, False]'
ok 'what that did is measured' [ "$(seats "$work/three.spoor" 'p["shared_effect"] > 0')" = True ]
export KEY=placement-placement-placement-1
ok 'an anonymised trace keeps it' spoor export --spoor "$work/anonymous.spoor" --anonymise env:KEY "$work/three.spoor"
is 'and says it without the host' "$(seats "$work/anonymous.spoor" '[x["shares"] for x in r]')" '[True, True, False]'

# The kernel writes a process's groups before its CPUs.
if [ "$(id -u)" = 0 ]; then
	spoor run -o "$work/groups.spoor" -- mpirun --allow-run-as-root --bind-to none -n 2 python3 -c '
import os, sys
os.setgroups(range(1000000, 1003000))
os.execv(sys.argv[1], sys.argv[1:])' "$halo" >"$work/said" 2>&1
	is 'with 3000 groups: all CPUs' "$(seats "$work/groups.spoor" '[x["cpus"] for x in r]')" "['0-$((cpus - 1))', '0-$((cpus - 1))']"
fi
done_testing
