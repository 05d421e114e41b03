/* SPDX-License-Identifier: BSD-3-Clause
 * trace - the trace of a set of ranks, in memory
 */
#include "trace/model/trace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/model/classes.h"
#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/counts.h"
#include "trace/model/packed.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"
#include "trace/model/away.h"
#include "trace/model/unended.h"

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

uint32_t pool_find(const struct pool *p, const void *bytes, size_t n)
{
	return index_find(&p->index, hash_bytes(bytes, n), item_equal, &(struct wanted){p, bytes, n});
}

uint32_t pool_intern(struct pool *p, const void *bytes, size_t n)
{
	if (n == 0)
		bytes = "";
	uint64_t hash = hash_bytes(bytes, n);
	uint32_t i = index_find(&p->index, hash, item_equal, &(struct wanted){p, bytes, n});
	if (i != INDEX_NONE)
		return i;
	uint8_t *copy = budget_malloc(n + 1);
	if (!copy || !budget_grow(&p->items, p->count, &p->capacity, sizeof *p->items) ||
	    index_add(&p->index, hash, p->count) != 0) {
		budget_free(copy);
		return UINT32_MAX;
	}
	memcpy(copy, bytes, n);
	copy[n] = 0;
	p->items[p->count] = (struct pool_item){copy, n};
	return p->count++;
}

uint32_t pool_adopt(struct pool *p, uint8_t *bytes, size_t n)
{
	if (!budget_grow(&p->items, p->count, &p->capacity, sizeof *p->items) ||
	    index_add(&p->index, hash_bytes(bytes, n), p->count) != 0)
		return UINT32_MAX;
	p->items[p->count] = (struct pool_item){bytes, n};
	return p->count++;
}

