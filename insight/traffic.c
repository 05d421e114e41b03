/* SPDX-License-Identifier: BSD-3-Clause
 * traffic - who sent how much to whom
 */
#include "insight/traffic.h"
#include "insight/traffic_inside.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

/* What a damaged trace says may be any number. */
#define NS_MOST 0x1p62

static bool is_counted(const struct traffic_cell *c)
{
	return c->messages || c->one_sided || c->passed;
}

static struct traffic_cell *cell_of(const struct counting *t, uint32_t from, uint32_t to)
{
	size_t i = (size_t)(hash_mix(hash_mix(1, from), to)) & t->mask;
	while (is_counted(&t->cells[i]) && (t->cells[i].from != from || t->cells[i].to != to))
		i = (i + 1) & t->mask;
	return &t->cells[i];
}

static int traffic_grow(struct counting *t)
{
	size_t size = t->cells ? (t->mask + 1) * 2 : 256;
	struct counting bigger = {.cells = calloc(size, sizeof *bigger.cells), .mask = size - 1};
	if (!bigger.cells)
		return -1;
	for (size_t i = 0; t->cells && i <= t->mask; i++)
		if (is_counted(&t->cells[i]))
			*cell_of(&bigger, t->cells[i].from, t->cells[i].to) = t->cells[i];
	free(t->cells);
	t->cells = bigger.cells;
	t->mask = bigger.mask;
	return 0;
}

static int add_to_cell(struct counting *t, const struct traffic_change *change, uint64_t times)
{
	if ((t->count + 1) * 2 > (t->cells ? t->mask + 1 : 0) && traffic_grow(t) != 0)
		return -1;
	struct traffic_cell *c = cell_of(t, change->from, change->to);
	if (!is_counted(c)) {
		*c = (struct traffic_cell){.from = change->from, .to = change->to};
		t->count++;
	}
	uint64_t *calls = change->counted == COUNTED_MESSAGE     ? &c->messages
	                  : change->counted == COUNTED_ONE_SIDED ? &c->one_sided
	                                                         : &c->passed;
	uint64_t *sum = change->counted == COUNTED_MESSAGE     ? &c->bytes
	                : change->counted == COUNTED_ONE_SIDED ? &c->one_sided_bytes
	                                                       : &c->passed_bytes;
	*calls += times;
	*sum += times * change->bytes;
	return 0;
}

static void add_to_file(const struct counting *c, const struct traffic_change *change, uint64_t times)
{
	struct traffic_file *f = &c->m->files[change->from];
	bool reads = change->counted == COUNTED_READ;
	*(reads ? &f->reads : &f->writes) += times * change->counts;
	*(reads ? &f->read : &f->written) += times * change->bytes;
	if (change->timed) {
		double ns = histogram_mean(&c->trace->sites[change->to].communicate);
		*(reads ? &f->timed_read : &f->timed_written) += times * change->bytes;
		*(reads ? &f->read_ns : &f->written_ns) += times * (ns > 0 && ns < NS_MOST ? (uint64_t)(ns + 0.5) : 0);
	}
}

int traffic_add(struct counting *c, const struct traffic_change *change, uint64_t times)
{
	if (change->counted < COUNTED_READ)
		return add_to_cell(c, change, times);
	add_to_file(c, change, times);
	return 0;
}

static int count_act(struct counting *c, uint32_t self, const struct act *a)
{
	struct traffic_sums *sums = &c->m->sums;
	if (a->kind != ACT_SEND && a->kind != ACT_SEND_BEGIN)
		return 0;
	if (a->sized) {
		unsigned class = a->bytes ? 64 - (unsigned)__builtin_clzll(a->bytes) : 0;
		sums->sizes[class].messages++;
		sums->sizes[class].bytes += a->bytes;
	} else {
		sums->unknown_sizes++;
	}
	if (a->peer != RANK_UNKNOWN)
		return traffic_count(
			c, &(struct traffic_change){COUNTED_MESSAGE, .from = self, .to = a->peer, .bytes = a->bytes});
	sums->other_messages++;
	sums->other_bytes += a->bytes;
	return 0;
}

