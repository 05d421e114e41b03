/* SPDX-License-Identifier: BSD-3-Clause
 * work - what a proxy computes between its calls
 *
 * For two edges into site 7, one of which takes longer in rank 0, and one every tenth time:
 *
 *     static const struct work_part work_parts0[] = {{9, 1000}, {1, 10000}};
 *     ...
 *     case 7:
 *             if (last == 3)
 *                     return rank == 0 ? 4000 : 1000;
 *             if (last == 6)
 *                     return work_in_turn(&work_seen[0], work_parts0, 2, 0);
 *             break;
 *
 * Where there are many, what is the same each time and on all ranks goes to tables (work_table.h).
 */
#include "proxy/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/computation.h"
#include "proxy/computation_level.h"
#include "proxy/computation_order.h"
#include "proxy/block_fit.h"
#include "proxy/detours.h"
#include "proxy/work_table.h"
#include "proxy/work_text.h"
#include "trace/read/summary.h"

#define EDGES_FEW 100 /* are read as they are */

struct work_edge {
	uint32_t from, to; /* call sites of the program */
	const struct trace_edge *edge;
};

struct writing {
	const struct trace *trace;
	const struct work_options *options;
	const uint32_t *site_of;
	uint32_t sites;
	struct work_edge *edges; /* by `to` */
	size_t edge_count;
	struct around {
		struct trace_edge edge;
		struct histogram counts[TRACE_COUNTERS];
	} * around;            /* edges with what is computed around polls that are not made */
	struct work_row *rows; /* of many edges, those that are written; else NULL */
	size_t row_count;
	int64_t special;          /* rows that are no number: so many */
	struct pattern *patterns; /* parsed when first used */
	FILE *tables, *cases;     /* in memory */
	char *tables_text, *cases_text;
	size_t tables_size, cases_size;
	unsigned parts, seen;        /* so many tables, and edges whose visits are counted */
	bool in_turn, drawn, varied; /* are there any? */
	bool visits_counted;         /* of the edge that is written */
	struct block_fit fit;
	double (*turns)[BLOCKS]; /* counters: what is computed; the first is nothing */
	size_t turns_count, turns_capacity;
	bool used[BLOCKS];
	bool failed;
};

/* ---- the edges, by the call before which they are ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct work_edge *x = a, *y = b;
	return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : (x->from > y->from) - (x->from < y->from);
}

/* The number of each site in the program; UINT32_MAX: it is not there. NULL: no memory. */
static uint32_t *numbers_of_sites(const struct writing *w)
{
	uint32_t *number = malloc(((size_t)w->trace->site_count + 1) * sizeof *number);
	for (uint32_t i = 0; number && i < w->trace->site_count; i++)
		number[i] = UINT32_MAX;
	for (uint32_t i = 0; number && i < w->sites; i++)
		number[w->site_of[i]] = i;
	return number;
}

static void add_sum(struct histogram *to, const struct histogram *h, double sum, uint64_t count)
{
	to->count = count + h->count;
	to->sum = (uint64_t)(sum + 0.5) + h->sum;
}

/* An edge that is as long as both a detour and what is there already, in the mean. */
static void go_around(struct around *x, const struct nest_edge *step, const struct detour_sum *sum,
                      const struct trace_edge *direct)
{
	const struct trace_edge none = {.to = step->to};
	direct = direct ? direct : &none;
	x->edge = (struct trace_edge){.to = step->to, .counts = x->counts};
	add_sum(&x->edge.compute, &direct->compute, sum->ns, step->count);
	for (unsigned i = 0; i < TRACE_COUNTERS; i++)
		add_sum(&x->counts[i], direct->counts ? &direct->counts[i] : &none.compute, sum->counts[i],
		        step->count);
}

