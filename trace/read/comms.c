/* SPDX-License-Identifier: BSD-3-Clause
 * comms - the communicators of a job
 */
#include "trace/read/comms.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/read/comm_own.h"

/* All threads of a rank know a communicator by the same number, whichever made it. */
static int comm_by_number(const void *a, const void *b)
{
	const struct own *x = a, *y = b;
	return x->home != y->home ? (x->home < y->home ? -1 : 1) : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

int comms_make(struct comms **out, const struct calls *calls, struct error *error)
{
	return comms_make_within(out, calls, UINT64_MAX, error);
}

int comms_make_within(struct comms **out, const struct calls *calls, uint64_t events, struct error *error)
{
	int rv = 0;
	const struct trace *t = calls->trace;
	struct comms *c = *out = budget_calloc(1, sizeof *c);
	int64_t unused;
	if (!c || !(c->comms = budget_calloc(2, sizeof *c->comms)))
		return error_set(error, "no memory");
	c->trace = t;
	c->comm_count = 2;
	c->comms[COMM_WORLD] =
		(struct comm){.size = t->size, .parent = COMM_UNKNOWN, .name = mpi_constant_name[CONST_MPI_COMM_WORLD]};
	c->comms[COMM_SELF] =
		(struct comm){.size = 1, .parent = COMM_UNKNOWN, .name = mpi_constant_name[CONST_MPI_COMM_SELF]};
	for (uint64_t stream = 0; rankmap_next(&t->events, &stream, &unused); stream++) {
		uint64_t left = 0;
		int64_t visits;
		for (uint32_t i = 0; i < t->site_count; i++) {
			const struct call *call = &calls->items[t->sites[i].function];
			if ((call->kind == CALL_COMM_MAKE || comm_is_named(call->schema)) &&
			    rankmap_get(&t->sites[i].visits, (uint32_t)stream, &visits))
				left += (uint64_t)visits;
		}
		if (left > 0 && (rv = comms_scan(c, calls, (uint32_t)stream, left, &events, error)) != 0)
			return rv;
	}
	if (comm_keys_make(c) != 0 || comm_groups_make(c) != 0)
		return error_set(error, "no memory");
	if (c->count > 0)
		qsort(c->own, c->count, sizeof *c->own, comm_by_number);
	return 0;
}

void comms_destroy(struct comms *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->comm_count; i++) {
		budget_free(c->comms[i].members);
		budget_free(c->comms[i].remote);
		budget_free(c->comms[i].second);
	}
	budget_free(c->comms);
	budget_free(c->own);
	budget_free(c);
}

uint32_t comms_count(const struct comms *c)
{
	return c->comm_count;
}

const struct comm *comms_at(const struct comms *c, uint32_t number)
{
	return &c->comms[number];
}

uint32_t comms_find(const struct comms *c, uint32_t stream, int64_t value)
{
	if (value_is_constant(value))
		return trace_is_constant(c->trace, value, CONST_MPI_COMM_WORLD)  ? COMM_WORLD
		       : trace_is_constant(c->trace, value, CONST_MPI_COMM_SELF) ? COMM_SELF
		                                                                 : COMM_UNKNOWN;
	if (value < 0 || value > UINT32_MAX || c->count == 0)
		return COMM_UNKNOWN;
	const struct own key = {.home = stream_rank(c->trace, stream), .symbol = (uint32_t)value},
			 *own = bsearch(&key, c->own, c->count, sizeof key, comm_by_number);
	return own ? own->number : COMM_UNKNOWN;
}

/* Of an intercommunicator: is the rank in the group `remote`? */
static bool in_second(const struct comm *comm, uint32_t world)
{
	return comm->second[world / 8] >> world % 8 & 1;
}

/* The group that a rank's peers are in, and how many they are. */
static const uint32_t *comm_peers(const struct comms *c, const struct comm *comm, uint32_t self, uint32_t *n)
{
	bool local = !comm->remote || (self < c->trace->size && in_second(comm, self));
	*n = local ? comm->size : comm->remote_size;
	return local ? comm->members : comm->remote;
}

bool comms_is_inter(const struct comms *c, uint32_t comm)
{
	return comm < c->comm_count && c->comms[comm].remote;
}

uint32_t comms_peers(const struct comms *c, uint32_t comm, uint32_t self)
{
	uint32_t n = 0;
	if (comm < c->comm_count)
		comm_peers(c, &c->comms[comm], self, &n);
	return n;
}

uint32_t comms_world(const struct comms *c, uint32_t comm, int64_t rank, uint32_t self)
{
	uint32_t n;
	const uint32_t *peers = comm < c->comm_count ? comm_peers(c, &c->comms[comm], self, &n) : NULL;
	if (comm >= c->comm_count || rank < 0 || rank >= n)
		return RANK_UNKNOWN;
	return comm == COMM_WORLD ? (uint32_t)rank : comm == COMM_SELF ? self : peers[rank];
}

uint32_t comms_local(const struct comms *c, uint32_t comm, uint32_t world)
{
	if (comm >= c->comm_count)
		return RANK_UNKNOWN;
	const struct comm *in = &c->comms[comm];
	if (!in->members)
		return comm == COMM_SELF ? 0 : world;
	bool second = in->remote && world < c->trace->size && in_second(in, world);
	const uint32_t *members = second ? in->remote : in->members;
	for (uint32_t i = 0; i < (second ? in->remote_size : in->size); i++)
		if (members[i] == world)
			return i;
	return RANK_UNKNOWN;
}

bool comms_is_world(const struct comms *c, uint32_t comm)
{
	if (comm >= c->comm_count || c->comms[comm].size != c->trace->size || c->comms[comm].remote)
		return false;
	for (uint32_t i = 0; c->comms[comm].members && i < c->comms[comm].size; i++)
		if (c->comms[comm].members[i] != i)
			return false;
	return comm != COMM_SELF || c->trace->size == 1;
}
