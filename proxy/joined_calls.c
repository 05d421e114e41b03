/* SPDX-License-Identifier: BSD-3-Clause
 * joined_calls - calls of a large program that stand together again and again, as one call
 */
#include "proxy/joined_calls.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/joined_lines.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

#define LINES_MOST   24 /* in a function */
#define GIVEN_MOST   12 /* parameters of it */
#define LOOKED       40 /* candidates of which is looked how short they make the program */
#define LINE_LETTERS 18 /* that a line has without what it is given, about */

/* Lines that stand in several places. */
struct joint {
	uint32_t first, length, places;
	uint32_t end; /* behind the last place: they do not overlap */
};

/* A parameter of a function that is looked at: of which line, and which there. */
struct given {
	uint32_t line, argument;
};

struct joining {
	struct lines *l;
	struct joint *each;
	uint32_t count, capacity;
	struct index index;
	/* of the one that is looked at */
	uint32_t *places, places_count, places_capacity;
	struct given given[GIVEN_MOST];
	uint32_t given_count;
};

/* ---- candidates ---- */

static bool same_lines(const struct lines *l, uint32_t a, uint32_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (l->each[a + i].callee != l->each[b + i].callee)
			return false;
	return true;
}

struct joint_key {
	const struct joining *x;
	uint32_t first, length;
};

static bool is_candidate(const void *context, uint32_t i)
{
	const struct joint_key *k = context;
	const struct joint *c = &k->x->each[i];
	return c->length == k->length && same_lines(k->x->l, c->first, k->first, k->length);
}

static int add_candidate(struct joining *x, uint32_t first, uint32_t length, uint64_t hash)
{
	struct joint_key key = {x, first, length};
	uint32_t i = index_find(&x->index, hash, is_candidate, &key);
	if (i == INDEX_NONE) {
		if (!budget_grow(&x->each, x->count, &x->capacity, sizeof *x->each) ||
		    index_add(&x->index, hash, x->count) != 0)
			return -1;
		i = x->count++;
		x->each[i] = (struct joint){first, length, 0, 0};
	}
	if (x->each[i].end <= first) {
		x->each[i].places++;
		x->each[i].end = first + length;
	}
	return 0;
}

static int find_candidates(struct joining *x)
{
	x->count = 0;
	index_free(&x->index);
	for (uint32_t first = 0; first < x->l->count; first++) {
		uint64_t hash = 7;
		for (uint32_t n = 1; n <= LINES_MOST && lines_follow(x->l, first, n); n++) {
			hash = hash_mix(hash, x->l->each[first + n - 1].callee);
			if (n > 1 && add_candidate(x, first, n, hash) != 0)
				return -1;
		}
	}
	return 0;
}

static int64_t about(const struct joint *c)
{
	return (int64_t)(c->length - 1) * (c->places - 1) * LINE_LETTERS;
}

static int compare_candidates(const void *a, const void *b)
{
	int64_t x = about(a), y = about(b);
	uint32_t p = ((const struct joint *)a)->first, q = ((const struct joint *)b)->first;
	return x != y ? (x < y) - (x > y) : (p > q) - (p < q);
}

/* ---- what a function is given ---- */

static int collect_places(struct joining *x, const struct joint *c)
{
	x->places_count = 0;
	for (uint32_t i = c->first; i < x->l->count; i++) {
		if (!lines_follow(x->l, i, c->length) || !same_lines(x->l, c->first, i, c->length))
			continue;
		if (!budget_grow(&x->places, x->places_count, &x->places_capacity, sizeof *x->places))
			return -1;
		x->places[x->places_count++] = i;
		i += c->length - 1;
	}
	return 0;
}

static const struct text_range *argument_at(const struct joining *x, uint32_t place, struct given g)
{
	return &x->l->each[x->places[place] + g.line].arguments[g.argument];
}

/* Is it in the function itself? */
static bool is_always(const struct joining *x, struct given g)
{
	const struct text_range *first = argument_at(x, 0, g);
	for (uint32_t p = 1; p < x->places_count; p++)
		if (!range_equal(first, argument_at(x, p, g)))
			return false;
	return range_is_global(first);
}

