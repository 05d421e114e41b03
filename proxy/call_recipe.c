/* SPDX-License-Identifier: BSD-3-Clause
 * call_recipe - the recipe of a call, with each {...} replaced by a value, or by what a function is given for it
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call_parts.h"

/* ---- what a function is given ---- */

static bool asks_address(const struct call_site *x, const struct schema_column *column)
{
	char mark[80];
	snprintf(mark, sizeof mark, "{&%.*s}", (int)(column->length < 60 ? column->length : 60), column->name);
	return strstr(x->recipe->text, mark) != NULL;
}

static char parameter_of(struct call_site *x, size_t i, char form)
{
	size_t k = 0;
	while (k < x->parameter_count && (x->parameters[k].argument != i || x->parameters[k].form != form))
		k++;
	x->many |= k == CALL_PARAMETERS;
	if (k == x->parameter_count && !x->many)
		x->parameters[x->parameter_count++] = (struct call_parameter){i, form};
	return (char)(CALL_FUNCTION_MARK + (x->many ? 0 : k));
}

/* What is in front of and behind the distance of a peer in its value: see write_peer in column_value.c. */
static const struct distance {
	const char *front, *behind;
} distances[] = {{"(" OWN_RANK " + (", "))"}, {"peer(" OWN_RANK ", ", ")"}};

/* NULL: it has none, or which communicator it is comes from a series, which would not be asked for any more. */
static const struct distance *distance_of(const struct call_site *x, size_t i)
{
	const char *text = x->arguments[i].value.text, *comm = x->comm.text;
	if (comm && (strstr(comm, "next_") || strstr(comm, "pick_")))
		return NULL;
	for (size_t k = 0; text && comm && k < sizeof distances / sizeof *distances; k++)
		if (strncmp(text, distances[k].front, strlen(distances[k].front)) == 0)
			return &distances[k];
	return NULL;
}

bool call_has_distances(const struct call_site *x)
{
	bool any = false;
	for (size_t i = 0; i < x->schema->count; i++)
		any |= x->arguments[i].used && x->schema->column[i].kind == 'p' && distance_of(x, i);
	return any;
}

static void write_distance(const struct call_site *x, size_t i, const char *visit, FILE *out)
{
	const struct distance *d = distance_of(x, i);
	const char *text = x->arguments[i].value.text + strlen(d->front);
	char *copy = strndup(text, strlen(text) - strlen(d->behind));
	if (copy)
		call_write_visit(copy, visit, x->turns, out);
	free(copy);
}

/* "rank_in(comm) + dest_distance" */
static void write_from_distance(struct call_site *x, size_t i, FILE *out)
{
	bool sum = distance_of(x, i)->front[0] == '(';
	fputs(sum ? "rank_in(" : "peer(rank_in(", out);
	call_write_argument(x, x->comm_argument, ' ', "v", out);
	fprintf(out, sum ? ") + %c" : "), %c)", parameter_of(x, i, CALL_DISTANCE));
}

/* A value in the body of a function. Returns false: it is not given, but part of the body. */
static bool write_parameter(struct call_site *x, size_t i, char form, FILE *out)
{
	const struct schema_column *column = &x->schema->column[i];
	const struct argument *a = &x->arguments[i];
	if (form == '*' || (column->vector && a->array.none))
		return false;
	if (distance_of(x, i)) {
		write_from_distance(x, i, out);
		return true;
	}
	bool address = handles_type(column->kind) && !column->vector && asks_address(x, column);
	fputs(address && form != '&' ? "*" : "", out);
	fputc(parameter_of(x, i, address ? '&' : form), out);
	return true;
}

/* ---- the recipe ---- */

void call_write_argument(struct call_site *x, size_t i, char form, const char *visit, FILE *out)
{
	const struct schema_column *column = &x->schema->column[i];
	const struct argument *a = &x->arguments[i];
	bool handle = handles_type(column->kind) != NULL;
	if (x->in_body && write_parameter(x, i, form, out))
		return;
	if (form == CALL_DISTANCE) {
		write_distance(x, i, visit, out);
		return;
	}
	if (form == '*') {
		size_t most = column_most(x->c, x->site->first + (uint32_t)i);
		fprintf(out, "room(%zu)", 8 * (most > 8192 ? most : 8192));
	} else if (form == '#') {
		if (a->array.none)
			fputc('0', out);
		else if (a->array.fixed || a->array.elements)
			fprintf(out, "%zu", a->array.most);
		else
			fprintf(out, "length_%" PRIu32 "(%s_which)", a->array.number, a->name);
	} else if (column->vector && a->array.none) {
		fputs(a->array.constant ? a->array.constant : "NULL", out);
	} else if (column->vector && a->array.contiguous) {
		fprintf(out, "&request[%" PRId64 "]", a->array.first);
	} else if (a->name[0]) {
		fprintf(out, "%s%s", handle && !column->vector && form != '&' ? "*" : "", a->name);
	} else if (form == '&' && a->value.known) { /* a constant has no address */
		fprintf(out, "&(%s){%s}", handles_type(column->kind), a->value.text);
	} else {
		fputs(form == '&' ? "&" : "", out);
		call_write_visit(a->value.text, visit, x->turns, out);
	}
}

/* Writes the text between `at` and `end`, with what stands for values. Returns 0, or -1: a parameter is missing. */
static int write_recipe(struct call_site *x, const char *at, const char *end, int indent, const char *visit, FILE *out)
{
	for (; at < end; at++) {
		if (*at == '\n')
			fputc('\n', out), call_indent(out, indent);
		else if (*at != '{')
			fputc(*at, out);
		if (*at != '{')
			continue;
		const char *name = at + 1 + (strchr("&*#", at[1]) != NULL), *close = name + strcspn(name, "?}");
		size_t i = 0;
		while (i < x->schema->count && (x->schema->column[i].length != (size_t)(close - name) ||
		                                memcmp(x->schema->column[i].name, name, (size_t)(close - name)) != 0))
			i++;
		if (i == x->schema->count)
			return -1;
		if (*close == '}') {
			call_write_argument(x, i, name == at + 1 ? ' ' : at[1], visit, out);
			at = close;
			continue;
		}
		const char *stop = close;
		for (int depth = 1; depth > 0;) {
			stop++;
			depth += (*stop == '{') - (*stop == '}');
		}
		const struct expression *e = &x->arguments[i].value;
		if (!e->known || e->value != 0) {
			x->many |= x->in_body && !e->known;
			if (!e->known)
				call_write_argument(x, i, ' ', visit, out);
			fputs(e->known ? "MPI_IN_PLACE" : " ? MPI_IN_PLACE : ", out);
		}
		if ((!e->known || e->value == 0) && write_recipe(x, close + 1, stop, indent, visit, out) != 0)
			return -1;
		at = stop;
	}
	return 0;
}

int call_write_recipe(struct call_site *x, int indent, const char *visit, FILE *out)
{
	const char *text = x->recipe->text;
	return write_recipe(x, text, text + strlen(text), indent, visit, out);
}
