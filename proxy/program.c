/* SPDX-License-Identifier: BSD-3-Clause
 * program - a trace as a program in C
 *
 * The children of a loop are written in order. Those that were called by the same function of the application, at the
 * same place, and stand side by side, become a function with its name; so does what it calls in turn. A loop stands in
 * the innermost function that all of its calls have in common.
 */
#include "proxy/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call_site.h"
#include "proxy/condition_text.h"
#include "proxy/cut.h"
#include "proxy/names.h"
#include "proxy/dense.h"
#include "proxy/passes.h"
#include "proxy/paths.h"
#include "proxy/prelude.h"
#include "proxy/recipe.h"
#include "proxy/share.h"
#include "proxy/shorten.h"
#include "proxy/structure.h"
#include "proxy/work.h"
#include "trace/base/budget.h"

#define NAMELESS_MOST 8 /* statements of a function without a name that are no function of the program */

struct program_text {
	const struct program *program;
	struct work_options work; /* the scale is that of what is left */
	struct structure structure;
	struct columns columns;
	struct error *error;
	FILE *functions;
	uint32_t *site_of, sites; /* call sites of the program */
	uint32_t counters;        /* of visits */
	int dense;                /* tables at the end */
	struct paths paths;
	uint32_t *loop, *home; /* of each node: its variable + 1, and the function that has it */
	uint64_t *turns;       /* of each node that is a loop: so many each time; 0: they differ */
	bool *given;           /* of each node: its condition is that of a block that it is written in */
	uint32_t *in_visit;    /* of each node: the function whose variable `v` counts its visits, + 1 */
	bool visit_used;       /* by a call in such a block */
	uint32_t home_count;
	struct names names; /* of functions */
};

static int make_nodes(struct program_text *w)
{
	const struct loop_nest *nest = &w->structure.nest;
	w->loop = budget_calloc(nest->count, sizeof *w->loop);
	w->home = budget_calloc(nest->count, sizeof *w->home);
	w->turns = budget_calloc(nest->count, sizeof *w->turns);
	w->given = budget_calloc(nest->count, sizeof *w->given);
	w->in_visit = budget_calloc(nest->count, sizeof *w->in_visit);
	w->site_of = budget_calloc(nest->sites, sizeof *w->site_of);
	if (!w->loop || !w->home || !w->turns || !w->given || !w->in_visit || !w->site_of ||
	    paths_make(&w->paths, &w->structure) != 0)
		return error_set(w->error, "no memory");
	return 0;
}

/* ---- statements ---- */

static int write_range(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, uint32_t home, int indent,
                       FILE *out);

static const char *variable_name(uint32_t number, char out[16])
{
	if (number < 6)
		snprintf(out, 16, "%c", "ijklmn"[number]);
	else
		snprintf(out, 16, "i%" PRIu32, number);
	return out;
}

/* The variable of a loop around a node, or of the node itself. */
static bool has_variable(const struct program_text *w, uint32_t loop, uint32_t home)
{
	return loop != w->structure.nest.sites && !w->structure.nest.nodes[loop].any_order && w->loop[loop] &&
	       w->home[loop] == home;
}

/* The variable that counts what a node's turns count: that of the loop around it, if there is no more than one run of
 * that, or if all is the same again in the next one. */
static const char *turns_of(const struct program_text *w, uint32_t node, uint32_t home, char out[16], uint64_t *turns)
{
	uint32_t parent = w->structure.nest.nodes[node].parent;
	bool single = has_variable(w, parent, home) && structure_is_single(&w->structure, parent);
	*turns = has_variable(w, parent, home) && !single ? w->turns[parent] : 0;
	if (*turns && !structure_is_periodic(&w->structure, w->structure.times[node], *turns, NULL))
		*turns = 0;
	return single || *turns ? variable_name(w->loop[parent] - 1, out) : NULL;
}