static int count_one_sided(struct counting *c, uint32_t self, const struct transfer *t)
{
	bool gets = t->kind == TRANSFER_GET;
	struct traffic_sums *sums = &c->m->sums;
	sums->unknown_sizes += !t->sized;
	if (t->peer != RANK_UNKNOWN)
		return traffic_count(c, &(struct traffic_change){COUNTED_ONE_SIDED, .from = gets ? t->peer : self,
		                                                 .to = gets ? self : t->peer, .bytes = t->bytes});
	sums->other_one_sided++;
	sums->other_one_sided_bytes += t->bytes;
	return 0;
}

/* That of a name, added if it is not there; NULL on no memory. */
static struct traffic_file *file_of(struct traffic *m, const struct trace *t, uint32_t name)
{
	const char *text = name ? (const char *)t->strings.items[name].bytes : "?";
	if (!m->file_at && !(m->file_at = calloc(t->strings.count, sizeof *m->file_at)))
		return NULL;
	if (m->file_at[name])
		return &m->files[m->file_at[name] - 1];
	if ((m->file_count & (m->file_count - 1)) == 0) { /* a power of two: full */
		struct traffic_file *more = realloc(m->files, (m->file_count ? 2 * m->file_count : 1) * sizeof *more);
		if (!more)
			return NULL;
		m->files = more;
	}
	m->files[m->file_count] = (struct traffic_file){.name = text};
	m->file_at[name] = (uint32_t)++m->file_count;
	return &m->files[m->file_count - 1];
}

static int count_file(struct counting *c, const struct event *e, const struct transfer *moved)
{
	const struct traffic_file *f = file_of(c->m, c->trace, moved->file);
	if (!f)
		return -1;
	c->m->sums.unknown_sizes += moved->counts && !moved->sized;
	return traffic_count(
		c, &(struct traffic_change){.counted = moved->kind == TRANSFER_READ ? COUNTED_READ : COUNTED_WRITTEN,
	                                    .from = (uint32_t)(f - c->m->files),
	                                    .to = e->site,
	                                    .counts = moved->counts,
	                                    .timed = moved->timed,
	                                    .bytes = moved->bytes});
}

static int count_transfer(struct counting *c, uint32_t self, const struct event *e, struct transfers *transfers)
{
	struct transfer moved;
	if (transfers_event(transfers, e, &moved) != 0)
		return -1;
	switch (moved.kind) {
	case TRANSFER_PUT:
	case TRANSFER_GET:
		return count_one_sided(c, self, &moved);
	case TRANSFER_READ:
	case TRANSFER_WRITE:
		return count_file(c, e, &moved);
	default:
		return 0;
	}
}

/* --- one rank --- */

struct counted_rank {
	const struct comms *comms;
	struct walk *walk;
	struct execution *execution;
	struct transfers *transfers;
	uint32_t self;
	uint64_t before; /* events of other ranks */
};

static uint64_t rank_state(const struct counted_rank *r)
{
	return hash_mix(execution_state(r->execution), transfers_state(r->transfers));
}

static int count_event(struct counting *c, const struct counted_rank *r, const struct event *e)
{
	size_t n;
	uint64_t unknown = execution_unknown(r->execution);
	const struct act *list = execution_event(r->execution, e, &n);
	c->m->sums.unknown += execution_unknown(r->execution) - unknown;
	for (size_t i = 0; list && i < n; i++) {
		struct passing p = {c->trace, r->comms, r->execution, e, &list[i], r->self, 0};
		if (count_act(c, r->self, &list[i]) != 0 || traffic_collective(c, &p) != 0)
			return -1;
	}
	return list ? count_transfer(c, r->self, e, r->transfers) : -1;
}

/* Of a loop: is what comes next a turn like the one before? Then it is counted so often. Returns 0, or -1 on no memory.
 */
