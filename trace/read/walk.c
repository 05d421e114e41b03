/* SPDX-License-Identifier: BSD-3-Clause
 * walk - the events of one rank of a trace, in order
 */
#include "trace/read/walk_inside.h"

#include <inttypes.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/stream.h"

void column_cursor_close(struct column_cursor *c)
{
	pattern_end(&c->pattern);
	budget_free(c->dict);
	if (c->edits)
		edits_free(c->edits);
	budget_free(c->edits);
	*c = (struct column_cursor){0};
}

/* The array that a family has for a rank, as a number behind those of the trace's pool. Returns 0 or -1. */
static int array_of(const struct trace *t, const struct trace_stretch *s, uint32_t rank, struct pool *own,
                    int64_t *number)
{
	int64_t elements[FAMILY_WIDTH];
	for (uint32_t k = 0; k < s->width; k++)
		if (!rankmap_get(&s->elements[k], rank, &elements[k]) ||
		    (value_is_constant(elements[k]) &&
		     (uint64_t)elements[k] - (uint64_t)VALUE_CONSTANT >= t->strings.count))
			return -1;
	uint32_t i = pool_intern(own, elements, s->width * sizeof *elements);
	*number = (int64_t)t->vector_pool.count + i;
	return i == UINT32_MAX ? -1 : 0;
}

/* No named constant comes out of the arithmetic on damaged numbers? Those are the least of all numbers: without
 * overflow it is enough to look at both ends. */
#define WRAPPED_MAX 65536
static bool run_is_plain(const struct dict_run *d)
{
	__int128 end = d->start + (__int128)d->stride * (d->count - 1);
	if (d->count == 1 || (end <= INT64_MAX && end >= INT64_MIN && !value_is_constant((int64_t)end)))
		return true;
	bool plain = d->count <= WRAPPED_MAX;
	for (uint64_t i = 0; plain && i < d->count; i++)
		plain = !value_is_constant((int64_t)((uint64_t)d->start + (uint64_t)d->stride * i));
	return plain;
}

/* The values that a group's dictionary has for a rank. Returns 0 or -1. */
static int cursor_take_dictionary(struct column_cursor *c, const struct trace *t, const struct trace_group *group,
                                  uint32_t rank, struct pool *own)
{
	uint64_t first = 0;
	c->dict = budget_calloc(group->count, sizeof *c->dict);
	if (!c->dict)
		return -1;
	c->count = group->count;
	for (uint32_t i = 0; i < group->count; i++) {
		struct dict_run *d = &c->dict[i];
		d->count = group->dict[i].count;
		d->first = first;
		first += d->count;
		if (group->dict[i].vector) {
			if (array_of(t, &group->dict[i], rank, own, &d->start) != 0)
				return -1;
			continue;
		}
		if (!rankmap_get(&group->dict[i].start, rank, &d->start) ||
		    (d->count > 1 && !rankmap_get(&group->dict[i].stride, rank, &d->stride)))
			return -1;
		if (value_is_constant(d->start)
		            ? d->count > 1 || (uint64_t)d->start - (uint64_t)VALUE_CONSTANT >= t->strings.count
		            : !run_is_plain(d))
			return -1;
	}
	return 0;
}

/* A pattern, parsed if it is not yet; NULL: it cannot be, and is as it was. */
static const struct pattern *parsed_pattern(const struct trace *t, uint32_t number, struct pattern *patterns)
{
	const struct pool_item *item = &t->patterns.items[number];
	struct pattern *p = &patterns[number];
	if (p->rules || pattern_parse(p, item->bytes, item->size) == 0)
		return p;
	pattern_free(p);
	return NULL;
}

/* The group of a rank; NULL: it has none. */
static const struct trace_group *group_of(const struct trace_column *column, uint32_t rank)
{
	int64_t unused;
	for (uint32_t g = 0; g < column->count && budget_step(1); g++)
		if (rankmap_get(trace_group_ranks(&column->groups[g]), rank, &unused))
			return &column->groups[g];
	return NULL;
}

