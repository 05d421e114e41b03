/* SPDX-License-Identifier: BSD-3-Clause
 * array - arrays that calls are given, as C
 *
 * Each array that a site has is a place: on ranks whose runs and lengths are alike, the arrays of one run are one
 * place, in which each element is a function of the rank. If there is one place, its elements are written where it is
 * used; else a function makes it, of the number of the place.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/array_queue.h"
#include "proxy/column_value.h"
#include "proxy/dense.h"
#include "proxy/places.h"
#include "trace/base/budget.h"

#define IN_PLACE_MOST 16  /* elements that are written where they are used */
#define IN_PLACE_LONG 250 /* letters of them and of their tables, at most */
#define ELEMENTS_MOST 4   /* that are columns of their own */
#define ELEMENTS_FEW  16  /* fewer are written one by one */
#define FOLLOWER      150 /* letters of an array that follows from another one */
#define WHICH         60  /* letters of which one it is, besides its expression */
#define LONGER        100 /* what is no queue is longer by so much: there is one more function for those */

static void write_element_leaf(void *context, int64_t v, FILE *out)
{
	const struct places *p = context;
	const char *name = handles_name(p->column->kind);
	if (p->column->kind == 'r')
		fprintf(out, "%" PRId64, value_is_constant(v) ? -1 : v);
	else if (name && !value_is_constant(v))
		fprintf(out, "%s[%" PRId64 "]", name, v);
	else
		numbers_value(p->n->c, v, out);
}

static struct fit element_fit(const struct places *p, const char *x)
{
	struct fit f = numbers_fit(p->n);
	f.x = x;
	f.leaf = write_element_leaf;
	f.context = (void *)p;
	f.plain = handles_name(p->column->kind) && p->column->kind != 'r';
	return f;
}

static int write_element(const struct places *p, const struct place *place, size_t i, FILE *out)
{
	uint32_t ranks = p->n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	struct fit f = element_fit(p, "rank");
	size_t count = 0;
	if (!points)
		return -1;
	for (uint32_t r = 0; r < ranks; r++)
		if (p->n->of_rank[r] && p->group[r] == place->group)
			points[count++] = (struct point){r, places_element(places_vector(p, r, place->run), i)};
	fit_write(&f, points, count, out);
	budget_free(points);
	return f.failed ? -1 : 0;
}

static int write_shared(const struct places *p, const struct place *place, uint32_t rank, FILE *out)
{
	struct point *points = budget_malloc((place->width + 1) * sizeof *points);
	struct fit f = element_fit(p, "e");
	if (!points)
		return -1;
	for (size_t i = 0; i < place->width; i++)
		points[i] = (struct point){(int64_t)i, places_element(places_vector(p, rank, place->run), i)};
	fprintf(out, "\t\tfor (int e = 0; e < %zu; e++)\n\t\t\ta[e] = (%s)", place->width, p->type);
	fit_write(&f, points, place->width, out);
	fputs(";\n", out);
	budget_free(points);
	return f.failed ? -1 : 0;
}

/* Elements that are no functions of the rank: one table for all. */
static int write_all_elements(const struct places *p, const struct place *place, FILE *out)
{
	uint32_t ranks = p->n->c->structure->ranks, number = p->n->c->table_count++;
	FILE *tables = p->n->c->tables;
	fprintf(tables, "static const long table_%" PRIu32 "[][%zu] = {", number, place->width);
	for (uint32_t r = 0; r < ranks; r++) {
		bool there = p->n->of_rank[r] && p->group[r] == place->group;
		fputs(r ? ",\n\t{" : "\n\t{", tables);
		for (size_t i = 0; i < place->width; i++) {
			fputs(i ? ", " : "", tables);
			if (there)
				write_element_leaf((void *)p, places_element(places_vector(p, r, place->run), i),
				                   tables);
			else
				fputc('0', tables);
		}
		fputc('}', tables);
	}
	fputs("};\n", tables);
	fprintf(out, "\t\tfor (int e = 0; e < %zu; e++)\n\t\t\ta[e] = (%s)table_%" PRIu32 "[rank][e];\n", place->width,
	        p->type, number);
	return 0;
}

/* Writes each element; *irregular: how many are tables. Those are lost, unless the first pass finds few. */
static int write_each_element(const struct places *p, const struct place *place, size_t *irregular, FILE *out)
{
	*irregular = 0;
	for (size_t i = 0; i < place->width; i++) {
		char *text = NULL;
		size_t size;
		FILE *one = open_memstream(&text, &size);
		int rv = one ? write_element(p, place, i, one) : -1;
		if (one)
			fclose(one);
		if (rv == 0) {
			fprintf(out, "\t\ta[%zu] = %s;\n", i, text);
			*irregular += strncmp(text, "table_", 6) == 0;
		}
		free(text);
		if (rv != 0)
			return -1;
	}
	return 0;
}

