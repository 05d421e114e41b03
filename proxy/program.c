/* SPDX-License-Identifier: BSD-3-Clause
 * program - a trace as a program in C
 */
#include "proxy/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/cut.h"
#include "proxy/dense.h"
#include "proxy/joined_statements.h"
#include "proxy/lengthen.h"
#include "proxy/prelude.h"
#include "proxy/share.h"
#include "proxy/shorten.h"
#include "proxy/statements.h"
#include "proxy/tidy.h"
#include "trace/base/budget.h"

#define SITES_MANY 100 /* call sites; where there are no more, each call is written as it is */

static int make_nodes(struct program_text *w)
{
	const struct loop_nest *nest = &w->structure.nest;
	w->loop = budget_calloc(nest->count, sizeof *w->loop);
	w->home = budget_calloc(nest->count, sizeof *w->home);
	w->turns = budget_calloc(nest->count, sizeof *w->turns);
	w->ends = budget_calloc(nest->count, sizeof *w->ends);
	w->given = budget_calloc(nest->count, sizeof *w->given);
	w->in_visit = budget_calloc(nest->count, sizeof *w->in_visit);
	w->site_of = budget_calloc(nest->sites, sizeof *w->site_of);
	if (!w->loop || !w->home || !w->turns || !w->ends || !w->given || !w->in_visit || !w->site_of ||
	    paths_make(&w->paths, &w->structure) != 0)
		return error_set(w->error, "no memory");
	return 0;
}

static void nodes_free(struct program_text *w)
{
	paths_free(&w->paths);
	budget_free(w->ends);
	budget_free(w->loop);
	budget_free(w->home);
	budget_free(w->turns);
	budget_free(w->given);
	budget_free(w->in_visit);
	budget_free(w->site_of);
}

/* ---- the whole ---- */

enum { PART_START, PART_WORK, PART_ALL, PART_DENSE, PART_QUEUES, PARTS };

/* Parts of the program. */
struct parts {
	char *text[PARTS];
	size_t size[PARTS];
	FILE *file[PARTS];
	struct routines calls, joined; /* that calls, and other statements, have become */
	const struct tree_node *body;
	struct printed printed;
};

static void tidy(struct program_text *w, struct parts *p)
{
	for (uint32_t i = 0; i < w->functions.count; i++)
		w->functions.each[i].body = tidy_statements(&w->tree, w->functions.each[i].body);
	p->body = tidy_statements(&w->tree, p->body);
}

/* Calls of a large program become calls of functions of its own. */
static int make_call_functions(struct program_text *w, struct parts *p)
{
	if (!w->columns.functions)
		return 0;
	if (call_functions_choose(&w->calls, &w->tree, &w->names, &p->calls) != 0)
		return -1;
	for (uint32_t i = 0; i < w->functions.count; i++)
		w->functions.each[i].body = call_functions_expand(&w->calls, &w->tree, w->functions.each[i].body);
	p->body = call_functions_expand(&w->calls, &w->tree, p->body);
	return 0;
}

/* Statements of a large program that are alike become calls of functions of its own, too. */
static int join_statements(struct program_text *w, struct parts *p)
{
	if (!w->columns.functions)
		return 0;
	routine_add(&w->functions, &w->tree, "", NULL, 0, p->body);
	if (w->tree.failed ||
	    joined_statements_make(&w->tree, &w->functions, &p->calls, &w->names, JOINED_STEPS, &p->joined) != 0)
		return -1;
	p->body = w->functions.each[--w->functions.count].body;
	tidy(w, p);
	return 0;
}

/* Numbers that have no rule. */
static int write_queues(struct program_text *w, struct parts *p)
{
	int rv = 0;
	for (const struct definition *d = w->tables.first; d && rv == 0; d = d->next)
		rv = d->text && !d->gone ? queues_take(&w->queues, d->text) : 0;
	for (uint32_t i = 0; i < w->functions.count && rv == 0; i++)
		rv = queues_take(&w->queues, w->functions.each[i].body);
	if (rv == 0)
		rv = queues_take(&w->queues, p->body);
	if (rv == 0 && w->queues.ids)
		rv = queues_write(&w->queues, p->file[PART_QUEUES]);
	fflush(p->file[PART_QUEUES]);
	return rv;
}

static void print_tables(struct program_text *w, struct printer *p)
{
	for (const struct definition *d = w->tables.first; d; d = d->next)
		print_definition(p, d);
}

/* All functions, and the main one. */
static void write_functions(struct program_text *w, struct parts *p)
{
	FILE *all = p->file[PART_ALL];
	char *text = NULL;
	size_t size;
	struct printer to = {.out = open_memstream(&text, &size), .printed = &p->printed};
	const char *end = w->program->partial ? "\tPMPI_Barrier(MPI_COMM_WORLD);\n\tPMPI_Finalize();\n" : "";
	if (!to.out) {
		w->tree.failed = true;
		return;
	}
	routines_print(&to, &p->calls);
	routines_print(&to, &p->joined);
	routines_print(&to, &w->functions);
	print_text(&to, "int main(void)\n{\n");
	print_text(&to, w->dense ? "\tunpack_tables();\n" : "");
	print_text(&to, "\twork_begin();\n\treserve();\n");
	print_text(&to, p->text[PART_START]);
	print_statement(&to, p->body, 1);
	fclose(to.out);
	bool files = printed_has(&p->printed, "scratch"); /* known when all is printed */
	if (files)
		printed_add(&p->printed, "scratch_make scratch_remove");
	fprintf(all,
	        "static void begin(void)\n{\n\tint n;\n\n\tPMPI_Comm_rank(MPI_COMM_WORLD, &n);\n\trank = n;\n"
	        "\tPMPI_Comm_size(MPI_COMM_WORLD, &n);\n\tsize = n;\n%s}\n\n%s",
	        files ? "\tscratch_make();\n" : "", text);
	fprintf(all, "%s%s\trelease();\n\treturn 0;\n}\n", end, files ? "\tscratch_remove();\n" : "");
	free(text);
}

