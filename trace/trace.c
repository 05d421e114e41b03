/* SPDX-License-Identifier: BSD-3-Clause
 * trace - the trace of a set of ranks, in memory
 */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/column.h"
#include "trace/pattern.h"

/* Makes room for one more element; false on no memory. */
static bool grow(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
	if (count < *capacity)
		return true;
	uint32_t more = *capacity ? *capacity * 2 : 8;
	void **at = array, *p = more > *capacity ? realloc(*at, more * size) : NULL;
	if (!p)
		return false;
	*at = p;
	*capacity = more;
	return true;
}

/* Pools. */

struct wanted {
	const void *in;
	const void *thing;
	size_t n;
};

static bool item_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct pool *p = w->in;
	return p->items[i].size == w->n && memcmp(p->items[i].bytes, w->thing, w->n) == 0;
}

uint32_t pool_intern(struct pool *p, const void *bytes, size_t n)
{
	if (n == 0)
		bytes = "";
	uint64_t hash = hash_bytes(bytes, n);
	uint32_t i = index_find(&p->index, hash, item_equal, &(struct wanted){p, bytes, n});
	if (i != INDEX_NONE)
		return i;
	uint8_t *copy = malloc(n + 1);
	if (!copy || !grow(&p->items, p->count, &p->capacity, sizeof *p->items) || index_add(&p->index, hash, p->count) != 0) {
		free(copy);
		return UINT32_MAX;
	}
	memcpy(copy, bytes, n);
	copy[n] = 0;
	p->items[p->count] = (struct pool_item){copy, n};
	return p->count++;
}

void pool_free(struct pool *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		free(p->items[i].bytes);
	free(p->items);
	index_free(&p->index);
}

/* Things of fixed size. */

static bool module_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct trace_module *a = &((const struct trace *)w->in)->modules[i], *b = w->thing;
	return a->build_id == b->build_id && (a->build_id || a->name == b->name);
}

uint32_t trace_module(struct trace *t, struct trace_module m)
{
	uint64_t hash = hash_mix(hash_mix(1, m.build_id), m.build_id ? 0 : m.name);
	uint32_t i = index_find(&t->module_index, hash, module_equal, &(struct wanted){t, &m, 0});
	if (i != INDEX_NONE) {
		/* the same file under two names: the one that sorts first, so that no order of merging matters */
		const struct pool_item *items = t->strings.items;
		if (strcmp((const char *)items[m.name].bytes, (const char *)items[t->modules[i].name].bytes) < 0)
			t->modules[i].name = m.name;
		return i;
	}
	if (!grow(&t->modules, t->module_count, &t->module_capacity, sizeof m) || index_add(&t->module_index, hash, t->module_count) != 0)
		return UINT32_MAX;
	t->modules[t->module_count] = m;
	return t->module_count++;
}

static bool node_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct trace_node *a = &((const struct trace *)w->in)->nodes[i], *b = w->thing;
	return i > 0 && a->parent == b->parent && a->module == b->module && a->offset == b->offset;
}

uint32_t trace_node(struct trace *t, struct trace_node n)
{
	uint64_t hash = hash_mix(hash_mix(hash_mix(2, n.parent), n.module), n.offset);
	uint32_t i = index_find(&t->node_index, hash, node_equal, &(struct wanted){t, &n, 0});
	if (i != INDEX_NONE)
		return i;
	if (!grow(&t->nodes, t->node_count, &t->node_capacity, sizeof n) || index_add(&t->node_index, hash, t->node_count) != 0)
		return UINT32_MAX;
	t->nodes[t->node_count] = n;
	return t->node_count++;
}

static bool function_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	return ((const struct trace *)w->in)->functions[i].string == *(const uint32_t *)w->thing;
}

