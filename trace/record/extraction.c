/* SPDX-License-Identifier: BSD-3-Clause
 * extraction - strings, vectors and columns of an arena, as a trace has them
 *
 * An arena numbers its strings and vectors in the order in which they came; a trace has each content once, in pools of
 * its own. So a value that refers to one is translated: VALUE_CONSTANT + 3 becomes VALUE_CONSTANT + the number that
 * string 3 has in the trace. Numbers of sites stay.
 */
#include "trace/record/extraction.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/edits.h"
#include "trace/model/packed.h"
#include "trace/model/unended.h"
#include "trace/model/host.h"
#include "trace/model/placement.h"
#include "trace/record/image.h"
#include "trace/record/lossy.h"
#include "trace/model/pattern.h"

/* The element's reference, if `n` bytes behind it are valid; else 0. */
ref extraction_ref(const struct extraction *x, const struct table *t, uint32_t i, uint64_t n)
{
	ref at = *(const ref *)table_at(x->arena, t, i, sizeof(ref));
	return arena_valid(x->arena, at, n) ? at : 0;
}

const struct record_string *extraction_string(const struct extraction *x, uint32_t i)
{
	return arena_at(x->arena, struct record_string,
	                *(const ref *)table_at(x->arena, &x->record->strings, i, sizeof(ref)));
}

/* The number in the trace of a string, which comes to the pool when something refers to it. UINT32_MAX: no memory. */
uint32_t extraction_string_number(const struct extraction *x, uint32_t i)
{
	if (x->strings[i] == UINT32_MAX) {
		const struct record_string *s = extraction_string(x, i);
		x->strings[i] = pool_intern(&x->trace->strings, s->bytes, s->length);
	}
	return x->strings[i];
}

int extraction_renew(struct extraction *x, uint32_t i)
{
	enum { AT_ONCE = 512 };
	if (!x->arena->mapped || i % AT_ONCE)
		return 0;
	columns_rest(&x->columns); /* has pairs of what was changed to read a column, which no other one looks at */
	return arena_renew(x->arena);
}

int extraction_place(struct extraction *x)
{
	const struct record *r = x->record;
	if (r->thread > 0 || r->host >= r->strings.count || r->cpus >= r->strings.count ||
	    r->topology >= r->strings.count)
		return 0;
	const struct record_string *host = extraction_string(x, r->host), *cpus = extraction_string(x, r->cpus),
				   *topology = extraction_string(x, r->topology);
	if (host_set(x->trace, x->rank, host->bytes, host->length) != 0)
		return -1;
	return placement_set(x->trace, x->rank, cpus->bytes, cpus->length, topology->bytes, topology->length);
}

int extraction_strings(struct extraction *x)
{
	const struct table *t = &x->record->strings;
	for (uint32_t i = 0; i < t->count; i++) {
		ref at = extraction_ref(x, t, i, sizeof(struct record_string));
		const struct record_string *s = arena_at(x->arena, struct record_string, at);
		if (!at || !arena_valid(x->arena, at, sizeof *s + s->length))
			return -1;
		x->strings[i] = UINT32_MAX;
	}
	return 0;
}

static bool vector_translate(const struct extraction *x, int64_t *number);

/* Translates a value of a column. */
static bool value_translate(const struct extraction *x, int64_t *v, enum reference reference)
{
	if (value_is_constant(*v)) {
		uint64_t i = (uint64_t)*v - (uint64_t)VALUE_CONSTANT;
		if (i >= x->record->strings.count)
			return false;
		if (extraction_string_number(x, (uint32_t)i) == UINT32_MAX)
			return false;
		*v = VALUE_CONSTANT + x->strings[i];
		return true;
	}
	switch (reference) {
	case REFERENCE_NONE:
		return true;
	case REFERENCE_STRING:
		if (*v < 0 || *v >= x->record->strings.count)
			return false;
		if (extraction_string_number(x, (uint32_t)*v) == UINT32_MAX)
			return false;
		*v = x->strings[*v];
		return true;
	case REFERENCE_VECTOR:
		return *v >= 0 && *v < x->record->vectors.count && vector_translate(x, v);
	case REFERENCE_CLASS:
		if (*v < 0 || *v >= x->key_count)
			return false;
		*v = x->keys[*v];
		return true;
	case REFERENCE_SITE:
		return *v >= 0 && *v < x->record->sites.count; /* sites keep their numbers */
	}
	return false;
}

