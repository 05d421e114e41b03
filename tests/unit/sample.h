/* SPDX-License-Identifier: BSD-3-Clause
 * sample - a small trace that has something of everything: for tests of whoever reads traces
 *
 * Each rank sends to the next one and receives from the one before, STEPS times; rank 0 gathers now and then. A call of
 * an unknown function has an array and a string. There are times and hosts. On request: columns without order; a call
 * that was under way; a counter, and the times of all events; a part, without the last rank; columns that gave up their
 * order but for the first half; computations of several classes, four times as many steps.
 */
#ifndef SPOOR_TEST_SAMPLE_H
#define SPOOR_TEST_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "trace/file/container.h"
#include "trace/record/column.h"
#include "trace/record/reclaim.h"
#include "trace/record/record.h"
#include "trace/record/record_class.h"

enum {
	SAMPLE_LOSSY = 1,
	SAMPLE_KILLED = 2,
	SAMPLE_DETAIL = 4,
	SAMPLE_PART = 8,
	SAMPLE_PREFIX = 16,
	SAMPLE_CLASSES = 32,
	SAMPLE_BRIEF = 64, /* with classes: a 5000th of their times */
	SAMPLE_AWAY = 128  /* off the processor, and late in MPI_Init */
};

/* Of rank 0; a test may want another one, or other calls altogether. */
#ifndef SAMPLE_COLLECTIVE
#define SAMPLE_COLLECTIVE "MPI_Gather recvcount:i root:p comm:c"
#endif
#ifndef SAMPLE_SCHEMAS
#define SAMPLE_SCHEMAS                                                                                          \
	"MPI_Send count:i datatype:t dest:p tag:i comm:c", "MPI_Recv count:i datatype:t source:p tag:i comm:c", \
		SAMPLE_COLLECTIVE, "Unknown a:[i b:s c:i"
#define SAMPLE_GAP 3 /* the site whose call path is not known further out */
#else
#define SAMPLE_GAP UINT32_MAX
#endif
static const char *const sample_schemas[] = {SAMPLE_SCHEMAS};
enum { SAMPLE_SITES = sizeof sample_schemas / sizeof *sample_schemas, SAMPLE_STEPS = 12 };

struct sample {
	struct arena *arena;
	struct record *record;
	bool classes;
	uint64_t unit;                 /* ns, of times with classes */
	uint64_t compute, communicate; /* ns, before the next event and in it; 0: as always */
	struct columns columns;
	struct site *site[SAMPLE_SITES], *last;
};

/* A time, a count. */
static inline void sample_detail(struct sample *x, ref at, uint64_t visit)
{
	struct record_detail *d = arena_at(x->arena, struct record_detail, at);
	if (!at || flow_add(x->arena, &d->flow, flow_code(1000 + visit * visit, 4), 4) < 0)
		return;
	record_time_add(x->arena, &d->counts[0], 1000000 + visit, visit);
}

static inline ref sample_room(struct sample *x)
{
	return x->record->timing ? arena_alloc(x->arena, sizeof(struct record_detail) + sizeof(struct record_time)) : 0;
}

/* The computation before a visit. With classes rank 1 has more of it than the others, and each fifth visit; rank 2 has
 * no order. */
static inline uint64_t sample_time(const struct sample *x, const struct site *s)
{
	uint64_t plain = 1000 + 37 * s->visits, rank = x->record->rank;
	if (!x->classes)
		return x->compute ? x->compute : plain;
	if (rank == 2)
		return plain + x->unit * (s->visits * s->visits % 31 % 3 ? 200 : 600);
	return plain + x->unit * (rank == 1 ? 400 : 100 + rank) * (s->visits % 5 == 4 ? 3 : 1);
}

