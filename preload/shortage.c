/* SPDX-License-Identifier: BSD-3-Clause
 * shortage - what the recorder does when memory is short, or call paths too many
 */
#include "preload/detail.h"
#include "preload/shortage.h"

#include <stdlib.h>

#include "preload/site.h"
#include "trace/record/lossy.h"
#include "trace/record/reclaim.h"

/* Memory is not reclaimed again before so many events, and before twice as many if that gave next to nothing. */
#define RECLAIM_FIRST 64
#define RECLAIM_MOST  (1 << 20)
/* Once paths are cut, so many stacks are unwound, and one for so many events: known paths that the memo has forgotten.
 * */
#define UNWIND_FIRST  256
#define UNWIND_EVENTS 256
/* Of calls that are only counted, one in so many asks whether there is room for a site meanwhile. */
#define RETRY 1024

/* What a column that varies costs where its values are irregular: then it is a tally with a queue. That again in an
 * arena of VARYING_ARENA, more in a smaller one, for there what is given back lies in pieces. And what it costs as long
 * as it has few values. */
#define VARYING       UINT64_C(1536)
#define VARYING_ARENA UINT64_C(1310720)
#define VARYING_FEW   UINT64_C(256)

struct shortage {
	struct cuts cuts;
	size_t count;
	uint64_t refused; /* calls at a counter that came by shortage_site */
	uint64_t unwound; /* since paths are cut */
	struct site *counter[FUNCTIONS];
	uint32_t counted[FUNCTIONS]; /* place in record.counted + 1 */
};

_Static_assert(offsetof(struct shortage, cuts) == 0, "shortage_site_at finds them without knowing more");

static struct shortage *shortage_of(struct recorder *r)
{
	if (!r->shortage)
		r->shortage = calloc(1, sizeof *r->shortage);
	return r->shortage;
}

void shortage_cut_paths(struct recorder *r)
{
	if (!r->record->stage[STAGE_PATHS])
		r->record->stage[STAGE_PATHS] = r->record->events + 1;
	memo_bound(&r->memo);
}

void shortage_make_room(struct recorder *r)
{
	struct record *record = r->record;
	uint64_t spare = EVENT_ROOM + r->arena.size / 16;
	arena_room(&r->arena, EVENT_ROOM + r->arena.header->size / 4); /* asks for storage in good time */
	const uint64_t until_mark = record_mark(&r->columns, record);
	if (arena_left(&r->arena) < spare && record->events >= r->reclaim_at) {
		uint64_t freed = record_reclaim(&r->columns, record);
		if (freed < r->arena.size / 8)
			shortage_cut_paths(r);
		if (freed > r->arena.size / 64 || !r->reclaim_after)
			r->reclaim_after = RECLAIM_FIRST;
		else if (r->reclaim_after < RECLAIM_MOST)
			r->reclaim_after *= 2;
		r->reclaim_at = record->events + r->reclaim_after;
	}
	/* with no end in sight it is the sampling of costs that has calls come here now and then */
	uint64_t end = r->arena.header->size, kept = EVENT_ROOM + r->arena.held;
	r->arena.notice = r->arena.header->used + kept < end ? end - kept : UINT64_MAX;
	/* events may be so large that memory is used up before the next sample */
	if (until_mark < end && r->arena.header->used + until_mark < r->arena.notice)
		r->arena.notice = r->arena.header->used + until_mark;
	__atomic_store_n(&r->arena.mind->calm, !r->turns && r->arena.mind->ours, __ATOMIC_RELAXED);
}

size_t shortage_frames(const struct recorder *r)
{
	static const size_t frames[] = {8, 5, 3, 1};
	uint64_t part = r->arena.size / 32, few = r->columns.varying - r->columns.often,
		 varying = VARYING + VARYING * VARYING_ARENA / r->arena.size,
		 used = r->structure + r->columns.often * varying + few * VARYING_FEW,
		 over = used > 20 * part ? used - 20 * part : 0;
	if (!over && !shortage_cuts_paths(r))
		return CALLPATH_MAX;
	/* what make_room tries to keep is four halves of that */
	uint64_t at = over / part, left = arena_left(&r->arena),
		 most = left > EVENT_ROOM ? (left - EVENT_ROOM) * 2 / part : 0, least = most < 4 ? 4 - most : 0;
	at = at < least ? least : at;
	return at < sizeof frames / sizeof *frames ? frames[at] : 0;
}

bool shortage_keeps_edge(const struct recorder *r)
{
	return r->edges.count * sizeof(struct record_edge) < r->arena.size / 4 && shortage_frames(r) >= 3;
}

bool shortage_may_unwind(struct recorder *r)
{
	struct shortage *k = shortage_of(r);
	uint64_t since = r->record->events + 1 - r->record->stage[STAGE_PATHS];
	if (!k || k->unwound >= UNWIND_FIRST + since / UNWIND_EVENTS)
		return false;
	k->unwound++;
	return true;
}

void shortage_forget(struct recorder *r)
{
	struct shortage *k = r->shortage;
	if (!k)
		return;
	for (size_t i = 0; i < CUTS; i++)
		k->cuts.cut[i].site = NULL;
	k->count = 0;
}