/* NULL: it was freed, as nothing referred to it. */
static const struct record_vector *vector_at(const struct extraction *x, uint32_t i)
{
	ref at = *(const ref *)table_at(x->arena, &x->record->vectors, i, sizeof(ref));
	return at ? arena_at(x->arena, struct record_vector, at) : NULL;
}

/* Not where it is: in a damaged arena something else might be there as well, that was found good already. */
static bool vector_translate(const struct extraction *x, int64_t *number)
{
	uint32_t *known = &x->vectors[*number];
	const struct record_vector *v = vector_at(x, (uint32_t)*number);
	if (*known == UINT32_MAX && v) {
		int64_t *values = budget_malloc((v->count + UINT64_C(1)) * sizeof *values);
		bool good = values != NULL;
		for (uint32_t i = 0; good && i < v->count; i++) {
			values[i] = v->values[i];
			good = value_translate(x, &values[i], REFERENCE_NONE);
		}
		if (good)
			*known = pool_intern(&x->trace->vector_pool, values, v->count * sizeof *values);
		budget_free(values);
	}
	*number = *known;
	return *known != UINT32_MAX;
}

/* Are the array values of a column kept as families (trace.h)? */
static bool is_family(const struct extraction *x, const struct column_image *image)
{
	uint64_t all = 0;
	if (image->dict_count > FAMILY_VALUES)
		return false;
	for (size_t i = 0; i < image->dict_count; i++) {
		int64_t number = image->dict[i].start;
		if (value_is_constant(number))
			continue;
		const struct record_vector *v =
			number >= 0 && number < x->record->vectors.count ? vector_at(x, (uint32_t)number) : NULL;
		if (!v)
			return false; /* it is damaged, and will be found to be */
		all += v->count;
		if (v->count > FAMILY_WIDTH)
			return false;
	}
	return all <= FAMILY_ALL;
}

static int extract_family(const struct extraction *x, uint32_t number, struct trace_stretch *out)
{
	const struct record_vector *v = vector_at(x, number);
	if (!v)
		return -1;
	out->vector = true;
	out->elements = budget_calloc(v->count + UINT64_C(1), sizeof *out->elements);
	if (!out->elements || rankmap_single(&out->start, x->rank, 0, false) != 0)
		return -1;
	for (; out->width < v->count; out->width++) {
		int64_t value = v->values[out->width];
		if (!value_translate(x, &value, REFERENCE_NONE) ||
		    rankmap_single(&out->elements[out->width], x->rank, value, false) != 0)
			return -1;
	}
	return 0;
}

/* Checks all vectors. They come to the pool when a column needs them there. */
int extraction_vectors(struct extraction *x)
{
	const struct table *t = &x->record->vectors;
	for (uint32_t i = 0; i < t->count; i++) {
		x->vectors[i] = UINT32_MAX;
		if (*(const ref *)table_at(x->arena, t, i, sizeof(ref)) == 0)
			continue; /* nothing refers to it any more */
		ref at = extraction_ref(x, t, i, sizeof(struct record_vector));
		const struct record_vector *v = arena_at(x->arena, struct record_vector, at);
		if (!at || !arena_valid(x->arena, at, sizeof *v + (uint64_t)v->count * sizeof *v->values))
			return -1;
	}
	return 0;
}

static int extract_tally(const struct extraction *x, struct tally *to, const struct tally *from,
                         enum reference reference)
{
	for (uint32_t i = 0; i < from->count; i++) {
		struct tally_bin b = from->bins[i];
		bool translated = value_is_constant(b.min) || reference == REFERENCE_STRING;
		if (translated && (!value_translate(x, &b.min, reference) || tally_add(to, b.min, b.count) != 0))
			return -1;
		struct tally one = {&b, 1, 1};
		if (!translated && tally_merge(to, &one) != 0)
			return -1;
	}
	return 0;
}