static int write_assignments(const struct places *p, const struct place *place, FILE *out)
{
	struct columns *c = p->n->c;
	bool plain = element_fit(p, "e").plain;
	uint32_t first;
	struct aside tables;
	char *text = NULL;
	size_t size, irregular;
	if (place->width > 4 && places_shared(p, place, &first) && (!plain || place->width > IN_PLACE_MOST))
		return write_shared(p, place, first, out);
	FILE *body = open_memstream(&text, &size);
	int rv = aside_begin(c, &tables) == 0 && body ? write_each_element(p, place, &irregular, body) : -1;
	if (body)
		fclose(body);
	aside_end(c, &tables);
	if (rv == 0 && (irregular <= 1 || plain)) {
		aside_keep(c, &tables);
		fputs(text, out);
	} else if (rv == 0) {
		rv = write_all_elements(p, place, out);
	}
	aside_drop(&tables);
	free(text);
	return rv;
}

static int write_cases(const struct places *p, FILE *body)
{
	int rv = 0;
	fputs("\tswitch (which) {\n", body);
	for (uint32_t i = 0; i < p->count && rv == 0; i++) {
		fprintf(body, "\tcase %" PRIu32 ":\n", i);
		rv = write_assignments(p, &p->each[i], body);
		fputs(p->each[i].absent ? "\t\treturn 0;\n" : "\t\tbreak;\n", body);
	}
	fputs("\t}\n", body);
	return rv;
}

/* Are all arrays numbers that have the same sum? */
static bool have_sum(const struct places *p, size_t width, int64_t *sum)
{
	bool any = false;
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t r = 0; r < p->n->c->structure->ranks; r++) {
			int64_t all = 0;
			if (!p->n->of_rank[r] || p->group[r] != p->each[i].group)
				continue;
			for (size_t k = 0; k < width; k++) {
				int64_t v = places_element(places_vector(p, r, p->each[i].run), k);
				all = v < 0 || v > INT32_MAX || all > INT32_MAX ? INT64_MAX - INT32_MAX : all + v;
			}
			if (all > INT32_MAX || (any && all != *sum))
				return false;
			*sum = all;
			any = true;
		}
	return any;
}

/* All elements of all places on all ranks, without the last one if it is what is left of a sum. What is behind the end
 * of a shorter one is nobody's. */
static void write_one_table(const struct places *p, const struct array *a, FILE *body)
{
	FILE *tables = p->n->c->tables;
	uint32_t ranks = p->n->c->structure->ranks, number = p->n->c->table_count++;
	int64_t sum = 0;
	bool rest = a->fixed && a->most > 1 && have_sum(p, a->most, &sum);
	size_t width = a->most - rest;
	fprintf(tables, "static const long table_%" PRIu32 "[][%" PRIu32 "][%zu] = {", number, ranks, width);
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t r = 0; r < ranks; r++) {
			bool there = p->n->of_rank[r] && p->group[r] == p->each[i].group;
			const struct pool_item *item = there ? places_vector(p, r, p->each[i].run) : NULL;
			fputs(r ? ", {" : i ? ",\n\t{{" : "\n\t{{", tables);
			for (size_t k = 0; k < width; k++)
				fprintf(tables, k ? ", %" PRId64 : "%" PRId64,
				        item && k < p->each[i].width ? places_number(item, k) : 0);
			fputs(r + 1 < ranks ? "}" : "}}", tables);
		}
	fputs("};\n", tables);
	if (rest)
		fprintf(body, "\ta[%zu] = %" PRId64 "; /* less the others */\n", width, sum);
	fprintf(body, "\tfor (int e = 0; e < %zu; e++)\n\t\t", width);
	if (rest)
		fprintf(body, "a[%zu] -= ", width);
	fprintf(body, "a[e] = (%s)table_%" PRIu32 "[which][rank][e];\n", p->type, number);
}

/* A text that fills an array, and the tables that it uses. */
struct filling {
	char *text;
	size_t size;
	struct aside tables;
};

static int try_filling(const struct places *p, const struct array *a, bool one_table, struct filling *out)
{
	struct columns *c = p->n->c;
	FILE *body = open_memstream(&out->text, &out->size);
	int rv = aside_begin(c, &out->tables) == 0 && body ? 0 : -1;
	if (rv == 0 && one_table)
		write_one_table(p, a, body);
	else if (rv == 0)
		rv = write_cases(p, body);
	if (body)
		fclose(body);
	aside_end(c, &out->tables);
	return rv;
}