/* Are two alike in all places? */
static bool are_alike(const struct joining *x, struct given a, struct given b)
{
	for (uint32_t p = 0; p < x->places_count; p++)
		if (!range_equal(argument_at(x, p, a), argument_at(x, p, b)) || range_counts(argument_at(x, p, a)))
			return false;
	return true;
}

/* Is it the same before the first of the lines as it is before its own? */
static bool may_be_given(const struct joining *x, const struct joint *c, struct given g)
{
	for (uint32_t p = 0; g.line > 0 && p < x->places_count; p++)
		for (uint32_t i = 0; i < g.line; i++)
			if (lines_changes(x->l, x->l->each[c->first + i].callee, argument_at(x, p, g)))
				return false;
	return true;
}

static const char *type_of(const struct joining *x, const struct joint *c, struct given g)
{
	return x->l->callees[x->l->each[c->first + g.line].callee].types[g.argument];
}

static bool is_given_as(const struct joining *x, const struct joint *c, struct given a, struct given b)
{
	bool itself = a.line == b.line && a.argument == b.argument;
	return itself || (are_alike(x, a, b) && strcmp(type_of(x, c, a), type_of(x, c, b)) == 0);
}

/* The parameter that stands for an argument; given_count: it is in the function. */
static uint32_t parameter_of(const struct joining *x, const struct joint *c, struct given g)
{
	uint32_t i = 0;
	if (is_always(x, g))
		return x->given_count;
	while (i < x->given_count && !is_given_as(x, c, x->given[i], g))
		i++;
	return i;
}

/* Returns false: the lines cannot be a function. */
static bool find_given(struct joining *x, const struct joint *c)
{
	x->given_count = 0;
	for (uint32_t line = 0; line < c->length; line++)
		for (uint32_t k = 0; k < x->l->each[c->first + line].count; k++) {
			struct given g = {line, k};
			if (is_always(x, g) || parameter_of(x, c, g) < x->given_count)
				continue;
			if (x->given_count == GIVEN_MOST || !may_be_given(x, c, g))
				return false;
			x->given[x->given_count++] = g;
		}
	return true;
}

/* ---- writing ---- */

/* The name of a parameter: that of the function that is called, with a number behind it if others have it, too. */
static void write_name(const struct joining *x, const struct joint *c, uint32_t number, FILE *out)
{
	const struct given *g = x->given;
	const struct callee *of = &x->l->callees[x->l->each[c->first + g[number].line].callee];
	const char *name = of->names[g[number].argument];
	uint32_t before = 1;
	for (uint32_t i = 0; i < number; i++)
		before +=
			strcmp(x->l->callees[x->l->each[c->first + g[i].line].callee].names[g[i].argument], name) == 0;
	fputs(name, out);
	if (before > 1)
		fprintf(out, "_%" PRIu32, before);
}

static void define_joint(const struct joining *x, const struct joint *c, const char *name, FILE *out)
{
	fprintf(out, "static void %s(int site", name);
	for (uint32_t i = 0; i < x->given_count; i++) {
		fprintf(out, ", %s", type_of(x, c, x->given[i]));
		write_name(x, c, i, out);
	}
	fputs(")\n{\n", out);
	for (uint32_t line = 0, sites = 0; line < c->length; line++) {
		const struct line *at = &x->l->each[c->first + line];
		fprintf(out, "\t%s(site", x->l->callees[at->callee].name);
		if (line)
			fprintf(out, " + %" PRIu32, sites);
		sites += x->l->callees[at->callee].sites;
		for (uint32_t k = 0; k < at->count; k++) {
			uint32_t i = parameter_of(x, c, (struct given){line, k});
			fputs(", ", out);
			if (i < x->given_count)
				write_name(x, c, i, out);
			else
				fwrite(at->arguments[k].text, 1, at->arguments[k].size, out);
		}
		fputs(");\n", out);
	}
	fputs("}\n\n", out);
}

/* What the function is about: the first call that is not about a datatype, an operation, or who there is. */
static const char *title_of(const struct joining *x, const struct joint *c)
{
	static const char *const others[] = {"Type_", "Op_", "Comm_", "Pack", "Group_", "Get_", "Unpack"};
	for (uint32_t i = 0; i < c->length; i++) {
		const char *name = x->l->callees[x->l->each[c->first + i].callee].name;
		bool other = false;
		for (size_t k = 0; k < sizeof others / sizeof *others; k++)
			other |= strncmp(name, others[k], strlen(others[k])) == 0;
		if (!other)
			return x->l->callees[x->l->each[c->first + i].callee].mpi;
	}
	return x->l->callees[x->l->each[c->first].callee].mpi;
}