/* The same for the values of a call: each turn of the loop is one visit. */
static const char *visits_of(const struct program_text *w, uint32_t node, uint32_t home, char out[16], uint64_t *turns)
{
	uint32_t loop = w->loop[node] ? node : w->structure.nest.nodes[node].parent;
	bool each = has_variable(w, loop, home) && (w->loop[node] || passes_plain(&w->structure, node));
	bool single = each && structure_is_single(&w->structure, loop);
	*turns = each && !single ? w->turns[loop] : 0;
	if (*turns && !call_is_periodic(&w->structure, &w->structure.sites[node], *turns))
		*turns = 0;
	return single || *turns ? variable_name(w->loop[loop] - 1, out) : NULL;
}

/* alone: the block that it is in has nothing else. */
static int write_site(struct program_text *w, uint32_t node, uint32_t home, int indent, bool alone, FILE *out)
{
	char name[16];
	uint64_t turns;
	const char *visit = visits_of(w, node, home, name, &turns);
	bool shared = !visit && w->in_visit[node] == home + 1;
	struct call_place place = {.number = w->sites,
	                           .visit = shared ? "v" : visit,
	                           .turns = turns,
	                           .counters = &w->counters,
	                           .indent = indent,
	                           .used = shared ? &w->visit_used : NULL,
	                           .alone = alone};
	w->site_of[w->sites++] = w->structure.sites[node].site;
	return call_write(&w->columns, &w->structure.sites[node], &place, out);
}

static uint32_t loops_around(const struct program_text *w, uint32_t node, uint32_t home)
{
	uint32_t most = 0;
	for (uint32_t n = w->structure.nest.nodes[node].parent; n != NEST_NONE; n = w->structure.nest.nodes[n].parent)
		if (w->loop[n] && w->home[n] == home)
			most = w->loop[n] > most ? w->loop[n] : most;
	return most;
}

/* Writes what is in front of the body of a node; *block: it is in braces. */
static int write_head(struct program_text *w, uint32_t node, uint32_t home, int indent, bool *block, FILE *out)
{
	struct expression e;
	char name[16], own[16], counter[40];
	int rv = -1;
	*block = false;
	if (w->given[node])
		return 0;
	if (column_times(&w->columns, w->structure.times[node], &e) != 0)
		return -1;
	uint64_t turns;
	const char *visit = turns_of(w, node, home, name, &turns);
	bool set = w->structure.nest.nodes[node].any_order;
	*block = !e.known || e.value != 1 || set;
	char *condition = condition_text(e.text);
	if (!*block)
		rv = 0;
	if (!*block || !condition)
		goto done;
	bool own_counter = e.visits && !visit;
	snprintf(counter, sizeof counter, "visit[%" PRIu32 "]++", w->counters);
	w->counters += own_counter;
	call_indent(out, indent);
	if (own_counter && !condition_counts_once(e.text)) {
		fprintf(out, "%s;\n", counter);
		call_indent(out, indent);
		snprintf(counter, sizeof counter, "(visit[%" PRIu32 "] - 1)", w->counters - 1);
	}
	visit = own_counter ? counter : visit;
	visit = visit ? visit : "0";
	if (passes_once(&w->structure, node) && !set) {
		fputs("if (", out);
		call_write_visit(condition, visit, turns, out);
		fputs(") {\n", out);
	} else {
		w->loop[node] = loops_around(w, node, home) + 1;
		w->home[node] = home;
		w->turns[node] = e.known && e.value > 0 ? (uint64_t)e.value : 0;
		variable_name(w->loop[node] - 1, own);
		if (e.simple) {
			fprintf(out, "for (long %s = 0; %s < %s; %s++) {\n", own, own, e.text, own);
		} else {
			fprintf(out, "for (long %s = 0, %s_end = ", own, own);
			call_write_visit(e.text, visit, turns, out);
			fprintf(out, "; %s < %s_end; %s++) {\n", own, own, own);
		}
	}
	rv = 0;
done:
	free(condition);
	free(e.text);
	return rv;
}