uint32_t trace_function(struct trace *t, uint32_t string)
{
	uint64_t hash = hash_mix(3, string);
	uint32_t i = index_find(&t->function_index, hash, function_equal, &(struct wanted){t, &string, 0});
	if (i != INDEX_NONE)
		return i;
	struct trace_function f = {.string = string};
	if (schema_parse(&f.schema, (const char *)t->strings.items[string].bytes, t->strings.items[string].size) != 0 ||
	    !grow(&t->functions, t->function_count, &t->function_capacity, sizeof f) ||
	    index_add(&t->function_index, hash, t->function_count) != 0)
		return UINT32_MAX;
	t->functions[t->function_count] = f;
	return t->function_count++;
}

static bool site_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct trace_site *a = &((const struct trace_site *)w->in)[i], *b = w->thing;
	return a->function == b->function && a->node == b->node;
}

uint32_t trace_site(struct trace *t, uint32_t function, uint32_t node, bool object)
{
	struct trace_site **sites = object ? &t->objects : &t->sites;
	uint32_t *count = object ? &t->object_count : &t->site_count;
	uint32_t *capacity = object ? &t->object_capacity : &t->site_capacity;
	struct index *index = object ? &t->object_index : &t->site_index;
	struct trace_site s = {.function = function, .node = node};
	uint64_t hash = hash_mix(hash_mix(4, function), node);
	uint32_t i = index_find(index, hash, site_equal, &(struct wanted){*sites, &s, 0});
	if (i != INDEX_NONE)
		return i;
	s.column_count = (uint32_t)t->functions[function].schema.count + !object;
	s.columns = calloc(s.column_count + 1, sizeof *s.columns);
	if (!s.columns || !grow(sites, *count, capacity, sizeof s) || index_add(index, hash, *count) != 0) {
		free(s.columns);
		return UINT32_MAX;
	}
	(*sites)[*count] = s;
	return (*count)++;
}

void trace_group_free(struct trace_group *g)
{
	for (uint32_t i = 0; g->dict && i < g->count; i++) {
		rankmap_free(&g->dict[i].start);
		rankmap_free(&g->dict[i].stride);
		for (uint32_t k = 0; g->dict[i].elements && k < g->dict[i].width; k++)
			rankmap_free(&g->dict[i].elements[k]);
		free(g->dict[i].elements);
	}
	free(g->dict);
	if (g->lossy) {
		tally_free(&g->lossy->values);
		tally_free(&g->lossy->elements);
		for (uint32_t i = 0; i < g->lossy->next_count; i++)
			tally_free(&g->lossy->next[i].runs);
		free(g->lossy->next);
		free(g->lossy);
	}
	*g = (struct trace_group){0};
}

int trace_group_lossy(struct trace_group *g, const struct rankmap *ranks)
{
	g->lossy = calloc(1, sizeof *g->lossy);
	g->dict = calloc(1, sizeof *g->dict);
	if (!g->lossy || !g->dict)
		return -1;
	g->lossy->since = UINT64_MAX;
	g->count = 1;
	g->dict[0].count = 1;
	return rankmap_fill(&g->dict[0].start, ranks, VALUE_LOSSY, true);
}

