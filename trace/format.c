/* SPDX-License-Identifier: BSD-3-Clause
 * format - a trace as chunks of a container; the byte layout is in doc/trace-format.md, in the same order
 */
#include <stdlib.h>
#include <string.h>

#include "trace/column.h"
#include "trace/container.h"
#include "trace/maps.h"
#include "trace/pieces.h"
#include "trace/stream.h"
#include "trace/times.h"
#include "trace/trace.h"
#include "trace/varint.h"

/* STRG, PATT: byte strings. VECT: vectors. */

static void put_pool(struct writer *w, const struct pool *p, uint32_t from)
{
	writer_uint(w, p->count - from);
	for (uint32_t i = from; i < p->count; i++) {
		writer_uint(w, p->items[i].size);
		writer_bytes(w, p->items[i].bytes, p->items[i].size);
	}
}

static int get_pool(struct reader *r, struct pool *p)
{
	for (size_t n = reader_count(r); n-- > 0;) {
		size_t size = reader_count(r);
		const uint8_t *bytes = reader_bytes(r, size);
		uint32_t number = p->count;
		if (!bytes || pool_intern(p, bytes, size) != number)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

static int64_t vector_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

static void put_vectors(struct writer *w, const struct pool *p)
{
	writer_uint(w, p->count);
	for (uint32_t i = 0; i < p->count; i++) {
		size_t n = p->items[i].size / sizeof(int64_t);
		writer_uint(w, n);
		/* runs: a value, a difference, how many more values follow with that difference */
		for (size_t k = 0; k < n;) {
			int64_t value = vector_element(&p->items[i], k), stride = 0;
			size_t count = 1;
			if (k + 1 < n) {
				int64_t second = vector_element(&p->items[i], k + 1);
				stride = (int64_t)((uint64_t)second - (uint64_t)value);
				if (value_is_constant(value) || value_is_constant(second) || stride == INT64_MIN)
					stride = 0;
				while (k + count < n && vector_element(&p->items[i], k + count) ==
				                                (int64_t)((uint64_t)value + (uint64_t)stride * count))
					count++;
				if (stride != 0 && count < 3)
					count = 1;
			}
			value_put(w, value);
			writer_uint(w, (count - 1) << 1 | (stride != 0 && count > 1));
			if (stride != 0 && count > 1)
				writer_int(w, stride);
			k += count;
		}
	}
}

/* A vector that decodes to more elements than this is taken for damage: 128 MiB. */
#define MAX_VECTOR (UINT64_C(1) << 24)

static int get_vectors(struct reader *r, struct pool *p)
{
	for (size_t vectors = reader_count(r); vectors-- > 0;) {
		uint64_t n = reader_uint(r);
		if (r->bad || n > MAX_VECTOR)
			return -1;
		int64_t *values = malloc((n ? n : 1) * sizeof *values);
		uint32_t number = p->count;
		bool ok = values;
		for (uint64_t k = 0; ok && k < n;) {
			int64_t value = value_get(r);
			uint64_t more = reader_uint(r);
			int64_t stride = more & 1 ? reader_int(r) : 0;
			more >>= 1;
			ok = !r->bad && more < n - k;
			for (uint64_t i = 0; ok && i <= more; i++)
				values[k++] = (int64_t)((uint64_t)value + (uint64_t)stride * i);
		}
		ok = ok && pool_intern(p, values, n * sizeof *values) == number;
		free(values);
		if (!ok)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* PATH: modules and the tree of frames. */

static void put_paths(struct writer *w, const struct trace *t)
{
	writer_uint(w, t->module_count);
	for (uint32_t i = 0; i < t->module_count; i++) {
		writer_uint(w, t->modules[i].name);
		writer_uint(w, t->modules[i].build_id);
	}
	writer_uint(w, t->node_count - 1);
	uint64_t offset = 0;
	for (uint32_t i = 1; i < t->node_count; i++) {
		const struct trace_node *n = &t->nodes[i];
		writer_uint(w, i - 1 - n->parent);
		writer_uint(w, n->module == UINT32_MAX ? 0 : n->module + UINT64_C(1));
		if (n->module == UINT32_MAX) {
			writer_uint(w, n->offset);
		} else {
			writer_int(w, (int64_t)(n->offset - offset));
			offset = n->offset;
		}
	}
}

static int get_paths(struct reader *r, struct trace *t)
{
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t name = reader_uint(r), build_id = reader_uint(r);
		uint32_t number = t->module_count;
		if (r->bad || name >= t->strings.count || build_id >= t->strings.count ||
		    trace_module(t, (struct trace_module){(uint32_t)name, (uint32_t)build_id}) != number)
			return -1;
	}
	uint64_t offset = 0;
	for (size_t n = reader_count(r); n-- > 0;) {
		uint32_t number = t->node_count;
		uint64_t back = reader_uint(r), module = reader_uint(r);
		if (r->bad || back > number - 1 || module > t->module_count)
			return -1;
		struct trace_node node = {number - 1 - (uint32_t)back, module == 0 ? UINT32_MAX : (uint32_t)module - 1, 0};
		if (module == 0)
			node.offset = reader_uint(r);
		else
			node.offset = offset += (uint64_t)reader_int(r);
		if (trace_node(t, node) != number)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* RANK: what is known of each rank. */

/* All streams that there may be: those of the ranks of MPI_COMM_WORLD, and of their further threads. */
static int world_of(const struct trace *t, uint64_t threads, struct rankmap *world)
{
	struct rankmap_builder b = {.references = false};
	rankmap_add(&b, (struct rank_piece){.count = (uint32_t)(t->size * threads), .step = 1});
	return rankmap_take(&b, world);
}

static void put_rank(struct writer *w, struct map_table *maps, const struct trace *t)
{
	struct rankmap world;
	uint32_t threads = stream_threads(t);
	if (world_of(t, threads, &world) != 0) {
		w->failed = true;
		return;
	}
	writer_uint(w, t->size);
	if (threads > 1)
		writer_uint(w, threads);
	map_put_ranks(w, maps, &t->events, &world);
	rankmap_free(&world);
	map_put(w, maps, &t->events);
	const struct rankmap *each[] = {&t->first, &t->host, &t->lost, &t->in_flight, &t->host_number};
	for (int i = 0; i < 5; i++) {
		writer_uint(w, !rankmap_empty(each[i]));
		if (!rankmap_empty(each[i])) {
			map_put_ranks(w, maps, each[i], &t->events);
			map_put(w, maps, each[i]);
		}
	}
}

static int get_rank(struct reader *r, const struct map_table *maps, bool several, struct trace *t)
{
	int rv = -1;
	struct rankmap ranks = {0};
	uint64_t size = reader_uint(r), threads = several ? reader_uint(r) : 1;
	if (r->bad || size == 0 || size > INT32_MAX || threads < 1 || threads > INT32_MAX / size)
		return -1;
	t->size = (uint32_t)size;
	struct rankmap world;
	if (world_of(t, threads, &world) != 0)
		return -1;
	if (map_get_ranks(r, maps, &ranks, &world) != 0 || map_get(r, maps, &t->events, &ranks, false) != 0)
		goto done;
	struct rankmap *each[] = {&t->first, &t->host, &t->lost, &t->in_flight, &t->host_number};
	for (int i = 0; i < 5 && r->at != r->end; i++) {
		if (reader_uint(r) != 1)
			continue;
		rankmap_free(&ranks);
		if (map_get_ranks(r, maps, &ranks, &t->events) != 0 || map_get(r, maps, each[i], &ranks, i != 2 && i != 4) != 0)
			goto done;
	}
	rv = r->bad || r->at != r->end ? -1 : 0;
done:
	rankmap_free(&ranks);
	rankmap_free(&world);
	return rv;
}

/* SITE: functions, sites and object tables with their columns. */

/* A group without order is told from one with a pattern by a number that no pattern has. */
static void put_lossy(struct writer *w, const struct trace_lossy *l, enum reference reference)
{
	writer_uint(w, l->why);
	writer_uint(w, l->since);
	if (reference == REFERENCE_SITE) {
		writer_uint(w, l->next_count);
		for (uint32_t i = 0; i < l->next_count; i++) {
			writer_uint(w, l->next[i].to);
			tally_put(w, &l->next[i].runs);
		}
		return;
	}
	tally_put(w, &l->values);
	if (reference == REFERENCE_VECTOR)
		tally_put(w, &l->elements);
}

static int get_lossy(struct reader *r, struct trace_lossy *l, enum reference reference)
{
	l->why = (uint32_t)reader_uint(r);
	l->since = reader_uint(r);
	if (reference != REFERENCE_SITE)
		return tally_get(r, &l->values) != 0 || (reference == REFERENCE_VECTOR && tally_get(r, &l->elements) != 0) ? -1 : 0;
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t to = reader_uint(r);
		uint32_t before = l->next_count;
		struct tally *runs = r->bad || to >= UINT32_MAX ? NULL : trace_next(l, (uint32_t)to);
		if (!runs || l->next_count == before || tally_get(r, runs) != 0)
			return -1;
	}
	return r->bad ? -1 : 0;
}

/* Where a map would be: arrays, as a map for each element. */
#define MAP_ARRAY 5

/* Is b what a is, with plain values that are all `stride` more? */
static bool map_follows(const struct rankmap *a, const struct rankmap *b, int64_t stride)
{
	struct rankmap moved = *b;
	moved.base = (int64_t)((uint64_t)b->base - (uint64_t)stride);
	return rankmap_equal(a, &moved);
}

static void put_stretch(struct writer *w, struct map_table *maps, const struct trace_stretch *s)
{
	if (!s->vector) {
		map_put(w, maps, &s->start);
		if (s->count > 1)
			map_put(w, maps, &s->stride);
		return;
	}
	writer_uint(w, MAP_ARRAY);
	writer_uint(w, s->width);
	for (uint32_t k = 0; k < s->width;) {
		const struct rankmap *m = &s->elements[k];
		uint32_t count = 1;
		int64_t stride = k + 1 < s->width ? (int64_t)((uint64_t)m[1].base - (uint64_t)m->base) : 0;
		while (k + count < s->width && map_follows(&m[count - 1], &m[count], stride))
			count++;
		map_put(w, maps, m);
		writer_uint(w, (uint64_t)(count - 1) << 1 | (count > 1 && stride));
		if (count > 1 && stride)
			writer_int(w, stride);
		k += count;
	}
}

/* Reads an array after its mark. */
static int get_array(struct reader *r, const struct map_table *maps, struct trace_stretch *s, const struct rankmap *ranks)
{
	uint64_t width = reader_uint(r);
	if (r->bad || width > FAMILY_WIDTH || rankmap_fill(&s->start, ranks, 0, false) != 0)
		return -1;
	s->vector = true;
	s->elements = calloc(width + 1, sizeof *s->elements);
	if (!s->elements)
		return -1;
	while (s->width < width) {
		const struct rankmap *m = &s->elements[s->width++];
		if (map_get(r, maps, &s->elements[s->width - 1], ranks, false) != 0)
			return -1;
		uint64_t more = reader_uint(r), stride = more & 1 ? (uint64_t)reader_int(r) : 0;
		if (r->bad || more >> 1 > width - s->width)
			return -1;
		for (uint64_t i = 1; i <= more >> 1; i++) {
			struct rankmap *next = &s->elements[s->width++];
			if (rankmap_copy(next, m) != 0)
				return -1;
			if (rankmap_has_plain(m))
				next->base = (int64_t)((uint64_t)m->base + stride * i);
		}
	}
	return 0;
}

static int get_stretch(struct reader *r, const struct map_table *maps, struct trace_stretch *s, const struct rankmap *ranks, enum reference reference)
{
	struct reader peek = *r;
	if (reference == REFERENCE_VECTOR && s->count == 1 && reader_uint(&peek) == MAP_ARRAY) {
		*r = peek;
		return get_array(r, maps, s, ranks);
	}
	if (map_get(r, maps, &s->start, ranks, reference != REFERENCE_NONE) != 0)
		return -1;
	return s->count > 1 ? map_get(r, maps, &s->stride, ranks, false) : 0;
}

static void put_column(struct writer *w, struct map_table *maps, const struct trace_column *c, const struct rankmap *domain, uint32_t patterns,
                       enum reference reference)
{
	int64_t value;
	/* by far the most common: one value, the same for all visits of all ranks */
	if (c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].lossy && rankmap_same_ranks(trace_group_ranks(&c->groups[0]), domain) &&
	    !c->groups[0].dict[0].vector && rankmap_constant(&c->groups[0].dict[0].start, &value)) {
		writer_uint(w, 0);
		value_put(w, value);
		return;
	}
	writer_uint(w, c->count + UINT64_C(1));
	for (uint32_t g = 0; g < c->count; g++) {
		const struct trace_group *group = &c->groups[g];
		const struct rankmap *ranks = trace_group_ranks(group);
		map_put_ranks(w, maps, ranks, domain);
		if (group->lossy) {
			writer_uint(w, patterns + UINT64_C(1));
			put_lossy(w, group->lossy, reference);
			continue;
		}
		writer_uint(w, group->pattern);
		if (group->pattern)
			writer_uint(w, group->count);
		for (uint32_t i = 0; i < group->count; i++) {
			if (group->pattern)
				writer_uint(w, group->dict[i].count - 1);
			put_stretch(w, maps, &group->dict[i]);
		}
	}
}

static int get_group(struct reader *r, const struct map_table *maps, struct trace_group *group, const struct rankmap *ranks, uint32_t patterns, enum reference reference)
{
	uint64_t pattern = reader_uint(r);
	if (pattern == patterns + UINT64_C(1))
		return trace_group_lossy(group, ranks) == 0 ? get_lossy(r, group->lossy, reference) : -1;
	uint64_t count = pattern ? reader_count(r) : 1;
	if (r->bad || pattern > UINT32_MAX || count == 0 || count > UINT32_MAX)
		return -1;
	group->pattern = (uint32_t)pattern;
	group->dict = calloc(count, sizeof *group->dict);
	if (!group->dict)
		return -1;
	while (group->count < count) {
		struct trace_stretch *s = &group->dict[group->count++];
		s->count = pattern ? reader_uint(r) : 0;
		if (s->count >= INT64_MAX)
			return -1;
		s->count++;
		if (get_stretch(r, maps, s, ranks, reference) != 0)
			return -1;
	}
	return 0;
}

static int get_column(struct reader *r, const struct map_table *maps, struct trace_column *c, const struct rankmap *domain, uint32_t patterns, enum reference reference)
{
	size_t groups = reader_count(r);
	if (r->bad)
		return -1;
	for (size_t g = 0; g < (groups ? groups - 1 : 1); g++) {
		int rv = -1;
		struct trace_group group = {0};
		struct rankmap ranks = {0};
		if (groups == 0) {
			int64_t value = value_get(r);
			group.dict = calloc(1, sizeof *group.dict);
			group.count = group.dict ? 1 : 0;
			if (group.dict) {
				group.dict[0].count = 1;
				rv = rankmap_fill(&group.dict[0].start, domain, value, reference != REFERENCE_NONE);
			}
		} else {
			rv = map_get_ranks(r, maps, &ranks, domain);
			if (rv == 0)
				rv = get_group(r, maps, &group, &ranks, patterns, reference);
		}
		rankmap_free(&ranks);
		if (rv != 0) {
			trace_group_free(&group);
			return -1;
		}
		if (trace_add_group_take(c, &group) != 0)
			return -1;
	}
	return r->bad ? -1 : 0;
}

static void put_sites(struct writer *w, struct map_table *maps, const struct trace *t)
{
	writer_uint(w, t->function_count);
	for (uint32_t i = 0; i < t->function_count; i++)
		writer_uint(w, t->functions[i].string);
	for (int object = 0; object < 2; object++) {
		uint32_t n = object ? t->object_count : t->site_count;
		writer_uint(w, n);
		for (uint32_t i = 0; i < n; i++) {
			const struct trace_site *s = object ? &t->objects[i] : &t->sites[i];
			writer_uint(w, s->function);
			writer_uint(w, s->node);
			map_put_ranks(w, maps, &s->visits, &t->events);
			map_put(w, maps, &s->visits);
			for (uint32_t k = 0; k < s->column_count; k++)
				put_column(w, maps, &s->columns[k], &s->visits, t->patterns.count, schema_reference(trace_schema(t, s), k));
		}
	}
}

static int get_sites(struct reader *r, const struct map_table *maps, struct trace *t)
{
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t string = reader_uint(r);
		uint32_t number = t->function_count;
		if (r->bad || string >= t->strings.count || trace_function(t, (uint32_t)string) != number)
			return -1;
	}
	for (int object = 0; object < 2; object++) {
		for (size_t n = reader_count(r); n-- > 0;) {
			uint64_t function = reader_uint(r), node = reader_uint(r);
			uint32_t number = object ? t->object_count : t->site_count;
			if (r->bad || function >= t->function_count || node >= t->node_count ||
			    trace_site(t, (uint32_t)function, (uint32_t)node, object) != number)
				return -1;
			struct trace_site *s = object ? &t->objects[number] : &t->sites[number];
			struct rankmap ranks = {0};
			int rv = map_get_ranks(r, maps, &ranks, &t->events);
			if (rv == 0)
				rv = map_get(r, maps, &s->visits, &ranks, false);
			rankmap_free(&ranks);
			for (uint32_t k = 0; rv == 0 && k < s->column_count; k++)
				rv = get_column(r, maps, &s->columns[k], &s->visits, t->patterns.count, schema_reference(trace_schema(t, s), k));
			if (rv != 0)
				return -1;
		}
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* LOSS: what was given up on purpose, and because memory was used up. */

static bool has_loss(const struct trace_loss *l)
{
	bool any = l->lossy;
	for (int i = 0; i < TRACE_STAGES; i++)
		any |= l->stage[i].ranks > 0;
	return any;
}

static void put_loss(struct writer *w, const struct trace_loss *l)
{
	writer_uint(w, l->lossy);
	if (l->lossy) {
		writer_uint(w, l->threshold);
		writer_uint(w, l->structure);
	}
	for (int i = 0; i < TRACE_STAGES; i++) {
		writer_uint(w, l->stage[i].ranks);
		if (l->stage[i].ranks)
			writer_uint(w, l->stage[i].since);
	}
}

static int get_loss(struct reader *r, struct trace_loss *l)
{
	l->lossy = reader_uint(r) != 0;
	if (l->lossy) {
		l->threshold = reader_uint(r);
		l->structure = reader_uint(r) != 0;
	}
	for (int i = 0; i < TRACE_STAGES; i++) {
		l->stage[i].ranks = reader_uint(r);
		if (l->stage[i].ranks)
			l->stage[i].since = reader_uint(r);
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* The whole. Nodes of maps are a chunk only if there are any: older readers can read the file then. */
/* The whole. Nodes of maps are a chunk only if there are any. */

enum { PART_STRG, PART_PATH, PART_VECT, PART_PATT, PART_MAPS, PART_RANK, PART_SITE, PART_HIST, PART_LOSS, PARTS };
static const char part_id[PARTS][CHUNK_ID_SIZE + 1] = {"STRG", "PATH", "VECT", "PATT", "MAPS", "RANK", "SITE", "HIST", "LOSS"};

int trace_encode(const struct trace *t, const struct chunk *further, size_t n, const struct codec *codec, uint8_t **bytes, size_t *size)
{
	int rv = -1;
	struct writer part[PARTS] = {{0}};
	struct map_table maps = {.height = NULL};
	struct chunk *chunks = calloc(PARTS + n, sizeof *chunks);
	put_pool(&part[PART_STRG], &t->strings, 1);
	put_paths(&part[PART_PATH], t);
	put_vectors(&part[PART_VECT], &t->vector_pool);
	put_pool(&part[PART_PATT], &t->patterns, 0);
	put_rank(&part[PART_RANK], &maps, t);
	put_sites(&part[PART_SITE], &maps, t);
	times_put(&part[PART_HIST], t);
	map_table_put(&part[PART_MAPS], &maps);
	put_loss(&part[PART_LOSS], &t->loss);
	if (!chunks)
		goto done;
	size_t count = 0;
	for (size_t i = 0; i < PARTS; i++) {
		if (part[i].failed)
			goto done;
		if ((i == PART_MAPS && maps.loom.count == 0) || (i == PART_LOSS && !has_loss(&t->loss)))
			continue;
		memcpy(chunks[count].id, part_id[i], sizeof chunks[count].id);
		chunks[count].data = part[i].data;
		chunks[count++].size = part[i].size;
	}
	for (size_t i = 0; i < n; i++)
		chunks[count++] = further[i];
	uint32_t flags = CONTAINER_HIST | CONTAINER_MAPS | (trace_has_lossy(t) ? CONTAINER_LOSSY : 0) | (stream_threads(t) > 1 ? CONTAINER_THREADS : 0);
	rv = container_encode(chunks, count, flags, codec, bytes, size);
done:
	for (size_t i = 0; i < PARTS; i++)
		writer_free(&part[i]);
	map_table_free(&maps);
	free(chunks);
	return rv;
}

static int get_part(struct reader *r, size_t part, struct map_table *maps, uint32_t flags, struct trace *t)
{
	switch (part) {
	case PART_STRG:
		return get_pool(r, &t->strings);
	case PART_PATH:
		return get_paths(r, t);
	case PART_VECT:
		return get_vectors(r, &t->vector_pool);
	case PART_PATT:
		return get_pool(r, &t->patterns);
	case PART_MAPS:
		return map_table_get(r, maps);
	case PART_RANK:
		return get_rank(r, maps, flags & CONTAINER_THREADS, t);
	case PART_SITE:
		return get_sites(r, maps, t);
	case PART_HIST:
		return times_get(r, t);
	case PART_LOSS:
		return get_loss(r, &t->loss);
	}
	return -1;
}

int trace_decode(struct trace *t, const struct container *c, struct error *error)
{
	struct error inner = {""};
	struct map_table maps = {.height = NULL};
	int rv = 0;
	if (trace_init(t) != 0)
		return error_set(error, "%s: no memory", container_name(c));
	for (size_t i = 0; rv == 0 && i < PARTS; i++) {
		const struct chunk *chunk = container_find(c, part_id[i]);
		bool sums = i == PART_HIST && !chunk;
		if (sums) /* version 1.0 */
			chunk = container_find(c, "TIME");
		if (!chunk && (i == PART_MAPS || i == PART_LOSS))
			continue;
		if (!chunk) {
			rv = error_set(error, "%s: chunk %s is missing: not a complete trace", container_name(c), part_id[i]);
			break;
		}
		struct reader r = reader_of(chunk->data, chunk->size);
		if ((sums ? times_get_sums(&r, t) : get_part(&r, i, &maps, container_flags(c), t)) != 0)
			rv = error_set(error, "%s: chunk %s at offset %llu: damaged content at its byte %zu", container_name(c), part_id[i],
			               (unsigned long long)chunk->offset, reader_offset(&r));
	}
	map_table_free(&maps);
	if (rv == 0 && trace_check(t, &inner) != 0)
		rv = error_set(error, "%s: chunk SITE at offset %llu: %s", container_name(c),
		               (unsigned long long)container_find(c, "SITE")->offset, inner.text);
	return rv;
}