static int write_set(struct program_text *w, uint32_t node, uint32_t home, int indent, FILE *out);

static int write_node(struct program_text *w, uint32_t node, uint32_t depth, uint32_t home, int indent, FILE *out)
{
	const struct loop_nest *nest = &w->structure.nest;
	bool block;
	if (write_head(w, node, home, indent, &block, out) != 0)
		return -1;
	int rv, inner = indent + block;
	if (node < nest->sites)
		rv = write_site(w, node, home, inner, block, out);
	else if (nest->nodes[node].any_order)
		rv = write_set(w, node, home, inner, out);
	else
		rv = write_range(w, nest->nodes[node].first, NEST_NONE, depth, home, inner, out);
	if (block)
		call_indent(out, indent), fputs("}\n", out);
	return rv;
}

/* A loop in whose turns there is one call each. */
static int write_set(struct program_text *w, uint32_t node, uint32_t home, int indent, FILE *out)
{
	const struct nest_node *nodes = w->structure.nest.nodes;
	struct expression e;
	unsigned number = 0;
	if (column_times(&w->columns, w->structure.choice[node], &e) != 0)
		return -1;
	if (e.visits) {
		call_indent(out, indent);
		fprintf(out, "const long v = visit[%" PRIu32 "]++;\n", w->counters++);
	}
	call_indent(out, indent);
	fprintf(out, "switch (%s) {\n", e.text);
	free(e.text);
	for (uint32_t c = nodes[node].first; c != NEST_NONE; c = nodes[c].next) {
		call_indent(out, indent);
		fprintf(out, "case %u:\n", number++);
		if (write_node(w, c, UINT32_MAX, home, indent + 1, out) != 0)
			return -1;
		call_indent(out, indent + 1);
		fputs("break;\n", out);
	}
	call_indent(out, indent);
	fputs("}\n", out);
	return 0;
}

/* The children from `first` on that are in one function below that of `depth`; returns the one behind them. */
static uint32_t end_of_function(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	const struct nest_node *nodes = w->structure.nest.nodes;
	uint32_t inside = paths_node(&w->paths, first, depth), c = first;
	do
		c = nodes[c].next;
	while (c != end && c != NEST_NONE && w->paths.lengths[c] > depth && paths_node(&w->paths, c, depth) == inside);
	return c;
}

/* The name of the function at a depth. One without a name that only calls another one is left out: *depth is that of
 * the other one then. */
static void name_function(const struct program_text *w, uint32_t first, uint32_t end, uint32_t *depth, char *out,
                          size_t size)
{
	for (;; ++*depth) {
		out[0] = '\0';
		w->program->function(w->program->context, paths_node(&w->paths, first, *depth), out, size);
		if (names_is_known(out) || !paths_go_on(&w->paths, &w->structure.nest, first, end, *depth))
			return;
	}
}

static int write_function(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, uint32_t home,
                          int indent, FILE *out)
{
	char *text = NULL;
	size_t size;
	char readable[512];
	name_function(w, first, end, &depth, readable, sizeof readable);
	if (!names_is_known(readable) && passes_count(&w->structure, first, end) <= NAMELESS_MOST)
		return write_range(w, first, end, depth, home, indent, out);
	const char *name = names_make(&w->names, readable);
	char copy[NAMES_SIZE];
	FILE *body = open_memstream(&text, &size);
	int rv = body && name ? 0 : error_set(w->error, "no memory");
	if (rv == 0) {
		memcpy(copy, name, sizeof copy);
		rv = write_range(w, first, end, depth, ++w->home_count, 1, body);
	}
	if (body)
		fclose(body);
	if (rv == 0) {
		fprintf(w->functions, "static void %s(void)\n{\n%s}\n\n", copy, text);
		call_indent(out, indent);
		fprintf(out, "%s();\n", copy);
	}
	free(text);
	return rv;
}

/* What is written in one statement: a function's children, or one node. */
static uint32_t end_of_unit(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	return w->paths.lengths[first] > depth ? end_of_function(w, first, end, depth)
	                                       : w->structure.nest.nodes[first].next;
}

