/* SPDX-License-Identifier: BSD-3-Clause
 * budget - random programs in next to no memory, lossless and lossy: no call is lost, the trace can be read, it says
 * what was given up, and a lossy one is no larger than its bound (trace/read/bound.h)
 *
 *     budget [PROGRAMS [FIRST_SEED]]
 *
 * A program is a random tree of loops, branches and calls. It runs in the real recorder, in a child, by recursion, so
 * that each part has call paths of its own; parts that wander come by a call on ever new ones. How often each function
 * was called, and the sum of its first parameter, is kept beside.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge/merge.h"
#include "preload/call.h"
#include "preload/caller.h"
#include "preload/recorder.h"
#include "preload/session.h"
#include "tests/unit/tap.h"
#include "trace/read/bound.h"
#include "trace/record/column.h"
#include "trace/file/container.h"
#include "trace/model/cursor.h"
#include "trace/base/varint.h"
#include "trace/read/walk.h"

#define EVENTS 20000

enum { SEND, RECEIVE, START, BARRIER, FUNCTIONS };
static const enum mpi_number functions[FUNCTIONS] = {FN_MPI_Send, FN_MPI_Recv, FN_MPI_Startall, FN_MPI_Barrier};

struct facts {
	uint64_t calls[FUNCTIONS], sums[FUNCTIONS], events;
};

struct part {
	enum { CALL, LOOP, BRANCH, SEQUENCE, WANDER } kind;
	int function, wild, count, parts;
	struct part *part[4];
};

static char path[256];
static struct facts *facts; /* shared */

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

static struct part *program(int depth, bool root)
{
	struct part *p = calloc(1, sizeof *p);
	uint64_t dice = random_below(12);
	p->kind = root                     ? SEQUENCE
	          : depth == 0 || dice < 3 ? CALL
	          : dice < 6               ? LOOP
	          : dice < 7               ? BRANCH
	          : dice < 9               ? WANDER
	                                   : SEQUENCE;
	p->function = (int)random_below(FUNCTIONS);
	p->wild = 1 << random_below(20);
	p->count = 1 + (int)random_below(40);
	if (p->kind == CALL || p->kind == WANDER)
		return p;
	p->parts = p->kind == LOOP ? 1 : 2 + (int)random_below(3);
	for (int i = 0; i < p->parts; i++)
		p->part[i] = program(depth - 1, false);
	return p;
}

static void program_free(struct part *p)
{
	for (int i = 0; i < p->parts; i++)
		program_free(p->part[i]);
	free(p);
}

static __attribute__((noinline)) void call(const struct part *p)
{
	struct call c;
	int64_t value = (int64_t)random_below((uint64_t)p->wild), vector[40];
	volatile char here[16];
	here[0] = (char)value;
	if (facts->events >= EVENTS)
		return;
	facts->events++;
	facts->calls[p->function]++;
	facts->sums[p->function] += p->function == BARRIER ? 0 : (uint64_t)value;
	bool known = call_begin(&c, functions[p->function]);
	if (!known) /* no recorder: it is never so */
		_exit(3);
	call_end(&c, 0);
	call_first(&c, 0);
	switch (p->function) {
	case SEND:
		call_put(&c, value);
		call_put(&c, call_constant(&c, (enum mpi_constant)(1 + value % 3)));
		call_put(&c, value % 7);
		call_put(&c, (int64_t)facts->events);
		call_put(&c, 1);
		break;
	case RECEIVE:
		call_put(&c, value);
		for (int i = 1; i < 8; i++)
			call_put(&c, (int64_t)random_below((uint64_t)p->wild) / i);
		break;
	case START:
		for (size_t i = 0; i < 40; i++)
			vector[i] = (int64_t)random_below((uint64_t)p->wild);
		call_put(&c, value);
		call_put_vector(&c, vector, (size_t)value % 40);
		break;
	default:
		call_put(&c, 1);
	}
	call_commit(&c);
	here[1] = here[0];
}