/* What fills an array: cases, or one table if that is shorter. */
static int write_filling(const struct places *p, const struct array *a, FILE *body)
{
	struct filling each[2] = {0};
	bool one_table = p->count * a->most >= ELEMENTS_FEW && !element_fit(p, "rank").plain && places_are_numbers(p);
	int best = 0, rv = try_filling(p, a, false, &each[0]);
	if (rv == 0 && one_table) {
		rv = try_filling(p, a, true, &each[1]);
		best = rv == 0 &&
		       each[1].size + dense_size(each[1].tables.text) < each[0].size + dense_size(each[0].tables.text);
	}
	if (rv == 0) {
		aside_keep(p->n->c, &each[best].tables);
		fputs(each[best].text, body);
	}
	for (int i = 0; i < 2; i++) {
		free(each[i].text);
		aside_drop(&each[i].tables);
	}
	return rv;
}

static int write_function(const struct places *p, struct array *a)
{
	FILE *out = p->n->c->tables;
	char *text = NULL;
	size_t size;
	FILE *body = open_memstream(&text, &size);
	a->number = p->n->c->table_count++;
	int rv = body ? write_filling(p, a, body) : -1;
	if (body)
		fclose(body);
	fprintf(out, "static %s *array_%" PRIu32 "(long which)\n{\n\tstatic %s a[%zu];\n\n%s\treturn a;\n}\n\n",
	        p->type, a->number, p->type, a->most ? a->most : 1, text ? text : "");
	free(text);
	if (!a->fixed && p->lengths) {
		fprintf(out, "static int length_%" PRIu32 "(long which)\n{\n\tstatic const int lengths[] = {",
		        a->number);
		for (uint32_t i = 0; i < p->count; i++)
			fprintf(out, "%s%zu", i ? ", " : "", p->each[i].width);
		fputs("};\n\n\treturn lengths[which];\n}\n\n", out);
	}
	return rv;
}

/* Returns 0; 1: nothing is written, since it would be too long; -1: no memory. */
static int write_in_place(const struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct aside tables;
	size_t size;
	FILE *out = open_memstream(&a->elements, &size);
	int rv = aside_begin(c, &tables) == 0 && out ? 0 : -1;
	for (size_t i = 0; i < a->most && rv == 0; i++) {
		fputs(i ? ", " : "", out);
		rv = write_element(p, &p->each[0], i, out);
	}
	if (out && a->most == 0)
		fputc('0', out);
	if (out)
		fclose(out);
	aside_end(c, &tables);
	if (rv == 0 && places_are_numbers(p) && size + dense_size(tables.text) > IN_PLACE_LONG) {
		free(a->elements);
		a->elements = NULL;
		rv = 1;
	} else if (rv == 0) {
		aside_keep(c, &tables);
	}
	aside_drop(&tables);
	return rv;
}

static int write_which(struct places *p, struct array *a)
{
	struct numbers places;
	int rv = numbers_copy(&places, p->n);
	places.again = true; /* by arrays that follow from this one */
	for (uint32_t r = 0; rv == 0 && r < p->n->c->structure->ranks; r++) {
		struct runs *runs = places.of_rank[r];
		for (int64_t i = 0; runs && i < runs->count; i++)
			runs->each[i].start = p->of_run[p->group[r]][i];
		rv = places_find_runs(p, r, &places.of_rank[r]);
	}
	if (rv == 0)
		rv = numbers_write(&places, &a->which);
	numbers_end(&places);
	return rv;
}

/* One element of the arrays as a column of its own. */
static int element_numbers(const struct places *p, size_t i, struct numbers *out)
{
	if (numbers_copy(out, p->n) != 0)
		return -1;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++) {
		struct runs *runs = out->of_rank[r];
		for (int64_t k = 0; runs && k < runs->count; k++)
			runs->each[k].start = places_element(places_vector(p, r, k), i);
		if (places_find_runs(p, r, &out->of_rank[r]) != 0)
			return -1;
	}
	return 0;
}

/* Each element as an expression of the rank and the visit. */
static int write_by_element(const struct places *p, struct array *a)
{
	size_t size;
	FILE *out = open_memstream(&a->elements, &size);
	int rv = out ? 0 : -1;
	for (size_t i = 0; i < a->most && rv == 0; i++) {
		struct numbers n;
		struct expression e = {0};
		rv = element_numbers(p, i, &n);
		if (rv == 0)
			rv = numbers_write(&n, &e);
		if (rv == 0)
			fprintf(out, "%s%s", i ? ", " : "", e.text);
		a->which.visits |= e.visits;
		free(e.text);
		numbers_end(&n);
	}
	if (out)
		fclose(out);
	return rv;
}

