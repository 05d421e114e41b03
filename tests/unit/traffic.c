/* SPDX-License-Identifier: BSD-3-Clause
 * traffic - random programs of loops, in which handles mean something else from one loop to the next: counted event by
 * event, and with turns left out, it is the same
 */
#define STATUS " status.MPI_SOURCE:p status.MPI_TAG:i status.count:i"
#define SAMPLE_SCHEMAS                                                                                          \
	"MPI_Barrier comm:c", "MPI_Send count:i datatype:t dest:p tag:i comm:c",                                \
		"MPI_Send_init count:i datatype:t dest:p tag:i comm:c request:r", "MPI_Start request:r",        \
		"MPI_Wait request:r" STATUS, "MPI_Request_free request:r",                                      \
		"MPI_Type_contiguous count:i oldtype:t newtype:t",                                              \
		"MPI_Win_create size:i disp_unit:i info:n comm:c win:w",                                        \
		"MPI_Put origin_count:i origin_datatype:t target_rank:p target_disp:i target_count:i "          \
		"target_datatype:t win:w",                                                                      \
		"MPI_File_open comm:c filename:s amode:i info:n fh:f",                                          \
		"MPI_File_write fh:f count:i datatype:t" STATUS,                                                \
		"MPI_Bcast_init count:i datatype:t root:i comm:c info:n request:r",                             \
		"MPI_Alltoallv sendcounts:[i sdispls:[i sendtype:t recvcounts:[i rdispls:[i recvtype:t comm:c", \
		"MPI_Testall requests:[r flag:i"
#include "insight/traffic.h"

#include <time.h>

#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum {
	BARRIER,
	SEND,
	SEND_INIT,
	START,
	WAIT,
	REQUEST_FREE,
	TYPE_CONTIGUOUS,
	WIN_CREATE,
	PUT,
	FILE_OPEN,
	FILE_WRITE,
	BCAST_INIT,
	ALLTOALLV,
	TESTALL
};
/* What a program has most of. */
static const int themes[][3] = {{SEND_INIT, START, BCAST_INIT},
                                {TYPE_CONTIGUOUS, SEND, TYPE_CONTIGUOUS},
                                {WIN_CREATE, PUT, SEND},
                                {FILE_OPEN, FILE_WRITE, SEND}};
enum { PROGRAMS = 500, RANKS = 4, EVENTS = 4000, BODY = 7 };

struct action {
	uint32_t site;
	int64_t values[8];
};

struct program {
	struct sample x;
	struct arena a;
	uint64_t state;
	const int *theme;
	int64_t names[4]; /* types, strings */
	int64_t world, self;
	int events;
};

static int64_t draw(struct program *p, int64_t n)
{
	p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)((p->state >> 33) % (uint64_t)n);
}

static int64_t constant(struct program *p, const char *name)
{
	return VALUE_CONSTANT + record_add_string(&p->a, p->x.record, name, strlen(name));
}

static int64_t any_type(struct program *p)
{
	return draw(p, 3) ? draw(p, 4) == 0 : p->names[draw(p, 2)];
}

static int64_t any_vector(struct program *p)
{
	int64_t list[RANKS];
	for (int i = 0; i < RANKS; i++)
		list[i] = draw(p, 4);
	return record_add_vector(&p->a, p->x.record, list, RANKS);
}

/* Any call with any handles: of a program that is wrong, too, both ways are to say the same. */
static struct action any_action(struct program *p)
{
	const int64_t count = draw(p, 9), type = any_type(p), peer = draw(p, RANKS), handle = draw(p, 4) ? 0 : 1,
		      comm = draw(p, 2) ? p->world : p->self;
	const int64_t counts = any_vector(p);
	switch (draw(p, 4) ? p->theme[draw(p, 3)] : draw(p, 14)) {
	case SEND:
		return (struct action){SEND, {count, type, peer, draw(p, 3), comm}};
	case SEND_INIT:
		return (struct action){SEND_INIT, {count, type, peer, draw(p, 3), comm, handle}};
	case START:
		return (struct action){START, {handle}};
	case WAIT:
		return (struct action){WAIT, {handle, peer, 1, count}};
	case REQUEST_FREE:
		return (struct action){REQUEST_FREE, {handle}};
	case TYPE_CONTIGUOUS:
		return (struct action){TYPE_CONTIGUOUS, {1 + draw(p, 2), any_type(p), handle}};
	case WIN_CREATE:
		return (struct action){WIN_CREATE, {100, 1, 0, comm, handle}};
	case PUT:
		return (struct action){PUT, {count, type, peer, 0, count, type, handle}};
	case FILE_OPEN:
		return (struct action){FILE_OPEN, {comm, p->names[2 + draw(p, 2)], 0, 0, handle}};
	case FILE_WRITE:
		return (struct action){FILE_WRITE, {handle, count, type, VALUE_CONSTANT, VALUE_CONSTANT, draw(p, 9)}};
	case BCAST_INIT:
		return (struct action){BCAST_INIT, {count, type, draw(p, 2), comm, 0, handle}};
	case ALLTOALLV:
		return (struct action){ALLTOALLV, {counts, counts, type, counts, counts, type, comm}};
	case TESTALL:
		return (struct action){TESTALL, {any_vector(p), draw(p, 2)}};
	default:
		return (struct action){BARRIER, {comm}};
	}
}

