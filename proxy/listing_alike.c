/* SPDX-License-Identifier: BSD-3-Clause
 * listing_alike - lines that stand in several places, but for their holes
 */
#include "proxy/listing_alike.h"

#include <inttypes.h>
#include <string.h>

#include "trace/base/budget.h"

static const struct listing_line *line_at(const struct alike *x, uint32_t i)
{
	return x->spots[i].line;
}

bool alike_lines(const struct alike *x, uint32_t a, uint32_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct listing_line *p = line_at(x, a + i), *q = line_at(x, b + i);
		if (p->shape != q->shape || p->indent - line_at(x, a)->indent != q->indent - line_at(x, b)->indent)
			return false;
	}
	return true;
}

/* ---- variables ---- */

/* Is it known what variables are in lines: are they declared there, or loops around it, or the number of a visit? */
static bool look_at_variables(struct alike *x, uint32_t first, uint32_t length)
{
	const int visit = listing_local(x->b, "v", 1);
	int declared_at[LOCALS_MOST] = {0}; /* indent, or 0 */
	x->loops = 0;
	x->visit = false;
	for (uint32_t i = first; i < first + length; i++) {
		const struct listing_line *line = line_at(x, i);
		for (uint32_t k = 0; k < x->b->local_count; k++) {
			if (declared_at[k] > line->indent)
				declared_at[k] = 0;
			if (!(line->used >> k & 1) || declared_at[k])
				continue;
			if ((int)k != visit)
				return false;
			x->visit = true;
		}
		for (uint32_t k = 0; k < x->b->local_count; k++)
			if (line->declared >> k & 1)
				declared_at[k] = line->indent;
		for (uint32_t k = 0; k < line_at(x, first)->loops; k++)
			if (line->loops_used >> k & 1)
				x->loops |= UINT32_C(1) << (line_at(x, first)->loops - k);
	}
	return true;
}

/* Does somebody behind a block ask for its variables? */
static bool declares_for_others(const struct alike *x, uint32_t first, uint32_t length)
{
	int indent = line_at(x, first)->indent;
	uint32_t end = first + length;
	bool declares = false;
	for (uint32_t i = first; i < end; i++)
		declares |= line_at(x, i)->declared && line_at(x, i)->indent == indent;
	return declares && end < x->count && x->spots[end].body == x->spots[first].body &&
	       line_at(x, end)->indent >= indent && *line_at(x, end)->text != '}';
}

int alike_find_places(struct alike *x, uint32_t first, uint32_t length)
{
	uint32_t behind = 0; /* the last place */
	x->places_count = 0;
	x->length = length;
	for (uint32_t i = first; i != SPOT_NONE && i + length <= x->count; i = x->spots[i].next) {
		if (!alike_step(x, 1))
			return -1;
		if (i < behind || !alike_lines(x, first, i, length) ||
		    x->spots[i].body != x->spots[i + length - 1].body || declares_for_others(x, i, length))
			continue;
		if (!alike_step(x, length) ||
		    !budget_grow(&x->places, x->places_count, &x->places_capacity, sizeof *x->places))
			return -1;
		x->places[x->places_count++] = i;
		behind = i + length;
	}
	return 0;
}

/* ---- what a function is given ---- */

static const struct hole *hole_at(const struct alike *x, uint32_t place, const struct given *g)
{
	return &line_at(x, x->places[place] + g->line)->holes[g->hole];
}

static const char *text_at(const struct alike *x, uint32_t place, const struct given *g)
{
	return line_at(x, x->places[place] + g->line)->text + hole_at(x, place, g)->at;
}

static bool equal_at(const struct alike *x, uint32_t p, const struct given *a, uint32_t q, const struct given *b)
{
	uint32_t n = hole_at(x, p, a)->size;
	return n == hole_at(x, q, b)->size && memcmp(text_at(x, p, a), text_at(x, q, b), n) == 0;
}

