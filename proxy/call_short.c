/* SPDX-License-Identifier: BSD-3-Clause
 * call_short - a call in both forms: its statements, and the call of a function that has them (call_function.h)
 *
 * What a function is given is said once: values that are asked for twice need no variable. If one of them has `v`, that
 * is counted where it stands.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call_parts.h"
#include "trace/model/mpi.h"

bool call_may_be_short(const struct call_site *x)
{
	for (size_t i = 0; i < x->schema->count; i++)
		if (x->arguments[i].gathered)
			return false;
	return !mpi_initializes(x->schema->mpi);
}

/* ---- the body ---- */

static char *make_body(struct call_site *x)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	bool poll = recipe_polls(x->recipe);
	x->in_body = true;
	fputs(poll ? "\tdo\n\t\tcompute(site);\n\twhile (" : "\tcompute(site);\n\t", out);
	int rv = call_write_recipe(x, 1, "v", out);
	fputs(poll ? ");\n" : ";\n", out);
	x->in_body = false;
	fclose(out);
	if (rv == 0)
		return text;
	free(text);
	return NULL;
}

/* "long \x02count" */
static char *make_type(const struct call_site *x, const struct call_parameter *p)
{
	const struct schema_column *column = &x->schema->column[p->argument];
	const char *handle = handles_type(column->kind);
	char room[32], name[80], *text = NULL;
	call_argument_name(column, name);
	int rv;
	if (p->form == CALL_DISTANCE)
		rv = asprintf(&text, "long \x02%s_distance", name);
	else if (p->form == '#')
		rv = asprintf(&text, "int \x02%s_count", name);
	else if (column->vector)
		rv = asprintf(&text, "%s *\x02%s",
		              column->kind == 'r' ? "MPI_Request" : call_element_type(x, column, room), name);
	else if (handle)
		rv = asprintf(&text, "%s %s\x02%s", handle, p->form == '&' ? "*" : "", name);
	else
		rv = asprintf(&text, "%s\x02%s", column->kind == 's' ? "const char *" : "long ", name);
	return rv < 0 ? NULL : text;
}

/* ---- the call ---- */

static char *make_value(struct call_site *x, const struct call_parameter *p, const char *visit)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	call_write_argument(x, p->argument, p->form, visit, out);
	fclose(out);
	return text;
}

/* Does `v` stand once in all values, where it is always looked at? */
static bool counts_once(struct call_site *x)
{
	unsigned count = 0;
	for (size_t k = 0; k < x->parameter_count; k++) {
		char *text = make_value(x, &x->parameters[k], "\x03");
		for (const char *at = text; at && (at = strchr(at, '\x03')) != NULL; at++) {
			count++;
			for (const char *c = text; c < at; c++)
				count += strchr("?&|", *c) != NULL;
		}
		free(text);
	}
	return count == 1;
}

static char *make_around(struct call_site *x, const struct call_place *at, const uint32_t *counter, char **behind,
                         bool *block)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	*block = call_write_begin(x, at, counter, out);
	fclose(out);
	if ((out = open_memstream(behind, &size)) != NULL) {
		call_write_end(at, *block, out);
		fclose(out);
	}
	return text;
}

static char *make_plain(struct call_site *x, const struct call_place *at, const uint32_t *counter)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out || call_write_plain(x, at, counter, out) != 0)
		x->many = true;
	if (out)
		fclose(out);
	return text;
}

/* Variables that other values ask for stay. */
static bool drops_variable(const struct call_site *x, size_t i)
{
	return !x->schema->column[i].vector && !x->arguments[i].first;
}

static void make_short(struct call_site *x, const struct call_place *at, const uint32_t *counter,
                       struct call_body *body, struct call_made *made)
{
	char visit[40];
	bool block = false;
	x->distances = call_has_distances(x);
	for (size_t i = 0; i < x->schema->count; i++)
		if (drops_variable(x, i))
			x->arguments[i].name[0] = '\0';
	bool once = counter && !call_has_variables(x) && counts_once(x);
	snprintf(visit, sizeof visit, "v");
	if (once)
		snprintf(visit, sizeof visit, "visit[%" PRIu32 "]++", *counter);
	made->before = make_around(x, at, once ? NULL : counter, &made->behind, &block);
	made->indent = at->indent + block;
	body->parameters = x->parameter_count;
	x->many |= !made->before || !made->behind;
	for (size_t k = 0; k < x->parameter_count; k++) {
		made->values[k] = make_value(x, &x->parameters[k], at->visit ? at->visit : visit);
		body->types[k] = make_type(x, &x->parameters[k]);
		x->many |= !made->values[k] || !body->types[k];
	}
}

int call_write_short(struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out)
{
	struct call_body body = {.text = make_body(x)};
	struct call_made made = {.number = at->number};
	if (!body.text || x->many) {
		free(body.text);
		return call_write_plain(x, at, counter, out);
	}
	snprintf(body.mpi, sizeof body.mpi, "%.*s", (int)x->schema->function_length, x->schema->function);
	made.plain = make_plain(x, at, counter);
	make_short(x, at, counter, &body, &made);
	if (x->many || call_functions_add(x->c->functions, &body, &made, out) != 0)
		return error_set(x->c->error, "no memory");
	return 0;
}
