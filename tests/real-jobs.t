#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# real-jobs - HPCC and LAMMPS as Debian has them, in jobs, by each launcher
#
# Output and exit status are as without spoor, the trace is exactly what was called, and so is its replay, which the same launcher starts.
# Debian has both with Open MPI only. mpich-srun.t has MPICH's launchers.
set -u
. "$(dirname "$0")/jobs.sh"
start_site -n 2
# What a task executes: the flat logger in front of the tracer that the plugin preloads.
front="sh -c 'LD_PRELOAD=$build/tests/flatlog/flatlog.so:\$LD_PRELOAD exec \"\$@\"' sh"

# Each run in a folder of its own: what it prints or writes, and its exit status.
# $1: what starts it. $2: what it runs. $3: the folders.
script() {
	cat <<-END
		#!/bin/sh
		for folder in $3; do
			mkdir \$folder && cp $top/tests/programs/in.lj $work/hpccinf.txt \$folder && cd \$folder || exit 1
			export FLATLOG_DIR=\$PWD
			$1 $2 >out 2>err
			echo \$? >status
			[ ! -e hpccoutf.txt ] || mv hpccoutf.txt out
			cd ..
		done
	END
}

same_events() {
	local rank
	for ((rank = 0; rank < $1; rank++)); do
		[ -n "$(spoor dump --rank $rank --count 1 "$2")" ] || return
		diff <(spoor dump --rank $rank "$2") <(spoor dump --rank $rank "$3") | head -n 8 | grep . && return 1
	done
	return 0
}

# check RANKS PROGRAM LAUNCHER...
check() {
	local ranks=$1 program=$2 words=$2 title="$2, ${*:3}" name=$2-$3 trace
	shift 2
	[ "$program" != lmp ] || words='lmp -in in.lj -log none'
	if ! command -v "$program" >/dev/null; then
		pass "$title # SKIP $program is not installed"
		return
	fi
	run_job "$name-plain" --trace=off -N2 -n"$ranks" <<<"$(script "$*" "$words" "$work/$name-one $work/$name-two")"
	run_job "$name" --trace=lossless -N2 -n"$ranks" <<<"$(script "$*" "$front $words" "$work/$name-traced")"
	is "$title: exit status" "$(cat "$work/$name"-{one,two,traced}/status)" $'0\n0\n0'
	ok "$title: output" python3 "$top/tests/printed.py" same "$program" "$work/$name"-{one,two,traced}/out
	is "$title: stderr" "$(cat "$work/$name-traced/err")" "$(cat "$work/$name-two/err")"
	leaves "$title" 1
	trace=$(traces)
	ok "$title: exact" "$top/tests/exact" -n "$ranks" --trace "$trace" --logs "$work/$name-traced"
	# not --check, whose own way to trace the plugin takes out of what a job starts
	run_job "$name-replay" --trace=lossless -N2 -n"$ranks" <<-END
		#!/bin/sh
		spoor replay --compute none --scratch $work $trace -- $*
	END
	is "$title: exit status and output of the replay" "$status $(cat "$out")" '0 '
	leaves "$title, replay" 1
	ok "$title: its replay's trace has the same events" same_events "$ranks" "$trace" "$(traces)"
}

python3 "$top/tests/printed.py" input "$work"
for launcher in mpirun 'srun --mpi=pmix'; do
	# shellcheck disable=SC2086 # words
	check 2 hpcc $launcher
	# shellcheck disable=SC2086
	check 4 lmp $launcher
done
done_testing