static bool is_counted(char kind)
{
	return strchr("SQV", kind) != NULL;
}

/* Has a text a word that is a parameter of the function it stands in? */
static bool is_local(const struct alike *x, uint32_t place, const struct given *g)
{
	const struct listing_body *body = x->spots[x->places[place]].body;
	const char *text = text_at(x, place, g);
	uint32_t size = hole_at(x, place, g)->size;
	for (size_t i = 0, n; i < size; i += n ? n : 1) {
		n = listing_word(text + i);
		for (uint32_t k = 0; n && k < body->parameter_count; k++)
			if (strlen(body->parameters[k].name) == n && memcmp(body->parameters[k].name, text + i, n) == 0)
				return true;
	}
	return false;
}

/* Is it the same everywhere? Then it is in the function. */
static bool is_always(const struct alike *x, const struct given *g)
{
	for (uint32_t p = 0; p < x->places_count; p++)
		if ((p && !equal_at(x, 0, g, p, g)) || is_local(x, p, g))
			return false;
	return true;
}

/* Can what is in one hole be told by what is in another one? */
static bool tells(const struct alike *x, const struct given *by, const struct given *g)
{
	const struct hole *b0 = hole_at(x, 0, by), *g0 = hole_at(x, 0, g);
	if (b0->kind != g0->kind)
		return false;
	for (uint32_t p = 0; p < x->places_count; p++) {
		const struct hole *b = hole_at(x, p, by), *h = hole_at(x, p, g);
		if (!is_counted(h->kind)) {
			if (!equal_at(x, p, by, p, g))
				return false;
			continue;
		}
		if (b->base != h->base || memcmp(text_at(x, p, by), text_at(x, p, g), b->base) != 0 ||
		    h->number - b->number != g0->number - b0->number || h->number < b->number)
			return false;
	}
	return true;
}

/* The parameter for a hole; given_count: none. */
static uint32_t parameter_for(const struct alike *x, const struct given *g)
{
	uint32_t i = 0;
	if (is_always(x, g))
		return x->given_count;
	while (i < x->given_count && !tells(x, &x->given[i], g))
		i++;
	return i;
}

static bool name_is_taken(const struct alike *x, const char *name)
{
	size_t end;
	if (strcmp(name, "rank") == 0 || strcmp(name, "size") == 0 || listing_local(x->b, name, strlen(name)) >= 0 ||
	    listing_loop_of(name, strlen(name), &end) >= 0)
		return true;
	for (uint32_t i = 0; i < x->given_count; i++)
		if (strcmp(x->given[i].name, name) == 0)
			return true;
	return false;
}

bool alike_find_given(struct alike *x)
{
	x->given_count = 0;
	if (!look_at_variables(x, x->places[0], x->length))
		return false;
	for (uint32_t line = 0; line < x->length; line++)
		for (uint32_t k = 0; k < line_at(x, x->places[0] + line)->hole_count; k++) {
			struct given g = {.line = line, .hole = k};
			if (is_always(x, &g) || parameter_for(x, &g) < x->given_count)
				continue;
			if (x->given_count == GIVEN_MOST)
				return false;
			const char *hint = hole_at(x, 0, &g)->hint;
			snprintf(g.name, sizeof g.name, "%s", hint);
			for (unsigned i = 2; name_is_taken(x, g.name); i++)
				snprintf(g.name, sizeof g.name, "%s_%u", hint, i);
			x->given[x->given_count++] = g;
		}
	return true;
}

/* ---- writing ---- */

static void write_parameter(const struct alike *x, const struct given *g, FILE *out)
{
	char kind = hole_at(x, 0, g)->kind;
	const char *type = is_counted(kind) ? "int" : kind == HOLE_TABLE ? "const long *" : "long";
	for (const struct hole_type *t = x->b->types; t->type; t++)
		type = t->kind == kind ? t->type : type;
	fprintf(out, "%s%s%s", type, kind == HOLE_TABLE ? "" : " ", g->name);
}

