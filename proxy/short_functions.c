/* SPDX-License-Identifier: BSD-3-Clause
 * short_functions - functions of a program that nobody named, and that have become short, where they are called
 */
#include "proxy/short_functions.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define SHORT_MOST 8 /* lines of a function without a name that is none of the program */

static const char CALL[] = "();";

/* Who calls a function without parameters. */
struct callers {
	uint32_t calls, body; /* body: of the last call, or where that has gone */
	bool changed;         /* others have gone to the function itself */
};

/* Has nobody named it, and are there few lines, without a variable for all of them? */
static bool is_short(const struct listing_body *body)
{
	static const char PART[] = "part";
	if (body->gone || body->made || body->count == 0 || body->count > SHORT_MOST ||
	    listing_plain_length(body->name) != strlen(PART) || strncmp(body->name, PART, strlen(PART)) != 0)
		return false;
	for (uint32_t i = 0; i < body->count; i++)
		if (body->lines[i].indent == 1 && (body->lines[i].declared || body->lines[i].fixed))
			return false;
	return true;
}

/* Is a line nothing but the call of a function without parameters, of whose name there are n letters? */
static bool is_call(const struct listing_line *line, size_t *n)
{
	*n = listing_word(line->text);
	return *n > 0 && strcmp(line->text + *n, CALL) == 0;
}

/* Counts the calls of each function. */
static void count_calls(const struct listing *b, struct callers *of)
{
	char name[80];
	size_t n;
	for (uint32_t i = 0; i < b->count; i++)
		for (uint32_t k = 0; k < b->bodies[i].count; k++) {
			const struct listing_line *line = &b->bodies[i].lines[k];
			if (!is_call(line, &n) || n >= sizeof name)
				continue;
			memcpy(name, line->text, n);
			name[n] = '\0';
			const struct listing_body *called = listing_body_of(b, name);
			if (!called)
				continue;
			of[called - b->bodies].calls++;
			of[called - b->bodies].body = i;
		}
}

/* The line of a body that calls a function; NULL: none does. */
static struct listing_line *find_call(const struct listing_body *body, const char *name)
{
	size_t n = strlen(name);
	for (uint32_t i = 0; i < body->count; i++) {
		struct listing_line *line = &body->lines[i];
		if (line->size == n + strlen(CALL) && memcmp(line->text, name, n) == 0 &&
		    strcmp(line->text + n, CALL) == 0)
			return line;
	}
	return NULL;
}

/* May the lines of a function stand in place of its call? The variables of loops are those of the loops around it. */
static bool may_stand_in(const struct listing_body *body, const struct listing_body *to,
                         const struct listing_line *call)
{
	const struct listing_line *before = call > to->lines ? call - 1 : NULL;
	size_t n = before ? strlen(before->text) : 0;
	bool alone = before && before->indent < call->indent && !strchr("{:", before->text[n - 1]);
	for (uint32_t i = 0; call->loops > 0 && i < body->count; i++)
		if (body->lines[i].loops_used)
			return false;
	return !alone || body->count == 1;
}

/* The lines of a function take the place of its call. */
static int take_in(struct listing *b, struct listing_body *from, struct listing_body *to, uint32_t at)
{
	const uint32_t more = from->count - 1, loops = to->lines[at].loops;
	const int indent = to->lines[at].indent - 1;
	while (to->capacity < to->count + more)
		if (!budget_grow(&to->lines, to->capacity, &to->capacity, sizeof *to->lines))
			return -1;
	listing_free_line(&to->lines[at]);
	memmove(to->lines + at + from->count, to->lines + at + 1, (to->count - at - 1) * sizeof *to->lines);
	memcpy(to->lines + at, from->lines, from->count * sizeof *to->lines);
	to->count += more;
	from->count = 0;
	from->gone = true;
	for (uint32_t i = at; i <= at + more; i++) {
		struct listing_line *line = &to->lines[i];
		char *text = line->text;
		line->text = NULL;
		line->indent += indent;
		line->loops += loops;
		if (listing_set_line(b, to, line, text) != 0)
			return -1;
	}
	return 0;
}

/* Returns 0, or -1: no memory. *to: gets the body with the call. */
static int take_in_one(struct listing *b, struct callers *of, uint32_t number, const struct listing_body **to)
{
	uint32_t into = of[number].body;
	while (b->bodies[into].gone)
		into = of[into].body;
	of[number].body = into;
	struct listing_body *from = &b->bodies[number], *body = &b->bodies[into];
	struct listing_line *call = find_call(body, from->name);
	*to = body;
	if (!call || !may_stand_in(from, body, call))
		return 0;
	of[into].changed = true;
	return take_in(b, from, body, (uint32_t)(call - body->lines));
}

/* Returns so many lines are there; 0: no function is short. */
static uint64_t lines_to_look_at(const struct listing *b)
{
	uint64_t lines = 0;
	bool any = false;
	for (uint32_t i = 0; i < b->count; i++) {
		lines += b->bodies[i].count + UINT64_C(1);
		any |= is_short(&b->bodies[i]);
	}
	return any ? lines : 0;
}

static int take_in_all(struct listing *b, struct callers *of, uint64_t *steps, uint64_t most)
{
	const struct listing_body *to;
	count_calls(b, of);
	for (uint32_t i = 0; i < b->count && *steps < most; i++) {
		if (!is_short(&b->bodies[i]) || of[i].calls != 1)
			continue;
		if (take_in_one(b, of, i, &to) != 0 || !budget_step(to->count))
			return -1;
		*steps += to->count;
	}
	for (uint32_t i = 0; i < b->count; i++)
		if (of[i].changed && !b->bodies[i].gone)
			listing_find_statements(&b->bodies[i]);
	return 0;
}

int short_functions_take_in(struct listing *b, uint64_t *steps, uint64_t most)
{
	uint64_t lines = lines_to_look_at(b);
	if (lines == 0)
		return 0;
	struct callers *of = budget_calloc(b->count, sizeof *of);
	*steps += lines;
	int rv = of && budget_step(lines) ? take_in_all(b, of, steps, most) : -1;
	budget_free(of);
	return rv;
}