/* Each of its 2^12 ways here is a call path. */
static __attribute__((noinline)) void wander(const struct part *p, unsigned way, int depth)
{
	volatile char here[16];
	here[0] = (char)way;
	if (depth == 0) {
		call(p);
	} else if (way & 1) {
		wander(p, way >> 1, depth - 1);
		__asm__ volatile("# one return address" ::: "memory");
	} else {
		wander(p, way >> 1, depth - 1);
		__asm__ volatile("# and another" ::: "memory");
	}
	here[1] = here[0];
}

static __attribute__((noinline)) void run(const struct part *p)
{
	volatile char here[16];
	here[0] = (char)p->kind;
	switch (p->kind) {
	case CALL:
		call(p);
		break;
	case WANDER:
		for (int i = 0; i < 50 * p->count; i++)
			wander(p, (unsigned)random_below(4096), 12);
		break;
	case LOOP:
		for (int i = 0; i < p->count && facts->events < EVENTS; i++)
			run(p->part[0]);
		break;
	case BRANCH:
		run(p->part[random_below((uint64_t)p->parts)]);
		break;
	case SEQUENCE:
		run(p->part[0]);
		run(p->part[1]);
		if (p->parts > 2)
			run(p->part[2]);
		if (p->parts > 3)
			run(p->part[3]);
	}
	here[1] = here[0];
}

static void child(const struct part *p, uint64_t memory, uint64_t threshold, bool structure)
{
	struct error error = {""};
	unlink(path);
	if (recorder_start(path, memory, &error) != 0)
		_exit(2);
	if (threshold != UINT64_MAX)
		recorder_lossy(threshold, structure);
	recorder_identify(0, 1, 42);
	run(p);
	recorder_finalized();
	_exit(0);
}

/* Adds up the first parameter of a site; false if not all of it is known. */
static bool add_values(const struct trace *t, const struct trace_site *s, uint64_t *sum)
{
	const struct trace_column *c = &s->columns[0];
	struct pattern *patterns = calloc(t->patterns.count + UINT64_C(1), sizeof *patterns);
	struct column_cursor cursor = {0};
	struct pool own = {0};
	int64_t value;
	bool known = true;
	if (c->count == 1 && c->groups[0].lossy) {
		const struct tally *values = &c->groups[0].lossy->values;
		known = tally_constants(values) == 0;
		*sum += tally_sum(values);
	} else {
		int64_t visits = 0;
		rankmap_get(&s->visits, 0, &visits);
		if (column_cursor_open(&cursor, t, c, 0, patterns, &own) == 0)
			for (int64_t i = 0; known && i < visits; i++) {
				known = column_cursor_next(&cursor, &value) == 0 && !value_is_constant(value);
				*sum += (uint64_t)value;
			}
		column_cursor_close(&cursor);
	}
	for (uint32_t i = 0; i < t->patterns.count; i++)
		pattern_free(&patterns[i]);
	free(patterns);
	pool_free(&own);
	return known;
}

/* What is wrong with the trace; NULL: nothing. */
static const char *judge(const struct trace *t, size_t bytes, struct error *error)
{
	int64_t events = 0, lost = 0;
	bool given_up = t->loss.stage[STAGE_COLUMNS].ranks || t->loss.stage[STAGE_PATHS].ranks ||
	                t->loss.stage[STAGE_COUNTING].ranks;
	rankmap_get(&t->events, 0, &events);
	rankmap_get(&t->lost, 0, &lost);
	if ((uint64_t)(events + lost) != facts->events)
		return "another number of events";
	if (lost && !t->loss.stage[STAGE_COUNTING].ranks)
		return "calls are only counted, and it does not say so";
	for (int f = 0; f < FUNCTIONS; f++) {
		uint64_t calls = 0, sum = 0;
		bool known = true;
		for (uint32_t i = 0; i < t->site_count; i++) {
			const struct schema *schema = trace_schema(t, &t->sites[i]);
			int64_t visits = 0;
			if (strncmp(schema->function, mpi_functions[functions[f]].schema, schema->function_length + 1))
				continue;
			rankmap_get(&t->sites[i].visits, 0, &visits);
			calls += (uint64_t)visits;
			known = known && f != BARRIER && add_values(t, &t->sites[i], &sum);
		}
		if (calls != facts->calls[f])
			return "another number of calls of a function";
		if (known && f != BARRIER && sum != facts->sums[f])
			return "another sum of a parameter";
	}
	bool memory = false;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++)
			for (uint32_t g = 0; g < t->sites[i].columns[k].count; g++) {
				const struct trace_lossy *l = t->sites[i].columns[k].groups[g].lossy;
				memory |= l && (l->why & WHY_MEMORY) && t->sites[i].visits.node_count == 0;
			}
	if (memory && !given_up)
		return "columns were given up, and it does not say so";
	struct bound b;
	if (bound_make(&b, t) == 0 && b.exact == 0 && (bytes > b.bytes_most || b.entries > b.entries_most)) {
		error_set(error, "%zu bytes of %llu, %llu entries of %llu", bytes, (unsigned long long)b.bytes_most,
		          (unsigned long long)b.entries, (unsigned long long)b.entries_most);
		return "larger than its bound";
	}
	return NULL;
}

