#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# collect - spoor run, spoor-helper collect, and what spoor list makes of the archive that they fill
set -u
. "$(dirname "$0")/tap.sh"

build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/collect.XXXXXX") || exit 1
chmod 711 "$work" # root lists as user nobody
trap 'rm -rf "$work"' EXIT
SPOOR_PRELOAD=$(python3 "$(dirname "$0")/launch.py")
export SPOOR_PRELOAD SPOOR_ARCHIVE=$work/archive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
export TMPDIR=$work # the private folders of spoor run
PATH=$build:$PATH
ending=$build/tests/ending
cd "$work" || exit 1

# Calling it.
like 'no command' "$(spoor 2>&1)" '^Usage: spoor COMMAND'
like 'unknown command' "$(spoor lsit 2>&1)" 'unknown command "lsit"; did you mean "list"\?'
is 'unknown command: exit status' "$(spoor lsit 2>/dev/null; echo $?)" 2
like 'version' "$(spoor --version)" '^spoor [0-9]'
for command in run list index show dump stat verify policy doctor; do
	like "spoor $command --help" "$(spoor $command --help)" "^Usage: spoor $command"
	is "spoor $command --nonsense: exit status" "$(spoor $command --nonsense >/dev/null 2>&1; echo $?)" 2
done
is 'a full disk is a failure' "$(spoor --help 2>/dev/null >/dev/full; echo $?)" 1

# spoor run.
is 'run: nothing to run' "$(spoor run 2>/dev/null; echo $?)" 2
is 'run: a mode that is none' "$(spoor run --mode on true 2>&1)" 'spoor run: --mode: expected off, lossless, lossy or lossy:N, found "on"; see `spoor run --help`'
is 'run: no such command' "$(spoor run ./nothing 2>/dev/null; echo $?)" 127
is 'run: may not execute' "$(: >file; spoor run ./file 2>/dev/null; echo $?)" 126
is 'run: one process' "$(spoor run -o one.spoor -- "$ending" exit 2>&1; echo $?)" "1 ranks, sum 0, ending: exit
this goes to stderr
3"
ok 'run: its trace' spoor verify one.spoor
is 'run: never overwrites' "$(spoor run -o one.spoor -- "$ending" 2>&1; echo $?)" 'spoor run: one.spoor exists; -f overwrites it, -o FILE names another
1'
is 'run: overwrites when told to' "$(spoor run -f -o one.spoor -- "$ending" 2>/dev/null; echo $?)" '1 ranks, sum 0, ending: normal
0'
is 'run: mpirun' "$(spoor run -- mpirun -n 4 "$ending" 2>/dev/null; echo $?)" '4 ranks, sum 6, ending: normal
0'
ok 'run: the trace of mpirun' spoor verify mpirun.spoor
is 'run: two MPI programs' "$(spoor run -o two -- sh -c "$ending; $ending" >/dev/null 2>&1; echo $?; ls two*)" '0
two
two.1'
is 'run: mode off' "$(spoor run -m off -o off.spoor -- "$ending" 2>/dev/null; ls off* 2>/dev/null)" '1 ranks, sum 0, ending: normal'
like 'run: no MPI program' "$(spoor run -o none.spoor -- true 2>&1)" '^spoor run: no trace: true ran no MPI program'
cat >ignoring <<-END
	#!/usr/bin/env python3
	import os, signal, sys
	signal.signal(signal.SIGCHLD, signal.SIG_IGN)
	os.execvp(sys.argv[1], sys.argv[1:])
END
chmod +x ignoring
is 'run: by a process that ignores SIGCHLD' "$(./ignoring spoor run -o none.spoor -- sh -c 'grep SigIgn /proc/self/status; exit 3' 2>/dev/null; echo $?)" \
	"$(./ignoring sh -c 'grep SigIgn /proc/self/status; exit 3' 2>/dev/null
