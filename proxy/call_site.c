/* SPDX-License-Identifier: BSD-3-Clause
 * call_site - the statements of a call site
 *
 * Values that are more than a term become variables in front of the call, as arrays do. Then the recipe is written,
 * with each {...} replaced.
 */
#include "proxy/call_site.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/array_rule.h"
#include "proxy/call_parts.h"
#include "proxy/dense.h"
#include "proxy/drawn.h"
#include "proxy/outstanding.h"
#include "proxy/scalar_rule.h"
#include "trace/base/budget.h"

#define RULE_SHORT 40 /* letters that are read at a glance */

bool call_is_periodic(const struct structure *s, const struct proxy_site *site, uint64_t turns)
{
	const struct trace_site *of = &s->trace->sites[site->site];
	const struct schema *schema = trace_schema(s->trace, of);
	const struct recipe *recipe = recipe_of(schema);
	for (size_t i = 0; i < schema->count; i++)
		if (recipe_uses(recipe, &schema->column[i]) &&
		    !structure_is_periodic(s, site->first + (uint32_t)i, turns, &of->visits))
			return false;
	return true;
}

/* ---- values ---- */

/* The name of a column as a variable; the program has others of some names. */
void call_argument_name(const struct schema_column *column, char out[80])
{
	static const char *const taken[] = {"rank",    "size",   "comm",  "type",     "group",      "op",
	                                    "win",     "file",   "info",  "keyval",   "errhandler", "message",
	                                    "request", "status", "total", "position", "memory"};
	snprintf(out, 70, "%.*s", (int)(column->length < 60 ? column->length : 60), column->name);
	for (char *at = out; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(out, taken[i]) == 0) {
			strcat(out, "_here");
			return;
		}
}

static bool has_peers(const struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->schema->column[i].kind == 'p' && !x->schema->column[i].vector &&
		    recipe_uses(x->recipe, &x->schema->column[i]))
			return true;
	return false;
}

/* What `p` values are relative to: the rank in the first communicator that the call is given. */
static int find_base(struct call_site *x)
{
	struct expression e = {0};
	snprintf(x->base, sizeof x->base, "rank");
	if (!has_peers(x))
		return 0;
	for (size_t i = 0; i < x->schema->count; i++) {
		const struct schema_column *column = &x->schema->column[i];
		if (column->kind != 'c' || column->vector || column->direction == '>')
			continue;
		if (column_scalar(x->c, x->site, column, x->site->first + (uint32_t)i, "rank", &e) != 0)
			return -1;
		if (!e.known || !value_is_constant(e.value) ||
		    !trace_is_constant(x->c->structure->trace, e.value, CONST_MPI_COMM_WORLD))
			snprintf(x->base, sizeof x->base, "rank_in(%s)", e.text);
		if (!e.simple || strlen(e.text) + 10 > sizeof x->base) {
			snprintf(x->base, sizeof x->base, OWN_RANK);
			x->comm = e;
			x->comm_argument = i;
			x->visits |= e.visits;
			return 0;
		}
		free(e.text);
		return 0;
	}
	return 0;
}

static bool asks_length(const struct call_site *x, const struct schema_column *column)
{
	char mark[80];
	snprintf(mark, sizeof mark, "{#%.*s}", (int)(column->length < 60 ? column->length : 60), column->name);
	return strstr(x->recipe->text, mark) != NULL;
}

const char *call_element_type(const struct call_site *x, const struct schema_column *column, char *room)
{
	return column->kind == 'r' ? "int" : recipe_type(x->recipe, column, room);
}

/* An array, as a function of one of those in front of it if it is that. */
static int make_array(struct call_site *x, size_t i, struct array *a)
{
	const struct schema_column *column = &x->schema->column[i];
	uint32_t number = x->site->first + (uint32_t)i;
	char room[32], other[32];
	size_t followers;
	const char *type = call_element_type(x, column, room);
	for (size_t k = 0; k < i && column->kind == 'i'; k++) {
		const struct array *from = &x->arguments[k].array;
		if (x->schema->column[k].kind != 'i' || !from->which.text || from->elements || !from->fixed)
			continue;
		int rv = array_by_rule(x->c, number, type, x->site->first + (uint32_t)k, from,
		                       call_element_type(x, &x->schema->column[k], other), a);
		if (rv != 0)
			return rv < 0 ? -1 : 0;
	}
	if (array_followers(x->c, x->schema, x->recipe, x->site->first, i, &followers) != 0)
		return -1;
	return column_array(x->c, column, number, type, column->kind == 'r' || asks_length(x, column), followers, a);
}

static int make_argument(struct call_site *x, size_t i)
{
	const struct schema_column *column = &x->schema->column[i];
	struct argument *a = &x->arguments[i];
	uint32_t number = x->site->first + (uint32_t)i;
	a->used = true;
	if (column->vector) {
		if (make_array(x, i, &a->array) != 0)
			return -1;
		a->gathered = column->kind == 'r' && !a->array.contiguous && !a->array.none;
		if (!a->array.none && !a->array.contiguous)
			call_argument_name(column, a->name);
		return 0;
	}
	if (column_scalar(x->c, x->site, column, number, x->base, &a->value) != 0)
		return -1;
	/* What has come from a series comes from it once, also if it is asked for several times. */
	if (!a->value.simple && (recipe_uses(x->recipe, column) > 1 || recipe_polls(x->recipe)))
		call_argument_name(column, a->name);
	return 0;
}