/* Values of which nothing is known but that there were so many: the constant `?`, of sites nothing. */
static int extract_others(const struct extraction *x, struct tally *to, uint64_t count, enum reference reference)
{
	if (count == 0 || reference == REFERENCE_SITE)
		return 0;
	uint32_t string = pool_intern(&x->trace->strings, "?", 1);
	return string == UINT32_MAX ? -1 : tally_add(to, VALUE_CONSTANT + string, count);
}

/* Edits of a column, and the named constants in them, in pieces that are vectors; so many numbers are in one at most,
 * but for what one array needs. */
#define EDITS_PIECE 65536

static int extract_piece(struct extraction *x, const int64_t *edits, size_t n, struct trace_group *group)
{
	struct trace_stretch *dict = budget_realloc(group->dict, (group->count + UINT64_C(1)) * sizeof *dict);
	if (!dict)
		return -1;
	group->dict = dict;
	uint32_t number = pool_intern(&x->trace->vector_pool, edits, n * sizeof *edits);
	struct trace_stretch *s = &dict[group->count++];
	*s = (struct trace_stretch){.count = 1};
	return number == UINT32_MAX ? -1 : rankmap_single(&s->start, x->rank, number, true);
}

static int extract_pieces(struct extraction *x, struct column_image *image, struct trace_group *group)
{
	struct edits reader = {0};
	size_t from = 0;
	int rv = 0;
	for (size_t i = 0; rv == 0 && i < image->edit_count; i++) {
		if (!value_translate(x, &image->edits[i], REFERENCE_NONE))
			rv = -1;
		int complete = rv == 0 ? edits_take(&reader, image->edits[i]) : -1;
		if (complete < 0)
			rv = -1;
		else if (i + 1 == image->edit_count || (complete && i + 1 - from >= EDITS_PIECE)) {
			rv = extract_piece(x, image->edits + from, i + 1 - from, group);
			from = i + 1;
		}
	}
	edits_free(&reader);
	return rv;
}

/* A column that has its order, or the first values of one that had it. */
static int extract_ordered(struct extraction *x, struct column *c, uint64_t visits, enum reference reference,
                           bool is_prefix, struct trace_column *out)
{
	int rv = -1;
	struct column_image image;
	struct trace_group group = {0};
	if (column_extract(&x->columns, c, visits, reference != REFERENCE_NONE, &image) != 0)
		goto done;
	if (visits == 0) {
		rv = 0;
		goto done;
	}
	if (image.edits) {
		group.edits = true;
		if (extract_pieces(x, &image, &group) != 0)
			goto done;
	} else if (!(group.dict = budget_calloc(image.dict_count, sizeof *group.dict))) {
		goto done;
	}
	bool family = reference == REFERENCE_VECTOR && is_family(x, &image);
	for (size_t i = 0; i < image.dict_count; i++) {
		struct dict_run *d = &image.dict[i];
		struct trace_stretch *s = &group.dict[group.count++];
		s->count = d->count;
		if (family && !value_is_constant(d->start)) {
			if (extract_family(x, (uint32_t)d->start, s) != 0)
				goto done;
			continue;
		}
		if (!value_translate(x, &d->start, reference) ||
		    rankmap_single(&s->start, x->rank, d->start, reference != REFERENCE_NONE) != 0 ||
		    (d->count > 1 && rankmap_single(&s->stride, x->rank, d->stride, false) != 0))
			goto done;
	}
	if (image.pattern.size == 0 && is_prefix &&
	    !image.edits) { /* how many values there are is what the pattern says */
		static const uint8_t one[] = {1, 1, PATTERN_NEW << 2};
		writer_bytes(&image.pattern, one, sizeof one);
		if (image.pattern.failed)
			goto done;
	}
	if (image.pattern.size) {
		group.pattern = pool_intern(&x->trace->patterns, image.pattern.data, image.pattern.size) + 1;
		if (group.pattern == 0)
			goto done;
	}
	rv = trace_add_group_take(out, &group);
done:
	trace_group_free(&group);
	column_image_free(&image);
	return rv;
}

