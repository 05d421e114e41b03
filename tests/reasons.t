#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# reasons - `spoor run` says in one sentence why there is no trace
set -u
. "$(dirname "$0")/tap.sh"
build=${SPOOR_BUILD:-$PWD}
export SPOOR_PRELOAD=$build/.libs/libspoor-gate.so OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
cd "$work" || exit 1

# program NAME COMPILER...: of the source on stdin.
program() {
	local name=$1
	shift
	cat >"$name.c"
	"$1" -w -o "$name" "$name.c" "${@:2}" || exit 1
}

# says TITLE PATTERN COMMAND...: it runs, leaves nothing, and this is why.
says() {
	local title=$1 pattern=$2 said
	shift 2
	said=$("$build/spoor" run -o x.spoor -- "$@" 2>&1)
	like "$title" "$said" "^spoor run: no trace: $pattern\$"
	# Open MPI 5's launcher leaves its own folder for the next time
	ok "$title: nothing is left" test ! -e x.spoor -a -z "$(ls --ignore='ompi.*' "$TMPDIR")"
}

program plain mpicc <<<'#include <mpi.h>
int main(void) { MPI_Init(0, 0); return MPI_Finalize(); }'
program never mpicc <<<'#include <mpi.h>
int main(int argc, char **argv) { int there; if (argc > 1) MPI_Initialized(&there); return argc > 5 && MPI_Init(0, 0); }'
program direct mpicc <<<'#include <mpi.h>
int main(void) { PMPI_Init(0, 0); return PMPI_Finalize(); }'
program fixed cc -static <<<'int main(void) { return 0; }'
program stub.so cc -shared -fPIC <<<'int MPI_Init(int *argc, char ***argv) { return 0; }'
program user cc ./stub.so <<<'int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }'

launch=(mpirun --oversubscribe -n 2)
seldom='MPI was initialized by a call that did not pass the tracer: of PMPI_Init, or in another tool'
says 'no MPI' 'true ran no MPI program that the tracer can be in \(.*\)' true
says 'no MPI_Init' 'the program has an MPI library, and never called MPI_Init' ./never
says 'no MPI_Init, but another function' 'the program has an MPI library, and never called MPI_Init' "${launch[@]}" ./never x
says 'PMPI_Init' "$seldom" ./direct
says 'linked statically' 'fixed is linked statically: no library can be preloaded into it' ./fixed
says 'linked statically, with a launcher' 'fixed is linked statically: no library can be preloaded into it' "${launch[@]}" ./fixed
says 'a replacement for MPI' 'user was started with another LD_PRELOAD, or its MPI is a replacement without PMPI functions' ./user
says 'no LD_PRELOAD' 'plain was started with another LD_PRELOAD, or its MPI .*' mpirun --oversubscribe -n 2 -x LD_PRELOAD= ./plain
mkdir failing && printf '#!/bin/sh\nexit 3\n' >failing/mpirun && chmod +x failing/mpirun
says 'a launcher that does not start it' 'failing/mpirun ended with status 3: plain was not started, or with another LD_PRELOAD' failing/mpirun -n 2 ./plain
program other.so cc -shared -fPIC <<<'int MPI_Init(int *argc, char ***argv) { return 0; } int PMPI_Init(int *argc, char ***argv) { return 0; }
int MPI_Finalize(void) { return 0; }'
program other cc ./other.so <<<'int MPI_Init(int *, char ***), MPI_Finalize(void); int main(void) { MPI_Init(0, 0); return MPI_Finalize(); }'
says 'another MPI' "the program's MPI library, .*other.so, is of a kind that no tracer is for" ./other

# A launcher that returns before its ranks
program later mpicc <<<'#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
	MPI_Init(0, 0);
	for (int i = 0; i < 12000 && access(argv[1], F_OK) != 0; i++) usleep(10000);
	return MPI_Finalize();
}'
behind() { # FILE COMMAND: the rank ends when the file is there; the command is the last one
	"$build/spoor" run -f -o later.spoor -- sh -c "exec >/dev/null 2>&1; ./later $1 & until ls $TMPDIR/spoor-run.*/*.arena; do sleep 0.1; done; $2" 2>&1
}
said=$(behind soon '{ sleep 1; touch soon; } &')
is 'a rank that ends later: nothing is said' "$said" ''
ok 'a rank that ends later: its trace is whole' "$build/spoor" verify later.spoor
rm -f later.spoor
said=$(behind late :)
like 'a rank that ends much later: it says what to do' "$said" '^spoor run: 1 ranks are still running\. When they have ended: spoor merge -o FILE [^ ]*/\*\.arena$'
touch late
while pgrep -x later >/dev/null; do sleep 0.2; done
# shellcheck disable=SC2046 # a list of files
ok 'which makes the trace' "$build/spoor" merge -o later.spoor $(ls "$TMPDIR"/spoor-run.*/*)
done_testing
