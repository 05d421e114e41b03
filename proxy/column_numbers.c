/* SPDX-License-Identifier: BSD-3-Clause
 * column_numbers - a column of numbers, as an expression of C
 *
 * Ranks whose runs (series.h) have the same lengths and strides share an expression, in which each start is a function
 * of the rank (fit.h). Other ranks have another one, and a condition chooses. With few runs it is written out:
 *
 *     v % 10 == 9 ? 1 : 0        0 nine times, then 1, and again
 *     v < table_3[rank] ? 1 : 0  1 so often, then 0: lengths are functions of the rank where that is shorter
 *
 * With more it is a table of runs, through which draw() of the program goes.
 */
#include "proxy/column_numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/first_alike.h"
#include "trace/base/budget.h"

#define RUNS_WRITTEN 4 /* out in an expression */

static bool value_is_name(int64_t v)
{
	return value_is_constant(v);
}

static void write_value(void *context, int64_t v, FILE *out)
{
	const struct structure *s = context;
	if (!value_is_constant(v))
		fprintf(out, v < -INT64_C(0x7fffffff) || v > 0x7fffffff ? "%" PRId64 "L" : "%" PRId64, v);
	else if (columns_is_absent(s, v))
		fputc('0', out);
	else
		fputs(trace_constant_name(s->trace, v), out);
}

static void write_kept(void *context, int64_t v, FILE *out)
{
	bool name = value_is_constant(v) && !columns_is_absent(context, v);
	fputs(name ? "(KEPT + " : "", out);
	write_value(context, v, out);
	fputs(name ? ")" : "", out);
}

/* ---- runs of all ranks ---- */

int numbers_begin(struct numbers *n, struct columns *c, uint32_t column)
{
	const struct structure *s = c->structure;
	*n = (struct numbers){.c = c, .x_name = "rank", .of_rank = budget_calloc(s->ranks, sizeof *n->of_rank)};
	if (!n->of_rank)
		return error_set(c->error, "no memory");
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *runs = structure_runs(s, column, r);
		if (!runs || (runs->count == 1 && columns_is_absent(s, runs->each[0].start)))
			continue;
		if (!(n->of_rank[r] = budget_malloc(runs_size((size_t)runs->count))))
			return error_set(c->error, "no memory");
		memcpy(n->of_rank[r], runs, runs_size((size_t)runs->count));
		for (int64_t i = 0; i < runs->count && n->of_rank[r]; i++)
			if (runs->each[i].start == VALUE_LOSSY) { /* there they are drawn */
				budget_free(n->of_rank[r]);
				n->of_rank[r] = NULL;
			}
	}
	return 0;
}

int numbers_copy(struct numbers *n, const struct numbers *from)
{
	uint32_t ranks = from->c->structure->ranks;
	*n = (struct numbers){.c = from->c, .x_name = "rank", .of_rank = budget_calloc(ranks, sizeof *n->of_rank)};
	if (!n->of_rank)
		return error_set(n->c->error, "no memory");
	for (uint32_t r = 0; r < ranks; r++) {
		size_t size = from->of_rank[r] ? runs_size((size_t)from->of_rank[r]->count) : 0;
		if (size && !(n->of_rank[r] = budget_malloc(size)))
			return error_set(n->c->error, "no memory");
		if (size)
			memcpy(n->of_rank[r], from->of_rank[r], size);
	}
	return 0;
}

void numbers_end(struct numbers *n)
{
	for (uint32_t r = 0; n->of_rank && r < n->c->structure->ranks; r++)
		budget_free(n->of_rank[r]);
	budget_free(n->of_rank);
	budget_free(n->x);
}

bool numbers_uniform(const struct numbers *n, int64_t *value)
{
	bool any = false;
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		const struct runs *x = n->of_rank[r];
		if (!x)
			continue;
		if (x->count != 1 || x->each[0].stride != 0 || (any && x->each[0].start != *value))
			return false;
		*value = x->each[0].start;
		any = true;
	}
	return any;
}

bool numbers_alike(const struct runs *a, const struct runs *b)
{
	if (a->count != b->count || a->lead != b->lead)
		return false;
	for (int64_t i = 0; i < a->count; i++)
		if (a->each[i].stride != b->each[i].stride || a->each[i].count != b->each[i].count)
			return false;
	return true;
}