static int cursor_open(struct column_cursor *c, const struct trace *t, const struct trace_group *group, uint32_t rank,
                       struct pattern *patterns, struct pool *own)
{
	int rv = cursor_take_dictionary(c, t, group, rank, own);
	c->edited = group->edits;
	c->constant = group->pattern == 0 && !c->edited;
	c->trace = t;
	c->own = own;
	if (rv == 0 && c->edited) {
		c->edits = budget_calloc(1, sizeof *c->edits);
		rv = c->edits ? 0 : -1;
	} else if (rv == 0 && !c->constant) {
		const struct pattern *p = parsed_pattern(t, group->pattern - 1, patterns);
		rv = p ? pattern_begin(&c->pattern, p) : -1;
	}
	if (rv != 0)
		column_cursor_close(c); /* whoever asks again opens it again */
	c->open = rv == 0;
	return rv;
}

int column_cursor_open(struct column_cursor *c, const struct trace *t, const struct trace_column *column, uint32_t rank,
                       struct pattern *patterns, struct pool *own)
{
	const struct trace_group *group = group_of(column, rank);
	return group ? cursor_open(c, t, group, rank, patterns, own) : 1;
}

int column_cursor_open_prefix(struct column_cursor *c, const struct trace *t, const struct trace_column *column,
                              uint32_t rank, struct pattern *patterns, struct pool *own)
{
	const struct trace_group *group = group_of(column, rank),
				 *first = group && group->lossy ? group_of(&group->lossy->prefix, rank) : NULL;
	if (!group)
		return 1;
	int rv = cursor_open(c, t, first ? first : group, rank, patterns, own);
	c->prefix = first && rv == 0;
	return rv;
}

/* From here on nothing is known. */
static void cursor_lose_order(struct column_cursor *c)
{
	c->constant = true;
	c->edited = false;
	c->dict[0].start = VALUE_LOSSY;
}

int column_cursor_edit(struct column_cursor *c)
{
	for (; c->at < c->count; c->at++, c->place = 0) {
		const struct pool_item *piece = &c->trace->vector_pool.items[c->dict[c->at].start];
		while (c->place + sizeof(int64_t) <= piece->size) {
			int64_t number;
			memcpy(&number, piece->bytes + c->place, sizeof number);
			c->place += sizeof number;
			int rv = edits_take(c->edits, number);
			c->known += rv > 0;
			if (rv != 0)
				return rv > 0 ? 0 : -1;
		}
	}
	return c->edits->is_begun ? -1 : 1;
}

/* The array that was made, as a number behind those of the trace's pool. */
static int intern_array(const struct column_cursor *c, int64_t *value)
{
	const struct edits *e = c->edits;
	uint32_t i =
		e->is_constant || !c->own ? UINT32_MAX : pool_intern(c->own, e->values, e->count * sizeof *e->values);
	*value = e->is_constant ? e->constant : (int64_t)c->trace->vector_pool.count + i;
	return !e->is_constant && i == UINT32_MAX ? -1 : 0;
}

