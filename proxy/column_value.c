/* SPDX-License-Identifier: BSD-3-Clause
 * column_value - what a column is at a call site, as C
 */
#include "proxy/column_value.h"
#include "proxy/column_numbers.h"
#include "proxy/drawn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

int column_times(struct columns *c, uint32_t number, struct expression *out)
{
	struct numbers n;
	*out = (struct expression){0};
	int rv = numbers_begin(&n, c, number);
	if (rv == 0)
		rv = numbers_write(&n, out);
	numbers_end(&n);
	return rv;
}

/* Values of kind p as they are passed, as a function of what they are relative to. Returns false if they are not that:
 * then they are as they were recorded. */
static bool make_absolute(struct numbers *n, const struct proxy_site *site, const char *base)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	bool world = true, fits = points && (n->x = budget_malloc(ranks * sizeof *n->x));
	for (uint32_t r = 0; r < ranks && fits; r++) {
		fits = !n->of_rank[r] || site->base[r] != BASE_VARIES;
		world &= !n->of_rank[r] || site->base[r] == r;
		n->x[r] = site->base[r];
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count && fits; i++) {
			int64_t *v = &n->of_rank[r]->each[i].start;
			if (i == 0)
				points[0] = (struct point){0, 0};
			*v += value_is_constant(*v) ? 0 : site->base[r];
		}
	}
	budget_free(points);
	n->x_name = world ? "rank" : base;
	return fits;
}

/* In communicators that are several, two ranks may be the same there and have other neighbours. */
static bool x_decides(const struct numbers *n)
{
	uint32_t ranks = n->c->structure->ranks;
	for (uint32_t r = 0; r < ranks; r++)
		for (uint32_t q = 0; q < r; q++) {
			const struct runs *a = n->of_rank[r], *b = n->of_rank[q];
			if (!a || !b || n->x[r] != n->x[q] || !numbers_share(a, b))
				continue;
			for (int64_t i = 0; i < a->count; i++)
				if (a->each[i].start != b->each[i].start)
					return false;
		}
	return true;
}

static int write_peer(struct numbers *n, const struct proxy_site *site, const char *base, uint32_t number,
                      struct expression *out)
{
	/* Functions of the program do not know OWN_RANK. */
	if (strcmp(base, OWN_RANK) != 0 && make_absolute(n, site, base)) {
		if (!x_decides(n)) {
			budget_free(n->x);
			n->x = NULL;
			n->x_name = "rank";
		}
		return numbers_write(n, out);
	}
	/* relative to a communicator that is not always the same */
	struct columns *c = n->c;
	numbers_end(n);
	if (numbers_begin(n, c, number) != 0)
		return -1;
	for (uint32_t r = 0; r < c->structure->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++)
			n->kept |= value_is_constant(n->of_rank[r]->each[i].start);
	if (numbers_write(n, out) != 0)
		return -1;
	char *text = NULL;
	if (asprintf(&text, n->kept ? "peer(%s, %s)" : "(%s + (%s))", base, out->text) < 0)
		return error_set(c->error, "no memory");
	free(out->text);
	out->text = text;
	out->simple = out->known = false;
	return 0;
}

/* A number behind which something else stands: `name[number]`. */
static int wrap_number(struct numbers *n, const char *name, struct expression *out)
{
	char *text = NULL;
	if (numbers_write(n, out) != 0)
		return -1;
	if (asprintf(&text, "%s[%s]", name, out->text) < 0)
		return error_set(n->c->error, "no memory");
	free(out->text);
	out->text = text;
	out->known = false;
	return 0;
}

static int write_handle(struct numbers *n, const struct schema_column *column, struct expression *out)
{
	int64_t value = 0;
	bool any = false, one = numbers_uniform(n, &value);
	for (uint32_t r = 0; r < n->c->structure->ranks; r++)
		any |= n->of_rank[r] != NULL;
	if (!any || (one && value_is_constant(value))) {
		out->simple = out->known = true;
		out->value = value;
		out->text =
			strdup(any ? trace_constant_name(n->c->structure->trace, value) : handles_null(column->kind));
		return out->text ? 0 : error_set(n->c->error, "no memory");
	}
	for (uint32_t r = 0; r < n->c->structure->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++)
			n->of_rank[r]->each[i].start = handles_number(n->c, column->kind, n->of_rank[r]->each[i].start);
	return wrap_number(n, handles_name(column->kind), out);
}

static void write_string(FILE *out, const struct pool_item *item)
{
	fputc('"', out);
	for (size_t i = 0; i < item->size; i++) {
		unsigned char b = item->bytes[i];
		if (b < 0x20 || b >= 0x7f || b == '"' || b == '\\' || b == '?')
			fprintf(out, "\\%03o", b);
		else
			fputc(b, out);
	}
	fputc('"', out);
}

static int write_strings(struct numbers *n, struct expression *out)
{
	const struct structure *s = n->c->structure;
	uint32_t count = 0, number = n->c->table_count++;
	char name[40];
	int64_t *seen = budget_calloc(s->trace->strings.count + UINT64_C(1), sizeof *seen);
	if (!seen)
		return error_set(n->c->error, "no memory");
	fprintf(n->c->tables, "static const char *const text_%" PRIu32 "[] = {", number);
	for (uint32_t r = 0; r < s->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++) {
			int64_t *v = &n->of_rank[r]->each[i].start, key = value_is_constant(*v) ? 0 : *v;
			if (!seen[key]) {
				fputs(count ? ", " : "", n->c->tables);
				write_string(n->c->tables, &s->trace->strings.items[key]);
				seen[key] = ++count;
			}
			*v = seen[key] - 1;
		}
	fputs(count ? "};\n" : "\"\"};\n", n->c->tables);
	budget_free(seen);
	snprintf(name, sizeof name, "text_%" PRIu32, number);
	return wrap_number(n, name, out);
}

int column_scalar(struct columns *c, const struct proxy_site *site, const struct schema_column *column, uint32_t number,
                  const char *base, struct expression *out)
{
	struct numbers n;
	*out = (struct expression){0};
	if (column_is_drawn(c, number))
		return column_drawn(c, site, number, out);
	int rv = numbers_begin(&n, c, number);
	if (rv == 0 && column->kind == 'p')
		rv = write_peer(&n, site, base, number, out);
	else if (rv == 0 && handles_name(column->kind))
		rv = write_handle(&n, column, out);
	else if (rv == 0 && column->kind == 's')
		rv = write_strings(&n, out);
	else if (rv == 0 && column->kind == 'b') {
		for (uint32_t r = 0; r < c->structure->ranks; r++)
			for (int64_t i = 0; n.of_rank[r] && i < n.of_rank[r]->count; i++)
				n.of_rank[r]->each[i].start = value_is_constant(n.of_rank[r]->each[i].start);
		rv = numbers_write(&n, out);
	} else if (rv == 0)
		rv = numbers_write(&n, out);
	numbers_end(&n);
	return rv;
}

size_t column_most(const struct columns *c, uint32_t number)
{
	const struct structure *s = c->structure;
	size_t most = 0;
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, number, r);
		for (int64_t i = 0; x && i < x->count; i++)
			if (!value_is_constant(x->each[i].start)) {
				size_t width = s->vectors.items[x->each[i].start].size / sizeof(int64_t);
				most = width > most ? width : most;
			}
	}
	return most;
}
