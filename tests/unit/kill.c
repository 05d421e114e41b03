/* SPDX-License-Identifier: BSD-3-Clause
 * kill - the arena of a process that is killed at any instant decodes, up to the last complete event
 *
 * A child records a known sequence of calls with the real recorder. Its parent kills it after a random time, and, in
 * another series, single-steps it through the recorder and reads the arena between any two instructions. Both again
 * with columns that give up their order: then every value must have been counted, once.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/caller.h"
#include "preload/recorder.h"
#include "preload/session.h"
#include "tests/unit/tap.h"
#include "trace/base/arena.h"
#include "trace/record/column.h"
#include "trace/read/successors.h"
#include "trace/base/error.h"
#include "trace/model/trace.h"
#include "trace/read/walk.h"

static char path[256];
static uint64_t threshold = UINT64_MAX; /* of the recorder */
static bool structure;
static int complaints;
static int begun[2]; /* a pipe on which a child says that it has recorded some events */

bool session_wake(void)
{
	return false;
}

void session_forked(void)
{
}

bool caller_passes_on(const struct callpath *path)
{
	(void)path;
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

/* In lossy mode, some calls have a vector. */
static bool starts(uint64_t i)
{
	return threshold != UINT64_MAX && i % 11 == 10;
}

static size_t vector_of(uint64_t i, int64_t vector[8])
{
	for (int k = 0; k < 8; k++)
		vector[k] = parameter(i, 3) + k / 2;
	return i % 9;
}

static __attribute__((noinline)) void start(uint64_t i)
{
	struct call c;
	int64_t vector[8];
	volatile char here[16];
	here[0] = (char)i;
	if (!call_begin(&c, FN_MPI_Startall))
		_exit(3);
	call_end(&c, 0);
	call_first(&c, 0);
	call_put(&c, (int64_t)i);
	call_put_vector(&c, vector, vector_of(i, vector));
	call_commit(&c);
	here[1] = here[0];
}

static __attribute__((noinline)) void call(uint64_t i)
{
	struct call c;
	volatile char here[16];
	here[0] = (char)i;
	bool sends = parameter(i, 0) < 3;
	if (sends ? !call_begin(&c, FN_MPI_Type_indexed) : !call_begin(&c, FN_MPI_Recv))
		_exit(3);
	int64_t vector[3] = {parameter(i, 1), parameter(i, 1) + 1, 9}, other[2] = {parameter(i, 3), 1};
	call_end(&c, i % 97 == 96);
	call_first(&c, 0);
	if (sends) {
		call_put(&c, parameter(i, 1));
		call_put_vector(&c, vector, 3);
		call_put_vector(&c, other, 2);
		call_put(&c, call_constant(&c, (enum mpi_constant)(1 + i % 3)));
		call_put(&c, parameter(i, 2));
	} else {
		for (int k = 1; k < 9; k++)
			call_put(&c, parameter(i, k % 4));
	}
	if (i % 97 == 96)
		call_put_error(&c, (enum mpi_constant)5);
	call_commit(&c);
	here[1] = here[0];
}

/* The one caller, so that each function has one site. */
static __attribute__((noinline)) void step(uint64_t i, bool traced)
{
	if (traced && i == (threshold == UINT64_MAX ? 0
	                    : threshold == 0        ? 1
	                                            : 60)) /* before columns give up their order */
		raise(SIGSTOP);
	if (starts(i))
		start(i);
	else
		call(i);
}

/* A function, so that the compiler does not make two loops of the one, and two callers. */
static __attribute__((noinline, noclone)) void say_begun(uint64_t i)
{
	if (i == 10 && write(begun[1], "", 1) != 1)
		return; /* nobody listens */
}

static void child(bool traced)
{
	struct error error = {""};
	char before[sizeof path + 4];
	unlink(path);
	snprintf(before, sizeof before, "%s.new", path); /* of one that was killed before its file had its name */
	unlink(before);
	if (recorder_start(path, UINT64_C(8) << 20, &error) != 0)
		_exit(2);
	if (threshold != UINT64_MAX)
		recorder_lossy(threshold, structure);
	recorder_identify(0, 1, 42);
	/* without loss only as many as there is memory for: beyond, columns give up their order, which is right, and
	 * not what is compared */
	signal(SIGPIPE, SIG_IGN);
	for (uint64_t i = 0; threshold != UINT64_MAX || i < 30000; i++) {
		step(i, traced);
		say_begun(i);
	}
	for (;;)
		pause();
}

/* Does the column that has no order hold as many values as there were, and their sum? */
static bool counted(const struct trace *t, const struct trace_site *s, size_t column, uint64_t events)
{
	const struct trace_group *g = s->columns[column].count ? &s->columns[column].groups[0] : NULL;
	if (!g || !g->lossy)
		return true;
	const struct schema *schema = trace_schema(t, s);
	bool successor = column == schema->count, failed = false, sends = false, starting = false;
	failed = schema->count == 6 || schema->count == 9;
	sends = schema->count == 5 || schema->count == 6;
	starting = schema->count == 2;
	uint64_t n = 0, sum = 0, length = 0;
	for (uint64_t i = 0; i + successor < events; i++) {
		if (starting ? !starts(i) : starts(i) || (parameter(i, 0) < 3) != sends || (i % 97 == 96) != failed)
			continue;
		n++;
		int64_t vector[8];
		length += starting ? vector_of(i, vector) : 0;
		if (starting && column == 1)
			for (size_t k = 0; k < vector_of(i, vector); k++)
				sum += (uint64_t)vector[k];
		else if (starting)
			sum += i;
		else if (sends && column == 1)
			length += 3, sum += 2 * (uint64_t)parameter(i, 1) + 10;
		else if (sends && column == 2)
			length += 2, sum += (uint64_t)parameter(i, 3) + 1;
		else
			sum += (uint64_t)(sends ? parameter(i, column == 0 ? 1 : 2)
			                        : parameter(i, (int)(column + 1) % 4));
	}
	if (successor) {
		uint64_t visits = 0;
		for (uint32_t i = 0; i < g->lossy->next_count; i++)
			visits += tally_sum(&g->lossy->next[i].runs);
		return visits == n;
	}
	if (tally_count(&g->lossy->values) != n)
		return false;
	if ((starting && column == 1) || (sends && (column == 1 || column == 2)))
		return tally_sum(&g->lossy->elements) == sum && tally_sum(&g->lossy->values) == length &&
		       tally_count(&g->lossy->elements) == length;
	return tally_constants(&g->lossy->values) > 0 || tally_sum(&g->lossy->values) == sum;
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
	if (opened != 0) {
		if (opened != 1 && ++complaints < 10)
			printf("# %s\n", error.text);
		return opened == 1 ? 0 : -1;
	}
	if (a.header->root == 0) { /* too early */
		n = 0;
	} else if (trace_extract(&t, &a, &error) == 0 && trace_check(&t, &error) == 0 &&
	           successors_check(&t, 0, &error) == 0) {
		if (!rankmap_get(&t.events, 0, &count) || walk_begin(&w, &t, 0, &error) != 0)
			goto done;
		for (uint32_t i = 0; i < t.site_count; i++)
			for (size_t k = 0; k < t.sites[i].column_count; k++)
				if (!counted(&t, &t.sites[i], k, (uint64_t)count)) {
					if (complaints < 10)
						printf("# of %lld events, site %u column %zu is counted wrong\n",
						       (long long)count, i, k);
					goto done;
				}
		for (n = 0; walk_next(w, &e, &error) == 0; n++) {
			uint64_t i = (uint64_t)n;
			if (threshold != UINT64_MAX) { /* what is in order, and not a vector */
				bool sends = parameter(i, 0) < 3;
				for (size_t k = 0; k < 5 && !starts(i); k += sends ? 4 : 1)
					if (e.values[k] != VALUE_LOSSY && !value_is_constant(e.values[k]) &&
					    e.values[k] != parameter(i, sends ? (k == 0 ? 1 : 2) : (int)(k + 1) % 4)) {
						if (++complaints < 10)
							printf("# event %lld: column %zu is wrong\n", (long long)n, k);
						n = -1;
						goto done;
					}
				continue;
			}
			bool sends = parameter(i, 0) < 3, failed = i % 97 == 96, right;
			if (sends) {
				int64_t v, other;
				memcpy(&v, event_vector(&t, &e, e.values[1])->bytes, sizeof v);
				memcpy(&other, event_vector(&t, &e, e.values[2])->bytes, sizeof other);
				right = e.schema->count == 5u + failed && e.values[0] == parameter(i, 1) &&
				        e.values[4] == parameter(i, 2) && other == parameter(i, 3) &&
				        v == parameter(i, 1) &&
				        strcmp((const char *)t.strings.items[e.values[3] - VALUE_CONSTANT].bytes,
				               mpi_constant_name[1 + i % 3]) == 0;
			} else {
				right = e.schema->count == 8u + failed;
				for (int k = 1; right && k < 9; k++)
					right = e.values[k - 1] == parameter(i, k % 4);
			}
			if (!right) {
				printf("# event %lld of %lld is wrong: %zu columns (%s)", (long long)n,
				       (long long)count, (size_t)e.schema->count, sends ? "sends" : "not");
				for (size_t k = 0; k < e.schema->count; k++)
					printf(" %lld", (long long)e.values[k]);
				printf("; parameters");
				for (int k = 0; k < 4; k++)
					printf(" %lld", (long long)parameter(i, k));
				printf("\n");
				n = -1;
				goto done;
			}
		}
		if (n != count && walk_unordered(w))
			n = count;
		if (n != count)
			n = -1;
	}
done:
	if (n < 0 && ++complaints < 10)
		printf("# %s\n", error.text);
	walk_end(w);
	trace_free(&t);
	arena_close(&a);
	return n;
}

static void killed(int kills)
{
	int wrong = 0, status;
	int64_t least = INT64_MAX, most = 0;
	fflush(stdout);
	for (int i = 0; i < kills; i++) {
		if (pipe(begun) != 0)
			abort();
		pid_t pid = fork();
		if (pid == 0)
			child(false);
		close(begun[1]);
		char byte; /* every second one has recorded something: to begin takes long on a slow machine */
		if (i % 2 && read(begun[0], &byte, 1) != 1)
			wrong++;
		close(begun[0]);
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
	ok(wrong == 0 && most > 0, "%d kills: every arena decodes exactly (%lld to %lld events)", kills,
	   (long long)least, (long long)most);
}

static void single_stepped(int checks)
{
	int wrong = 0, done = 0, status;
	int64_t before = 0, most = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(0);
		child(true);
	}
	waitpid(pid, &status, 0); /* it has stopped before its first event */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		skip("instants between two instructions", "no ptrace, which qemu does not have");
		return;
	}
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
	ok(wrong == 0 && done == checks && most > 0,
	   "%d instants between two instructions: every arena decodes exactly (up to %lld events)", done,
	   (long long)most);
}

static void series(int kills, int checks)
{
	killed(kills);
	single_stepped(checks);
}

int main(int argc, char **argv)
{
	int kills = argc > 1 ? atoi(argv[1]) : 200, checks = argc > 2 ? atoi(argv[2]) : 2000;
	snprintf(path, sizeof path, "%s/spoor-kill-%ld.arena", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
	         (long)getpid());
	random_seed((uint64_t)getpid());
	series(kills, checks);
	threshold = 12;
	series(kills / 2, checks / 2);
	threshold = 0;
	structure = true;
	series(kills / 2, checks / 2);
	return tap_end();
}