static int find_detours(struct writing *w, const uint32_t *number)
{
	const struct detours *d = w->options->detours;
	size_t known = w->edge_count;
	w->around = calloc((d ? d->steps.count : 0) + (size_t)1, sizeof *w->around);
	for (uint32_t i = 0; w->around && d && i < d->steps.count; i++) {
		const struct nest_edge *step = &d->steps.each[i];
		struct work_edge key = {.from = number[step->from], .to = number[step->to]};
		if (key.from == UINT32_MAX || key.to == UINT32_MAX)
			continue;
		struct work_edge *e = bsearch(&key, w->edges, known, sizeof key, compare_edges);
		go_around(&w->around[i], step, &d->sums[i], e ? e->edge : NULL);
		key.edge = &w->around[i].edge;
		*(e ? e : &w->edges[w->edge_count++]) = key;
	}
	return w->around ? 0 : -1;
}

static int find_edges(struct writing *w)
{
	const struct trace *t = w->trace;
	uint32_t *number = numbers_of_sites(w);
	size_t most = 1 + (w->options->detours ? w->options->detours->steps.count : 0);
	for (uint32_t i = 0; i < w->sites; i++)
		most += t->sites[w->site_of[i]].edge_count;
	w->edges = number ? calloc(most, sizeof *w->edges) : NULL;
	for (uint32_t i = 0; w->edges && i < w->sites; i++) {
		const struct trace_site *s = &t->sites[w->site_of[i]];
		for (uint32_t k = 0; k < s->edge_count; k++)
			if (s->edges[k].compute.count && number[s->edges[k].to] != UINT32_MAX)
				w->edges[w->edge_count++] = (struct work_edge){
					.from = i, .to = number[s->edges[k].to], .edge = &s->edges[k]};
	}
	int rv = w->edges ? 0 : -1;
	if (rv == 0) {
		qsort(w->edges, w->edge_count, sizeof *w->edges, compare_edges);
		rv = find_detours(w, number);
		qsort(w->edges, w->edge_count, sizeof *w->edges, compare_edges);
	}
	free(number);
	return rv;
}

/* ---- one edge ---- */

/* Nobody sees the difference. */
static bool same_turns(const double *a, const double *b)
{
	for (int i = 0; i < BLOCKS; i++)
		if (fabs(a[i] - b[i]) > 1e-3 * fmax(1, a[i]))
			return false;
	return true;
}

/* The number of what counts the same; 0: nothing, or no memory. */
static size_t add_turns(struct writing *w, const double counts[TRACE_COUNTERS], double ns)
{
	double new[BLOCKS] = {0};
	if (block_fit_turns(&w->fit, counts, ns, new) != 0)
		w->failed = true;
	for (size_t i = 0; i < w->turns_count; i++)
		if (same_turns(w->turns[i], new))
			return i;
	if (w->turns_count == w->turns_capacity) {
		size_t more = 2 * w->turns_capacity + 16;
		double(*t)[BLOCKS] = realloc(w->turns, more * sizeof *t);
		w->failed |= !t;
		if (!t)
			return 0;
		w->turns = t;
		w->turns_capacity = more;
	}
	for (int i = 0; i < BLOCKS; i++)
		w->used[i] |= new[i] > 0;
	memcpy(w->turns[w->turns_count], new, sizeof new);
	return w->turns_count++;
}

static void write_part(struct writing *w, FILE *f, const struct computation_part *p)
{
	if (w->fit.count)
		fprintf(f, "%zu", add_turns(w, p->counts, p->ns));
	else
		fprintf(f, "%.4g", p->ns);
}

/* Between which two it is drawn. */
static void write_ends(struct writing *w, FILE *f, const struct computation_part *p)
{
	struct computation_part end = *p;
	double half = w->fit.count ? 0 : fmin(p->width / 2, p->ns);
	end.ns = p->ns - half;
	write_part(w, f, &end);
	fputs(", ", f);
	end.ns = p->ns + half;
	write_part(w, f, &end);
}