struct tally *trace_next(struct trace_lossy *l, uint32_t to)
{
	uint32_t low = 0, high = l->next_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (l->next[middle].to == to)
			return &l->next[middle].runs;
		if (l->next[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	if (!grow(&l->next, l->next_count, &l->next_capacity, sizeof *l->next))
		return NULL;
	memmove(&l->next[low + 1], &l->next[low], (l->next_count - low) * sizeof *l->next);
	l->next_count++;
	l->next[low] = (struct trace_next){.to = to};
	return &l->next[low].runs;
}

int trace_tally_fold(struct trace *t, struct tally *tally)
{
	bool fold = tally_coarse(tally);
	for (uint32_t i = 0, n = tally_constants(tally); !fold && i < n; i++) {
		const struct pool_item *name = &t->strings.items[(uint64_t)tally->bins[i].min - (uint64_t)VALUE_CONSTANT];
		fold = name->size == 1 && name->bytes[0] == '?';
	}
	if (!fold)
		return 0;
	uint32_t unknown = pool_intern(&t->strings, "?", 1);
	if (unknown == UINT32_MAX)
		return -1;
	tally_fold(tally, VALUE_CONSTANT + unknown);
	return 0;
}

bool trace_has_lossy(const struct trace *t)
{
	for (int object = 0; object < 2; object++)
		for (uint32_t i = 0; i < (object ? t->object_count : t->site_count); i++) {
			const struct trace_site *s = object ? &t->objects[i] : &t->sites[i];
			for (uint32_t k = 0; k < s->column_count; k++)
				for (uint32_t g = 0; g < s->columns[k].count; g++)
					if (s->columns[k].groups[g].lossy)
						return true;
		}
	return false;
}

const char *trace_why_text(uint32_t why, char out[WHY_SIZE])
{
	static const char *const words[] = {"threshold", "memory", "ranks"};
	out[0] = 0;
	for (int i = 0; i < 3; i++)
		if (why >> i & 1) {
			if (out[0])
				strcat(out, "+");
			strcat(out, words[i]);
		}
	return out;
}

bool trace_stretch_alike(const struct trace_stretch *a, const struct trace_stretch *b)
{
	return a->count == b->count && a->vector == b->vector && a->width == b->width;
}

int trace_stretch_join(struct trace_stretch *to, const struct trace_stretch *from)
{
	if (rankmap_union(&to->start, &to->start, &from->start) != 0 ||
	    (to->count > 1 && rankmap_union(&to->stride, &to->stride, &from->stride) != 0))
		return -1;
	for (uint32_t k = 0; k < to->width; k++)
		if (rankmap_union(&to->elements[k], &to->elements[k], &from->elements[k]) != 0)
			return -1;
	return 0;
}

int trace_add_group_take(struct trace_column *c, struct trace_group *g)
{
	struct trace_group *groups = realloc(c->groups, (c->count + 1) * sizeof *groups);
	if (!groups) {
		trace_group_free(g);
		return -1;
	}
	c->groups = groups;
	c->groups[c->count++] = *g;
	*g = (struct trace_group){0};
	return 0;
}

bool trace_initializes(const struct schema *s)
{
	return (s->function_length == 8 || s->function_length == 15) && memcmp(s->function, "MPI_Init_thread", s->function_length) == 0;
}

int trace_total_add(struct trace_total *to, const struct trace_total *from)
{
	struct trace_rank_ns *ranks = NULL;
	uint64_t count = to->count + from->count, n = 0;
	if (from->count == 0)
		return 0;
	if (count <= TOTALS_MAX && from->ranks && (to->count == 0 || to->ranks)) {
		ranks = malloc(count * sizeof *ranks);
		if (!ranks)
			return -1;
		for (uint64_t i = 0, k = 0; i < to->count || k < from->count;)
			ranks[n++] = k == from->count || (i < to->count && to->ranks[i].rank <= from->ranks[k].rank) ? to->ranks[i++] : from->ranks[k++];
	}
	if (to->count == 0 || from->min < to->min || (from->min == to->min && from->min_rank < to->min_rank)) {
		to->min = from->min;
		to->min_rank = from->min_rank;
	}
	if (to->count == 0 || from->max > to->max || (from->max == to->max && from->max_rank < to->max_rank)) {
		to->max = from->max;
		to->max_rank = from->max_rank;
	}
	free(to->ranks);
	to->ranks = ranks;
	to->count = count;
	to->sum += from->sum;
	return 0;
}

/* Few edges are looked through; more than that have an index. */
#define EDGES_PLAIN 8

static bool edge_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	return ((const struct trace_edge *)w->in)[i].to == *(const uint32_t *)w->thing;
}

struct trace_edge *trace_edge(struct trace_site *s, uint32_t to)
{
	if (s->edge_count <= EDGES_PLAIN) {
		for (uint32_t i = 0; i < s->edge_count; i++)
			if (s->edges[i].to == to)
				return &s->edges[i];
	} else {
		for (uint32_t i = (uint32_t)s->edge_index.count; i < s->edge_count; i++)
			if (index_add(&s->edge_index, hash_mix(5, s->edges[i].to), i) != 0)
				return NULL;
		uint32_t i = index_find(&s->edge_index, hash_mix(5, to), edge_equal, &(struct wanted){s->edges, &to, 0});
		if (i != INDEX_NONE)
			return &s->edges[i];
	}
	if (!grow(&s->edges, s->edge_count, &s->edge_capacity, sizeof *s->edges))
		return NULL;
	s->edges[s->edge_count] = (struct trace_edge){.to = to};
	return &s->edges[s->edge_count++];
}

static int by_target(const void *a, const void *b)
{
	const struct trace_edge *x = a, *y = b;
	return (x->to > y->to) - (x->to < y->to);
}

void trace_sort_edges(struct trace_site *s)
{
	if (s->edge_count > 1)
		qsort(s->edges, s->edge_count, sizeof *s->edges, by_target);
	index_free(&s->edge_index);
}

int trace_init(struct trace *t)
{
	*t = (struct trace){0};
	if (pool_intern(&t->strings, "", 0) != 0 || trace_node(t, (struct trace_node){0, UINT32_MAX, 0}) != 0)
		return -1;
	return 0;
}

static void sites_free(struct trace_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct trace_site *s = &sites[i];
		for (uint32_t k = 0; k < s->column_count; k++) {
			for (uint32_t g = 0; g < s->columns[k].count; g++)
				trace_group_free(&s->columns[k].groups[g]);
			free(s->columns[k].groups);
		}
		free(s->columns);
		trace_time_free(&s->communicate);
		for (uint32_t k = 0; k < s->edge_count; k++)
			trace_time_free(&s->edges[k].compute);
		free(s->edges);
		index_free(&s->edge_index);
		rankmap_free(&s->visits);
	}
	free(sites);
}