static int extract_lossy(struct extraction *x, struct column *c, uint64_t visits, enum reference reference,
                         struct trace_column *out)
{
	static const enum column_role roles[] = {[REFERENCE_NONE] = ROLE_VALUE,
	                                         [REFERENCE_STRING] = ROLE_STRING,
	                                         [REFERENCE_VECTOR] = ROLE_VECTOR,
	                                         [REFERENCE_SITE] = ROLE_NEXT};
	int rv = -1;
	struct lossy_image image = {0};
	struct trace_group group = {0};
	struct rankmap rank = {0};
	if ((c->role & ROLE_KINDS) != roles[reference] || lossy_extract(&x->columns, c, visits, &image) != 0 ||
	    rankmap_single(&rank, x->rank, 0, false) != 0 || trace_group_lossy(&group, &rank) != 0)
		goto done;
	struct trace_lossy *l = group.lossy;
	l->why = image.why & WHY_ALL;
	l->since = image.since;
	if (extract_tally(x, &l->values, &image.values, reference == REFERENCE_STRING ? reference : REFERENCE_NONE) !=
	            0 ||
	    extract_tally(x, &l->elements, &image.elements, REFERENCE_NONE) != 0 ||
	    extract_others(x, &l->values, image.others[0], reference) != 0 ||
	    extract_others(x, &l->elements, image.others[1], reference) != 0 ||
	    (reference == REFERENCE_STRING && trace_tally_fold(x->trace, &l->values) != 0))
		goto done;
	for (size_t i = 0; i < image.next_count; i++) {
		struct tally *runs = image.next[i].to < x->record->sites.count ? trace_next(l, image.next[i].to) : NULL;
		if (!runs || tally_merge(runs, &image.next[i].runs) != 0)
			goto done;
	}
	if (image.prefix && extract_ordered(x, image.prefix, image.prefix->start, reference, true, &l->prefix) != 0)
		goto done;
	rv = visits == 0 ? 0 : trace_add_group_take(out, &group);
done:
	rankmap_free(&rank);
	trace_group_free(&group);
	lossy_image_free(&image);
	return rv;
}

int extraction_column(struct extraction *x, const struct cell *cell, uint64_t visits, enum reference reference,
                      struct trace_column *out)
{
	struct column room, *c = cell_open(&x->columns, cell, visits, &room);
	if (!c)
		return -1;
	return c->lossy ? extract_lossy(x, c, visits, reference, out)
	                : extract_ordered(x, c, visits, reference, false, out);
}

int extraction_values(struct extraction *x, const int64_t *values, size_t n, enum reference reference,
                      struct trace_column *out)
{
	struct column room = {.role = ROLE_VALUE};
	column_init(&room);
	for (size_t i = 0; i < n; i++)
		column_put(&x->columns, &room, i, values[i]);
	arena_commit(x->arena);
	return room.lossy ? -1 : extract_ordered(x, &room, n, reference, false, out);
}

/* A column of which it is known how many values it had. */
int extraction_unknown(struct extraction *x, uint64_t count, enum reference reference, struct trace_column *out)
{
	int rv = -1;
	struct trace_group group = {0};
	struct rankmap rank = {0};
	if (rankmap_single(&rank, x->rank, 0, false) == 0 && trace_group_lossy(&group, &rank) == 0) {
		group.lossy->why = WHY_MEMORY;
		group.lossy->since = x->record->stage[STAGE_COUNTING] ? x->record->stage[STAGE_COUNTING] - 1 : 0;
		if (extract_others(x, &group.lossy->values, count, reference) == 0)
			rv = trace_add_group_take(out, &group);
	}
	rankmap_free(&rank);
	trace_group_free(&group);
	return rv;
}

uint32_t extraction_site(const struct extraction *x, uint32_t number)
{
	return number - 1 < x->record->sites.count ? number - 1 : UINT32_MAX;
}

/* How long a killed process had been in its call, or had computed, in ns; 0: not known. */
static uint64_t unended_ns(const struct extraction *x)
{
	const struct record *r = x->record;
	if (r->state != RECORD_INITIALIZED || r->ended_ns <= r->realtime_ns || r->since <= r->clock_ticks[0])
		return 0;
	double all = (double)(r->ended_ns - r->realtime_ns),
	       before = (double)(r->since - r->clock_ticks[0]) * x->ns_per_tick;
	return before < all && all - before < (double)UNENDED_SANE ? (uint64_t)(all - before) : 0;
}