/* Requests that a program knows by itself need no table, nor a long rule. */
static int leave_requests(struct call_site *x, struct argument *a, size_t i)
{
	const char *text = x->site->requests_in_order && !a->value.known ? outstanding_text(x->schema, i) : NULL;
	if (!text || a->tables_size + strlen(a->value.text) < RULE_SHORT)
		return 0;
	free(a->value.text);
	a->value = (struct expression){.text = strdup(text)};
	a->tables[0] = a->name[0] = '\0';
	return a->value.text ? 0 : error_set(x->c->error, "no memory");
}

/* Its tables are kept aside. */
static int attempt_argument(struct call_site *x, size_t i)
{
	FILE *tables = x->c->tables;
	struct argument *a = &x->arguments[i];
	int rv = -1;
	x->c->tables = open_memstream(&a->tables, &a->tables_size);
	if (x->c->tables) {
		rv = make_argument(x, i);
		fclose(x->c->tables);
	}
	x->c->tables = tables;
	return rv == 0 ? leave_requests(x, a, i) : rv;
}

/* A number that is recorded as it is, and has no order of its own. */
static bool may_follow(const struct call_site *x, size_t i)
{
	const struct schema_column *column = &x->schema->column[i];
	const struct argument *a = &x->arguments[i];
	return a->used && column->kind == 'i' && !column->vector && !a->value.known &&
	       !column_is_drawn(x->c, x->site->first + (uint32_t)i);
}

/* Writes a number as a function of another one of the call, if that is shorter. */
static int try_rule(struct call_site *x, size_t i, size_t from)
{
	struct argument *a = &x->arguments[i], *of = &x->arguments[from];
	FILE *tables = x->c->tables;
	char *text = NULL, *made = NULL, name[80];
	size_t size;
	uint32_t count = x->c->table_count;
	call_argument_name(&x->schema->column[from], name);
	if (!(x->c->tables = open_memstream(&made, &size)))
		return error_set(x->c->error, "no memory");
	int rv = scalar_by_rule(x->c, x->site->first + (uint32_t)i, x->site->first + (uint32_t)from, name, &text);
	fclose(x->c->tables);
	x->c->tables = tables;
	if (rv == 1 && strlen(text) + size < strlen(a->value.text) + dense_size(a->tables)) {
		free(a->value.text);
		free(a->tables);
		a->value = (struct expression){.text = text};
		a->tables = made;
		of->first = true;
		memcpy(of->name, name, sizeof name);
		return 0;
	}
	x->c->table_count = count;
	if (rv == 1)
		free(text);
	free(made);
	return rv < 0 ? -1 : 0;
}

/* Only one that has no tables decides another one, and one that decides others is not decided itself. */
static int find_rules(struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		for (size_t k = 0; k < x->schema->count; k++) {
			const struct argument *a = &x->arguments[i], *of = &x->arguments[k];
			if (i != k && may_follow(x, i) && may_follow(x, k) && !a->first && a->tables[0] &&
			    !of->tables[0] && try_rule(x, i, k) != 0)
				return -1;
		}
	return 0;
}

static int make_arguments(struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (recipe_uses(x->recipe, &x->schema->column[i]) && attempt_argument(x, i) != 0)
			return -1;
	if (find_rules(x) != 0)
		return -1;
	x->visits = x->comm.visits;
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].used) {
			x->visits |= x->arguments[i].value.visits || x->arguments[i].array.which.visits;
			fputs(x->arguments[i].tables, x->c->tables);
		}
	return 0;
}

/* ---- variables ---- */

static void write_array(const struct call_site *x, size_t i, int indent, const char *visit, FILE *out)
{
	const struct argument *a = &x->arguments[i];
	const char *suffix = a->gathered ? "_numbers" : "";
	char room[32];
	const char *type = call_element_type(x, &x->schema->column[i], room);
	call_indent(out, indent);
	if (a->array.elements) {
		fprintf(out, "%s %s%s[] = {", type, a->name, suffix);
		call_write_visit(a->array.elements, visit, x->turns, out);
		fputs("};\n", out);
	} else if (a->array.queue) {
		fprintf(out, "%s *const %s%s = numbers(%s);\n", type, a->name, suffix, a->array.queue);
	} else {
		fprintf(out, "const long %s_which = ", a->name);
		call_write_visit(a->array.which.text, visit, x->turns, out);
		fputs(";\n", out);
		call_indent(out, indent);
		fprintf(out, "%s *const %s%s = array_%" PRIu32 "(%s_which);\n", type, a->name, suffix, a->array.number,
		        a->name);
	}
	if (!a->gathered)
		return;
	call_indent(out, indent);
	fprintf(out, "MPI_Request *const %s = gather(", a->name);
	if (a->array.fixed || a->array.elements)
		fprintf(out, "%zu, ", a->array.most);
	else
		fprintf(out, "length_%" PRIu32 "(%s_which), ", a->array.number, a->name);
	fprintf(out, "%s_numbers);\n", a->name);
}