void trace_free(struct trace *t)
{
	pool_free(&t->strings);
	pool_free(&t->vector_pool);
	pool_free(&t->patterns);
	free(t->modules);
	free(t->nodes);
	free(t->functions);
	sites_free(t->sites, t->site_count);
	sites_free(t->objects, t->object_count);
	index_free(&t->module_index);
	index_free(&t->node_index);
	index_free(&t->function_index);
	index_free(&t->site_index);
	index_free(&t->object_index);
	rankmap_free(&t->events);
	rankmap_free(&t->first);
	rankmap_free(&t->host);
	rankmap_free(&t->host_number);
	rankmap_free(&t->lost);
	rankmap_free(&t->in_flight);
	for (unsigned i = 0; i < TRACE_TOTALS; i++)
		free(t->total[i].ranks);
	*t = (struct trace){0};
}

/* Hosts. */

#define HOST_DIGITS 9

/* Where the number in a name is: the last digits of its first part. Returns how many digits there are, 0 if there is no number. */
static size_t host_digits(const char *name, size_t n, size_t *at)
{
	size_t end = 0, digits = 0;
	while (end < n && name[end] != '.')
		end++;
	while (end > 0 && !(name[end - 1] >= '0' && name[end - 1] <= '9'))
		end--;
	while (digits < end && name[end - 1 - digits] >= '0' && name[end - 1 - digits] <= '9')
		digits++;
	*at = end - digits;
	return digits <= HOST_DIGITS && n < TRACE_HOST_MAX && !memchr(name, '#', n) ? digits : 0;
}

int trace_set_host(struct trace *t, uint32_t rank, const char *name, size_t n)
{
	char form[TRACE_HOST_MAX];
	size_t at, digits = host_digits(name, n, &at);
	int64_t number = 0;
	if (digits) {
		memcpy(form, name, n);
		for (size_t i = at; i < at + digits; i++) {
			number = 10 * number + (name[i] - '0');
			form[i] = '#';
		}
		if (rankmap_single(&t->host_number, rank, number, false) != 0)
			return -1;
		name = form;
	}
	uint32_t string = pool_intern(&t->strings, name, n);
	return string == UINT32_MAX ? -1 : rankmap_single(&t->host, rank, string, true);
}