static void write_hole(const struct alike *x, const struct given *g, FILE *out)
{
	const struct hole *h = hole_at(x, 0, g);
	uint32_t i = parameter_for(x, g);
	if (i == x->given_count) {
		fwrite(text_at(x, 0, g), 1, h->size, out);
		return;
	}
	int64_t more = is_counted(h->kind) ? h->number - hole_at(x, 0, &x->given[i])->number : 0;
	fputs(x->given[i].name, out);
	if (more)
		fprintf(out, " + %" PRId64, more);
}

/* Letters between holes, with the variables of its own loops from the first one on. */
static void write_between(const struct alike *x, const char *at, const char *end, uint32_t outer, FILE *out)
{
	while (at < end) {
		size_t n = listing_word(at), name;
		char again[16];
		int loop = n ? listing_loop_of(at, n, &name) : -1;
		if (loop >= (int)outer && x->loops == 0)
			fprintf(out, "%s%.*s", listing_loop_name((uint32_t)loop - outer, again), (int)(n - name),
			        at + name);
		else
			fwrite(at, 1, n ? n : 1, out);
		at += n ? n : 1;
	}
}

static void write_alike_line(const struct alike *x, uint32_t line, FILE *out)
{
	const struct listing_line *l = line_at(x, x->places[0] + line), *first = line_at(x, x->places[0]);
	const char *at = l->text;
	for (int i = 0; i <= l->indent - first->indent; i++)
		fputc('\t', out);
	for (uint32_t k = 0; k < l->hole_count; k++) {
		write_between(x, at, l->text + l->holes[k].at, first->loops, out);
		write_hole(x, &(struct given){.line = line, .hole = k}, out);
		at = l->text + l->holes[k].at + l->holes[k].size;
	}
	write_between(x, at, at + strlen(at), first->loops, out);
	fputc('\n', out);
}

void alike_write_function(const struct alike *x, const char *name, FILE *out)
{
	const struct listing_line *first = line_at(x, x->places[0]);
	const char *between = "";
	char loop[16];
	fprintf(out, "static void %s(", name);
	for (uint32_t i = 0; i < x->given_count; i++, between = ", ")
		fputs(between, out), write_parameter(x, &x->given[i], out);
	for (uint32_t k = 1; k <= first->loops; k++)
		if (x->loops >> k & 1) {
			fprintf(out, "%slong %s", between, listing_loop_name(first->loops - k, loop));
			between = ", ";
		}
	if (x->visit)
		fprintf(out, "%slong v", between), between = ", ";
	fprintf(out, "%s)\n{\n", *between ? "" : "void");
	for (uint32_t line = 0; line < x->length; line++)
		write_alike_line(x, line, out);
	fputs("}\n\n", out);
}

/* Without brackets around all of it. */
static void write_argument(const char *text, uint32_t size, FILE *out)
{
	int depth = 0;
	bool around = size > 2 && text[0] == '(';
	for (uint32_t i = 0; i < size; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		around &= depth > 0 || i + 1 == size;
	}
	fprintf(out, "%.*s", (int)(size - 2 * around), text + around);
}

void alike_write_call(const struct alike *x, uint32_t place, const char *name, FILE *out)
{
	const struct listing_line *first = line_at(x, x->places[place]);
	const char *between = "";
	char loop[16];
	fprintf(out, "%s(", name);
	for (uint32_t i = 0; i < x->given_count; i++, between = ", ") {
		fputs(between, out);
		write_argument(text_at(x, place, &x->given[i]), hole_at(x, place, &x->given[i])->size, out);
	}
	for (uint32_t k = 1; k <= first->loops; k++)
		if (x->loops >> k & 1) {
			fprintf(out, "%s%s", between, listing_loop_name(first->loops - k, loop));
			between = ", ";
		}
	fprintf(out, "%s);", x->visit ? *between ? ", v" : "v" : "");
}
