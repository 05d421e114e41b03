/* SPDX-License-Identifier: BSD-3-Clause
 * kill - the arena of a process that is killed at any instant decodes, up to the last complete event
 *
 * A child records a known sequence of calls with the real recorder. Its parent kills it after a random time, and, in another
 * series, single-steps it through the recorder and reads the arena between any two instructions.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/recorder.h"
#include "preload/session.h"
#include "tests/unit/tap.h"
#include "trace/arena.h"
#include "trace/column.h"
#include "trace/error.h"
#include "trace/trace.h"
#include "trace/walk.h"

static char path[256];

bool session_wake(void)
{
	return false;
}

/* Parameter k of event i: loops that begin and end, counters, new values, repetitions of the past. */
static int64_t parameter(uint64_t i, int k)
{
	switch (k) {
	case 0:
		return (int64_t)(i / 7 % 5);
	case 1:
		return i % 1000 < 500 ? (int64_t)(i % 26) : (int64_t)(i * i % 13);
	case 2:
		return (int64_t)i * 3;
	case 3:
		return i % 100 < 50 ? 4 : (int64_t)((i * UINT64_C(2654435761)) >> 7 & 0xfffff);
	default:
		return 1;
	}
}

static __attribute__((noinline)) void call(uint64_t i)
{
	struct call c;
	volatile char here[16];
	here[0] = (char)i;
	bool sends = parameter(i, 0) < 3;
	if (sends ? !call_begin(&c, FN_MPI_Send) : !call_begin(&c, FN_MPI_Recv))
		_exit(3);
	int64_t vector[3] = {parameter(i, 1), parameter(i, 1) + 1, 9};
	call_end(&c, i % 97 == 96);
	if (sends) {
		call_put(&c, parameter(i, 1));
		call_put(&c, call_constant(&c, (enum mpi_constant)(1 + i % 3)));
		call_put(&c, parameter(i, 2));
		call_put(&c, parameter(i, 3));
		call_put_vector(&c, vector, 3); /* recorded as any column: the walk does not ask for kinds */
	} else {
		for (int k = 1; k < 9; k++)
			call_put(&c, parameter(i, k % 4));
	}
	if (i % 97 == 96)
		call_put_error(&c, (enum mpi_constant)5);
	call_commit(&c);
	here[1] = here[0];
}

static void child(bool traced)
{
	struct error error = {""};
	unlink(path);
	if (recorder_start(path, UINT64_C(8) << 20, &error) != 0)
		_exit(2);
	recorder_identify(0, 1, 42, false);
	if (traced)
		raise(SIGSTOP);
	for (uint64_t i = 0;; i++)
		call(i);
}

/* Reads the arena as it is now. Returns the number of events, or -1 with the reason printed. */
static int64_t check(void)
{
	struct arena a;
	struct trace t = {.size = 0};
	struct walk *w = NULL;
	struct event e;
	struct error error = {""};
	int64_t n = -1, count;
	int opened = arena_open(&a, path, &error);
	if (opened != 0)
		return opened == 1 ? 0 : -1;
	if (a.header->root == 0) { /* too early */
		n = 0;
	} else if (trace_extract(&t, &a, &error) == 0 && trace_check(&t, &error) == 0) {
		if (!rankmap_get(&t.events, 0, &count) || walk_begin(&w, &t, 0, &error) != 0)
			goto done;
		for (n = 0; walk_next(w, &e, &error) == 0; n++) {
			uint64_t i = (uint64_t)n;
			bool sends = parameter(i, 0) < 3, failed = i % 97 == 96, right;
			if (sends) {
				int64_t v;
				memcpy(&v, t.vectors.items[e.values[4]].bytes, sizeof v);
				right = e.schema->count == 5u + failed && e.values[0] == parameter(i, 1) && e.values[2] == parameter(i, 2) &&
				        e.values[3] == parameter(i, 3) && v == parameter(i, 1) &&
				        strcmp((const char *)t.strings.items[e.values[1] - VALUE_CONSTANT].bytes, mpi_constant_name[1 + i % 3]) == 0;
			} else {
				right = e.schema->count == 8u + failed;
				for (int k = 1; right && k < 9; k++)
					right = e.values[k - 1] == parameter(i, k % 4);
			}
			if (!right) {
				printf("# event %lld of %lld is wrong\n", (long long)n, (long long)count);
				n = -1;
				goto done;
			}
		}
		if (n != count)
			n = -1;
	}
done:
	if (n < 0)
		printf("# %s\n", error.text);
	walk_end(w);
	trace_free(&t);
	arena_close(&a);
	return n;
}

int main(int argc, char **argv)
{
	int kills = argc > 1 ? atoi(argv[1]) : 200, checks = argc > 2 ? atoi(argv[2]) : 2000, wrong = 0, status;
	int64_t least = INT64_MAX, most = 0;
	snprintf(path, sizeof path, "%s/spoor-kill-%ld.arena", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
	fflush(stdout);
	random_seed((uint64_t)getpid());
	for (int i = 0; i < kills; i++) {
		pid_t pid = fork();
		if (pid == 0)
			child(false);
		usleep((useconds_t)(2000 + random_below(30000)));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (access(path, F_OK) != 0)
			continue;
		int64_t n = check();
		wrong += n < 0;
		least = n < least ? n : least;
		most = n > most ? n : most;
		unlink(path);
	}
	ok(wrong == 0, "%d kills: every arena decodes exactly (%lld to %lld events)", kills, (long long)least, (long long)most);

	wrong = 0;
	most = 0;
	int64_t before = 0;
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		child(true);
	}
	waitpid(pid, &status, 0); /* it has stopped before its first event */
	int done = 0;
	for (; done < checks; done++) {
		for (uint64_t k = 1 + random_below(200); k > 0 && WIFSTOPPED(status); k--) {
			ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
			waitpid(pid, &status, 0);
		}
		if (!WIFSTOPPED(status))
			break;
		int64_t n = check();
		wrong += n < before;
		before = n;
		most = n > most ? n : most;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	unlink(path);
	ok(wrong == 0 && done == checks && most > 0, "%d instants between two instructions: every arena decodes exactly (up to %lld events)", done,
	   (long long)most);
	return tap_end();
}