echo 3)"
is 'run: a command that is killed' "$(spoor run -o none.spoor -- sh -c 'kill -9 $$' 2>/dev/null; echo $?)" 137
(
	spoor run -o none.spoor -- sh -c 'trap "exit 9" TERM; : >ready; while :; do sleep 0.1; done' 2>/dev/null &
	until [ -e ready ]; do sleep 0.1; done
	kill $!
	wait $!
	echo $? >signal
)
is 'run: passes signals on' "$(cat signal)" 9
mkdir nowhere
is 'run: the output cannot be written' "$(spoor run -o nowhere/a.spoor -- sh -c 'rmdir nowhere; exec "$0"' "$ending" 2>&1 | grep -c 'No such file.*the raw trace is')" 1
is 'run: what could not be written is kept' "$(find spoor-run.* -name 'world-*.spoor' | wc -l)" 1
rm -rf spoor-run.*

# spoor-helper collect: raw traces, as a step leaves them.
raw() {
	mkdir "$1" && SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=$work/$1" LD_PRELOAD=$SPOOR_PRELOAD "$ending" >/dev/null 2>&1
}
mkdir -p archive/2026/03/01 archive/2026/03/02
me=$(id -u) one=archive/2026/03/01/$(id -u) two=archive/2026/03/02/$(id -u)
facts() {
	printf '%s\n' "job=$1" "step=$2" "spool=$work/$3" "day=$work/archive/2026/03/0$4" "uid=$(id -u)" node=n1 exit_code=0 signal=0 "${@:5}"
}
collect() {
	local status
	facts "$@" | spoor-helper collect 2>&1
	status=$?
	case $status in
	0) echo done ;;
	4) echo 'no trace' ;;
	esac
	return $status
}
raw s1 && raw s2 && raw s3
is 'collect: says that it is done' "$(collect 7 0 s1 1 partition=long)" 'done'
is 'collect: the file' "$(cd archive && find . -type f -printf '%P %m\n')" "2026/03/01/$me/7.0.0.spoor 440"
is 'collect: the spool folder is empty' "$(ls -A s1)" ''
is 'collect: nothing left to do' "$(collect 7 0 s1 1)" 'no trace'
is 'collect: the next number' "$(collect 7 0 s2 1 >/dev/null; ls $one)" '7.0.0.spoor
7.0.1.spoor'
is 'collect: another day, a failed job' "$(collect 8 batch s3 2 exit_code=3 mode=lossless 'rule=a%20b')" 'done'
ok 'collect: what it makes is whole' spoor verify archive/2026/03/0?/*/*.spoor
like 'collect: a folder that is not there' "$(raw s4; sed -n 1p <(facts 9 0 s4 3 | spoor-helper collect 2>&1))" 's4: not archived: .*/03/.*: No such file'
is 'collect: and the raw trace stays' "$(ls s4 | grep -c world)" 1
like 'collect: a raw trace that is damaged' "$(printf 'xx' >s4/world-0.spoor; collect 9 0 s4 1 | head -n 1)" 'world-0.spoor: '
is 'collect: the other one is delivered, the damaged one stays, with the facts' "$(ls s4; ls $one)" 'facts
world-0.spoor
7.0.0.spoor
7.0.1.spoor
9.0.0.spoor'
like 'collect: without a job' "$(printf 'step=0\nspool=/a\nday=/b\n' | spoor-helper collect 2>&1)" 'job, step, day or spool is missing'
like 'collect: a step with a slash' "$(collect 1 ../../x s1 1)" 'job, step, day or spool is missing'