static void write_parts(struct writing *w, const struct computation *c)
{
	fprintf(w->tables, "static const struct %s work_parts%u[] = {", c->drawn ? "work_bin" : "work_part", w->parts);
	for (uint32_t i = 0; i < c->count; i++) {
		fprintf(w->tables, "%s%s{%" PRIu64 ", ", i ? "," : "",
		        i % 8 == 7 ? "\n\t"
		        : i        ? " "
		                   : "",
		        c->parts[i].times);
		(c->drawn ? write_ends : write_part)(w, w->tables, &c->parts[i]);
		putc('}', w->tables);
	}
	fputs("};\n", w->tables);
}

/* What a kind of ranks computes, as an expression. */
static void write_computation(struct writing *w, FILE *f, const struct computation *c, unsigned seen)
{
	double width = w->fit.count || c->drawn ? 0 : computation_width(c);
	if (c->count == 1 && width == 0) {
		write_part(w, f, &c->parts[0]);
		return;
	}
	w->visits_counted = true;
	if (width > 0)
		fprintf(f, "work_varied(%u, %.3g, %" PRIu32 ", %u, %u, ", seen, width, c->visits, c->apart, c->seed);
	if (c->count == 1) {
		write_part(w, f, &c->parts[0]);
	} else {
		write_parts(w, c);
		if (c->drawn)
			fprintf(f, "work_drawn(%u, work_parts%u, %u, %u, %u)", seen, w->parts, c->count, c->apart,
			        c->seed);
		else
			fprintf(f, "work_in_turn(%u, work_parts%u, %u, %u)", seen, w->parts, c->count, c->again);
		w->parts++;
		w->drawn |= c->drawn;
		w->in_turn |= !c->drawn;
	}
	if (width > 0)
		putc(')', f);
	w->varied |= width > 0;
}

static int write_kinds(struct writing *w, const struct computation_kinds *kinds)
{
	char *texts[RANK_KINDS] = {NULL};
	int rv = 0;
	w->visits_counted = false;
	for (uint32_t i = 0; i < kinds->count; i++) {
		size_t size;
		FILE *f = open_memstream(&texts[i], &size);
		if (!f) {
			rv = -1;
			break;
		}
		write_computation(w, f, &kinds->each[i], w->seen);
		rv |= fclose(f);
	}
	if (rv == 0)
		rank_rule_write(w->cases, kinds->kind, w->trace->size, kinds->count, texts);
	for (uint32_t i = 0; i < kinds->count; i++)
		free(texts[i]);
	w->seen += w->visits_counted;
	return rv;
}