static void take(struct program *p, const struct action *c)
{
	if (p->events++ < EVENTS)
		sample_event(&p->x, c->site, c->values);
}

static void any_actions(struct program *p, int64_t n)
{
	while (n-- > 0) {
		struct action c = any_action(p);
		take(p, &c);
	}
}

static void loop(struct program *p, int depth)
{
	struct action list[BODY];
	int n = 1 + (int)draw(p, BODY);
	int64_t turns = depth ? 2 + draw(p, 9) : 100 + draw(p, 300);
	uint64_t inner, after;
	for (int i = 0; i < n; i++)
		list[i] = any_action(p);
	inner = p->state;
	for (int64_t turn = 0; turn < turns && p->events < EVENTS; turn++) {
		for (int i = 0; i < n; i++)
			take(p, &list[i]);
		after = p->state;
		p->state = inner; /* the same loop each time */
		if (depth)
			loop(p, depth - 1);
		p->state = after;
	}
}

static int record_program(struct program *p, uint64_t seed, struct trace *t, struct error *error)
{
	struct trace one = {0}, all = {0};
	*p = (struct program){.state = seed, .theme = themes[seed % 4]};
	if (arena_create(&p->a, NULL, 32 * ARENA_MIN_SIZE, NULL) != 0 || trace_init(&all) != 0)
		abort();
	sample_start(&p->x, &p->a, 0, RANKS, 0);
	p->names[0] = constant(p, "MPI_INT");
	p->names[1] = constant(p, "MPI_DOUBLE");
	p->names[2] = record_add_string(&p->a, p->x.record, "/scratch/a", 10);
	p->names[3] = record_add_string(&p->a, p->x.record, "/scratch/b", 10);
	p->world = constant(p, "MPI_COMM_WORLD");
	p->self = constant(p, "MPI_COMM_SELF");
	any_actions(p, (draw(p, 2) ? 58 : 186) + draw(p, 8)); /* a loop begins where the walk has made a mark */
	while (p->events < EVENTS) {
		loop(p, (int)draw(p, 3));
		any_actions(p, draw(p, 60));
	}
	columns_free(&p->x.columns);
	int rv = trace_extract(&one, &p->a, error);
	if (rv == 0)
		rv = merge_into(&all, &one, error);
	if (rv == 0)
		rv = merge_canonical(t, &all, error);
	trace_free(&one);
	trace_free(&all);
	arena_close(&p->a);
	return rv;
}

static bool same(const struct traffic *a, const struct traffic *b)
{
	return a->count == b->count && (!a->count || !memcmp(a->cells, b->cells, a->count * sizeof *a->cells)) &&
	       a->file_count == b->file_count &&
	       (!a->file_count || !memcmp(a->files, b->files, a->file_count * sizeof *a->files)) &&
	       !memcmp(&a->sums, &b->sums, sizeof a->sums) && a->unordered == b->unordered;
}

int main(void)
{
	static struct program p;
	struct traffic each, leaps;
	uint64_t seed = (uint64_t)time(NULL), first = seed, looked = 0, left_out = 0, wrong = 0;
	for (; seed < first + PROGRAMS && !wrong; seed++) {
		struct trace t = {0};
		struct error error = {""};
		if (record_program(&p, seed, &t, &error) != 0 ||
		    traffic_make(&each, &t, &(struct traffic_wish){.passed = true, .each = true}, &error) != 0 ||
		    traffic_make(&leaps, &t, &(struct traffic_wish){.passed = true}, &error) != 0) {
			fprintf(stderr, "%s\n", error.text);
			abort();
		}
		wrong += same(&each, &leaps) ? 0 : seed;
		looked += leaps.walked;
		left_out += each.walked - leaps.walked;
		traffic_free(&each);
		traffic_free(&leaps);
		trace_free(&t);
	}
	ok(wrong == 0, "random programs: the same in both ways (seed %llu)", (unsigned long long)wrong);
	ok(2 * left_out > looked, "turns are left out: %llu events, %llu looked at",
	   (unsigned long long)(looked + left_out), (unsigned long long)looked);
	return tap_end();
}