# Links that somebody planted in the spool: what they lead to is neither read, nor archived, nor removed.
aborted() {
	mkdir "$1" && SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=$work/$1" LD_PRELOAD=$SPOOR_PRELOAD "$ending" abort >/dev/null 2>&1
	find "$1" -name '*.arena'
}
arena=$(aborted s6)
ok 'planted: an aborted process leaves its arena' test -s "$arena"
mv "$arena" victim && cp victim copy && ln victim "$arena"
like 'planted: a hard link' "$(collect 20 0 s6 1)" 'somebody else.s, or has a second name; left alone'
is 'planted: no trace of it, and the file is as it was' "$(ls archive/2026/03/01 | grep -c '^20'; cmp victim copy && echo same)" '0
same'
rm -f "$arena"
ln -s "$work/victim" "$arena"
collect 20 1 s6 1 >/dev/null
is 'planted: a symbolic link' "$(ls archive/2026/03/01 | grep -c '^20'; cmp victim copy && echo same)" '0
same'
mv victim s6/world-0000000000000001.spoor.keep 2>/dev/null
ln -s /etc/passwd s6/world-0000000000000002.spoor
collect 20 2 s6 1 >/dev/null
is 'planted: a link in the place of a raw trace' "$(ls archive/2026/03/01 | grep -c '^20'; test -s /etc/passwd && echo there)" '0
there'
rm -rf s6 copy

# spoor list.
names() {
	spoor list --json --sort start "$@" | python3 -c 'import json, sys; print(*[json.loads(line)["name"] for line in sys.stdin])'
}
is 'list: by start' "$(names)" '7.0.0 7.0.1 8.batch.0 9.0.0'
is 'list: the newest first' "$(spoor list --noheader --parsable2 --format job | tr '\n' ' ')" '9.0.0 8.batch.0 7.0.1 7.0.0 '
is 'list: jobs, steps and traces' "$(names --job 9,8.batch,7.0.1)|$(names --job 8.0)|$(names --job 7.0)" '7.0.1 8.batch.0 9.0.0||7.0.0 7.0.1'
is 'list: users by number' "$(names --user nobody-at-all,$(id -u))" '7.0.0 7.0.1 8.batch.0 9.0.0'
is 'list: states as squeue has them' "$(names --state F,TO)" '8.batch.0'
is 'list: for programs' "$(spoor list --parsable2 --format JobID,ranks,state,mpi_version -j 8)|$(spoor list --csv --noheader --format job,rule -j 8)" \
	'job|ranks|state|mpi_version
8.batch.0|1|FAILED|3.1|8.batch.0,a b'
is 'list: widths' "$(spoor list --format 'job%-5,ranks%8,state%4' -j 8)" 'JOB      RANKS STA+
8.ba+        1 FAI+'
terminal() {
	script -qec "stty cols 80; $*" /dev/null </dev/null | tr -d '\r'
}
is 'list: a terminal of 80 columns' "$(SPOOR_PAGER='' terminal spoor list --sort job | awk '{ if (length > 80) print "wide:", $0 } NR == 1 { $1 = $1; print }')" \
	'JOB USER NAME STATE START ELAPSED RANKS MPI% REASON'
is 'list: a pager' "$(SPOOR_PAGER='sed s/^/paged:/' terminal spoor list -j 8 | grep -c '^paged:') $(SPOOR_PAGER='sed s/^/paged:/' spoor list | grep -c '^paged:')" '2 0'
is 'list: a pager of a process that ignores SIGCHLD' "$(SPOOR_PAGER='sed s/^/paged:/' terminal timeout 20 ./ignoring spoor list -j 8 | grep -c '^paged:')" 2
is 'list: user' "$(names --user "$(id -un)")" '7.0.0 7.0.1 8.batch.0 9.0.0'
is 'list: another user' "$(names --user nobody-at-all)" ''
is 'list: state' "$(names --state failed)" '8.batch.0'
is 'list: executable' "$(names --exe endin\?) | $(names --exe '*/tests/ending') | $(names --exe x)" '7.0.0 7.0.1 8.batch.0 9.0.0 | 7.0.0 7.0.1 8.batch.0 9.0.0 | '
is 'list: since, until' "$(SPOOR_ARCHIVE=$work/archive names --until 1h)|$(names --since 1d | wc -w)" '|4'
is 'list: a bad time' "$(spoor list --since someday 2>/dev/null; echo $?)" 2
is 'list: a bad state' "$(spoor list --state well 2>/dev/null; echo $?)" 2
is 'list: no archive' "$(spoor list --archive "$work/nothing" 2>&1; echo $?)" "spoor: $work/nothing: the archive cannot be read: No such file or directory
1"
like 'list: the table' "$(spoor list)" 'JOB +USER +NAME +STATE +START +ELAPSED +RANKS +NODES +SIZE +MPI% +REASON +EXECUTABLE
.*7\.0\.0 .* COMPLETED .* 1 +1 +[0-9.]+[KB]? +[-0-9.]+ +- +ending'
metadata=$(spoor list --json --state FAILED)
for pair in '"job":8' '"step":"batch"' '"exit_code":3' '"rule":"a b"' '"ranks":1' '"mpi_version":"3.1"' '"spoor_version":' '"exe_build_id":"' \
	"\"command\":[\"$ending\"]"; do
	ok "metadata: $pair" grep -qF "$pair" <<<"$metadata"