static void host_name(const struct trace *t, int64_t host, bool numbered, int64_t number, char name[TRACE_HOST_MAX])
{
	const struct pool_item *form = &t->strings.items[host];
	size_t n = form->size < TRACE_HOST_MAX ? form->size : TRACE_HOST_MAX - 1;
	memcpy(name, form->bytes, n);
	name[n] = '\0';
	for (size_t i = n; numbered && i-- > 0;)
		if (name[i] == '#') {
			name[i] = (char)('0' + (number < 0 ? 0 : number % 10));
			number /= 10;
		}
}

void trace_host(const struct trace *t, uint32_t rank, char name[TRACE_HOST_MAX])
{
	int64_t host, number = 0;
	name[0] = '\0';
	if (rankmap_get(&t->host, rank, &host)) {
		bool numbered = rankmap_get(&t->host_number, rank, &number);
		host_name(t, host, numbered, number, name);
	}
}

struct host {
	int64_t host, number;
	bool numbered;
	uint64_t ranks;
};

static bool host_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct host *a = &((const struct host *)w->in)[i], *b = w->thing;
	return a->host == b->host && a->number == b->number && a->numbered == b->numbered;
}

int trace_hosts(const struct trace *t, void (*tell)(void *context, const char *name, uint64_t ranks), void *context)
{
	int rv = -1;
	struct index index = {0};
	struct host *hosts = NULL;
	uint32_t count = 0, capacity = 0, last = 0;
	struct host h = {.ranks = 0};
	for (uint64_t r = 0; rankmap_next(&t->host, &r, &h.host); r++) {
		h.number = 0;
		h.numbered = rankmap_get(&t->host_number, (uint32_t)r, &h.number);
		if (count > 0 && host_equal(&(struct wanted){hosts, &h, 0}, last)) {
			hosts[last].ranks++;
			continue;
		}
		uint64_t hash = hash_mix(hash_mix(h.numbered, (uint64_t)h.host), (uint64_t)h.number);
		last = index_find(&index, hash, host_equal, &(struct wanted){hosts, &h, 0});
		if (last == INDEX_NONE) {
			if (!grow(&hosts, count, &capacity, sizeof *hosts) || index_add(&index, hash, count) != 0)
				goto done;
			last = count++;
			hosts[last] = h;
		}
		hosts[last].ranks++;
	}
	for (uint32_t i = 0; i < count; i++) {
		char name[TRACE_HOST_MAX];
		host_name(t, hosts[i].host, hosts[i].numbered, hosts[i].number, name);
		tell(context, name, hosts[i].ranks);
	}
	rv = 0;
done:
	free(hosts);
	index_free(&index);
	return rv;
}

/* Checking. */

static bool value_ok(const struct trace *t, int64_t v, enum reference reference)
{
	if (value_is_constant(v)) /* any parameter may be "-", but no site */
		return reference != REFERENCE_SITE && (uint64_t)v - (uint64_t)VALUE_CONSTANT < t->strings.count;
	switch (reference) {
	case REFERENCE_STRING:
		return v >= 0 && v < t->strings.count;
	case REFERENCE_VECTOR:
		return v >= 0 && v < t->vector_pool.count;
	case REFERENCE_SITE:
		return v >= 0 && v < t->site_count;
	case REFERENCE_NONE:
		break;
	}
	return true;
}

/* Do all its ranks exist, and may its values be what they are? */
static bool map_ok(const struct trace *t, const struct rankmap *m, enum reference reference)
{
	bool plain = m->root == RANK_PLAIN;
	for (uint32_t i = 0; i < m->node_count; i++) {
		const struct rank_node *n = &m->nodes[i];
		if (n->low == RANK_LEAF) {
			if (!value_ok(t, n->delta, reference) || (!reference && !value_is_constant(n->delta)))
				return false;
		} else {
			plain |= n->low == RANK_PLAIN || n->high == RANK_PLAIN;
		}
	}
	return rankmap_empty(m) || (!(plain && reference) && rankmap_last(m) < t->size);
}

