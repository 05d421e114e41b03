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
	for (uint32_t i = 0; w->ends && i < w->structure.nest.count; i++)
		free(w->ends[i]);
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

/* Parts of the program, in the order in which they are written. */
struct parts {
	char *text[PARTS];
	size_t size[PARTS];
	FILE *file[PARTS];
};

/* Calls of a large program become calls of functions of its own. */
static int write_call_functions(struct program_text *w, struct parts *p)
{
	fflush(p->file[PART_CALLS]);
	if (!w->columns.functions)
		return 0;
	if (call_functions_choose(&w->calls, &w->names, p->file[PART_CALLS]) != 0 ||
	    call_functions_expand(&w->calls, &p->text[PART_FUNCTIONS]) != 0 ||
	    call_functions_expand(&w->calls, &p->text[PART_BODY]) != 0)
		return -1;
	fflush(p->file[PART_CALLS]);
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
	int rv = definitions_read(&b.definitions, p->text[PART_TABLES]);
	if (rv == 0)
		rv = definitions_read(&b.definitions, p->text[PART_CALLS]);
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
		rv = tidy_statements(&p->text[i]);
	return rv;
}

/* Numbers that have no rule, and what they are called until here. */
static int write_queues(struct program_text *w, struct parts *p)
{
	int rv = 0;
	for (int i = PART_TABLES; i <= PART_BODY && rv == 0; i++)
		rv = queues_take(&w->queues, &p->text[i]);
	if (rv == 0 && w->queues.ids)
		rv = queues_write(&w->queues, p->file[PART_QUEUES]);
	fflush(p->file[PART_QUEUES]);
	return rv;
}

static int write_program(struct program_text *w, struct parts *p, FILE *out)
{
	FILE *all = p->file[PART_ALL];
	handles_write(&w->columns, out, p->file[PART_START]);
	if (work_write(p->file[PART_WORK], p->file[PART_TABLES], w->program->trace, w->site_of, w->sites, &w->work,
	               w->error) != 0)
		return -1;
	for (int i = 0; i < PART_ALL; i++) {
		fclose(p->file[i]);
		p->file[i] = NULL;
	}
	if (write_call_functions(w, p) != 0 || tidy_statements(&p->text[PART_FUNCTIONS]) != 0 ||
	    tidy_statements(&p->text[PART_BODY]) != 0 || share_definitions(p->text, PART_BODY + 1) != 0)
		return error_set(w->error, "no memory");
	if (write_queues(w, p) != 0 || join_statements(w, p) != 0)
		return error_set(w->error, "no memory");
	if ((w->dense = dense_tables(&p->text[PART_TABLES], p->text[PART_QUEUES], p->file[PART_DENSE])) < 0)
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
	bool files = strstr(p->text[PART_FUNCTIONS], "scratch(") || strstr(p->text[PART_BODY], "scratch(");
	fprintf(all, "%s%s%s", p->text[PART_TABLES], *p->text[PART_TABLES] ? "\n" : "", p->text[PART_WORK]);
	fprintf(all,
	        "static void begin(void)\n{\n\tint n;\n\n\tPMPI_Comm_rank(MPI_COMM_WORLD, &n);\n\trank = n;\n"
	        "\tPMPI_Comm_size(MPI_COMM_WORLD, &n);\n\tsize = n;\n%s}\n\n",
	        files ? "\tscratch_make();\n" : "");
	fprintf(all, "%s%s%s", p->text[PART_CALLS], p->text[PART_JOINED], p->text[PART_FUNCTIONS]);
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
	int rv = 0;
	for (int i = 0; i < PARTS; i++)
		if (!(p.file[i] = open_memstream(&p.text[i], &p.size[i])))
			rv = error_set(w->error, "no memory");
	w->functions = p.file[PART_FUNCTIONS];
	if (rv == 0)
		rv = columns_begin(&w->columns, &w->structure, p.file[PART_TABLES], w->error);
	if (w->structure.nest.sites > SITES_MANY) {
		w->columns.functions = &w->calls;
		w->columns.queues = &w->queues;
	}
	if (rv == 0)
		rv = statements_write(w, p.file[PART_BODY]);
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
	queues_free(&w.queues);
	structure_free(&w.structure);
	budget_free((void *)w.work.left);
	shorten_free(&shortened);
	budget_free(ends);
	return rv;
}