uint64_t numbers_hash(const struct runs *r)
{
	uint64_t hash = hash_mix((uint64_t)r->count, (uint64_t)r->lead);
	for (int64_t i = 0; i < r->count; i++)
		hash = hash_mix(hash_mix(hash, (uint64_t)r->each[i].stride), (uint64_t)r->each[i].count);
	return hash;
}

/* Is it written out, with lengths that may be functions of the rank? */
static bool has_shape(const struct runs *r)
{
	return r->count <= RUNS_WRITTEN && r->lead >= r->count;
}

bool numbers_share(const struct runs *a, const struct runs *b)
{
	if (a->count != b->count || !has_shape(a) || !has_shape(b))
		return numbers_alike(a, b);
	for (int64_t i = 0; i < a->count; i++)
		if (a->each[i].stride != b->each[i].stride)
			return false;
	return true;
}

void numbers_value(const struct columns *c, int64_t v, FILE *out)
{
	write_value((void *)c->structure, v, out);
}

void numbers_element(const struct numbers *n, int64_t v, FILE *out)
{
	(n->kept ? write_kept : write_value)((void *)n->c->structure, v, out);
}

/* ---- expressions ---- */

struct fit numbers_fit(struct numbers *n)
{
	return (struct fit){.x = n->x_name,
	                    .size = n->c->structure->ranks,
	                    .leaf = n->kept ? write_kept : write_value,
	                    .is_name = value_is_name,
	                    .context = (void *)n->c->structure,
	                    .tables = n->c->tables,
	                    .table_count = &n->c->table_count};
}

/* The start of a run, on the ranks of a group. */
static int write_start(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run, FILE *out)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(2 * ranks * sizeof *points);
	struct fit fit = numbers_fit(n);
	size_t count = 0;
	if (!points)
		return -1;
	for (uint32_t r = 0; r < ranks; r++)
		if (n->of_rank[r] && group[r] == which &&
		    !columns_is_absent(n->c->structure, n->of_rank[r]->each[run].start))
			points[count++] = (struct point){n->x ? n->x[r] : r, n->of_rank[r]->each[run].start};
	int level = fit_write(&fit, points, count, out);
	budget_free(points);
	n->level = level > n->level ? level : n->level;
	return fit.failed ? -1 : 0;
}

/* Are the visits of all ranks as far from the end of the loop around them? Then it is what follows its name. */
static bool find_end(const struct numbers *n, const struct point *points, size_t count, int64_t *from_end)
{
	const struct columns *c = n->c;
	bool same = true;
	for (size_t i = 0; i < count && c->turns_name; i++) {
		const struct runs *turns = structure_runs(c->structure, c->turns_column, (uint32_t)points[i].x);
		if (!turns || turns->count != 1 || turns->each[0].stride != 0)
			return false;
		int64_t distance = points[i].y - turns->each[0].start;
		if (i > 0 && distance != *from_end)
			return false;
		*from_end = distance;
		same &= points[i].y == points[0].y;
	}
	return c->turns_name && !same;
}

/* The first visit behind a run, on the ranks of a group. Returns a text, or NULL: no memory. */
static char *make_end(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	struct fit fit = numbers_fit(n);
	char *text = NULL;
	size_t size, count = 0;
	int64_t from_end = 0;
	FILE *out = points ? open_memstream(&text, &size) : NULL;
	fit.x = "rank";
	for (uint32_t r = 0; out && r < ranks; r++) {
		if (!n->of_rank[r] || group[r] != which)
			continue;
		points[count] = (struct point){r, 0};
		for (int64_t i = 0; i <= run; i++)
			points[count].y += n->of_rank[r]->each[i].count;
		count++;
	}
	if (out && find_end(n, points, count, &from_end)) {
		fputs(n->c->turns_name, out);
		form_write_sum(out, from_end);
		n->local = true;
	} else if (out) {
		fit_write(&fit, points, count, out);
	}
	if (out)
		fclose(out);
	budget_free(points);
	if (!fit.failed)
		return text;
	free(text);
	return NULL;
}

