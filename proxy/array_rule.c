/* SPDX-License-Identifier: BSD-3-Clause
 * array_rule - arrays that follow from another one of the same call
 */
#include "proxy/array_rule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/column_numbers.h"

/* The arrays of a rank in a run; NULL: it is none. */
static const struct pool_item *array_in_run(const struct numbers *n, uint32_t rank, int64_t run)
{
	int64_t v = n->of_rank[rank]->each[run].start;
	return value_is_constant(v) ? NULL : &n->c->structure->vectors.items[v];
}

static int64_t array_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

/* Have both arrays `width` elements, on the same ranks, at the same visits? */
static bool arrays_in_step(const struct numbers *n, const struct numbers *from, size_t width)
{
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		const struct runs *a = n->of_rank[r], *b = from->of_rank[r];
		if (!a != !b || (a && !numbers_alike(a, b)))
			return false;
		for (int64_t i = 0; a && i < a->count; i++) {
			const struct pool_item *x = array_in_run(n, r, i), *y = array_in_run(from, r, i);
			if (!x || !y || x->size != width * sizeof(int64_t) || y->size != x->size)
				return false;
		}
	}
	return true;
}

static bool are_sums(const struct numbers *n, const struct numbers *from, size_t width)
{
	for (uint32_t r = 0; r < n->c->structure->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++) {
			const struct pool_item *x = array_in_run(n, r, i), *y = array_in_run(from, r, i);
			int64_t sum = 0;
			for (size_t k = 0; k < width; k++) {
				int64_t v = array_element(y, k);
				if (array_element(x, k) != sum || v < 0 || v > INT32_MAX)
					return false;
				sum += v;
			}
		}
	return true;
}

/* Is element k of rank r element r of rank k? All ranks are to have as many runs. */
static bool are_exchanged(const struct numbers *n, const struct numbers *from, size_t width)
{
	uint32_t ranks = n->c->structure->ranks;
	for (uint32_t r = 0; r < ranks; r++)
		if (width != ranks || !from->of_rank[r] || !numbers_alike(from->of_rank[0], from->of_rank[r]))
			return false;
	for (uint32_t r = 0; r < ranks; r++)
		for (int64_t i = 0; i < n->of_rank[r]->count; i++)
			for (uint32_t k = 0; k < ranks; k++)
				if (array_element(array_in_run(n, r, i), k) !=
				    array_element(array_in_run(from, k, i), r))
					return false;
	return true;
}

static void write_rule(const struct array *a, const char *type, const struct array *from, const char *from_type,
                       bool sums, FILE *out)
{
	fprintf(out, "static %s *array_%" PRIu32 "(long which)\n{\n\tstatic %s a[%zu];\n", type, a->number, type,
	        a->most);
	if (sums)
		fprintf(out,
		        "\tconst %s *const of = array_%" PRIu32
		        "(which);\n\n\tfor (int e = 1; e < %zu; e++)\n\t\ta[e] = a[e - 1] + of[e - 1];\n",
		        from_type, from->number, a->most);
	else
		fprintf(out,
		        "\tconst long own = rank;\n\n\tfor (rank = 0; rank < %zu; rank++)\n\t\ta[rank] = array_%" PRIu32
		        "(which)[own];\n\trank = own;\n\tarray_%" PRIu32 "(which); /* which is what it was again */\n",
		        a->most, from->number, from->number);
	fputs("\treturn a;\n}\n\n", out);
}

int array_by_rule(struct columns *c, uint32_t number, const char *type, uint32_t from_number, const struct array *from,
                  const char *from_type, struct array *out)
{
	struct numbers n, of;
	bool sums = false, exchanged = false;
	*out = (struct array){.none = false};
	int rv = numbers_begin(&n, c, number);
	if (numbers_begin(&of, c, from_number) != 0)
		rv = -1;
	if (rv == 0 && arrays_in_step(&n, &of, from->most)) {
		sums = are_sums(&n, &of, from->most);
		exchanged = !sums && are_exchanged(&n, &of, from->most);
	}
	numbers_end(&n);
	numbers_end(&of);
	if (rv != 0 || (!sums && !exchanged))
		return rv;
	*out = (struct array){.which = from->which, .fixed = true, .most = from->most, .number = c->table_count++};
	if (!(out->which.text = strdup(from->which.text)))
		return error_set(c->error, "no memory");
	write_rule(out, type, from, from_type, sums, c->tables);
	return 1;
}