void pool_free(struct pool *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		budget_free(p->items[i].bytes);
	budget_free(p->items);
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
	if (!budget_grow(&t->modules, t->module_count, &t->module_capacity, sizeof m) ||
	    index_add(&t->module_index, hash, t->module_count) != 0)
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
	uint32_t i = t->message ? INDEX_NONE : index_find(&t->node_index, hash, node_equal, &(struct wanted){t, &n, 0});
	if (i != INDEX_NONE)
		return i;
	if (!budget_grow(&t->nodes, t->node_count, &t->node_capacity, sizeof n) ||
	    (!t->message && index_add(&t->node_index, hash, t->node_count) != 0))
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
	    !budget_grow(&t->functions, t->function_count, &t->function_capacity, sizeof f) ||
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

static bool packed_equal(const void *context, uint32_t i)
{
	const struct wanted *w = context;
	const struct trace_packed *a = &((const struct trace_packed *)w->in)[i], *b = w->thing;
	return a->function == b->function && a->node == b->node;
}

static uint32_t packed_site(struct trace *t, uint32_t function, uint32_t node)
{
	struct trace_packed p = {.function = function, .node = node};
	uint64_t hash = hash_mix(hash_mix(4, function), node);
	uint32_t i = t->message ? INDEX_NONE
	                        : index_find(&t->site_index, hash, packed_equal, &(struct wanted){t->packed, &p, 0});
	if (i != INDEX_NONE)
		return i;
	if (!budget_grow(&t->packed, t->site_count, &t->site_capacity, sizeof p) ||
	    (!t->message && index_add(&t->site_index, hash, t->site_count) != 0))
		return UINT32_MAX;
	t->packed[t->site_count] = p;
	return t->site_count++;
}

uint32_t trace_site(struct trace *t, uint32_t function, uint32_t node, bool object)
{
	if (t->packing && !object)
		return packed_site(t, function, node);
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
	s.columns = budget_calloc(s.column_count + 1, sizeof *s.columns);
	if (!s.columns || !budget_grow(sites, *count, capacity, sizeof s) || index_add(index, hash, *count) != 0) {
		budget_free(s.columns);
		return UINT32_MAX;
	}
	(*sites)[*count] = s;
	return (*count)++;
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
	if (!budget_grow(&l->next, l->next_count, &l->next_capacity, sizeof *l->next))
		return NULL;
	memmove(&l->next[low + 1], &l->next[low], (l->next_count - low) * sizeof *l->next);
	l->next_count++;
	l->next[low] = (struct trace_next){.to = to};
	return &l->next[low].runs;
}

bool trace_is_unknown(const struct trace *t, int64_t value)
{
	uint64_t string = (uint64_t)value - (uint64_t)VALUE_CONSTANT;
	if (!value_is_constant(value) || string >= t->strings.count)
		return false;
	return t->strings.items[string].size == 1 && t->strings.items[string].bytes[0] == '?';
}

uint64_t trace_unknown(const struct trace *t, const struct tally *tally)
{
	uint64_t n = 0;
	for (uint32_t i = 0, constants = tally_constants(tally); i < constants; i++)
		n += trace_is_unknown(t, tally->bins[i].min) ? tally->bins[i].count : 0;
	return n;
}

int trace_tally_fold(struct trace *t, struct tally *tally)
{
	bool fold = tally_coarse(tally);
	for (uint32_t i = 0, n = tally_constants(tally); !fold && i < n; i++)
		fold = trace_is_unknown(t, tally->bins[i].min);
	if (!fold)
		return 0;
	uint32_t unknown = pool_intern(&t->strings, "?", 1);
	if (unknown == UINT32_MAX)
		return -1;
	tally_fold(tally, VALUE_CONSTANT + unknown);
	return 0;
}

bool trace_is_final(const struct trace *t)
{
	return stream_ranks(t, &t->events) == t->size;
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

void trace_forget_prefixes(struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++)
			for (uint32_t g = 0; g < t->sites[i].columns[k].count; g++)
				if (t->sites[i].columns[k].groups[g].lossy)
					trace_column_free(&t->sites[i].columns[k].groups[g].lossy->prefix);
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

bool trace_is_constant(const struct trace *t, int64_t v, enum mpi_constant constant)
{
	return value_is_constant(v) && strcmp(trace_constant_name(t, v), mpi_constant_name[constant]) == 0;
}

bool trace_initializes(const struct schema *s)
{
	return mpi_initializes(s->mpi);
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
		uint32_t i =
			index_find(&s->edge_index, hash_mix(5, to), edge_equal, &(struct wanted){s->edges, &to, 0});
		if (i != INDEX_NONE)
			return &s->edges[i];
	}
	if (!budget_grow(&s->edges, s->edge_count, &s->edge_capacity, sizeof *s->edges))
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

const struct trace_edge *trace_edge_to(const struct trace_site *s, uint32_t to)
{
	struct trace_edge wanted = {.to = to};
	return s->edge_count ? bsearch(&wanted, s->edges, s->edge_count, sizeof wanted, by_target) : NULL;
}

int trace_init(struct trace *t)
{
	*t = (struct trace){0};
	if (pool_intern(&t->strings, "", 0) != 0 || trace_node(t, (struct trace_node){0, UINT32_MAX, 0}) != 0)
		return -1;
	return 0;
}

void trace_site_free(struct trace_site *s)
{
	for (uint32_t k = 0; k < s->column_count; k++)
		trace_column_free(&s->columns[k]);
	budget_free(s->columns);
	histogram_free(&s->communicate);
	counts_free(&s->counts);
	for (uint32_t k = 0; k < s->edge_count; k++) {
		histogram_free(&s->edges[k].compute);
		classes_free(&s->edges[k]);
		counts_free(&s->edges[k].counts);
	}
	budget_free(s->edges);
	index_free(&s->edge_index);
	rankmap_free(&s->means.map);
	rankmap_free(&s->visits);
	*s = (struct trace_site){.function = s->function, .node = s->node};
}

static void sites_free(struct trace_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		trace_site_free(&sites[i]);
	budget_free(sites);
}

void trace_unindex(struct trace *t)
{
	index_free(&t->strings.index);
	index_free(&t->patterns.index);
	index_free(&t->module_index);
	index_free(&t->node_index);
	index_free(&t->function_index);
	index_free(&t->site_index);
	index_free(&t->object_index);
}

void trace_forget_nodes(struct trace *t)
{
	index_free(&t->node_index);
	budget_free(t->nodes);
	t->nodes = NULL;
	t->node_count = t->node_capacity = 0;
}

void trace_free(struct trace *t)
{
	trace_unindex(t);
	pool_free(&t->strings);
	pool_free(&t->vector_pool);
	pool_free(&t->patterns);
	budget_free(t->modules);
	budget_free(t->nodes);
	budget_free(t->functions);
	sites_free(t->sites, t->packing ? 0 : t->site_count);
	for (uint32_t i = 0; t->packing && i < t->site_count; i++)
		packed_drop(t, i);
	budget_free(t->packed);
	writer_free(&t->packing_room);
	sites_free(t->objects, t->object_count);
	timing_free(t);
	unended_free(t);
	rankmap_free(&t->events);
	rankmap_free(&t->first);
	rankmap_free(&t->host);
	rankmap_free(&t->host_number);
	rankmap_free(&t->cpus);
	rankmap_free(&t->first_cpu);
	rankmap_free(&t->topology);
	rankmap_free(&t->before);
	rankmap_free(&t->queued);
	away_free(t);
	rankmap_free(&t->lost);
	rankmap_free(&t->in_flight);
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		budget_free(t->total[i].ranks);
		rankmap_free(&t->total[i].means.map);
	}
	*t = (struct trace){0};
}