/* A run as an expression of the visit, of which `from` was the first one of the run; NULL: 0. */
static int write_run(struct numbers *n, const uint32_t *group, uint32_t which, int64_t run, const char *visit,
                     const char *from, const struct runs *r, FILE *out)
{
	char *start = NULL;
	size_t size;
	FILE *first = open_memstream(&start, &size);
	int rv = first ? write_start(n, group, which, run, first) : -1;
	if (first)
		fclose(first);
	bool zero = rv == 0 && r->each[run].stride > 0 && strcmp(start, "0") == 0;
	if (rv == 0 && !zero)
		fputs(start, out);
	free(start);
	if (rv != 0 || r->each[run].stride == 0)
		return rv;
	n->visits = true;
	n->level = 2;
	if (!zero)
		fputs(r->each[run].stride < 0 ? " - " : " + ", out);
	if (r->each[run].stride != 1 && r->each[run].stride != -1)
		fprintf(out, "%" PRIu64 " * ",
		        (uint64_t)(r->each[run].stride < 0 ? -r->each[run].stride : r->each[run].stride));
	if (from)
		fprintf(out, from[0] != '(' && strchr(from, ' ') ? "(%s - (%s))" : "(%s - %s)", visit, from);
	else
		fputs(visit, out);
	return 0;
}

static int write_few(struct numbers *n, const uint32_t *group, uint32_t which, const struct runs *r, FILE *out)
{
	char visit[40] = "v", *from = NULL, *to = NULL;
	int64_t total = 0;
	int rv = 0;
	if (r->lead < r->count) {
		for (int64_t i = 0; i < r->count; i++)
			total += r->each[i].count;
		snprintf(visit, sizeof visit, "(v %% %" PRId64 ")", total);
	}
	n->visits = true;
	n->level = 2;
	for (int64_t i = 0; i < r->count && rv == 0; i++, from = to, to = NULL) {
		if (i + 1 < r->count && !(to = make_end(n, group, which, i)))
			rv = -1;
		else if (to)
			fprintf(out, strcmp(to, "1") == 0 ? "%s == 0 ? " : "%s < %s ? ", visit, to);
		if (rv == 0)
			rv = write_run(n, group, which, i, visit, from, r, out);
		if (to)
			fputs(" : ", out);
		free(from);
	}
	free(from);
	return rv;
}

static int write_run_texts(struct numbers *n, const uint32_t *group, uint32_t which, const struct runs *r, char **texts)
{
	for (int64_t i = 0; i < r->count; i++) {
		size_t size;
		FILE *one = open_memstream(&texts[i], &size);
		if (!one)
			return -1;
		fputc('{', one);
		int rv = write_start(n, group, which, i, one);
		fprintf(one, ", %" PRId64 ", %" PRId64 "}", r->each[i].stride, r->each[i].count);
		fclose(one);
		if (rv != 0)
			return -1;
	}
	return 0;
}

static int write_table(struct numbers *n, const uint32_t *group, uint32_t which, const struct runs *r, FILE *out)
{
	char **texts = budget_calloc((size_t)r->count, sizeof *texts);
	n->level = 0;
	int rv = texts ? write_run_texts(n, group, which, r, texts) : -1;
	if (rv == 0)
		rv = numbers_table(n, texts, r, out);
	for (int64_t i = 0; texts && i < r->count; i++)
		free(texts[i]);
	budget_free(texts);
	n->level = 2;
	return rv;
}

/* ---- groups of ranks ---- */

static int write_group(struct numbers *n, const uint32_t *group, uint32_t which, const struct runs *r, FILE *out)
{
	bool cyclic = r->lead < r->count;
	if (r->count == 1 && (r->each[0].stride == 0 || r->each[0].count == 0))
		return write_run(n, group, which, 0, "v", NULL, r, out);
	if (r->count <= RUNS_WRITTEN && (!cyclic || r->lead == 0))
		return write_few(n, group, which, r, out);
	return write_table(n, group, which, r, out);
}

static void write_choice_text(void *context, int64_t i, FILE *out)
{
	fputs(((char **)context)[i], out);
}

/* A function that chooses among expressions. */
static int write_pick(struct numbers *n, struct point *points, size_t count, char **texts, uint32_t groups, FILE *out)
{
	struct fit fit = numbers_fit(n);
	char *which = NULL;
	size_t size;
	FILE *file = open_memstream(&which, &size);
	if (!file)
		return -1;
	fit.x = "rank";
	fit_write(&fit, points, count, file);
	fclose(file);
	uint32_t number = n->c->table_count++;
	fprintf(n->c->tables, "static long pick_%" PRIu32 "(long v)\n{\n\t(void)v;\n\tswitch (%s) {\n", number, which);
	for (uint32_t g = 0; g < groups; g++) {
		if (g + 1 < groups)
			fprintf(n->c->tables, "\tcase %" PRIu32 ":\n", g);
		else
			fputs("\tdefault:\n", n->c->tables);
		fprintf(n->c->tables, "\t\treturn %s;\n", texts[g]);
	}
	fputs("\t}\n}\n\n", n->c->tables);
	fprintf(out, n->visits ? "pick_%" PRIu32 "(v)" : "pick_%" PRIu32 "(0)", number);
	free(which);
	return fit.failed ? -1 : 0;
}