static bool has_constants(const struct rankmap *m)
{
	for (uint32_t i = 0; i < m->node_count; i++)
		if (m->nodes[i].low == RANK_LEAF && value_is_constant(m->nodes[i].delta))
			return true;
	return false;
}

/* In order, without constants that do not exist. numbers: every value is a number of at least `least`. */
static bool tally_ok(const struct trace *t, const struct tally *tally, enum reference reference, bool numbers, int64_t least)
{
	for (uint32_t i = 0; i < tally->count; i++) {
		const struct tally_bin *b = &tally->bins[i];
		bool constant = value_is_constant(b->min);
		if (b->count == 0 || b->max < b->min || (i > 0 && b->min <= tally->bins[i - 1].max) || (constant && b->min != b->max) ||
		    (!constant && b->min <= VALUE_LOSSY) || !value_ok(t, b->min, reference) || !value_ok(t, b->max, reference) ||
		    (numbers && (constant || b->min < least)))
			return false;
	}
	return true;
}

static bool lossy_ok(const struct trace *t, const struct trace_group *g, enum reference reference)
{
	const struct trace_lossy *l = g->lossy;
	const struct rankmap *ranks = &g->dict[0].start;
	int64_t value;
	if (g->pattern || g->count != 1 || g->dict[0].count != 1 || rankmap_empty(ranks) || rankmap_last(ranks) >= t->size ||
	    !rankmap_constant(ranks, &value) || value != VALUE_LOSSY || l->why & ~(uint32_t)WHY_ALL)
		return false;
	if (reference == REFERENCE_SITE ? l->values.count > 0 : l->next_count > 0)
		return false;
	if (reference != REFERENCE_VECTOR && l->elements.count > 0)
		return false;
	for (uint32_t i = 0; i < l->next_count; i++)
		if (l->next[i].to >= t->site_count || (i > 0 && l->next[i].to <= l->next[i - 1].to) || l->next[i].runs.count == 0 ||
		    !tally_ok(t, &l->next[i].runs, REFERENCE_NONE, true, 1))
			return false;
	/* the length of a vector is no reference */
	return tally_ok(t, &l->values, reference == REFERENCE_STRING ? REFERENCE_STRING : REFERENCE_NONE, false, 0) &&
	       tally_ok(t, &l->elements, REFERENCE_NONE, false, 0);
}

static bool vector_ok(const struct trace *t, const struct trace_stretch *s)
{
	int64_t value;
	if (s->count != 1 || s->width > FAMILY_WIDTH || (s->width && !s->elements) || !rankmap_empty(&s->stride) ||
	    !map_ok(t, &s->start, REFERENCE_NONE) || !rankmap_constant(&s->start, &value) || value != 0)
		return false;
	for (uint32_t k = 0; k < s->width; k++)
		if (!map_ok(t, &s->elements[k], REFERENCE_NONE) || !rankmap_same_ranks(&s->elements[k], &s->start))
			return false;
	return true;
}

static bool group_ok(const struct trace *t, const struct trace_group *g, enum reference reference, const uint64_t *news)
{
	uint64_t values = 0;
	if (g->lossy)
		return lossy_ok(t, g, reference);
	if (g->count == 0 || g->pattern > t->patterns.count)
		return false;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct trace_stretch *s = &g->dict[i];
		if (s->vector) {
			values++;
			if (reference != REFERENCE_VECTOR || !vector_ok(t, s) || !rankmap_same_ranks(&s->start, trace_group_ranks(g)))
				return false;
			continue;
		}
		if (s->width || s->elements)
			return false;
		if (s->count == 0 || (s->count > 1 && reference) || __builtin_add_overflow(values, s->count, &values) ||
		    !map_ok(t, &s->start, reference) || !map_ok(t, &s->stride, REFERENCE_NONE) || rankmap_empty(&s->start) ||
		    !rankmap_same_ranks(&s->start, trace_group_ranks(g)) ||
		    (s->count > 1 ? !rankmap_same_ranks(&s->stride, &s->start) : !rankmap_empty(&s->stride)))
			return false;
	}
	return values == (g->pattern ? news[g->pattern - 1] : 1);
}

