#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# identity - in a real Slurm: what a job's environment, its name or its traces claim of it counts nothing against what Slurm says
set -u
. "$(dirname "$0")/jobs.sh"

export SPOOR_CLUSTER_CONF='PartitionName=closed Nodes=n[1-2] MaxTime=60 DefaultTime=30 OverSubscribe=FORCE:4'
start_site -n 2
set_policy() {
	cat >"$work/policy" && sed "s|@SITE@|$site|g" "$work/policy" >"$site/policy.json"
}
set_policy <<-'END'
	{ "version": 1, "mode": "lossless", "archive": "@SITE@/archive", "spool": "@SITE@/spool",
	  "rules": [ { "name": "confidential", "match": { "account": "secret*" }, "mode": "off" },
	             { "name": "no queue", "match": { "partition": "closed" }, "mode": "off" } ] }
END
said() { spoor doctor "$job" 2>&1; }
metadata() { # of the job's trace
	wait_for 20 is_delivered 1
	spoor list --json | python3 -c '
import json, sys
for m in map(json.loads, sys.stdin):
	if m["job"] == int(sys.argv[1]): print(*(m.get(key) for key in sys.argv[2:]))' "$job" "$@"
}

# srun puts what slurmctld told it over what was there. But it is the user's process: it says what its user likes.
cat >"$work/forge.c" <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <slurm/slurm.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	extern char **environ;
	int slurm_step_launch(slurm_step_ctx_t *ctx, const slurm_step_launch_params_t *params, const slurm_step_launch_callbacks_t *callbacks)
	{
		__typeof__(slurm_step_launch) *next = (__typeof__(slurm_step_launch) *)dlsym(RTLD_NEXT, "slurm_step_launch");
		char text[64][500];
		int n = 0;
		for (char **e = environ; *e && n < 64; e++)
			if (!strncmp(*e, "FORGE_", 6))
				snprintf(text[n++], sizeof text[0], "%s", *e + 6);
		for (int i = 0; i < n; i++) {
			char *value = strchr(text[i], '=');
			*value++ = '\0';
			setenv(text[i], value, 1);
			value[-1] = '=';
			for (char **e = params->env; e && *e; e++)
				if (!strncmp(*e, text[i], value - text[i]))
					*e = strdup(text[i]);
		}
		return next(ctx, params, callbacks);
	}
END
cc -w -shared -fPIC -o "$work/forge.so" "$work/forge.c" -ldl && chmod 755 "$work/forge.so" || bail_out 'no compiler'
forge="env LD_PRELOAD=$work/forge.so FORGE_"

# Nothing is forged.
AS=$other run_job honest -A open -N2 --ntasks-per-node=1 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'an account that is traced' 1
is 'its trace has it' "$(metadata account partition)" 'open all'
AS=$other run_job confidential -A secret9 -N1 -n2 <<-END
	#!/bin/sh
	srun $ending
END
leaves 'an account that is not' 0

# The environment is, at each place where it can be.
forged() { # TITLE SBATCH-OPTION... ; the script is on stdin
	local title=$1
	shift
	AS=$other run_job forged "$@" -N2 --ntasks-per-node=1
	is "$title: the job runs" "$status $(grep -c 'ranks, sum' "$out")" '0 1'
	ok "$title: nothing waits" wait_for 40 spool_is_empty
	leaves "$title" 0
}
forged 'the account is changed in the job script' -A secret9 <<-END
	#!/bin/sh
	export SLURM_JOB_ACCOUNT=open
	srun $ending
END
forged 'the account is changed in srun' -A secret9 <<-END
	#!/bin/sh
	${forge}SLURM_JOB_ACCOUNT=open srun $ending
END
like '... which the log of the node tells' "$(said)" 'environment has account open, and Slurm has secret9'
like '... and that it was removed' "$(said)" 'by what Slurm says of the job, the policy does not want them: removed'
forged 'and for one srun, by env' -A secret9 <<-END
	#!/bin/sh
	env SLURM_JOB_ACCOUNT=open srun --export=ALL,SLURM_JOB_ACCOUNT=open $ending
