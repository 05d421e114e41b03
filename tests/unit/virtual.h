/* SPDX-License-Identifier: BSD-3-Clause
 * virtual - traces of programs that never ran: what each rank computes and calls is told, and the time in which calls
 * return is reckoned, on a network that takes VIRTUAL_CALL a call
 *
 *     virtual_compute(&v, 0, 10 * MS);
 *     virtual_send(&v, 0, 1);
 *     virtual_receive(&v, 1, 0);
 *     virtual_reduce_all(&v);
 *     virtual_end(&v);
 *     virtual_trace(&v, &trace, false);
 */
#ifndef SPOOR_TEST_VIRTUAL_H
#define SPOOR_TEST_VIRTUAL_H

#define SAMPLE_SCHEMAS                                                                                          \
	"MPI_Init", "MPI_Send count:i datatype:t dest:p tag:i comm:c",                                          \
		"MPI_Recv count:i datatype:t source:p tag:i comm:c", "MPI_Allreduce count:i datatype:t comm:c", \
		"MPI_Barrier comm:c", "MPI_Finalize"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

#define MS           1000000.0
#define VIRTUAL_CALL 2000.0 /* ns */

enum { VIRTUAL_RANKS = 16, VIRTUAL_CALLS = 8192 };
enum virtual_site { VIRTUAL_INIT, VIRTUAL_SEND, VIRTUAL_RECV, VIRTUAL_REDUCE, VIRTUAL_BARRIER, VIRTUAL_FINALIZE };

struct virtual_call {
	enum virtual_site site;
	uint32_t rank, peer;
	int64_t count;
	double computed, waited; /* ns */
};

struct virtual
{
	uint32_t size;
	double at[VIRTUAL_RANKS], computed[VIRTUAL_RANKS]; /* now; since the last call */
	/* Messages under way, first in first out: when they were sent. */
	double sent[VIRTUAL_RANKS][VIRTUAL_RANKS][VIRTUAL_CALLS / 16];
	uint32_t in[VIRTUAL_RANKS][VIRTUAL_RANKS], out[VIRTUAL_RANKS][VIRTUAL_RANKS];
	struct virtual_call call[VIRTUAL_CALLS];
	uint32_t count;
	double all_computed;
};

static inline void virtual_call(struct virtual *v, enum virtual_site site, uint32_t rank, uint32_t peer, int64_t count,
                                double until)
{
	double waited = until > v->at[rank] ? until - v->at[rank] : 0;
	if (v->count == VIRTUAL_CALLS)
		abort();
	v->call[v->count++] = (struct virtual_call){site, rank, peer, count, v->computed[rank], waited + VIRTUAL_CALL};
	v->at[rank] += waited;
	v->computed[rank] = 0;
}

static inline void virtual_compute(struct virtual *v, uint32_t rank, double ns)
{
	v->at[rank] += ns;
	v->computed[rank] += ns;
	v->all_computed += ns;
}

static inline void virtual_start(struct virtual *v, uint32_t size)
{
	memset(v, 0, sizeof *v);
	v->size = size;
	for (uint32_t r = 0; r < size; r++)
		virtual_call(v, VIRTUAL_INIT, r, 0, 0, 0);
}

static inline void virtual_send(struct virtual *v, uint32_t rank, uint32_t to)
{
	v->sent[rank][to][v->in[rank][to]++ % (VIRTUAL_CALLS / 16)] = v->at[rank];
	virtual_call(v, VIRTUAL_SEND, rank, to, 1, 0);
}

/* To be told behind the send. */
static inline void virtual_receive(struct virtual *v, uint32_t rank, uint32_t from)
{
	if (v->out[from][rank] == v->in[from][rank])
		abort();
	virtual_call(v, VIRTUAL_RECV, rank, from, 1, v->sent[from][rank][v->out[from][rank]++ % (VIRTUAL_CALLS / 16)]);
}

static inline void virtual_meet(struct virtual *v, enum virtual_site site)
{
	double last = 0;
	for (uint32_t r = 0; r < v->size; r++)
		last = v->at[r] > last ? v->at[r] : last;
	for (uint32_t r = 0; r < v->size; r++)
		virtual_call(v, site, r, 0, 1, last);
}

static inline void virtual_reduce_all(struct virtual *v)
{
	virtual_meet(v, VIRTUAL_REDUCE);
}

static inline void virtual_barrier(struct virtual *v)
{
	virtual_meet(v, VIRTUAL_BARRIER);
}

static inline void virtual_rank(struct trace *t, const struct virtual *v, uint32_t rank, bool lossy)
{
	struct sample x;
	struct arena a;
	struct error error = {""};
	if (arena_create(&a, NULL, 8 * ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, &a, rank, v->size, 0);
	if (lossy)
		x.columns.threshold = x.record->threshold = 0;
	int64_t type = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_COMM_WORLD", 14);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct virtual_call *c = &v->call[i];
		int64_t peer = (int64_t)c->peer - rank;
		if (c->rank != rank)
			continue;
		x.compute = (uint64_t)(c->computed > 1 ? c->computed : 1);
		x.communicate = (uint64_t)c->waited;
		if (c->site == VIRTUAL_SEND || c->site == VIRTUAL_RECV)
			sample_event(&x, c->site, (int64_t[]){c->count, type, peer, 0, world});
		else if (c->site == VIRTUAL_REDUCE)
			sample_event(&x, c->site, (int64_t[]){c->count, type, world});
		else
			sample_event(&x, c->site, (int64_t[]){world});
	}
	columns_free(&x.columns);
	if (trace_extract(t, &a, &error) != 0)
		abort();
	arena_close(&a);
}

/* All call MPI_Finalize. */
static inline void virtual_end(struct virtual *v)
{
	for (uint32_t r = 0; r < v->size; r++)
		virtual_call(v, VIRTUAL_FINALIZE, r, 0, 0, 0);
}

/* A finished one. lossy: it keeps no order. */
static inline void virtual_trace(const struct virtual *v, struct trace *t, bool lossy)
{
	struct trace all = {0}, one = {0};
	if (trace_init(&all) != 0)
		abort();
	for (uint32_t rank = 0; rank < v->size; rank++) {
		virtual_rank(&one, v, rank, lossy);
		if (merge_into(&all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
	if (merge_canonical(t, &all, NULL) != 0)
		abort();
	trace_free(&all);
}

#endif