/* Where the site of a call is, or would be. */
static inline struct cut *cut_of(struct shortage *k, uint32_t function, void *return_address)
{
	size_t i = cut_home(function, return_address);
	while (k->cuts.cut[i].site && (k->cuts.cut[i].address != return_address || k->cuts.cut[i].function != function))
		i = (i + 1) & (CUTS - 1);
	return &k->cuts.cut[i];
}

struct site *shortage_known_site(const struct recorder *r, uint32_t function, void *return_address)
{
	return r->shortage && !r->unloaded ? cut_of(r->shortage, function, return_address)->site : NULL;
}

/* The site of a function without a path, in what is held for such; NULL: there is no more of that. */
static struct site *held_site(struct recorder *r, uint32_t function)
{
	struct arena *a = &r->arena;
	uint64_t held = a->held, used = a->header->used;
	if (held <= COUNTED_ROOM)
		return NULL;
	a->held = COUNTED_ROOM;
	r->holding = true;
	struct site *s = site_get(r, function, site_cut_path(r, NULL));
	r->holding = false;
	used = a->header->used - used;
	a->held = held > used + COUNTED_ROOM ? held - used : COUNTED_ROOM;
	return s;
}

struct site *shortage_site(struct recorder *r, uint32_t function, void *return_address)
{
	struct shortage *k = shortage_of(r);
	if (!k)
		return NULL;
	struct cut *cut = cut_of(k, function, return_address);
	if (cut->site && (!shortage_is_counter(cut->site) || ++k->refused % RETRY))
		return cut->site;
	shortage_cut_paths(r);
	struct site *s = site_get(r, function, site_cut_path(r, return_address));
	if (!s)
		s = site_get(r, function, site_cut_path(r, NULL));
	if (!s)
		s = held_site(r, function);
	if (!s)
		s = shortage_counter(r, function);
	if (s && !cut->site) {
		if (k->count >= CUTS / 4 * 3) {
			shortage_forget(r);
			return s;
		}
		k->count++;
	}
	if (s)
		*cut = (struct cut){return_address, s, function};
	return s;
}

struct site *shortage_counter(struct recorder *r, uint32_t function)
{
	struct shortage *k = shortage_of(r);
	if (!k || k->counter[function])
		return k ? k->counter[function] : NULL;
	uint32_t width = site_width(mpi_functions[function % FN_COUNT].schema) + 2; /* buffers, error */
	if (call_buffers && mpi_schema_buffers[function % FN_COUNT])
		width = site_width(mpi_schema_buffers[function % FN_COUNT]) + 2;
	struct site *s = calloc(1, sizeof *s + width * sizeof *s->column);
	if (!s)
		return NULL;
	s->id = UINT32_MAX;
	time_cell_init(&r->arena, &s->communicate, record_no_times(&r->arena));
	s->function = function;
	s->columns = width;
	for (uint32_t i = 0; i < width; i++) {
		cell_init(&s->column[i]);
		s->column[i].column = CELL_FORGOTTEN;
		s->column[i].role = ROLE_VECTOR; /* so that no vector is looked for in a pool */
	}
	return k->counter[function] = s;
}

/* Where a function's calls are counted, in what is held for that, which nothing else gets; UINT32_MAX: there is no more
 * of it. */
static uint32_t counted_place(struct recorder *r, uint32_t function)
{
	struct arena *a = &r->arena;
	uint64_t held = a->held, used = a->header->used;
	a->held = 0;
	struct record_counted fresh = {.function = site_function(r, function)};
	uint32_t i = table_add(a, &r->record->counted, &fresh, sizeof fresh);
	used = a->header->used - used;
	a->held = held > used ? held - used : 0;
	return i;
}

static void shortage_count(struct recorder *r, const struct site *counter, uint64_t ticks)
{
	struct record *record = r->record;
	struct shortage *k = shortage_of(r);
	uint32_t *at = &k->counted[counter->function];
	if (!record->stage[STAGE_COUNTING]) {
		record->flags |= RECORD_FULL;
		record->stage[STAGE_COUNTING] = record->events + 1;
	}
	record->lost++;
	if (!*at) {
		uint32_t i = counted_place(r, counter->function);
		if (i == UINT32_MAX)
			return;
		*at = i + 1;
	}
	struct record_counted *c = table_at(&r->arena, &record->counted, *at - 1, sizeof *c);
	c->ticks += ticks;
	if (c->count == 0 || ticks < c->min)
		c->min = ticks;
	if (ticks > c->max)
		c->max = ticks;
	arena_barrier();
	c->count++;
}

__attribute__((cold)) void shortage_count_call(struct recorder *r, const struct call *c)
{
	if (r->last_end && !r->shared) {
		r->record->loose_ticks += c->start > r->last_end ? c->start - r->last_end : 0;
		r->last_end = c->end;
	}
	if (c->detail)
		detail_stop(r); /* what is not known of this call is missing in the times of later ones */
	shortage_count(r, c->site, c->end > c->start ? c->end - c->start : 0);
}