/* The end of the statements from `first` on that have its condition; `first`: it has none, or is alone. */
static uint32_t end_of_block(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	uint32_t at = first;
	if (first == 0 || w->given[first] || passes_always(&w->structure, first) || !passes_once(&w->structure, first))
		return first;
	while (at != end && at != NEST_NONE) {
		uint32_t behind = end_of_unit(w, at, end, depth);
		if (!passes_together(&w->structure, first, at, behind))
			break;
		at = behind;
	}
	return at == w->structure.nest.nodes[first].next ? first : at;
}

/* Statements that have a condition in common; calls among them are at the same visit. */
static int write_block(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, uint32_t home, int indent,
                       FILE *out)
{
	const struct nest_node *nodes = w->structure.nest.nodes;
	char *text = NULL;
	size_t size;
	bool block, used = w->visit_used;
	if (write_head(w, first, home, indent, &block, out) != 0)
		return -1;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = nodes[c].next) {
		w->given[c] = true;
		w->in_visit[c] = home + 1;
	}
	FILE *body = open_memstream(&text, &size);
	if (!body)
		return error_set(w->error, "no memory");
	w->visit_used = false;
	int rv = write_range(w, first, end, depth, home, indent + 1, body);
	fclose(body);
	if (w->visit_used) {
		call_indent(out, indent + 1);
		fprintf(out, "const long v = visit[%" PRIu32 "]++;\n", w->counters++);
	}
	w->visit_used = used;
	fputs(text, out);
	call_indent(out, indent);
	fputs("}\n", out);
	free(text);
	return rv;
}

