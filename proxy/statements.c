/* SPDX-License-Identifier: BSD-3-Clause
 * statements - the calls and loops of a trace as statements in C
 */
#include "proxy/statements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/call_site.h"
#include "proxy/condition_text.h"
#include "proxy/passes.h"

#define NAMELESS_MOST 8 /* statements of a function without a name that are no function of the program */

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

/* What is written next is at visits that are the turns of a loop: where ranks make other numbers of these, visits may
 * be counted from the last one. */
static void set_turns(struct program_text *w, uint32_t loop)
{
	w->columns.turns_column = w->structure.times[loop];
	w->columns.turns_name = w->ends[loop];
}

/* The variable that counts what a node's turns count: that of the loop around it, if there is no more than one run of
 * that, or if all is the same again in the next one. */
static const char *turns_of(struct program_text *w, uint32_t node, uint32_t home, char out[16], uint64_t *turns)
{
	uint32_t parent = w->structure.nest.nodes[node].parent;
	bool single = has_variable(w, parent, home) && structure_is_single(&w->structure, parent);
	if (single)
		set_turns(w, parent);
	*turns = has_variable(w, parent, home) && !single ? w->turns[parent] : 0;
	if (*turns && !structure_is_periodic(&w->structure, w->structure.times[node], *turns, NULL))
		*turns = 0;
	return single || *turns ? variable_name(w->loop[parent] - 1, out) : NULL;
}

/* The same for the values of a call: each turn of the loop is one visit. */
static const char *visits_of(struct program_text *w, uint32_t node, uint32_t home, char out[16], uint64_t *turns)
{
	uint32_t loop = w->loop[node] ? node : w->structure.nest.nodes[node].parent;
	bool each = has_variable(w, loop, home) && (w->loop[node] || passes_plain(&w->structure, node));
	bool single = each && structure_is_single(&w->structure, loop);
	if (single)
		set_turns(w, loop);
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
	int rv = call_write(&w->columns, &w->structure.sites[node], &place, out);
	w->columns.turns_name = NULL;
	return rv;
}

static uint32_t loops_around(const struct program_text *w, uint32_t node, uint32_t home)
{
	uint32_t most = 0;
	for (uint32_t n = w->structure.nest.nodes[node].parent; n != NEST_NONE; n = w->structure.nest.nodes[n].parent)
		if (w->loop[n] && w->home[n] == home)
			most = w->loop[n] > most ? w->loop[n] : most;
	return most;
}

static void write_loop(struct program_text *w, uint32_t node, const struct expression *times, const char *visit,
                       uint64_t turns, uint32_t home, FILE *out)
{
	char own[16];
	w->loop[node] = loops_around(w, node, home) + 1;
	w->home[node] = home;
	w->turns[node] = times->known && times->value > 0 ? (uint64_t)times->value : 0;
	variable_name(w->loop[node] - 1, own);
	if (times->simple) {
		w->ends[node] = times->known ? NULL : strdup(times->text);
		fprintf(out, "for (long %s = 0; %s < %s; %s++) {\n", own, own, times->text, own);
	} else {
		w->ends[node] = asprintf(&w->ends[node], "%s_end", own) < 0 ? NULL : w->ends[node];
		fprintf(out, "for (long %s = 0, %s_end = ", own, own);
		call_write_visit(times->text, visit, turns, out);
		fprintf(out, "; %s < %s_end; %s++) {\n", own, own, own);
	}
}

/* Writes what is in front of the body of a node; *block: it is in braces. */
static int write_head(struct program_text *w, uint32_t node, uint32_t home, int indent, bool *block, FILE *out)
{
	struct expression e;
	char name[16], counter[40];
	uint64_t turns;
	*block = false;
	if (w->given[node])
		return 0;
	const char *visit = turns_of(w, node, home, name, &turns);
	int rv = column_times(&w->columns, w->structure.times[node], &e);
	w->columns.turns_name = NULL;
	if (rv != 0)
		return -1;
	rv = -1;
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
		write_loop(w, node, &e, visit, turns, home, out);
	}
	rv = 0;
done:
	free(condition);
	free(e.text);
	return rv;
}

/* A range that is a block of its own. Calls in it that come once in each turn are at the same visit. */
static int write_shared(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, uint32_t home, int indent,
                        FILE *out)
{
	char *text = NULL;
	size_t size;
	bool used = w->visit_used;
	FILE *body = open_memstream(&text, &size);
	if (!body)
		return error_set(w->error, "no memory");
	for (uint32_t c = first; c != end && c != NEST_NONE; c = w->structure.nest.nodes[c].next)
		if (w->given[c] || passes_always(&w->structure, c))
			w->in_visit[c] = home + 1;
	w->visit_used = false;
	int rv = write_range(w, first, end, depth, home, indent, body);
	fclose(body);
	if (w->visit_used) {
		call_indent(out, indent);
		fprintf(out, "const long v = visit[%" PRIu32 "]++;\n", w->counters++);
	}
	w->visit_used = used;
	fputs(text, out);
	free(text);
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
		rv = (block ? write_shared : write_range)(w, nest->nodes[node].first, NEST_NONE, depth, home, inner,
		                                          out);
	if (block)
		call_indent(out, indent), fputs("}\n", out);
	return rv;
}

static int write_case(struct program_text *w, uint32_t node, unsigned number, uint32_t home, int indent, FILE *out)
{
	bool chain = node >= w->structure.nest.sites && !w->structure.nest.nodes[node].any_order &&
	             passes_always(&w->structure, node);
	call_indent(out, indent);
	fprintf(out, chain ? "case %u: {\n" : "case %u:\n", number);
	int rv = chain ? write_shared(w, w->structure.nest.nodes[node].first, NEST_NONE, UINT32_MAX, home, indent + 1,
	                              out)
	               : write_node(w, node, UINT32_MAX, home, indent + 1, out);
	call_indent(out, indent + 1);
	fputs("break;\n", out);
	if (chain)
		call_indent(out, indent), fputs("}\n", out);
	return rv;
}

/* A loop in whose turns there is one call each, or one chain of calls. */
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
		if (write_case(w, c, number++, home, indent, out) != 0)
			return -1;
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
		w->function(w->context, paths_node(&w->paths, first, *depth), out, size);
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
		rv = write_shared(w, first, end, depth, ++w->home_count, 1, body);
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
	bool block;
	if (write_head(w, first, home, indent, &block, out) != 0)
		return -1;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = w->structure.nest.nodes[c].next)
		w->given[c] = true;
	int rv = write_shared(w, first, end, depth, home, indent + 1, out);
	call_indent(out, indent);
	fputs("}\n", out);
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

int statements_write(struct program_text *w, FILE *out)
{
	const struct loop_nest *nest = &w->structure.nest;
	return write_range(w, nest->nodes[nest->sites].first, NEST_NONE, w->paths.lengths[nest->sites], 0, 1, out);
}
