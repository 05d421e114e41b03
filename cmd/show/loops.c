/* SPDX-License-Identifier: BSD-3-Clause
 * loops - `spoor show --loops`: the program's skeleton as one rank went through it
 *
 * The sequence of sites that the successor columns describe is given to a grammar once more, as a whole: its rules with
 * an exponent are the loops. A part that occurs in several places, and not in a loop, is printed once as a block and
 * named where it occurs again.
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/site_names.h"
#include "cmd/base/print_event.h"
#include "trace/base/arena.h"
#include "trace/record/grammar.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

/* A shorter part is printed again rather than named. */
#define BLOCK_MIN 4

struct loops {
	const struct trace *trace;
	struct site_names names;
	struct pattern pattern;
	uint32_t *uses;  /* of each rule, with exponent 1 */
	uint32_t *block; /* number of a rule that was printed as a block; 0: not yet */
	uint32_t blocks;
};

int show_sequence(const struct show *s, struct pattern *out)
{
	int rv = -1, step;
	struct error error = {""};
	struct arena a;
	struct grammar_index g = {.arena = &a};
	struct writer bytes = {0};
	struct walk *w = NULL;
	struct event e;
	uint32_t last = 0;
	uint64_t run = 0;
	bool told = false;
	if (arena_create(&a, NULL, ARENA_MAX_SIZE, &error) != 0)
		goto done;
	ref start = grammar_create(&g);
	if (s->rank >= s->trace->size) {
		error_set(&error, "rank %u does not exist: the trace has %u ranks", s->rank, s->trace->size);
		goto done;
	}
	if (walk_begin(&w, s->trace, s->thread * s->trace->size + s->rank, &error) != 0)
		goto done;
	int64_t events = 0;
	rankmap_get(&s->trace->events, s->thread * s->trace->size + s->rank, &events);
	if (open_events(s->name, (uint64_t)events) != 0) {
		told = true;
		goto done;
	}
	while ((step = walk_next(w, &e, &error)) == 0) {
		if (run > 0 && e.site == last) {
			run++;
			continue;
		}
		if (run > 0 && grammar_append(&g, start, last + 1, run) != 0)
			goto done;
		last = e.site;
		run = 1;
	}
	if (step < 0 || (run > 0 && grammar_append(&g, start, last + 1, run) != 0))
		goto done;
	if (run > 0 && (grammar_write(&g, start, &bytes) != 0 || pattern_parse(out, bytes.data, bytes.size) != 0)) {
		error_set(&error, "no memory");
		goto done;
	}
	rv = 0;
done:
	if (rv != 0 && !told)
		fprintf(stderr, "spoor: %s: %s\n", s->name,
		        error.text[0] ? error.text : "the sequence of sites does not fit into memory");
	walk_end(w);
	writer_free(&bytes);
	grammar_index_free(&g);
	arena_close(&a);
	return rv;
}

static void print_indent(int depth)
{
	printf("%*s", 2 * depth, "");
}

static void print_rule(struct loops *l, size_t rule, int depth);

static void print_symbol(struct loops *l, const struct pattern_symbol *s, int depth)
{
	if (!s->rule) {
		const struct trace_site *site = &l->trace->sites[s->id - 1];
		char frame[512];
		site_names_text(&l->names, s->id - 1, frame, sizeof frame);
		print_indent(depth);
		print_function(stdout, trace_schema(l->trace, site));
		if (s->exponent > 1)
			printf(" x %" PRIu64, s->exponent);
		printf("    # site %u, %s\n", s->id - 1, frame);
		return;
	}
	size_t size = l->pattern.rules[s->id].end - l->pattern.rules[s->id].first;
	bool block = l->uses[s->id] > 1 && size >= BLOCK_MIN;
	if (s->exponent > 1) {
		print_indent(depth);
		printf("loop %" PRIu64 " times\n", s->exponent);
		depth++;
	}
	if (block && l->block[s->id]) {
		print_indent(depth);
		printf("block %u again (%" PRIu64 " calls)\n", l->block[s->id], l->pattern.rules[s->id].length);
		return;
	}
	if (block) {
		print_indent(depth);
		printf("block %u\n", l->block[s->id] = ++l->blocks);
		depth++;
	}
	print_rule(l, s->id, depth);
}

static void print_rule(struct loops *l, size_t rule, int depth)
{
	for (size_t i = l->pattern.rules[rule].first; i < l->pattern.rules[rule].end; i++)
		print_symbol(l, &l->pattern.symbols[i], depth);
}

/* {"loop": N, "body": [...]} for what is repeated, {"site": N} for a call. */
static json_t *json_rule(const struct loops *l, size_t rule)
{
	json_t *list = json_array();
	for (size_t i = l->pattern.rules[rule].first; i < l->pattern.rules[rule].end; i++) {
		const struct pattern_symbol *s = &l->pattern.symbols[i];
		json_t *item = s->rule ? json_pack("{s:o}", "body", json_rule(l, s->id))
		                       : json_pack("{s:i}", "site", (int)s->id - 1);
		if (s->exponent > 1)
			json_object_set_new(item, "loop", json_integer((json_int_t)s->exponent));
		json_array_append_new(list, item);
	}
	return list;
}

int show_loops(const struct show *s, json_t *json)
{
	int rv = -1;
	struct loops l = {.trace = s->trace};
	if (show_sequence(s, &l.pattern) != 0)
		goto done;
	if (l.pattern.rule_count == 0) {
		rv = 0;
		goto done;
	}
	l.uses = calloc(l.pattern.rule_count, sizeof *l.uses);
	l.block = calloc(l.pattern.rule_count, sizeof *l.block);
	if (!l.uses || !l.block || site_names_make(&l.names, s->trace) != 0) {
		fputs("spoor: no memory\n", stderr);
		goto done;
	}
	for (size_t i = 0; i < pattern_symbols(&l.pattern); i++)
		if (l.pattern.symbols[i].rule)
			l.uses[l.pattern.symbols[i].id]++;
	if (json) {
		json_object_set_new(json, "loops", json_rule(&l, l.pattern.rule_count - 1));
	} else {
		char name[STREAM_NAME];
		printf("rank %s\n", stream_name(s->trace, (uint64_t)s->thread * s->trace->size + s->rank, name));
		print_rule(&l, l.pattern.rule_count - 1, 1);
	}
	rv = 0;
done:
	free(l.uses);
	free(l.block);
	pattern_free(&l.pattern);
	site_names_free(&l.names);
	return rv;
}