done

# The file of a job.
ok 'resolve: one' spoor verify 8
ok 'resolve: by step' spoor verify 8.batch
ok 'resolve: by number' spoor verify 7.0.1
ok 'resolve: by component' spoor verify 7+1.batch
like 'resolve: by task' "$(spoor verify 7_1 2>&1)" 'no trace of such a task'
is 'show: local times' "$(TZ=UTC-3 spoor show 8 | sed -n 's/^Start  *.*T//p')" "$(TZ=UTC-3 spoor list --noheader -P --format start -j 8 | sed 's/.*T//')"
is 'resolve: not by the beginning of a step' "$(spoor verify 8.bat >/dev/null 2>&1; echo $?)" 1
is 'resolve: several' "$(spoor verify 7 2>&1)" 'spoor: 7: there are 2 traces, say which: 7.0.0, 7.0.1'
like 'resolve: none' "$(spoor verify 70 2>&1)" '^spoor: 70: no such file, and no trace of such a job in the archive'

# Exit notes, and files that are not what they say.
is 'a note where the trace is not' "$(mkdir s5; collect 7 0 s5 1 exit_code=0 signal=9 node=n2 exit_task=5; cat $one/7.0.n2.exit)" 'no trace
{"version":1,"job":7,"step":"0","node":"n2","exit_code":0,"signal":9,"exit_task":5}'
look() { spoor index >/dev/null 2>&1; } # the day is long over: on a slow machine, lists do not look there any more
look
is 'a note counts' "$(names --state KILLED)" '7.0.0 7.0.1'
if [ "$(id -u)" = 0 ]; then
	chown 65534 $one/7.0.n2.exit
	spoor index --full >/dev/null # what changes without a change of its folder
	is 'a note of somebody else does not' "$(names --state KILLED 2>/dev/null)" ''
	like 'but is told' "$(spoor list 2>&1 >/dev/null)" '7.0.n2.exit: is of user 65534, in a folder of user 0'
	chown 0 $one/7.0.n2.exit
	chown 65534 $two/8.batch.0.spoor
	spoor index --full >/dev/null
	like 'a trace that is not of the owner of the folder' "$(spoor list 2>&1 >/dev/null)" '8.batch.0.spoor: is of user 65534, in a folder of user 0'
	chown 0 $two/8.batch.0.spoor
fi
cp $two/8.batch.0.spoor $two/10.0.0.spoor
look
like 'a trace under the name of another job' "$(spoor list 2>&1 >/dev/null)" '10.0.0.spoor: its metadata is of job 8'
printf 'not a trace' >$two/10.0.0.spoor.new && mv -f $two/10.0.0.spoor.new $two/10.0.0.spoor
mkfifo $two/11.0.0.spoor
ln -s /etc/passwd $two/12.0.0.spoor
printf '{' >$two/7.0.n3.exit
look
got=$(spoor list 2>&1 >/dev/null)
like 'damaged files are named' "$got" '10.0.0.spoor: .*11.0.0.spoor: not a regular file.*12.0.0.spoor: not a regular file.*7.0.n3.exit: '
like 'and counted' "$got" '4 files are damaged'
is 'the others are listed' "$(names 2>/dev/null)" '7.0.0 7.0.1 8.batch.0 9.0.0'
done_testing