/* The next value. Returns 0, or 1 at the end of the column, -1 on no memory or contradiction. */
int column_cursor_next(struct column_cursor *c, int64_t *value)
{
	if (c->edited) {
		int rv = column_cursor_edit(c);
		if (rv > 0 && c->prefix) {
			cursor_lose_order(c);
			*value = VALUE_LOSSY;
			return 0;
		}
		return rv != 0 ? rv : intern_array(c, value);
	}
	if (c->constant) {
		*value = c->dict[0].start;
		return 0;
	}
	if (c->left == 0) {
		int rv = pattern_next(&c->pattern, &c->token, &c->left);
		if (rv > 0 && c->prefix) {
			cursor_lose_order(c);
			*value = VALUE_LOSSY;
			return 0;
		}
		if (rv != 0)
			return rv;
	}
	c->left--;
	uint64_t index;
	uint32_t low = 0, high = c->count;
	if (c->token == PATTERN_NEW) {
		index = c->known++;
		while (c->at < c->count && index >= c->dict[c->at].first + c->dict[c->at].count)
			c->at++;
		low = c->at;
		high = low + 1;
	} else {
		index = c->token - 1;
		if (index >= c->known)
			return -1;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (c->dict[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	if (low >= c->count)
		return -1;
	*value = (int64_t)((uint64_t)c->dict[low].start + (uint64_t)c->dict[low].stride * (index - c->dict[low].first));
	return 0;
}

int column_cursor_skip(struct column_cursor *c, uint64_t n)
{
	uint64_t news = 0;
	if (c->constant || n == 0)
		return 0;
	for (; c->edited && n > 0; n--) {
		int rv = budget_step(1) ? column_cursor_edit(c) : -1;
		if (rv > 0 && c->prefix)
			cursor_lose_order(c);
		else if (rv != 0)
			return -1;
	}
	if (c->edited || c->constant)
		return 0;
	if (c->prefix && n >= pattern_length(c->pattern.pattern)) {
		cursor_lose_order(c);
		return 0;
	}
	if (pattern_skip(&c->pattern, &n, &news) != 0)
		return -1;
	c->known += news;
	if (n == 0)
		return 0;
	if (pattern_next(&c->pattern, &c->token, &c->left) != 0 || c->left < n)
		return -1;
	c->left -= n;
	if (c->token == PATTERN_NEW)
		c->known += n;
	return 0;
}

int walk_object(const struct trace *t, uint32_t stream, const char *table, const char *column, int64_t **values,
                size_t *n, struct error *error)
{
	*values = NULL;
	*n = 0;
	for (uint32_t i = 0; i < t->object_count; i++) {
		const struct trace_site *s = &t->objects[i];
		const struct schema *schema = trace_schema(t, s);
		int64_t rows;
		if (schema->function_length != strlen(table) ||
		    memcmp(schema->function, table, schema->function_length) != 0 ||
		    !rankmap_get(&s->visits, stream, &rows) || rows <= 0)
			continue;
		for (size_t k = 0; k < schema->count; k++) {
			if (schema->column[k].length != strlen(column) ||
			    memcmp(schema->column[k].name, column, schema->column[k].length) != 0)
				continue;
			struct column_cursor c = {0};
			struct pool own = {0}; /* tables have no arrays */
			struct pattern *patterns = budget_calloc(t->patterns.count + 1, sizeof *patterns);
			size_t capacity = 0;
			int rv = patterns ? column_cursor_open(&c, t, &s->columns[k], stream, patterns, &own) : -1;
			while (rv == 0 && *n < (uint64_t)rows) {
				if (*n == capacity) {
					capacity = capacity ? capacity * 2 : 16;
					int64_t *more = budget_realloc(*values, capacity * sizeof *more);
					if (!more) {
						rv = -1;
						break;
					}
					*values = more;
				}
				rv = column_cursor_next(&c, &(*values)[*n]);
				if (rv == 0)
					++*n;
			}
			column_cursor_close(&c);
			pool_free(&own);
			for (uint32_t p = 0; patterns && p < t->patterns.count; p++)
				pattern_free(&patterns[p]);
			budget_free(patterns);
			if (rv != 0) {
				budget_free(*values);
				*values = NULL;
				*n = 0;
				return error_set(error, "rank %u: table %s is damaged, or there is no memory",
				                 stream_rank(t, stream), table);
			}
			return 0;
		}
	}
	return 0;
}

uint64_t walk_cost(const struct trace *t)
{
	return (uint64_t)rankmap_sum(&t->events) + walk_cost_least(t);
}

uint64_t walk_cost_least(const struct trace *t)
{
	return WALK_STEPS * rankmap_size(&t->events);
}

int walk_begin(struct walk **out, const struct trace *t, uint32_t stream, struct error *error)
{
	int64_t events, first = 0;
	uint32_t rank = stream_rank(t, stream);
	*out = NULL;
	if (!rankmap_get(&t->events, stream, &events))
		return stream_missing(t, stream, error);
	if (!budget_step(WALK_STEPS))
		return error_set(error, "rank %u: there are too many to read", rank);
	if (events < 0 || (events > 0 && !rankmap_get(&t->first, stream, &first)))
		return error_set(error, "rank %u: damaged number of events", rank);
	struct walk *w = budget_calloc(1, sizeof *w);
	if (!w)
		return error_set(error, "no memory");
	w->trace = t;
	w->rank = rank;
	w->stream = stream;
	w->events = (uint64_t)events;
	w->site = (uint32_t)first;
	w->sites = budget_calloc((size_t)t->site_count + 1, sizeof *w->sites);
	w->patterns = budget_calloc((size_t)t->patterns.count + 1, sizeof *w->patterns);
	if (!w->sites || !w->patterns) {
		walk_end(w);
		return error_set(error, "no memory");
	}
	if (walk_object(t, stream, "@comm", "rank", &w->comm_ranks, &w->comm_count, error) != 0) {
		walk_end(w);
		return -1;
	}
	*out = w;
	return 0;
}

void walk_end(struct walk *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->sites && i < w->trace->site_count; i++) {
		for (uint32_t k = 0; w->sites[i] && k < w->trace->sites[i].column_count; k++)
			column_cursor_close(&w->sites[i][k]);
		budget_free(w->sites[i]);
	}
	for (uint32_t i = 0; w->patterns && i < w->trace->patterns.count; i++)
		pattern_free(&w->patterns[i]);
	budget_free(w->sites);
	budget_free(w->patterns);
	budget_free(w->comm_ranks);
	budget_free(w->skip);
	budget_free(w->mark.places);
	budget_free(w->mark.levels);
	pool_free(&w->own);
	budget_free(w);
}

static int64_t base_of(const struct walk *w, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		if (e->schema->column[i].kind != 'c' || e->schema->column[i].vector)
			continue;
		int64_t v = e->values[i];
		if (value_is_constant(v))
			return trace_is_constant(w->trace, v, CONST_MPI_COMM_WORLD) ? (int64_t)w->rank : 0;
		/* rows of @comm are relative to the rank in MPI_COMM_WORLD themselves; a constant there means that
		 * there is no rank */
		if (v < 0 || (uint64_t)v >= w->comm_count || value_is_constant(w->comm_ranks[v]))
			return 0;
		return w->comm_ranks[v] + w->rank;
	}
	return w->rank;
}

int walk_seek(struct walk *w, uint64_t number, uint32_t site, const uint64_t *visits)
{
	w->skip = budget_malloc(((size_t)w->trace->site_count + 1) * sizeof *w->skip);
	if (!w->skip)
		return -1;
	memcpy(w->skip, visits, w->trace->site_count * sizeof *w->skip);
	w->next = number;
	w->site = site;
	return 0;
}

bool walk_unordered(const struct walk *w)
{
	return w->unordered;
}

/* The next value of a group of edits: a number that no other event has, whose array is the cursor's. */
static int next_edited(struct walk *w, uint32_t column, struct column_cursor *c, int64_t *value)
{
	int rv = column_cursor_edit(c);
	if (rv > 0 && c->prefix)
		return column_cursor_next(c, value);
	if (rv != 0)
		return rv;
	*value = c->edits->is_constant ? c->edits->constant : (int64_t)(EVENT_EDITED + w->next * SCHEMA_MAX + column);
	w->edited[column] = (struct pool_item){(uint8_t *)c->edits->values, c->edits->count * sizeof(int64_t)};
	return 0;
}

int walk_next(struct walk *w, struct event *e, struct error *error)
{
	if (w->next == w->events)
		return 1;
	if (!budget_step(1))
		return error_set(error, "rank %u, event %" PRIu64 ": there are too many to read", w->rank, w->next);
	const struct trace *t = w->trace;
	const struct trace_site *s = &t->sites[w->site];
	struct column_cursor *cursors = w->sites[w->site];
	if (!cursors) {
		cursors = w->sites[w->site] = budget_calloc(s->column_count, sizeof *cursors);
		if (!cursors)
			return error_set(error, "no memory");
	}
	e->number = w->next++;
	e->site = w->site;
	e->schema = trace_schema(t, s);
	e->own = &w->own;
	e->edited = w->edited;
	for (uint32_t k = 0; k < s->column_count; k++) {
		bool successor = k + 1 == s->column_count;
		if (successor && w->next == w->events)
			break;
		int64_t value;
		int rv = 0;
		if (!cursors[k].open) {
			rv = column_cursor_open_prefix(&cursors[k], t, &s->columns[k], w->stream, w->patterns, &w->own);
			w->opened++;
			if (rv == 0 && w->skip)
				rv = column_cursor_skip(&cursors[k], w->skip[w->site]);
		}
		if (rv == 0)
			rv = cursors[k].edited ? next_edited(w, k, &cursors[k], &value)
			                       : column_cursor_next(&cursors[k], &value);
		if (rv != 0)
			return error_set(error,
			                 "rank %u, event %" PRIu64
			                 ", site %u: column %u ends too early, or there is no memory",
			                 w->rank, e->number, e->site, k);
		if (successor && value == VALUE_LOSSY) {
			w->unordered = true;
			w->next = w->events; /* what came next is not known */
		} else if (successor)
			w->site = (uint32_t)value;
		else
			e->values[k] = value;
	}
	e->base = base_of(w, e);
	return 0;
}