static int write_program(struct program_text *w, struct parts *p, FILE *out)
{
	FILE *all = p->file[PART_ALL];
	handles_write(&w->columns, out, p->file[PART_START]);
	if (work_write(p->file[PART_WORK], &w->tables, &w->tree, w->program->trace, w->site_of, w->sites, &w->work,
	               w->error) != 0)
		return -1;
	if (make_call_functions(w, p) != 0)
		return error_set(w->error, "no memory");
	tidy(w, p);
	if (share_definitions(&w->tables) != 0 || write_queues(w, p) != 0)
		return error_set(w->error, "no memory");
	fflush(p->file[PART_START]);
	fflush(p->file[PART_WORK]);
	if (join_statements(w, p) != 0)
		return error_set(w->error, "no memory");
	if ((w->dense = dense_tables(&w->tables, p->text[PART_QUEUES], p->file[PART_DENSE])) < 0)
		return error_set(w->error, "no memory");
	if (w->dense)
		fputs("static void unpack_tables(void); /* at the end: what has no rule */\n", out);
	if (w->queues.ids)
		fputs("static long next(int queue); /* its next number; at the end: what has no rule */\n", out);
	if (w->queues.arrays)
		fputs("static int *numbers(int queue);\n", out);
	if (w->counters)
		fprintf(out, "static long visit[%" PRIu32 "];\n", w->counters);
	fputs("static long rank, size;\n\n", out);
	struct printer to = {.out = all, .printed = &p->printed};
	print_tables(w, &to);
	fprintf(all, "%s%s", to.size ? "\n" : "", p->text[PART_WORK]);
	write_functions(w, p);
	fflush(p->file[PART_DENSE]);
	fputs(p->text[PART_DENSE], all);
	fflush(all);
	printed_add(&p->printed, "reserve release");
	prelude_write(out, &p->printed);
	fwrite(p->text[PART_ALL], 1, p->size[PART_ALL], out);
	return w->tree.failed || p->printed.failed ? error_set(w->error, "no memory") : 0;
}

static int write_parts(struct program_text *w, FILE *out)
{
	struct parts p = {.text = {NULL}};
	int rv = 0;
	for (int i = 0; i < PARTS; i++)
		if (!(p.file[i] = open_memstream(&p.text[i], &p.size[i])))
			rv = error_set(w->error, "no memory");
	if (rv == 0)
		rv = columns_begin(&w->columns, &w->structure, &w->tree, &w->tables, w->error);
	if (w->structure.nest.sites > SITES_MANY) {
		w->columns.functions = &w->calls;
		w->columns.queues = &w->queues;
	}
	if (rv == 0)
		rv = statements_make(w, &p.body);
	if (rv == 0) {
		prelude_begin(out, w->program->title);
		rv = write_program(w, &p, out);
	}
	for (int i = 0; i < PARTS; i++) {
		if (p.file[i])
			fclose(p.file[i]);
		free(p.text[i]);
	}
	routines_free(&p.calls);
	routines_free(&p.joined);
	printed_free(&p.printed);
	columns_end(&w->columns);
	return rv;
}

int program_write(const struct program *p, FILE *out, struct error *error)
{
	struct program_text w = {
		.program = p, .function = p->function, .context = p->context, .work = *p->work, .error = error};
	uint64_t *ends = p->partial ? budget_calloc(p->trace->size + UINT64_C(1), sizeof *ends) : NULL;
	struct taken_events taken = {.ends = ends};
	struct shortened shortened = {.count = 0};
	struct structure shorter = {.nest = {.count = 0}};
	int rv = p->partial && !ends ? error_set(error, "no memory") : 0;
	if (ends)
		rv = cut_make(p->trace, ends, p->notes, error);
	if (rv == 0 && w.work.scale > 0 && w.work.scale < 1)
		rv = shorten_loops(&shortened, p->trace, &taken, w.work.scale, p->notes, error);
	if (rv == 0 && p->steps > 1 && (rv = structure_make(&shorter, p->trace, &taken, error)) == 0)
		rv = lengthen_loop(&taken, &shorter, p->steps, p->notes, error);
	taken.left_out = shortened.ranges;
	taken.left_out_count = shortened.count;
	if (rv == 0)
		rv = structure_make(&w.structure, p->trace, &taken, error);
	if (rv == 0 && p->steps > 1)
		rv = lengthen_check(&shorter, &w.structure, error);
	structure_free(&shorter);
	if (rv == 0 && shortened.count)
		rv = shorten_work(&shortened, &w.structure, &w.work) == 0 ? 0 : error_set(error, "no memory");
	w.work.detours = &w.structure.detours;
	if (rv == 0)
		rv = make_nodes(&w);
	if (rv == 0)
		rv = write_parts(&w, out);
	nodes_free(&w);
	names_free(&w.names);
	call_functions_free(&w.calls);
	routines_free(&w.functions);
	definitions_free(&w.tables);
	tree_free(&w.tree);
	queues_free(&w.queues);
	structure_free(&w.structure);
	budget_free((void *)w.work.left);
	shorten_free(&shortened);
	budget_free(ends);
	return rv;
}
