/* SPDX-License-Identifier: BSD-3-Clause
 * derived - the stored form of groups that follow from another column
 */
#include "trace/file/derived.h"

#include <string.h>

/* how = column * FORMS + kind */
#define FORMS 4
_Static_assert(FORMS >= DERIVE_KINDS, "there is a number for each kind");

bool derived_all(const struct derivations *d, uint32_t at, const struct trace *t, const struct trace_column *c)
{
	const struct derivation *first = &d->list[at];
	if (d->count - at < c->count)
		return false;
	const struct trace_column *from = &(first->object ? t->objects : t->sites)[first->site].columns[first->from];
	for (uint32_t g = 0; g < c->count; g++) {
		const struct derivation *x = &first[g];
		if (c != &(x->object ? t->objects : t->sites)[x->site].columns[x->column] || x->group != g ||
		    x->from_group != g || x->from != first->from || x->kind != first->kind ||
		    memcmp(&x->grid, &first->grid, sizeof x->grid) != 0 ||
		    !rankmap_same_ranks(trace_group_ranks(&c->groups[g]), trace_group_ranks(&from->groups[g])))
			return false;
	}
	return c->count > 1 && from->count == c->count;
}

void derived_put(struct writer *w, const struct derivation *d, bool all, const struct trace_column *from)
{
	bool grid = d->kind == DERIVE_GRID;
	writer_uint(w, (uint64_t)(grid ? d->from : d->column - 1 - d->from) * FORMS + d->kind);
	writer_uint(w, all ? from->count : d->from_group);
	if (grid)
		writer_uint(w, d->grid.width);
	for (uint32_t k = 0; grid && k < d->grid.width; k++)
		writer_uint(w, d->grid.extent[k]);
}

static int get_grid(struct reader *r, struct derive_grid *grid)
{
	uint64_t product = 1, width = reader_uint(r);
	if (r->bad || width == 0 || width > DERIVE_WIDTH)
		return -1;
	for (; grid->width < width; grid->width++) {
		uint64_t extent = reader_uint(r);
		if (r->bad || extent == 0 || extent > INT32_MAX || (product *= extent) > INT32_MAX)
			return -1;
		grid->extent[grid->width] = (uint32_t)extent;
	}
	return 0;
}

int derived_get(struct reader *r, struct derived *d, const struct trace *t, const struct trace_site *s, uint32_t column,
                const struct rankmap *ranks)
{
	const struct schema *schema = trace_schema(t, s);
	uint64_t how = reader_uint(r), group = reader_uint(r), from = how / FORMS;
	*d = (struct derived){.column = column, .kind = (enum derive_kind)(how % FORMS)};
	if (r->bad || column >= schema->count || group > UINT32_MAX)
		return -1;
	if (d->kind == DERIVE_GRID) {
		if (from >= schema->count || schema_reference(schema, column) != REFERENCE_VECTOR ||
		    schema_reference(schema, (uint32_t)from) != REFERENCE_NONE || get_grid(r, &d->grid) != 0)
			return -1;
	} else if (from >= column ||
	           schema_reference(schema, column - 1 - (uint32_t)from) != schema_reference(schema, column)) {
		return -1;
	}
	d->from = d->kind == DERIVE_GRID ? (uint32_t)from : column - 1 - (uint32_t)from;
	d->from_group = (uint32_t)group;
	return rankmap_copy(&d->ranks, ranks);
}

/* Adds one group, of these ranks. */
static int make_one(const struct derived *d, struct trace *t, struct trace_site *s, uint32_t from_group,
                    const struct rankmap *ranks, trace_needs *needs, bool *left_out)
{
	int rv;
	const struct trace_group *from = &s->columns[d->from].groups[from_group];
	struct trace_group made = {0};
	if (needs && (!needs(trace_schema(t, s), d->column) || from->lossy)) {
		*left_out = true;
		rv = trace_group_lossy(&made, ranks);
	} else if (d->kind == DERIVE_GRID) {
		rv = derive_coordinates(t, from, &d->grid, ranks, &made);
	} else {
		rv = derive_make(t, from, schema_reference(trace_schema(t, s), d->column), d->kind, ranks, &made);
	}
	if (rv == 0)
		return trace_add_group_take(&s->columns[d->column], &made);
	trace_group_free(&made);
	return -1;
}

int derived_make(const struct derived *d, struct trace *t, struct trace_site *s, trace_needs *needs, bool *left_out)
{
	const struct trace_column *from = &s->columns[d->from];
	if (d->from_group > from->count)
		return -1;
	if (d->from_group < from->count)
		return make_one(d, t, s, d->from_group, &d->ranks, needs, left_out);
	for (uint32_t g = 0; g < from->count; g++)
		if (make_one(d, t, s, g, trace_group_ranks(&from->groups[g]), needs, left_out) != 0)
			return -1;
	return 0;
}

void derived_free(struct derived *d)
{
	rankmap_free(&d->ranks);
}
