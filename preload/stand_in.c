/* SPDX-License-Identifier: BSD-3-Clause
 * stand_in - what a call writes to whose site is brief
 */
#include "preload/stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "preload/pool.h"
#include "preload/shortage.h"
#include "preload/site.h"
#include "trace/record/record_class.h"

int stand_in_init(struct recorder *r)
{
	const size_t size = sizeof(struct site) + SCHEMA_MAX * sizeof(struct cell);
	r->stand_in[0] = calloc(1, size);
	r->stand_in[1] = calloc(1, size);
	return r->stand_in[0] && r->stand_in[1] ? 0 : -1;
}

void stand_in_free(struct recorder *r)
{
	free(r->stand_in[0]);
	free(r->stand_in[1]);
}

/* One that is not that of the last event. */
static struct site *stand_in_take_free(struct recorder *r, uint32_t id, uint32_t columns)
{
	const struct brief *b = brief_at(&r->arena, r->record, id);
	struct site *s = r->stand_in[r->last == r->stand_in[0]];
	*s = (struct site){.function = b->function,
	                   .path = b->path,
	                   .id = id,
	                   .self = id + 1,
	                   .columns = columns,
	                   .cost = (uint32_t)r->cost,
	                   .last_edge = arena_at(&r->arena, struct record_edge, 0)};
	time_cell_init(&r->arena, &s->communicate, record_no_times(&r->arena));
	memset(s->column, 0, columns * sizeof *s->column);
	cell_init(&s->successor);
	for (uint32_t i = 0; i < columns; i++)
		cell_init(&s->column[i]);
	return s;
}

struct site *stand_in_new(struct recorder *r, uint32_t function, uint32_t path, uint32_t columns)
{
	struct arena *a = &r->arena;
	ref at = r->spare;
	if (at) {
		r->spare = *arena_at(a, ref, at);
	} else {
		at = arena_alloc(a, sizeof(struct brief));
		arena_commit(a);
	}
	if (!at)
		return NULL;
	*arena_at(a, struct brief, at) = (struct brief){.function = (uint16_t)function, .path = path};
	ref marked = at | BRIEF_MARK;
	uint32_t id = table_add(a, &r->record->sites, &marked, sizeof marked);
	if (id == UINT32_MAX) {
		*arena_at(a, ref, at) = r->spare;
		r->spare = at;
		return NULL;
	}
	r->structure += sizeof marked + sizeof(struct brief);
	return stand_in_take_free(r, id, columns);
}

static const struct record_string *string_at(const struct recorder *r, uint32_t i)
{
	return arena_at(&r->arena, struct record_string,
	                *(const ref *)table_at(&r->arena, &r->record->strings, i, sizeof(ref)));
}

/* What a brief site holds, put into a struct site that nobody knows yet. */
static void fill(struct recorder *r, struct site *s, const struct brief *b)
{
	const struct time_none none = record_no_times(&r->arena);
	unsigned successors = b->visits - (s->id + 1 == r->record->at.last && b->visits > 0);
	int64_t *values = r->room.values;
	for (unsigned v = 0; v < b->visits; v++) {
		brief_read(string_at(r, b->values[v]), values);
		for (uint32_t k = 0; k < s->columns; k++)
			cell_put(&r->columns, &s->column[k], v, values[k]);
		time_cell_add(&r->arena, &s->communicate, none, b->call[v], v);
	}
	for (unsigned v = 0; v < successors; v++) {
		cell_put(&r->columns, &s->successor, v, b->next[v]);
		uint64_t ticks = b->compute[v] & BRIEF_TICKS_MOST;
		struct record_edge *e = site_edge(r, s, b->next[v]);
		if (e)
			record_edge_add(&r->columns, e, ticks, b->compute[v] >> BRIEF_TICKS_BITS);
		else
			r->record->loose_ticks += ticks;
	}
	s->visits = b->visits;
}

/* Makes a brief site a struct site. NULL: no room. */
static struct site *expand(struct recorder *r, uint32_t id, uint32_t columns)
{
	struct arena *a = &r->arena;
	struct record *record = r->record;
	const struct brief *b = brief_at(a, record, id);
	const struct record_string *schema =
		string_at(r, *(const uint32_t *)table_at(a, &record->functions, b->function, sizeof(uint32_t)));
	ref at = record_new_site(a, b->function, b->path, columns);
	if (!at)
		return NULL;
	struct site *s = arena_at(a, struct site, at);
	s->id = id;
	s->self = id + 1;
	s->cost = (uint32_t)r->cost;
	record_set_roles(s, schema->bytes, schema->length);
	fill(r, s, b);
	arena_barrier();
	*(ref *)table_at(a, &record->sites, id, sizeof(ref)) = at;
	arena_barrier();
	ref unused = arena_ref(a, b);
	*arena_at(a, ref, unused) = r->spare;
	r->spare = unused;
	r->structure += sizeof *s + columns * sizeof *s->column - sizeof *b;
	if (stand_in_is(r, r->last) && r->last->id == id)
		r->last = s;
	return s;
}

struct site *stand_in_site(struct recorder *r, uint32_t id, uint32_t columns, bool brief)
{
	const struct brief *b = brief_at(&r->arena, r->record, id);
	if (!b)
		return brief_not(&r->arena, r->record, id);
	return brief && b->visits < BRIEF_VISITS ? stand_in_take_free(r, id, columns) : expand(r, id, columns);
}

struct site *stand_in_leave(struct recorder *r, const struct site *s, uint32_t put)
{
	struct site *full = stand_in_site(r, s->id, s->columns, false);
	for (uint32_t i = 0; full && i < put; i++)
		cell_put(&r->columns, &full->column[i], full->visits, s->column[i].expect);
	return full;
}

struct site *stand_in_take(struct recorder *r, struct site *s, uint64_t ticks)
{
	struct brief *b = brief_at(&r->arena, r->record, s->id);
	if (b && b->visits < BRIEF_VISITS && ticks <= UINT32_MAX) {
		uint8_t *bytes = r->room.brief;
		uint32_t values = pool_string(r, bytes, brief_write(s->column, s->columns, bytes));
		if (values != r->unknown) {
			b->values[b->visits] = values;
			b->call[b->visits] = (uint32_t)ticks;
			s->visits = b->visits;
			return s;
		}
	}
	struct site *full = stand_in_leave(r, s, s->columns);
	return full ? full : shortage_counter(r, site_function_of(r, s->function));
}

struct site *stand_in_follow(struct recorder *r, struct site *last, const struct site *next, uint64_t ticks)
{
	struct brief *b = brief_at(&r->arena, r->record, last->id);
	if (!b)
		return brief_not(&r->arena, r->record, last->id);
	if (ticks > BRIEF_TICKS_MOST || next->visits >> (64 - BRIEF_TICKS_BITS)) {
		struct site *full = expand(r, last->id, last->columns);
		if (full)
			return full;
		ticks = ticks < BRIEF_TICKS_MOST ? ticks : BRIEF_TICKS_MOST;
	}
	b->next[b->visits - 1] = next->id;
	b->compute[b->visits - 1] = next->visits << BRIEF_TICKS_BITS | ticks;
	return NULL;
}

void stand_in_count(struct recorder *r, const struct site *s)
{
	arena_barrier();
	brief_at(&r->arena, r->record, s->id)->visits++;
}
