/* SPDX-License-Identifier: BSD-3-Clause
 * world - the trace of one MPI_COMM_WORLD while it is put together
 */
#include "merge/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "trace/file/container.h"
#include "trace/model/host.h"
#include "trace/model/packed.h"
#include "trace/record/record.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"

/* As much as the arena, which is in its file and in memory no more, and once again, 8 MiB at least. A fifth of that
 * is for code and tables, and for what malloc loses. */
struct budget world_budget(uint64_t arena)
{
	const uint64_t least = UINT64_C(8) << 20, above = arena > least ? arena : least;
	return (struct budget){.memory = (arena + above) / 5 * 4, .steps = UINT64_MAX};
}

int world_init(struct world *w, uint64_t id)
{
	*w = (struct world){.id = id, .facts_rank = UINT32_MAX};
	if (trace_init(&w->trace) != 0)
		return -1;
	w->trace.packing = true;
	return 0;
}

void world_free(struct world *w)
{
	trace_free(&w->trace);
	facts_clear(&w->facts);
}

/* Facts. */

/* Facts of the trace as a whole are made again when it is written; what remains is of the process. */
static const char *const of_world[] = {"start_ns", "end_ns",      "hosts",         "ranks_per_node",
                                       "world",    "partial",     "ranks_missing", "ranks_unfinished",
                                       "aborted",  "finalize_ns", "threads",       "unended"};

static bool is_of_world(const char *name)
{
	size_t k = 0, all = sizeof of_world / sizeof of_world[0];
	while (k < all && strcmp(name, of_world[k]) != 0)
		k++;
	return k < all;
}

static void take_process_facts(struct world *w, uint32_t rank, const struct facts *facts, uint64_t start_ns,
                               uint64_t end_ns)
{
	if (rank >= w->facts_rank)
		return;
	w->facts_rank = rank;
	w->start_ns = start_ns;
	w->end_ns = end_ns;
	facts_clear(&w->facts);
	for (size_t i = 0; i < facts->count; i++) {
		if (!is_of_world(facts->items[i].name))
			facts_set(&w->facts, facts->items[i].name, facts->items[i].value);
	}
}

struct host_list {
	struct writer hosts, counts;
	size_t count;
};

static void put_host(void *context, const char *name, uint64_t ranks)
{
	struct host_list *l = context;
	char text[32];
	bool first = l->count++ == 0;
	if (l->count > HOSTS_LISTED)
		return;
	writer_bytes(&l->hosts, ",", !first);
	writer_bytes(&l->hosts, name, strlen(name));
	writer_bytes(&l->counts, text, (size_t)snprintf(text, sizeof text, "%s%" PRIu64, first ? "" : ",", ranks));
}

/* hosts=n1,n2 ranks_per_node=4,4: the nodes in the order of their lowest rank. */
static void set_hosts(struct facts *f, const struct trace *t)
{
	struct host_list l = {.hosts = {0}};
	int rv = host_each(t, put_host, &l);
	writer_bytes(&l.hosts, "", 1);
	writer_bytes(&l.counts, "", 1);
	f->failed |= rv != 0 || l.hosts.failed || l.counts.failed;
	if (l.count <= HOSTS_LISTED && !f->failed) {
		facts_set(f, "hosts", (const char *)l.hosts.data);
		facts_set(f, "ranks_per_node", (const char *)l.counts.data);
	}
	writer_free(&l.hosts);
	writer_free(&l.counts);
}

/* Adding. */

static const struct record *record_of(const struct arena *a)
{
	ref root = a->header->root;
	return root && arena_valid(a, root, sizeof(struct record)) ? arena_at(a, struct record, root) : NULL;
}

/* What is impossible is found when the events are read. */
static uint32_t stream_of(const struct record *r)
{
	return r->thread * r->size + r->rank;
}

int world_identify(const struct arena *a, const char *name, uint64_t *id, uint32_t *stream, struct error *error)
{
	const struct record *r = record_of(a);
	if (a->header->root == 0)
		return 1;
	if (!r)
		return error_set(error, "%s: has no record", name);
	if (r->state == RECORD_CREATED)
		return 1;
	*id = r->world;
	*stream = stream_of(r);
	return 0;
}

/* By the arena's own clock: the same whenever it is read. */
static uint64_t end_of(const struct record *r)
{
	return r->state == RECORD_FINALIZED && r->clock_ns[1] >= r->clock_ns[0]
	               ? (uint64_t)r->realtime_ns + (r->clock_ns[1] - r->clock_ns[0])
	               : 0;
}