/* Returns what is wrong. */
static const char *check(int *degraded, struct error *error)
{
	struct arena a;
	struct trace t = {.size = 0}, canonical = {.size = 0}, again = {.size = 0};
	struct container *c = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;
	const char *wrong = "the arena cannot be read";
	if (arena_open(&a, path, error) != 0)
		return wrong;
	if (trace_extract(&t, &a, error) != 0 || trace_check(&t, error) != 0)
		goto done;
	wrong = "it cannot be written and read again";
	if (merge_canonical(&canonical, &t, error) != 0 ||
	    trace_encode(&canonical, NULL, 0, NULL, &bytes, &size) != 0 ||
	    container_parse(&c, "trace", bytes, size, NULL, error) != 0 || trace_decode(&again, c, error) != 0)
		goto done;
	wrong = judge(&again, size, error);
	for (int i = 0; i < TRACE_STAGES; i++)
		degraded[i] += again.loss.stage[i].ranks > 0;
	struct walk *w = NULL;
	struct event e;
	int64_t events = 0, n = 0;
	int rv = 0;
	rankmap_get(&again.events, 0, &events);
	if (!wrong && events > 0 && walk_begin(&w, &again, 0, error) == 0) {
		for (; (rv = walk_next(w, &e, error)) == 0; n++) {
		}
		if (rv < 0 || (n != events && !walk_unordered(w)))
			wrong = "its events cannot be walked";
	}
	walk_end(w);
done:
	trace_free(&again);
	container_destroy(c);
	free(bytes);
	trace_free(&canonical);
	trace_free(&t);
	arena_close(&a);
	return wrong;
}

int main(int argc, char **argv)
{
	static const uint64_t memories[] = {64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20};
	static const uint64_t thresholds[] = {UINT64_MAX, 0, 30};
	uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 10) : 30,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int degraded[TRACE_STAGES] = {0};
	snprintf(path, sizeof path, "%s/spoor-budget-%ld.arena", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
	         (long)getpid());
	facts = mmap(NULL, sizeof *facts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (facts == MAP_FAILED)
		return 1;
	for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
		int wrong = 0;
		for (uint64_t seed = first; seed < first + programs; seed++) {
			random_seed(seed);
			struct part *p = program(4 + (int)random_below(6), true);
			struct error error = {""};
			int status = 0;
			memset(facts, 0, sizeof *facts);
			fflush(stdout);
			pid_t pid = fork();
			if (pid == 0)
				child(p, memories[m], thresholds[seed % 3], seed % 2);
			waitpid(pid, &status, 0);
			const char *what = status ? "the program did not end well" : check(degraded, &error);
			if (what && ++wrong < 10)
				printf("# seed %llu: %s: %s\n", (unsigned long long)seed, what, error.text);
			program_free(p);
			unlink(path);
		}
		ok(wrong == 0, "%llu programs in %llu KiB: all calls are there, and what was given up is told",
		   (unsigned long long)programs, (unsigned long long)(memories[m] >> 10));
	}
	ok(degraded[STAGE_COLUMNS] > 0 && degraded[STAGE_PATHS] > 0,
	   "given up: columns in %d, paths in %d, all but counting in %d", degraded[STAGE_COLUMNS],
	   degraded[STAGE_PATHS], degraded[STAGE_COUNTING]);
	return tap_end();
}