/* Arguments of a place; NULL: no memory. */
static struct text_range *arguments_of(const struct joining *x, uint32_t place)
{
	struct text_range *all = budget_calloc(x->given_count + UINT64_C(1), sizeof *all);
	for (uint32_t i = 0; all && i < x->given_count; i++)
		all[i] = *argument_at(x, place, x->given[i]);
	return all;
}

/* How many letters a place has less than before. */
static int64_t gain_at(const struct joining *x, const struct joint *c, uint32_t place)
{
	const struct line *first = &x->l->each[x->places[place]];
	size_t before = 0, behind = (size_t)first->indent + strlen("Function_10(1000);\n");
	for (uint32_t i = 0; i < c->length; i++)
		before += lines_letters(x->l, first + i);
	for (uint32_t i = 0; i < x->given_count; i++)
		behind += argument_at(x, place, x->given[i])->size + strlen(", ");
	return (int64_t)before - (int64_t)behind;
}

/* How many letters fewer the program has; 0: not fewer, or it cannot be a function. -1: no memory. */
static int64_t gain_of(struct joining *x, const struct joint *c)
{
	char *text = NULL;
	size_t size;
	int64_t gain = 0;
	if (collect_places(x, c) != 0)
		return -1;
	if (x->places_count < 2 || !find_given(x, c))
		return 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -1;
	define_joint(x, c, "Function_10", out);
	for (uint32_t p = 0; p < x->places_count; p++)
		gain += gain_at(x, c, p);
	fclose(out);
	free(text);
	return gain > (int64_t)size ? gain - (int64_t)size : 0;
}

/* Writes the function, and its calls. */
static int make_function(struct joining *x, const struct joint *c, struct names *names, FILE *out)
{
	char *text = NULL;
	size_t size;
	const char *name = collect_places(x, c) == 0 && find_given(x, c) ? names_make(names, title_of(x, c)) : NULL;
	FILE *one = name ? open_memstream(&text, &size) : NULL;
	if (!one)
		return -1;
	define_joint(x, c, name, one);
	fclose(one);
	fputs(text, out);
	int rv = lines_add_callee(x->l, text, c->first, c->length);
	free(text);
	if (rv != 0)
		return -1;
	for (uint32_t p = 0; p < x->places_count; p++) {
		struct text_range *arguments = arguments_of(x, p);
		if (!arguments)
			return -1;
		lines_join(x->l, x->places[p], c->length, arguments, x->given_count);
	}
	lines_remove(x->l);
	return 0;
}

/* Makes the function by which the program becomes shortest. Returns 1; 0: there is none; -1: no memory. */
static int make_best(struct joining *x, struct names *names, FILE *out)
{
	int64_t best = 0;
	uint32_t which = 0;
	if (find_candidates(x) != 0)
		return -1;
	if (x->count)
		qsort(x->each, x->count, sizeof *x->each, compare_candidates);
	for (uint32_t i = 0; i < x->count && i < LOOKED && about(&x->each[i]) > 0; i++) {
		int64_t gain = gain_of(x, &x->each[i]);
		if (gain < 0)
			return -1;
		which = gain > best ? i : which;
		best = gain > best ? gain : best;
	}
	if (best == 0)
		return 0;
	const struct joint chosen = x->each[which];
	return make_function(x, &chosen, names, out) == 0 ? 1 : -1;
}

int joined_calls_make(char **texts, size_t count, const char *functions, struct names *names, FILE *out)
{
	struct lines l = {NULL};
	struct joining x = {.l = &l};
	int rv = lines_read(&l, texts, count, functions);
	while (rv == 0 && (rv = make_best(&x, names, out)) == 1)
		rv = 0;
	if (rv == 0)
		rv = lines_replace(&l, texts, count);
	budget_free(x.each);
	budget_free(x.places);
	index_free(&x.index);
	lines_free(&l);
	return rv;
}