void world_add_process(struct world *w, const struct arena *a)
{
	const struct record *r = record_of(a);
	if (!r)
		return;
	const struct record_string *s = NULL;
	if (r->facts && arena_valid(a, r->facts, sizeof *s))
		s = arena_at(a, struct record_string, r->facts);
	if (s && !arena_valid(a, r->facts, sizeof *s + s->length))
		s = NULL;
	struct facts facts = {0};
	if (s) /* of what a damaged arena has, what can be read */
		facts_decode(&facts, s->bytes, s->length, "arena", NULL);
	take_process_facts(w, stream_of(r), &facts, (uint64_t)r->realtime_ns, end_of(r));
	facts_clear(&facts);
	w->unfinished += r->thread == 0 && r->state != RECORD_FINALIZED;
}

static bool in_abort(const struct trace *t)
{
	int64_t count;
	for (uint32_t i = 0; i < t->site_count; i++) {
		uint32_t function, node;
		packed_key(t, i, &function, &node);
		if (t->functions[function].schema.mpi->function != FN_MPI_Abort)
			continue;
		struct rankmap room;
		const struct rankmap *visits = packed_visits(t, i, &room);
		bool any = visits && rankmap_constant(visits, &count);
		rankmap_free(&room);
		if (any) /* it is recorded when it is entered, and does not come back */
			return true;
	}
	return false;
}

int world_take(struct world *w, struct world *from, struct error *error)
{
	bool aborted = in_abort(&from->trace);
	if (merge_take(&w->trace, &from->trace, error) != 0)
		return -1;
	take_process_facts(w, from->facts_rank, &from->facts, from->start_ns, from->end_ns);
	w->unfinished += from->unfinished;
	w->aborted |= aborted;
	return 0;
}

int world_add_trace(struct world *w, const struct trace *t, const struct facts *facts, struct error *error)
{
	if (rankmap_empty(&t->events))
		return error_set(error, "a trace without ranks");
	if (merge_into(&w->trace, t, error) != 0)
		return -1;
	take_process_facts(w, rankmap_first(&t->events), facts, (uint64_t)facts_number(facts, "start_ns", 0),
	                   (uint64_t)facts_number(facts, "end_ns", 0));
	w->unfinished += (uint64_t)facts_number(facts, "ranks_unfinished", 0);
	w->aborted |= facts_number(facts, "aborted", 0) > 0;
	return 0;
}

uint64_t world_missing(const struct world *w)
{
	uint64_t there = stream_ranks(&w->trace, &w->trace.events);
	return there < w->trace.size ? w->trace.size - there : 0;
}

int world_encode(struct world *w, uint64_t ended_ns, uint8_t **bytes, size_t *size, struct error *error)
{
	struct facts *facts = &w->facts;
	uint64_t missing = world_missing(w);
	int rv = -1;
	*bytes = NULL;
	facts_format(facts, "start_ns", "%" PRIu64, w->start_ns);
	if (w->end_ns || ended_ns)
		facts_format(facts, "end_ns", "%" PRIu64, w->end_ns ? w->end_ns : ended_ns);
	set_hosts(facts, &w->trace);
	facts_format(facts, "world", "%016" PRIx64, w->id);
	if (missing || w->unfinished) {
		facts_format(facts, "partial", "%" PRIu64, UINT64_C(1));
		facts_format(facts, "ranks_missing", "%" PRIu64, missing);
		facts_format(facts, "ranks_unfinished", "%" PRIu64, w->unfinished);
	}
	if (w->aborted)
		facts_format(facts, "aborted", "%" PRIu64, UINT64_C(1));
	size_t length = 0;
	const char *unended = unended_function(&w->trace, &length);
	if (length)
		facts_format(facts, "unended", "%.*s", (int)length, unended);
	if (stream_threads(&w->trace) > 1)
		facts_format(facts, "threads", "%" PRIu64, (uint64_t)stream_threads(&w->trace));
	char *text = facts_encode(facts);
	struct chunk chunk = {.id = "FACT", .data = (const uint8_t *)text, .size = text ? strlen(text) : 0};
	unsigned frames = (unsigned)facts_number(facts, "site_tolerance", 0);
	if (merge_finish_near(&w->trace, frames, error) == 0) {
		trace_unindex(&w->trace);
		rv = !text ? -1 : trace_encode(&w->trace, &chunk, 1, NULL, bytes, size);
		if (rv != 0)
			error_set(error, "no memory to encode the trace");
	}
	free(text);
	return rv;
}