/* Writes the arrays in the way that is shorter: by a function, or, if they are short, element by element. Then those
 * that follow from them are as long. */
static int write_shorter(struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct array other = *a;
	struct aside tables, others = {0};
	bool plain = p->column->kind == 'r' || handles_name(p->column->kind);
	int rv = aside_begin(c, &tables) == 0 ? write_function(p, a) : -1;
	if (rv == 0)
		rv = write_which(p, a);
	aside_end(c, &tables);
	bool try = rv == 0 && a->fixed && a->most > 0 && a->most <= ELEMENTS_MOST && !plain;
	for (uint32_t i = 0; i < p->count; i++)
		try &= !p->each[i].absent;
	if (try) {
		rv = aside_begin(c, &others) == 0 ? write_by_element(p, &other) : -1;
		aside_end(c, &others);
	}
	if (rv == 0 && try &&
	    (p->followers + 1) * (dense_size(others.text) + strlen(other.elements)) <
	            dense_size(tables.text) + strlen(a->which.text) + p->followers * FOLLOWER) {
		free(a->which.text);
		*a = other;
		aside_keep(c, &others);
	} else if (rv == 0) {
		aside_keep(c, &tables);
		free(other.elements);
	}
	aside_drop(&tables);
	aside_drop(&others);
	return rv;
}

/* The next one of a queue, if that is shorter, also for those that follow from them. */
static int write_queued(struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct array other = *a;
	struct aside tables, queue = {0};
	bool try = c->queues && (a->fixed || !p->lengths) && strcmp(p->type, "int") == 0;
	int tried = 1, rv = aside_begin(c, &tables) == 0 ? write_shorter(p, a) : -1;
	aside_end(c, &tables);
	if (rv == 0 && try) {
		tried = aside_begin(c, &queue) == 0 ? array_queue_write(p, &other.queue) : -1;
		aside_end(c, &queue);
	}
	size_t size = dense_size(tables.text) + (a->elements     ? strlen(a->elements)
	                                         : a->which.text ? strlen(a->which.text) + WHICH
	                                                         : 0);
	if (rv == 0 && tried == 0 &&
	    (p->followers + 1) * dense_size(queue.text) + LONGER < size + p->followers * FOLLOWER) {
		array_free(a);
		*a = other;
		aside_keep(c, &queue);
	} else if (rv == 0) {
		aside_keep(c, &tables);
		free(other.queue);
	}
	aside_drop(&tables);
	aside_drop(&queue);
	return tried < 0 ? -1 : rv;
}

static int array_places(struct places *p, struct array *a)
{
	if (places_group_ranks(p) != 0)
		return -1;
	if (p->column->kind == 'r' && places_contiguous(p, &a->first)) {
		a->contiguous = true;
		return 0;
	}
	int64_t value;
	if (p->groups == 0 || (numbers_uniform(p->n, &value) && value_is_constant(value))) {
		a->none = true;
		a->constant = p->groups ? trace_constant_name(p->n->c->structure->trace, value) : NULL;
		return 0;
	}
	if (places_find(p) != 0)
		return -1;
	a->fixed = true;
	for (uint32_t i = 0; i < p->count; i++) {
		a->most = p->each[i].width > a->most ? p->each[i].width : a->most;
		a->fixed &= p->each[i].width == p->each[0].width;
	}
	if (p->count != 1 || a->most > IN_PLACE_MOST)
		return write_queued(p, a);
	int rv = write_in_place(p, a);
	return rv <= 0 ? rv : write_queued(p, a);
}

int column_array(struct columns *c, const struct schema_column *column, uint32_t number, const char *type, bool lengths,
                 size_t followers, struct array *out)
{
	struct numbers n;
	struct places p = {
		.n = &n, .number = number, .column = column, .type = type, .lengths = lengths, .followers = followers};
	*out = (struct array){.none = false};
	int rv = numbers_begin(&n, c, number);
	p.group = budget_calloc(c->structure->ranks, sizeof *p.group);
	if (rv == 0 && (!p.group || array_places(&p, out) != 0))
		rv = error_set(c->error, "no memory");
	for (uint32_t g = 0; p.of_run && g < p.groups; g++)
		budget_free(p.of_run[g]);
	budget_free(p.of_run);
	budget_free(p.group);
	budget_free(p.each);
	numbers_end(&n);
	return rv;
}

void array_free(struct array *a)
{
	free(a->which.text);
	free(a->elements);
	free(a->queue);
}