/* Children of a loop, from `first` to the one before `end`. depth: of the function that they are written in. */
static int write_range(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, uint32_t home, int indent,
                       FILE *out)
{
	for (uint32_t c = first, next; c != end && c != NEST_NONE; c = next) {
		int rv = 0;
		next = end_of_block(w, c, end, depth);
		if (next != c) {
			rv = write_block(w, c, next, depth, home, indent, out);
		} else {
			next = c == 0 ? w->structure.nest.nodes[c].next : end_of_unit(w, c, end, depth);
			if (c != 0)
				rv = w->paths.lengths[c] > depth
				             ? write_function(w, c, next, depth + 1, home, indent, out)
				             : write_node(w, c, depth, home, indent, out);
		}
		if (rv != 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

static void write_main(const struct program_text *w, const char *body, const char *start, bool files, FILE *out)
{
	const char *end = w->program->partial ? "\tPMPI_Barrier(MPI_COMM_WORLD);\n\tPMPI_Finalize();\n" : "";
	fprintf(out, "int main(void)\n{\n%s\twork_begin();\n%s%s%s%s\trelease();\n\treturn 0;\n}\n",
	        w->dense ? "\tunpack_tables();\n" : "", start, body, end, files ? "\tscratch_remove();\n" : "");
}

/* Parts of the program, in the order in which they are written. */
struct parts {
	char *text[6];
	size_t size[6];
	FILE *file[6];
};
enum { PART_TABLES, PART_FUNCTIONS, PART_BODY, PART_START, PART_ALL, PART_DENSE, PARTS };

static int write_program(struct program_text *w, struct parts *p, FILE *out)
{
	FILE *all = p->file[PART_ALL];
	handles_write(&w->columns, out, p->file[PART_START]);
	for (int i = 0; i < PART_ALL; i++) {
		fclose(p->file[i]);
		p->file[i] = NULL;
	}
	if (share_definitions(p->text, PART_BODY + 1) != 0)
		return error_set(w->error, "no memory");
	if ((w->dense = dense_tables(&p->text[PART_TABLES], p->file[PART_DENSE])) < 0)
		return error_set(w->error, "no memory");
	if (w->dense)
		fputs("static void unpack_tables(void); /* at the end: what has no rule */\n", out);
	if (w->counters)
		fprintf(out, "static long visit[%" PRIu32 "];\n", w->counters);
	fputs("static long rank, size;\n\n", out);
	if (work_write(all, w->program->trace, w->site_of, w->sites, &w->work, w->error) != 0)
		return -1;
	bool files = strstr(p->text[PART_FUNCTIONS], "scratch(") || strstr(p->text[PART_BODY], "scratch(");
	fprintf(all,
	        "static void begin(void)\n{\n\tint n;\n\n\tPMPI_Comm_rank(MPI_COMM_WORLD, &n);\n\trank = n;\n"
	        "\tPMPI_Comm_size(MPI_COMM_WORLD, &n);\n\tsize = n;\n%s}\n\n",
	        files ? "\tscratch_make();\n" : "");
	fprintf(all, "%s%s%s", p->text[PART_TABLES], *p->text[PART_TABLES] ? "\n" : "", p->text[PART_FUNCTIONS]);
	write_main(w, p->text[PART_BODY], p->text[PART_START], files, all);
	fflush(p->file[PART_DENSE]);
	fputs(p->text[PART_DENSE], all);
	fflush(all);
	prelude_write(out, p->text[PART_ALL]);
	fwrite(p->text[PART_ALL], 1, p->size[PART_ALL], out);
	return 0;
}

static int write_parts(struct program_text *w, FILE *out)
{
	struct parts p = {.text = {NULL}};
	const struct loop_nest *nest = &w->structure.nest;
	int rv = 0;
	for (int i = 0; i < PARTS; i++)
		if (!(p.file[i] = open_memstream(&p.text[i], &p.size[i])))
			rv = error_set(w->error, "no memory");
	w->functions = p.file[PART_FUNCTIONS];
	if (rv == 0)
		rv = columns_begin(&w->columns, &w->structure, p.file[PART_TABLES], w->error);
	if (rv == 0)
		rv = write_range(w, nest->nodes[nest->sites].first, NEST_NONE, w->paths.lengths[nest->sites], 0, 1,
		                 p.file[PART_BODY]);
	if (rv == 0) {
		prelude_begin(out, w->program->title);
		rv = write_program(w, &p, out);
	}
	for (int i = 0; i < PARTS; i++) {
		if (p.file[i])
			fclose(p.file[i]);
		free(p.text[i]);
	}
	columns_end(&w->columns);
	return rv;
}

int program_write(const struct program *p, FILE *out, struct error *error)
{
	struct program_text w = {.program = p, .work = *p->work, .error = error};
	uint64_t *ends = p->partial ? budget_calloc(p->trace->size + UINT64_C(1), sizeof *ends) : NULL;
	struct taken_events taken = {.ends = ends};
	struct shortened shortened = {NULL};
	int rv = p->partial && !ends ? error_set(error, "no memory") : 0;
	if (ends)
		rv = cut_make(p->trace, ends, p->notes, error);
	if (rv == 0 && w.work.scale > 0 && w.work.scale < 1)
		rv = shorten_loops(&shortened, p->trace, &taken, w.work.scale, p->notes, error);
	taken.left_out = shortened.ranges;
	taken.left_out_count = shortened.count;
	if (rv == 0)
		rv = structure_make(&w.structure, p->trace, &taken, error);
	if (rv == 0 && shortened.count)
		rv = shorten_work(&shortened, &w.structure, &w.work) == 0 ? 0 : error_set(error, "no memory");
	if (rv == 0)
		rv = make_nodes(&w);
	if (rv == 0)
		rv = write_parts(&w, out);
	paths_free(&w.paths);
	budget_free(w.loop);
	budget_free(w.home);
	budget_free(w.turns);
	budget_free(w.given);
	budget_free(w.in_visit);
	budget_free(w.site_of);
	names_free(&w.names);
	structure_free(&w.structure);
	budget_free((void *)w.work.left);
	shorten_free(&shortened);
	budget_free(ends);
	return rv;
}