/* A value as it was written before the call, as a column of the trace would have it. False: there is none. */
static bool passed_value(struct extraction *x, int64_t *v)
{
	uint64_t constant = (uint64_t)*v - (uint64_t)PASSED_CONSTANT;
	if (value_is_constant(*v) || *v == VALUE_NONE || *v == VALUE_LOSSY)
		return false;
	if (constant >= MPI_CONSTANT_COUNT)
		return true;
	const char *name = mpi_constant_name[constant];
	uint32_t string = pool_intern(&x->trace->strings, name, strlen(name));
	*v = VALUE_CONSTANT + string;
	return string != UINT32_MAX;
}

/* The elements of the array that the call was passed. NULL: they are nowhere. */
static const int64_t *passed_elements(const struct extraction *x)
{
	const struct record_passed *p = &x->record->passed;
	uint64_t at = (uint64_t)arena_ref(x->arena, p) + (uint64_t)p->array;
	if (p->array == 0)
		return p->count <= RECORD_PASSED_ELEMENTS ? p->elements : NULL;
	return at <= UINT32_MAX && arena_valid(x->arena, (ref)at, p->count * sizeof(int64_t))
	               ? arena_at(x->arena, const int64_t, at)
	               : NULL;
}

static int extract_passed_array(struct extraction *x, uint32_t column, struct passed *out)
{
	const int64_t *elements = passed_elements(x);
	uint32_t n = x->record->passed.count < PASSED_ELEMENTS ? x->record->passed.count : PASSED_ELEMENTS;
	for (uint32_t i = 0; elements && i < n; i++) {
		int64_t v = elements[i];
		/* a vector has its constants as columns have them */
		if (x->record->passed.array ? !value_translate(x, &v, REFERENCE_NONE) : !passed_value(x, &v))
			return 0;
		if (passed_add(out, column, i, x->rank, v) != 0)
			return -1;
	}
	return 0;
}

/* What the call in flight was passed, as far as it had said so. */
static int extract_passed(struct extraction *x, const struct schema *s, struct passed *out)
{
	const struct record *r = x->record;
	if (r->passed.stamp != record_passed_stamp(r->at.in_flight, r->events))
		return 0;
	for (uint32_t k = 0; k < s->count && k < RECORD_PASSED; k++) {
		int64_t v = r->passed.value[k];
		if (!(r->passed.mask >> k & 1) || schema_reference(s, k) == REFERENCE_STRING)
			continue;
		if (s->column[k].vector) {
			if (extract_passed_array(x, k, out) != 0)
				return -1;
		} else if (passed_value(x, &v) && passed_add(out, k, 0, x->rank, v) != 0) {
			return -1;
		}
	}
	return 0;
}

/* MPI_Finalize and MPI_Abort are events already when
 * they are entered. Of a thread that is in no call it is not known whether it still lived. */
int extraction_unended(struct extraction *x)
{
	const struct record *r = x->record;
	uint64_t ns = unended_ns(x);
	uint32_t call = extraction_site(x, r->at.in_flight), last = extraction_site(x, r->at.last), function, node;
	struct passed passed = {.count = 0};
	if (ns == 0 || (call == UINT32_MAX && (last == UINT32_MAX || r->thread > 0)))
		return 0;
	packed_key(x->trace, call == UINT32_MAX ? last : call, &function, &node);
	const struct schema *s = &x->trace->functions[function].schema;
	enum mpi_number f = s->mpi->function;
	if (f == FN_MPI_Abort)
		return 0;
	if (call == UINT32_MAX)
		return unended_add(x->trace, last, f == FN_MPI_Finalize, x->rank, ns, NULL);
	int rv = extract_passed(x, s, &passed);
	if (rv == 0)
		rv = unended_add(x->trace, call, true, x->rank, ns, &passed);
	passed_free(&passed);
	return rv;
}