static bool asks_rank(const struct call_site *x)
{
	for (size_t i = 0; x->comm.text && !x->distances && i < x->schema->count; i++)
		if (x->arguments[i].used && x->arguments[i].value.text && strstr(x->arguments[i].value.text, OWN_RANK))
			return true;
	return false;
}

static void write_scalar(const struct call_site *x, size_t i, int indent, const char *visit, FILE *out)
{
	const struct argument *a = &x->arguments[i];
	const char *type = handles_type(x->schema->column[i].kind);
	call_indent(out, indent);
	if (type)
		fprintf(out, "%s *const %s = &", type, a->name);
	else if (x->schema->column[i].kind == 's')
		fprintf(out, "const char *const %s = ", a->name);
	else
		fprintf(out, "const long %s = ", a->name);
	call_write_visit(a->value.text, visit, x->turns, out);
	fputs(";\n", out);
}

static void write_variables(const struct call_site *x, int indent, const char *visit, FILE *out)
{
	if (asks_rank(x)) {
		call_indent(out, indent);
		fputs("const long " OWN_RANK " = rank_in(", out);
		call_write_visit(x->comm.text, visit, x->turns, out);
		fputs(");\n", out);
	}
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < x->schema->count; i++) {
			const struct argument *a = &x->arguments[i];
			if (!a->used || !a->name[0] || a->first != first)
				continue;
			if (x->schema->column[i].vector)
				write_array(x, i, indent, visit, out);
			else
				write_scalar(x, i, indent, visit, out);
		}
}

bool call_has_variables(const struct call_site *x)
{
	bool any = asks_rank(x);
	for (size_t i = 0; i < x->schema->count; i++)
		any |= x->arguments[i].used && x->arguments[i].name[0];
	return any;
}

/* Writes what is in front of a call. counter: that of its visits; NULL: none. Returns whether it is in braces. */
bool call_write_begin(const struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out)
{
	bool block = (counter || call_has_variables(x)) && !at->alone;
	int indent = at->indent + block;
	if (block)
		call_indent(out, at->indent), fputs("{\n", out);
	if (counter) {
		call_indent(out, indent);
		fprintf(out, "const long v = visit[%" PRIu32 "]++;\n", *counter);
	}
	write_variables(x, indent, at->visit ? at->visit : "v", out);
	return block;
}

void call_write_end(const struct call_place *at, bool block, FILE *out)
{
	if (block)
		call_indent(out, at->indent), fputs("}\n", out);
}

int call_write_plain(struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out)
{
	const char *visit = at->visit ? at->visit : "v";
	bool poll = recipe_polls(x->recipe), block = call_write_begin(x, at, counter, out);
	int indent = at->indent + block;
	if (poll)
		call_indent(out, indent), fputs("do\n", out);
	if (!mpi_initializes(x->schema->mpi)) {
		call_indent(out, indent + poll);
		fprintf(out, "compute(%" PRIu32 ");\n", at->number);
	}
	call_indent(out, indent);
	fputs(poll ? "while (" : "", out);
	if (call_write_recipe(x, indent, visit, out) != 0)
		return error_set(x->c->error, "a parameter of %.*s is not in the trace",
		                 (int)x->schema->function_length, x->schema->function);
	fputs(poll ? ");\n" : ";\n", out);
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].gathered) {
			call_indent(out, indent);
			fputs("scatter(", out);
			call_write_argument(x, i, '#', visit, out);
			fprintf(out, ", %s_numbers, %s);\n", x->arguments[i].name, x->arguments[i].name);
		}
	if (mpi_initializes(x->schema->mpi))
		call_indent(out, indent), fputs("begin();\n", out);
	call_write_end(at, block, out);
	return 0;
}

static int write_statements(struct call_site *x, const struct call_place *at, FILE *out)
{
	uint32_t counter = *at->counters;
	bool counted = x->visits && !at->visit;
	*at->counters += counted;
	if (x->visits && at->used)
		*at->used = true;
	if (x->c->functions && call_may_be_short(x))
		return call_write_short(x, at, counted ? &counter : NULL, out);
	return call_write_plain(x, at, counted ? &counter : NULL, out);
}

int call_write(struct columns *c, const struct proxy_site *site, const struct call_place *at, FILE *out)
{
	struct call_site *x = budget_calloc(1, sizeof *x);
	if (!x)
		return error_set(c->error, "no memory");
	x->c = c;
	x->site = site;
	x->turns = at->turns;
	x->schema = trace_schema(c->structure->trace, &c->structure->trace->sites[site->site]);
	x->recipe = recipe_of(x->schema);
	int rv = find_base(x);
	if (rv == 0)
		rv = make_arguments(x);
	if (rv == 0)
		rv = write_statements(x, at, out);
	free(x->comm.text);
	for (size_t i = 0; i < x->schema->count; i++) {
		free(x->arguments[i].value.text);
		free(x->arguments[i].tables);
		array_free(&x->arguments[i].array);
	}
	budget_free(x);
	return rv;
}