static int site_check(const struct trace *t, const struct trace_site *s, uint32_t number, const uint64_t *news, struct error *error)
{
	if (s->function >= t->function_count || s->node >= t->node_count)
		return error_set(error, "site %u: its function or its call path does not exist", number);
	if (!map_ok(t, &s->visits, REFERENCE_NONE) || has_constants(&s->visits) || rankmap_empty(&s->visits))
		return error_set(error, "site %u: damaged list of ranks", number);
	for (uint32_t i = 0; i < s->column_count; i++)
		for (uint32_t k = 0; k < s->columns[i].count; k++)
			if (!group_ok(t, &s->columns[i].groups[k], schema_reference(trace_schema(t, s), i), news))
				return error_set(error, "site %u, column %u, group %u: damaged", number, i, k);
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (s->edges[i].to >= t->site_count)
			return error_set(error, "site %u: edge to site %u, which does not exist", number, s->edges[i].to);
	return 0;
}

int trace_check(const struct trace *t, struct error *error)
{
	int rv = -1;
	uint64_t *news = calloc(t->patterns.count + 1, sizeof *news);
	if (!news)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->patterns.count; i++) {
		struct pattern p;
		int bad = pattern_parse(&p, t->patterns.items[i].bytes, t->patterns.items[i].size);
		if (!bad)
			news[i] = pattern_news(&p);
		pattern_free(&p);
		if (bad) {
			error_set(error, "pattern %u: damaged", i);
			goto done;
		}
	}
	for (uint32_t i = 0; i < t->vector_pool.count; i++) {
		size_t n = t->vector_pool.items[i].size / sizeof(int64_t);
		for (size_t k = 0; k < n; k++) {
			int64_t v;
			memcpy(&v, t->vector_pool.items[i].bytes + k * sizeof v, sizeof v);
			if (!value_ok(t, v, REFERENCE_NONE)) {
				error_set(error, "vector %u: damaged", i);
				goto done;
			}
		}
	}
	for (uint32_t i = 0; i < t->module_count; i++)
		if (t->modules[i].name >= t->strings.count || t->modules[i].build_id >= t->strings.count) {
			error_set(error, "module %u: damaged", i);
			goto done;
		}
	for (uint32_t i = 1; i < t->node_count; i++)
		if (t->nodes[i].parent >= i || (t->nodes[i].module >= t->module_count && t->nodes[i].module != UINT32_MAX)) {
			error_set(error, "call path node %u: damaged", i);
			goto done;
		}
	for (uint32_t i = 0; i < t->site_count; i++)
		if (site_check(t, &t->sites[i], i, news, error) != 0)
			goto done;
	for (uint32_t i = 0; i < t->object_count; i++)
		if (site_check(t, &t->objects[i], i, news, error) != 0)
			goto done;
	if (!map_ok(t, &t->events, REFERENCE_NONE) || !map_ok(t, &t->first, REFERENCE_SITE) || !map_ok(t, &t->host, REFERENCE_STRING) ||
	    !map_ok(t, &t->in_flight, REFERENCE_SITE) ||
	    !map_ok(t, &t->host_number, REFERENCE_NONE) || has_constants(&t->host_number) || !map_ok(t, &t->lost, REFERENCE_NONE) || has_constants(&t->events) || has_constants(&t->host) || has_constants(&t->lost)) {
		error_set(error, "list of ranks: damaged");
		goto done;
	}
	rv = 0;
done:
	free(news);
	return rv;
}