static inline void sample_event(struct sample *x, uint32_t site, const int64_t *values)
{
	struct site *s = x->site[site];
	for (uint32_t i = 0; i < s->columns; i++)
		cell_put(&x->columns, &s->column[i], s->visits, values[i]);
	if (x->last) {
		cell_put(&x->columns, &x->last->successor, x->last->visits - 1, s->id);
		ref at = x->last->edges;
		while (at && arena_at(x->arena, struct record_edge, at)->to != s->id)
			at = arena_at(x->arena, struct record_edge, at)->next;
		if (!at) {
			at = record_new_edge(x->arena, x->last->id, s->id);
			arena_at(x->arena, struct record_edge, at)->next = x->last->edges;
			arena_at(x->arena, struct record_edge, at)->detail = sample_room(x);
			x->last->edges = at;
		}
		record_edge_add(&x->columns, arena_at(x->arena, struct record_edge, at), sample_time(x, s), s->visits);
		sample_detail(x, arena_at(x->arena, struct record_edge, at)->detail, s->visits);
		struct record_time *counts = record_edge_counts(&x->columns, arena_at(x->arena, struct record_edge, at),
		                                                x->record->counters != 0);
		if (counts)
			record_time_add(x->arena, counts, 1000000 + s->visits, s->visits);
	} else {
		x->record->first = s->id + 1;
	}
	time_cell_add(x->arena, &s->communicate, record_no_times(x->arena),
	              x->communicate ? x->communicate : 50 + s->visits % 3 * 100, s->visits);
	sample_detail(x, s->detail, s->visits);
	arena_commit(x->arena);
	x->last = s;
	s->visits++;
	x->record->at.last = s->id + 1;
	x->record->events++;
}

static inline void sample_start(struct sample *x, struct arena *a, uint32_t rank, uint32_t size, int how)
{
	char host[20];
	*x = (struct sample){
		.arena = a, .classes = (how & SAMPLE_CLASSES) != 0, .unit = how & SAMPLE_BRIEF ? 20 : 100000};
	if (columns_init(&x->columns, a) != 0)
		abort();
	if (how & SAMPLE_LOSSY)
		x->columns.threshold = 4;
	struct record *r = x->record = record_create(a);
	r->rank = rank;
	r->size = size;
	r->state = how & SAMPLE_KILLED ? RECORD_INITIALIZED : RECORD_FINALIZED;
	r->threshold = x->columns.threshold;
	struct record_module module = {record_add_string(a, r, "/bin/x", 6), record_add_string(a, r, "\1\2\3", 3)};
	table_add(a, &r->modules, &module, sizeof module);
	r->host = record_add_string(a, r, host, (size_t)snprintf(host, sizeof host, "node%02u", rank / 2));
	if (how & SAMPLE_DETAIL) {
		r->timing = 1 + 4;
		r->counters = arena_alloc(a, sizeof(struct record_counters));
		struct record_counters *c = arena_at(a, struct record_counters, r->counters);
		c->count = 1;
		c->each[0].name = record_add_string(a, r, "PAPI_TOT_INS", 12);
		c->each[0].reason = rank == 1 ? record_add_string(a, r, "why", 3) : 0;
	}
	for (uint32_t i = 0; i < SAMPLE_SITES; i++) {
		struct record_node node = {.parent = i / 2,
		                           .module = i == SAMPLE_GAP ? UINT32_MAX : 0,
		                           .offset = i == SAMPLE_GAP ? GAP_NO_UNWIND : 0x400 + 16 * i};
		uint32_t string = record_add_string(a, r, sample_schemas[i], strlen(sample_schemas[i])),
			 path = table_add(a, &r->nodes, &node, sizeof node), columns = 0;
		table_add(a, &r->functions, &string, sizeof string);
		for (const char *c = sample_schemas[i]; (c = strchr(c, ':')); c++)
			columns++;
		ref site = record_new_site(a, i, path, columns);
		x->site[i] = arena_at(a, struct site, site);
		x->site[i]->id = i;
		x->site[i]->detail = sample_room(x);
		record_set_roles(x->site[i], sample_schemas[i], strlen(sample_schemas[i]));
		table_add(a, &r->sites, &site, sizeof site);
	}
}

static inline void sample_force(void *columns, struct cell *cell, uint64_t values)
{
	const struct columns *x = columns;
	if (cell->column && values > 0 && !cell_is_lossy(x, cell))
		cell_force(columns, cell, values);
}