static int leap(struct counting *c, const struct counted_rank *r)
{
	struct traffic_turn *t = &c->turn;
	bool marked;
	uint64_t turns = walk_repeats(r->walk, &marked);
	if (marked)
		traffic_turn_begin(c, rank_state(r));
	if (turns == 0 || t->spoiled || c->m->walked < t->asks)
		return 0;
	t->asks = c->m->walked + execution_requests(r->execution)->count;
	if (rank_state(r) != t->state)
		return 0;
	if (traffic_turn_repeat(c, turns) != 0)
		return -1;
	walk_leap(r->walk, turns);
	traffic_turn_begin(c, t->state);
	return 0;
}

static void tell_progress(struct counting *c, uint64_t done)
{
	c->done = done;
	if (!c->wish->progress || done - c->told < 0x1000)
		return;
	c->told = done;
	c->wish->progress(c->wish->context, done, c->all);
}

/* Returns 0; 1: there is too much; -1 with error set. */
static int count_events(struct counting *c, const struct counted_rank *r, struct error *error)
{
	struct event e;
	int step;
	traffic_turn_begin(c, 0);
	while ((step = walk_next(r->walk, &e, error)) == 0) {
		if (count_event(c, r, &e) != 0 || (!c->wish->each && leap(c, r) != 0))
			return error_set(error, "no memory");
		tell_progress(c, r->before + e.number + 1);
		if (++c->m->walked == c->wish->most)
			return 1;
	}
	return step < 0 ? -1 : 0;
}

static int count_rank(struct counting *c, const struct calls *calls, const struct comms *comms, uint32_t stream,
                      struct error *error)
{
	struct counted_rank r = {.comms = comms, .self = stream_rank(calls->trace, stream), .before = c->done};
	int rv = -1;
	r.execution = execution_create(calls, comms, stream);
	r.transfers = r.execution ? transfers_create(calls->trace, comms, r.execution, stream) : NULL;
	if (!r.transfers)
		error_set(error, "no memory");
	else if (walk_begin(&r.walk, calls->trace, stream, error) == 0)
		rv = count_events(c, &r, error);
	walk_end(r.walk);
	transfers_destroy(r.transfers);
	execution_destroy(r.execution);
	return rv;
}

static int by_ranks(const void *a, const void *b)
{
	const struct traffic_cell *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct traffic_file *)a)->name, ((const struct traffic_file *)b)->name);
}

static int count_all(struct counting *c, struct error *error)
{
	struct calls calls;
	struct comms *comms = NULL;
	int64_t unused;
	int rv = calls_make(&calls, c->trace) == 0 ? comms_make(&comms, &calls, error) : error_set(error, "no memory");
	for (uint64_t stream = 0; rv == 0 && rankmap_next(&c->trace->events, &stream, &unused); stream++)
		rv = count_rank(c, &calls, comms, (uint32_t)stream, error);
	comms_destroy(comms);
	calls_free(&calls);
	return rv;
}

int traffic_make(struct traffic *m, const struct trace *t, const struct traffic_wish *wish, struct error *error)
{
	struct counting c = {.m = m, .wish = wish, .trace = t, .all = (uint64_t)rankmap_sum(&t->events)};
	*m = (struct traffic){.count = 0};
	if (wish->most && rankmap_size(&t->events) > wish->most)
		return 1;
	if (!budget_expect(walk_cost_least(t)))
		return error_set(error, "there are too many ranks to look at each one's events");
	int rv = count_all(&c, error);
	m->unordered = c.all - c.done;
	for (size_t i = 0; c.cells && i <= c.mask; i++)
		if (is_counted(&c.cells[i]))
			c.cells[m->count++] = c.cells[i];
	if (m->count > 0)
		qsort(c.cells, m->count, sizeof *c.cells, by_ranks);
	m->cells = c.cells;
	if (m->file_count > 0)
		qsort(m->files, m->file_count, sizeof *m->files, by_name);
	free(m->file_at);
	m->file_at = NULL;
	budget_free(c.turn.changes);
	return rv;
}

void traffic_free(struct traffic *m)
{
	free(m->cells);
	free(m->files);
	m->files = NULL;
	m->cells = NULL;
}