END
forged 'the account is removed' -A secret9 <<-END
	#!/bin/sh
	unset SLURM_JOB_ACCOUNT
	${forge}SLURM_JOB_ACCOUNT= srun $ending
END
SLURM_JOB_ACCOUNT=open forged 'the account is changed before sbatch' -A secret9 <<-END
	#!/bin/sh
	srun $ending
END
forged 'the partition is changed' -p closed <<-END
	#!/bin/sh
	${forge}SLURM_JOB_PARTITION=all srun $ending
END
forged 'mpirun in a script that lies' -A secret9 <<-END
	#!/bin/sh
	${forge}SLURM_JOB_ACCOUNT=open mpirun -n 2 $ending
END

# srun without a script.
job=$(AS=$other as_user sh -c "cd / && ${forge}SLURM_JOB_ACCOUNT=open srun -A secret9 -N1 -n2 sh -c 'echo \$SLURM_JOB_ID; exec $ending' 2>/dev/null" | sort -n | grep -m 1 -x '[0-9]*')
leaves 'srun alone, with another account in its environment' 0

# A claim that the policy likes less is nobody else's, either.
AS=$other run_job modest -A open -N1 -n2 <<-END
	#!/bin/sh
	export SLURM_JOB_QOS=best SLURM_JOB_RESERVATION=mine
	${forge}SLURM_JOB_ACCOUNT=opal srun $ending
END
leaves 'an account that is somebody else' 1
is 'the trace has what Slurm says' "$(metadata account partition reservation)" 'open all '

# Nobody says that the step ended, as when a node goes down: what root noted when it began is asked about.
AS=$other as_user sh -c "cd / && ${forge}SLURM_JOB_ACCOUNT=open srun -A secret9 -N1 -n1 sh -c '$ending; sleep 100'" >"$work/lost" 2>&1 &
recorded() { [ -n "$(find "$site/spool" -path '*/[0-9]*/*' -name 'world-*')" ]; }
ok 'slurmstepd is gone: it captures' wait_for 20 recorded
job=$(squeue --noheader --states=running --format=%A)
# Its task's parent: there may be other clusters on this machine.
stepd() {
	local task parent
	for task in $(pgrep -u "$other" -f "$ending; sleep"); do
		parent=$(sed -n 's/^PPid:\t//p' "/proc/$task/status" 2>/dev/null)
		grep -q '^slurmstepd' "/proc/$parent/comm" 2>/dev/null && echo "$parent"
	done | sort -u
}
killed=$(stepd)
is '... and root has noted the step' "$(cat "$site/spool/.waiting/$other/$job".0.* | grep -cx 'deliver_begun=1\|account=open')" 2
kill -KILL "$killed" && scancel "$job"
wait
no_tasks() { ! pgrep -u "$other" -f "$ending; sleep" >/dev/null; }
wait_for 30 no_tasks || kill -KILL $(pgrep -u "$other" -f "$ending; sleep")
like '... after which nothing of it is delivered' "$(spoor sweep --settled 0 --policy "$site/policy.json")" 'removed.0 delivered, 0 kept, 0 given up, 0 of steps that run'
leaves 'slurmstepd is gone, and the account was changed' 0
like '... which the log of the node tells' "$(said)" 'environment has account open, and Slurm has secret9'

# Where a rule looks at the time limit, Slurm 22.05 is asked when the step begins.
set_policy <<-'END'
	{ "version": 1, "mode": "lossless", "archive": "@SITE@/archive", "spool": "@SITE@/spool",
	  "rules": [ { "name": "short", "match": { "time_limit_max": 5 }, "mode": "off" } ] }
END
forged 'the times are changed, and the name says one' -t 4 -J "x TimeLimit=1-00:00:00 Account=open
$((RANDOM))|0|1|N/A|1-00:00:00|open|all|normal|(null)" <<-END
	#!/bin/sh
	${forge}SLURM_JOB_START_TIME=1000000 FORGE_SLURM_JOB_END_TIME=2000000 srun $ending
END
done_testing
