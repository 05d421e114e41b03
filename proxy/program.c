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
#include "proxy/prelude.h"
#include "proxy/share.h"
#include "proxy/shorten.h"
#include "proxy/statements.h"
#include "proxy/tidy.h"
#include "proxy/tidy_text.h"
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

static void write_main(const struct program_text *w, const char *body, const char *start, bool files, FILE *out)
{
	const char *end = w->program->partial ? "\tPMPI_Barrier(MPI_COMM_WORLD);\n\tPMPI_Finalize();\n" : "";
	fprintf(out, "int main(void)\n{\n%s\twork_begin();\n\treserve();\n%s%s%s%s\trelease();\n\treturn 0;\n}\n",
	        w->dense ? "\tunpack_tables();\n" : "", start, body, end, files ? "\tscratch_remove();\n" : "");
}

enum {
	PART_TABLES,
	PART_FUNCTIONS,
	PART_BODY,
	PART_START,
	PART_WORK,
	PART_ALL,
	PART_DENSE,
	PART_CALLS,
	PART_JOINED,
	PART_QUEUES,
	PARTS
};

/* Parts of the program. */
struct parts {
	char *text[PARTS];
	size_t size[PARTS];
	FILE *file[PARTS];
	struct routines calls; /* that calls have become */
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
	static const char KINDS[] = "ctgowfnekmr";
	struct hole_type types[sizeof KINDS] = {{0}};
	struct listing b = {.types = types};
	fflush(p->file[PART_JOINED]);
	if (!w->columns.functions)
		return 0;
	int rv = text_definitions_read(&b.definitions, p->text[PART_TABLES]);
	if (rv == 0)
		rv = text_definitions_read(&b.definitions, p->text[PART_CALLS]);
	for (size_t i = 0; KINDS[i]; i++) {
		const struct handles_used *h = &w->columns.handles[(unsigned char)KINDS[i]];
		types[i] = (struct hole_type){KINDS[i], handles_type(KINDS[i])};
		for (uint32_t k = 0; k < h->constant_count && rv == 0; k++)
			rv = listing_add_constant(&b, KINDS[i],
			                          trace_constant_name(w->columns.structure->trace, h->constants[k]));
	}
	if (rv == 0)
		rv = joined_statements_make(&b, &p->text[PART_FUNCTIONS], 2, &w->names, JOINED_STEPS,
		                            p->file[PART_JOINED]);
	fflush(p->file[PART_JOINED]);
	listing_free(&b);
	for (int i = PART_FUNCTIONS; i <= PART_BODY && rv == 0; i++)
		rv = tidy_text(&p->text[i]);
	return rv;
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
	struct printer to[] = {{p->file[PART_TABLES], 0, NULL},
	                       {p->file[PART_CALLS], 0, &p->printed},
	                       {p->file[PART_FUNCTIONS], 0, &p->printed},
	                       {p->file[PART_BODY], 0, &p->printed}};
	print_tables(w, &to[0]);
	routines_print(&to[1], &p->calls);
	routines_print(&to[2], &w->functions);
	print_statement(&to[3], p->body, 1);
	for (int i = 0; i < PARTS; i++)
		fflush(p->file[i]);
	fclose(p->file[PART_FUNCTIONS]);
	fclose(p->file[PART_BODY]);
	p->file[PART_FUNCTIONS] = p->file[PART_BODY] = NULL;
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
	bool files = printed_has(&p->printed, "scratch");
	struct printer tables = {all, 0, &p->printed};
	print_tables(w, &tables);
	fprintf(all, "%s%s", tables.size ? "\n" : "", p->text[PART_WORK]);
	fprintf(all,
	        "static void begin(void)\n{\n\tint n;\n\n\tPMPI_Comm_rank(MPI_COMM_WORLD, &n);\n\trank = n;\n"
	        "\tPMPI_Comm_size(MPI_COMM_WORLD, &n);\n\tsize = n;\n%s}\n\n",
	        files ? "\tscratch_make();\n" : "");
	fprintf(all, "%s%s%s", p->text[PART_CALLS], p->text[PART_JOINED], p->text[PART_FUNCTIONS]);
	write_main(w, p->text[PART_BODY], p->text[PART_START], files, all);
	fflush(p->file[PART_DENSE]);
	fputs(p->text[PART_DENSE], all);
	fflush(all);
	printed_add(&p->printed, "reserve release");
	if (files)
		printed_add(&p->printed, "scratch_make scratch_remove");
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