/* Which of the expressions it is depends on the rank. */
static int write_choice(struct numbers *n, const uint32_t *group, char **texts, uint32_t groups, FILE *out)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(2 * ranks * sizeof *points);
	struct fit fit = numbers_fit(n);
	size_t count = 0;
	int rv = -1;
	if (!points)
		return -1;
	if (groups == 1) {
		fputs(texts[0], out);
		budget_free(points);
		return 0;
	}
	fit.x = "rank";
	fit.leaf = write_choice_text;
	fit.plain = fit.strict = true;
	fit.context = texts;
	n->level = 2;
	for (uint32_t r = 0; r < ranks; r++)
		if (n->of_rank[r])
			points[count++] = (struct point){r, group[r]};
	if (groups == 2 && fit_write(&fit, points, count, out) >= 0)
		rv = 0;
	else if (!fit.failed) /* a function of its own does not know what is local */
		rv = n->local ? 1 : write_pick(n, points, count, texts, groups, out);
	budget_free(points);
	return fit.failed ? -1 : rv;
}

static bool are_together(const void *context, uint32_t a, uint32_t b)
{
	const struct numbers *n = context;
	return (n->shapes ? numbers_share : numbers_alike)(n->of_rank[a], n->of_rank[b]);
}

static uint64_t hash_together(const struct numbers *n, const struct runs *r)
{
	uint64_t hash = (uint64_t)r->count;
	if (!n->shapes || !has_shape(r))
		return numbers_hash(r);
	for (int64_t i = 0; i < r->count; i++)
		hash = hash_mix(hash, (uint64_t)r->each[i].stride);
	return hash;
}

/* Finds the group of each rank, and the first rank of each group. Returns how many there are, or -1: no memory. */
static int64_t find_groups(const struct numbers *n, uint32_t *group, uint32_t *first)
{
	struct first_alike alike = {are_together, n, {0}};
	int64_t groups = 0;
	for (uint32_t r = 0; r < n->c->structure->ranks && groups >= 0; r++) {
		uint32_t k = n->of_rank[r] ? first_alike_find(&alike, r, hash_together(n, n->of_rank[r])) : INDEX_NONE;
		if (k == r)
			first[groups] = r;
		if (k != INDEX_NONE)
			group[r] = k == r ? (uint32_t)groups++ : group[k];
		else if (n->of_rank[r])
			groups = -1;
	}
	first_alike_free(&alike);
	return groups;
}

static int write_groups(struct numbers *n, uint32_t *group, uint32_t *first, char **texts, FILE *out)
{
	const int64_t found = find_groups(n, group, first);
	const uint32_t groups = found > 0 ? (uint32_t)found : 0;
	int rv = found < 0 ? -1 : 0;
	for (uint32_t g = 0; g < groups && rv == 0; g++) {
		size_t size;
		FILE *one = open_memstream(&texts[g], &size);
		rv = one ? write_group(n, group, g, n->of_rank[first[g]], one) : -1;
		if (one)
			fclose(one);
	}
	if (rv == 0 && groups > 0)
		rv = write_choice(n, group, texts, groups, out);
	for (uint32_t g = 0; g < groups; g++)
		free(texts[g]);
	if (rv == 0 && groups == 0)
		fputc('0', out);
	n->groups = groups;
	return rv;
}

int numbers_rules(struct numbers *n, bool shapes, FILE *out)
{
	uint32_t ranks = n->c->structure->ranks, *group = budget_calloc(ranks, sizeof *group);
	uint32_t *first = budget_calloc(ranks, sizeof *first);
	char **texts = budget_calloc(ranks, sizeof *texts);
	n->shapes = shapes;
	int rv = group && first && texts ? write_groups(n, group, first, texts, out) : -1;
	budget_free(group);
	budget_free(first);
	budget_free(texts);
	return rv;
}
