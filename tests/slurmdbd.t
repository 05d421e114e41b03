#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# slurmdbd - with a real slurmdbd: account, partition and QoS in the site's index are those of its records, whatever jobs and traces claim
set -u
. "$(dirname "$0")/jobs.sh"
PATH=$PATH:/usr/sbin
if ! command -v slurmdbd >/dev/null || ! command -v mariadbd >/dev/null; then
	echo '1..0 # SKIP no slurmdbd, or no database (apt-get install slurmdbd mariadb-server-core)'
	exit 0
fi

# Slurm wants users that there are.
mallory=$(id -u games) alice=$(id -u irc) || bail_out 'no such users'
export SPOOR_DATABASE_PORT=$work/port SPOOR_CLUSTER_FIRST=$top/tests/slurmdbd
SPOOR_CLUSTER_CONF=$("$top/tests/slurmdbd" conf "$site/cluster" "$work/port") || bail_out 'no port'
SPOOR_CLUSTER_CONF+='
PartitionName=closed Nodes=n1 MaxTime=60 DefaultTime=30 OverSubscribe=FORCE:4'
export SPOOR_CLUSTER_CONF
mend() { "$top/tests/slurmdbd" stop "$site/cluster"; }
start_site -n 1
like 'slurmdbd knows the cluster' "$(sacctmgr --noheader --parsable2 list cluster format=Cluster)" '^spoor'
sacctmgr -i add account physics secret >/dev/null 2>&1
sacctmgr -i add user irc account=physics >/dev/null 2>&1
sacctmgr -i add user games account=secret >/dev/null 2>&1
is 'and accounts of users' "$(sacctmgr --noheader --parsable2 list associations format=User,Account user=irc,games | sort)" 'games|secret
irc|physics'

AS=$alice run_job alice -A physics -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'a job' 1
hers=$job
AS=$mallory run_job mallory -A secret -p closed -N1 -n2 <<-END
	#!/bin/sh
	export SLURM_JOB_ACCOUNT=physics SLURM_JOB_PARTITION=all SLURM_JOB_QOS=best
	mpirun -n 2 $ending
END
leaves 'a job that claims an account and a partition' 1
his=$job
recorded() { [ "$(sacct --noheader --allusers --allocations --jobs="$hers,$his" --format=State | grep -c COMPLETED)" = 2 ]; }
ok 'slurmdbd has both' wait_for 60 recorded

# Mallory's traces of her job, of one that nobody knows, and of his own with more claims.
forge() { # JOB NUMBER KEY=TEXT...
	local from
	from=$(job=$his; traces)
	PYTHONPATH=$top/tests python3 -B - "$from" "$(dirname "$from")/$1.0.$2.spoor" "$1" "${@:3}" <<-'END'
		import sys, meta
		source, target, job, *more = sys.argv[1:]
		meta.replace(source, target, lambda facts: facts.update({"job": int(job), **dict(word.split("=", 1) for word in more)}))
	END
	chown "$mallory:0" "$(dirname "$from")/$1.0.$2.spoor" && chmod 440 "$(dirname "$from")/$1.0.$2.spoor"
}
forge "$hers" 9 account=forged1 && forge 4711 9 account=forged2 && forge "$his" 9 account=forged3 qos=forged

told() { # KEY...: of each trace, in the order of users and names
	spoor list --json | python3 -c '
import json, sys
for m in sorted(map(json.loads, sys.stdin), key=lambda m: (m["uid"] != int(sys.argv[1]), m["job"], m["name"])):
	print(m["job"], *(m.get(key) for key in sys.argv[2:]))' "$alice" "$@"
}
is 'the index is made' "$(spoor index 2>&1 | tail -n 1 | grep -c '[0-9]'; spoor list >/dev/null 2>&1; echo $?)" "1
0"
is 'each trace has what Slurm says of its job' "$(told account partition qos)" "$hers physics all normal
$hers None None None
$his secret closed normal
$his secret closed normal
4711 None None None"
is 'and what it says itself is a claim' "$(told claimed_account | tail -n 4)" "$hers forged1
$his physics
$his forged3
4711 forged2"
is 'list --account' "$(spoor list --account physics --json | grep -c .) $(spoor list --account 'forged*' --json | grep -c .) $(spoor list -A secret -p closed -q normal --json | grep -c .)" '1 0 2'
is 'sums by account' "$(spoor aggregate --by account --json | python3 -c '
import json, sys
print(*sorted((str(row["account"]), row["traces"]) for row in json.load(sys.stdin)["groups"]))')" "('', 2) ('physics', 1) ('secret', 2)"
is 'a file alone is known by its claims' "$(job=$his; spoor show --json $(traces | head -n 1) | python3 -c '
import json, sys
m = json.load(sys.stdin)["meta"]
print(m.get("account"), m["claimed_account"], m["user"])')" 'None physics games'
is 'slurmdbd away: what is known stays' "$(mend; spoor index >/dev/null 2>&1; told account | sort -u | grep -c 'physics\|secret')" 2
done_testing