int work_left_compare(const void *a, const void *b)
{
	const struct work_left *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* Where fewer visits are left, what is computed in them is as much in the mean, times a factor. */
static int level_kinds(struct writing *w, const struct work_edge *e, struct computation_kinds *kinds)
{
	const struct work_left key = {.from = w->site_of[e->from], .to = w->site_of[e->to]};
	const struct work_left *left = w->options->left ? bsearch(&key, w->options->left, w->options->left_count,
	                                                          sizeof key, work_left_compare)
	                                                : NULL;
	uint64_t ranks = 0, count = e->edge->compute.count;
	for (uint32_t r = 0; r < w->trace->size; r++)
		ranks += kinds->kind[r] != RANK_ANY;
	if (ranks)
		computation_level(kinds, (count + ranks - 1) / ranks,
		                  ((left ? left->count : count) + ranks - 1) / ranks);
	int rv = computation_order(kinds, w->trace, &w->trace->sites[w->site_of[e->from]], e->edge, w->patterns,
	                           w->seen);
	for (uint32_t k = 0; left && k < kinds->count; k++)
		computation_scale(&kinds->each[k], left->factor);
	return rv;
}

static int write_readable(struct writing *w, const struct work_edge *e, const struct computation_kinds *kinds)
{
	fprintf(w->cases, "\t\tif (last == %u)\n\t\t\treturn ", e->from);
	int rv = write_kinds(w, kinds);
	fputs(";\n", w->cases);
	return rv;
}

static int write_table_row(struct writing *w, const struct work_edge *e, const struct computation_kinds *kinds)
{
	const struct computation *c = &kinds->each[0];
	bool always = kinds->count == 1 && c->count == 1 && (w->fit.count || computation_width(c) == 0);
	struct work_row *row = &w->rows[w->row_count++];
	*row = (struct work_row){e->from, e->to, always ? 0 : -1 - w->special};
	if (always) {
		row->what = w->fit.count ? (int64_t)add_turns(w, c->parts[0].counts, c->parts[0].ns)
		                         : work_table_time(c->parts[0].ns);
		return 0;
	}
	fprintf(w->cases, "\tcase %" PRId64 ": /* between call sites %u and %u */\n\t\treturn ", w->special++, e->from,
	        e->to);
	int rv = write_kinds(w, kinds);
	fputs(";\n", w->cases);
	return rv;
}

static int write_edge(struct writing *w, const struct work_edge *e)
{
	struct computation_kinds kinds;
	const struct trace_site *from = &w->trace->sites[w->site_of[e->from]];
	int rv = computation_kinds(w->trace, from, e->edge, w->fit.count > 0, w->patterns, &kinds);
	if (rv == 0)
		rv = level_kinds(w, e, &kinds);
	if (rv == 0 && kinds.count && w->rows)
		rv = write_table_row(w, e, &kinds);
	else if (rv == 0 && kinds.count)
		rv = write_readable(w, e, &kinds);
	computation_kinds_free(&kinds);
	return rv;
}

static void find_nothing(struct writing *w)
{
	for (size_t i = 0; w->fit.count && i < w->edge_count; i++) {
		double counts[TRACE_COUNTERS] = {0};
		for (unsigned k = 0; w->edges[i].edge->counts && k < TRACE_COUNTERS; k++)
			counts[k] = histogram_mean(&w->edges[i].edge->counts[k]);
		block_fit_nothing(&w->fit, counts);
	}
}

static int write_edges(struct writing *w)
{
	find_nothing(w);
	for (size_t i = 0; i < w->edge_count; i++) {
		const struct work_edge *e = &w->edges[i];
		const struct schema *to = trace_schema(w->trace, &w->trace->sites[w->site_of[e->to]]);
		if (!w->rows && (i == 0 || e->to != e[-1].to))
			fprintf(w->cases, "\tcase %u: /* %.*s */\n", e->to, (int)strcspn(to->mpi->schema, " "),
			        to->mpi->schema);
		if (write_edge(w, e) != 0)
			return -1;
		if (!w->rows && (i + 1 == w->edge_count || e->to != e[1].to))
			fputs("\t\tbreak;\n", w->cases);
	}
	return 0;
}

/* ---- the program's functions ---- */

/* The call site of MPI_Init; -1: there is none. */
static long initial_site(const struct writing *w)
{
	for (uint32_t i = 0; i < w->sites; i++)
		if (trace_initializes(trace_schema(w->trace, &w->trace->sites[w->site_of[i]])))
			return i;
	return -1;
}

/* Blocks, and how many turns of each. */
static void write_turns(const struct writing *w, FILE *out)
{
	blocks_write(out, w->used);
	putc('\n', out);
	blocks_write_spend(out, w->turns, w->turns_count);
}

/* Between few calls, each place has code of its own: a jump that cannot be foreseen is a misprediction that the program
 * does not have. */
static const char *storage(const struct writing *w)
{
	return w->fit.count && !w->rows ? "#ifdef __GNUC__\n__attribute__((always_inline))\n#endif\nstatic inline"
	                                : "static";
}

/* work_between: what is computed. */
static void write_between(const struct writing *w, FILE *out)
{
	double otherwise = w->fit.count ? 0 : summary_unplaced_mean(w->trace);
	if (w->rows) {
		work_table_function(out, w->cases_text, w->sites, !w->fit.count, otherwise);
		return;
	}
	fprintf(out,
	        "/* What is computed between two calls%s. */\n"
	        "%s double work_between(int last, int site)\n{\n\tswitch (site) {\n",
	        w->fit.count ? ", by number" : ", in ns", storage(w));
	fwrite(w->cases_text, 1, w->cases_size, out);
	fprintf(out, "\tdefault:\n\t\tbreak;\n\t}\n\treturn %.4g;\n}\n\n", otherwise);
}

static void write_program(const struct writing *w, FILE *out, double scale)
{
	fprintf(out, "/* ---- computation ---- */\n\n#ifndef SCALE\n#define SCALE %.6g\n#endif\n\n", scale);
	if (w->fit.count)
		write_turns(w, out);
	else
		fputs(work_text_spend, out);
	if (w->parts)
		fprintf(out, "static long work_seen[%u];\n\n", w->seen);
	if (w->drawn || w->varied)
		fputs(work_text_place, out);
	if (w->in_turn)
		fprintf(out,
		        "/* So many times in a row: %s. */\n"
		        "struct work_part {\n\tlong times;\n\tdouble what;\n};\n\n%s",
		        w->fit.count ? "the number of what is computed" : "so long", work_text_in_turn);
	if (w->drawn)
		fputs(work_text_drawn, out);
	if (w->varied)
		fprintf(out, "static long work_varied_seen[%u];\n\n%s", w->seen, work_text_varied);
	fwrite(w->tables_text, 1, w->tables_size, out);
	fputs(w->tables_size ? "\n" : "", out);
	write_between(w, out);
	fputs(w->fit.count ? "" : work_text_slack, out);
	fprintf(out, "%s void compute(int site)\n{\n\tstatic int last = %ld;\n", storage(w), initial_site(w));
	fputs(w->fit.count ? "\tconst int what = (int)work_between(last, site);\n\tif (what)\n\t\twork_spend(what);\n"
	                   : "\twork_spend(work_between(last, site));\n",
	      out);
	fputs("\tlast = site;\n}\n\n", out);
}

static void work_free(struct writing *w)
{
	for (uint32_t i = 0; w->patterns && i < w->trace->patterns.count; i++)
		pattern_free(&w->patterns[i]);
	free(w->patterns);
	free(w->edges);
	free(w->around);
	free(w->rows);
	free(w->turns);
	free(w->tables_text);
	free(w->cases_text);
}

int work_write(FILE *out, struct definitions *tables, struct tree *tree, const struct trace *t, const uint32_t *site_of,
               uint32_t sites, const struct work_options *options, struct error *error)
{
	const double nothing[TRACE_COUNTERS] = {0};
	struct writing w = {.trace = t, .options = options, .site_of = site_of, .sites = sites};
	if (block_fit_begin(&w.fit, t, options->calibration) > 0)
		add_turns(&w, nothing, 0);
	w.patterns = calloc((size_t)t->patterns.count + 1, sizeof *w.patterns);
	w.tables = open_memstream(&w.tables_text, &w.tables_size);
	w.cases = open_memstream(&w.cases_text, &w.cases_size);
	int rv = !w.patterns || !w.tables || !w.cases || find_edges(&w) != 0 ? -1 : 0;
	if (rv == 0 && w.edge_count > EDGES_FEW && !(w.rows = malloc(w.edge_count * sizeof *w.rows)))
		rv = -1;
	if (rv == 0)
		rv = write_edges(&w) != 0 || w.failed ? -1 : 0;
	if (w.tables && fclose(w.tables) != 0)
		rv = -1;
	if (w.cases && fclose(w.cases) != 0)
		rv = -1;
	if (rv == 0 && w.rows)
		work_table_make(tables, tree, w.rows, w.row_count, sites);
	if (rv == 0)
		write_program(&w, out, options->scale);
	else
		error_set(error, "no memory for what is computed between the calls");
	work_free(&w);
	return rv;
}