/* Records a rank into an arena, which the caller closes. */
static inline void sample_record(struct arena *a, uint32_t rank, uint32_t size, int how)
{
	struct sample x;
	/* there are no classes in a small one */
	if (arena_create(a, NULL, how & SAMPLE_CLASSES ? 8 * ARENA_MIN_SIZE : ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, a, rank, size, how);
	struct record *r = x.record;
	int64_t type = VALUE_CONSTANT + record_add_string(a, r, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(a, r, "MPI_COMM_WORLD", 14),
		any = VALUE_CONSTANT + record_add_string(a, r, "MPI_ANY_SOURCE", 14);
	for (int64_t i = 0; i < (how & SAMPLE_CLASSES ? 4 : 1) * SAMPLE_STEPS; i++) {
		if (how & SAMPLE_PREFIX && i == SAMPLE_STEPS / 2 + rank % 3)
			record_mark(&x.columns, r);
		int64_t tag = i * i % 7 + rank % 2, array[3] = {i, rank, i < 2 ? type : 7};
		uint32_t next = (rank + 1) % size;
		sample_event(&x, 0, (int64_t[]){100 + i, type, (int64_t)next - rank, tag, world});
		sample_event(&x, 1, (int64_t[]){200, type, rank == 1 ? any : -1, tag, world});
		if (i % 4 == 3)
			sample_event(&x, 2, (int64_t[]){rank ? 0 : 5 * i, 0, world});
		if (i % 6 < 2)
			sample_event(&x, 3,
			             (int64_t[]){record_add_vector(a, r, array, 3), (int64_t)(rank ? 1 : r->host),
			                         (int64_t)((uint64_t)i << 60)});
	}
	x.columns.record = r;
	if (how & SAMPLE_PREFIX)
		record_each_column(a, r, sample_force, &x.columns);
	if (how & SAMPLE_KILLED) { /* in a call, for some us */
		r->at.in_flight = x.site[2]->id + 1;
		r->since = r->clock_ticks[0] + 1000 * (rank + 1);
		r->ended_ns = r->realtime_ns + 1000000;
		r->passed.value[0] = 7;
		r->passed.value[1] = -(int64_t)rank;
		r->passed.value[2] = PASSED_CONSTANT + CONST_MPI_COMM_WORLD;
		r->passed.mask = 7;
		r->passed.stamp = record_passed_stamp(r->at.in_flight, r->events);
	}
	if (how & SAMPLE_AWAY) {
		r->away[0] = (struct record_away){x.site[0]->id + 1, x.site[1]->id + 1, 2000000 + 100000 * rank};
		r->away[1] = (struct record_away){x.site[1]->id + 1, x.site[0]->id + 1, 900000}; /* little */
		r->away[2] = (struct record_away){x.site[1]->id + 1, 99, 9000000};               /* damage */
		r->before_ns = 3000000000;
		r->queue_ns = rank * UINT64_C(50000000);
	}
	columns_free(&x.columns);
}

static inline void sample_trace(struct trace *t, uint32_t rank, uint32_t size, int how)
{
	struct arena a;
	struct error error = {""};
	sample_record(&a, rank, size, how);
	if (trace_extract(t, &a, &error) != 0) {
		printf("# rank %u: %s\n", rank, error.text);
		abort();
	}
	arena_close(&a);
}

/* The trace of `size` ranks, in canonical form. */
static inline void sample_merged(struct trace *t, uint32_t size, int how)
{
	struct trace all = {0}, one = {0};
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < size - !!(how & SAMPLE_PART); rank++) {
		sample_trace(&one, rank, size, how);
		if (merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
	if (merge_canonical(t, &all, NULL) != 0)
		abort();
	trace_free(&all);
}

/* Its bytes; malloc'ed. */
static inline uint8_t *sample_bytes(uint32_t size, int how, size_t *n)
{
	struct trace t;
	uint8_t *bytes;
	sample_merged(&t, size, how);
	if (trace_encode(&t, NULL, 0, NULL, &bytes, n) != 0)
		abort();
	trace_free(&t);
	return bytes;
}

#endif
