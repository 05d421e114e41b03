#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# exact-chain - in a real Slurm, over several nodes: the trace in the archive is exactly what was called
set -u
. "$(dirname "$0")/jobs.sh"

programs=$build/tests/programs
# What a task executes: the flat logger in front of the tracer that the plugin preloads.
front="sh -c 'LD_PRELOAD=$build/tests/flatlog/flatlog.so:\$LD_PRELOAD exec \"\$@\"' sh"

start_site

# exact TITLE RANKS SBATCH-OPTION... < SCRIPT: the job leaves one trace, which is equal to the flat logs.
exact() {
	local title=$1 ranks=$2 folder=$work/job trace job end=$((SECONDS + 240))
	shift 2
	rm -rf "$folder" && mkdir -p "$folder/flat" && cp "$top/tests/programs/hpccinf.txt" "$folder" && cat >"$folder/script"
	job=$(cd "$folder" && FLATLOG_DIR=$folder/flat sbatch --parsable --trace=lossless --output=out "$@" script)
	# not sbatch --wait, which looks only every ten seconds
	until trace=$(find "$site/archive" -name "$job.*.spoor") && [ -n "$trace" ] || [ $SECONDS -ge $end ]; do
		sleep 0.2
	done
	if [ "$(grep -c . <<<"$trace")" != 1 ]; then
		fail "$title" || diag <<-END
			job $job left these traces: ${trace:-none}
			$(tail -n 20 "$folder/out")
			of spoor in the logs of the nodes:
			$(grep -h "\[$job\..*spoor" "$site"/cluster/log/slurmd-n* | tail -n 20)
		END
		return
	fi
	ok "$title" python3 "$top/tests/exact" -n "$ranks" --trace "$trace" --logs "$folder/flat"
}

if command -v hpcc >/dev/null; then
	exact 'HPCC, srun, 4 nodes x 2 ranks' 8 -N4 --ntasks-per-node=2 <<-END
		#!/bin/sh
		srun $front hpcc
	END
else
	pass 'HPCC, srun, 4 nodes x 2 ranks # SKIP hpcc is not installed'
fi
exact 'halo, mpirun, 2 nodes x 3 ranks' 6 -N2 --ntasks-per-node=3 <<-END
	#!/bin/sh
	mpirun $front $programs/halo
END
exact 'a random program, srun, 3 nodes x 2 ranks' 6 -N3 --ntasks-per-node=2 <<-END
	#!/bin/sh
	srun $front $programs/random 42 500
END
exact 'collectives, mpirun, 4 nodes x 1 rank' 4 -N4 --ntasks-per-node=1 <<-END
	#!/bin/sh
	mpirun $front $programs/collectives
END
done_testing
