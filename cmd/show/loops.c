/* SPDX-License-Identifier: BSD-3-Clause
 * loops - `spoor show --loops`: the program's skeleton as one rank went through it
 *
 * The sequence of sites that the successor columns describe is given to a grammar once more, as a whole. The skeleton
 * (trace/read/skeleton.h) folds it. With --exact, the grammar itself is printed: its rules with an exponent are the
 * loops. A part that occurs in several places, and not in a loop, is printed once as a block and named where it occurs
 * again.
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/site_names.h"
#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "trace/base/arena.h"
#include "trace/record/grammar.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/read/skeleton.h"
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
		say_to(stderr, "spoor: %s: %s\n", s->name,
		       error.text[0] ? error.text : "the sequence of sites does not fit into memory");
	walk_end(w);
	writer_free(&bytes);
	grammar_index_free(&g);
	arena_close(&a);
	return rv;
}

uint64_t show_unordered(const struct show *s, const struct pattern *p)
{
	int64_t events = 0;
	uint64_t known = p->rule_count > 0 ? pattern_length(p) : 0;
	rankmap_get(&s->trace->events, s->thread * s->trace->size + s->rank, &events);
	return (uint64_t)events > known ? (uint64_t)events - known : 0;
}

static void print_indent(int depth)
{
	say("%*s", 2 * depth, "");
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
			say(" x %" PRIu64, s->exponent);
		say("    # site %u, %s\n", s->id - 1, frame);
		return;
	}
	size_t size = l->pattern.rules[s->id].end - l->pattern.rules[s->id].first;
	bool block = l->uses[s->id] > 1 && size >= BLOCK_MIN;
	if (s->exponent > 1) {
		print_indent(depth);
		say("loop %" PRIu64 " times\n", s->exponent);
		depth++;
	}
	if (block && l->block[s->id]) {
		print_indent(depth);
		say("block %u again (%" PRIu64 " calls)\n", l->block[s->id], l->pattern.rules[s->id].length);
		return;
	}
	if (block) {
		print_indent(depth);
		say("block %u\n", l->block[s->id] = ++l->blocks);
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

void show_range(const struct skeleton *k, uint32_t node, struct range_text *text)
{
	const struct skeleton_range *r = &k->ranges[node];
	uint64_t turns = skeleton_turns(k, node);
	double share = 100 * (double)r->runs / (double)turns;
	int n = snprintf(text->count, sizeof text->count, "%" PRIu64, r->least);
	if (r->least < r->most)
		snprintf(text->count + n, sizeof text->count - (size_t)n, "..%" PRIu64, r->most);
	text->share[0] = '\0';
	if (r->runs < turns && turns < 100)
		snprintf(text->share, sizeof text->share, " [in %" PRIu64 " of %" PRIu64 "]", r->runs, turns);
	else if (r->runs < turns && share < 0.1)
		snprintf(text->share, sizeof text->share, " [in less than 0.1 %% of them]");
	else if (r->runs < turns)
		snprintf(text->share, sizeof text->share, " [in %.*f %% of them]", share < 1 || share > 99 ? 1 : 0,
		         share > 99.9 ? 99.9 : share);
}

static uint64_t sites_below(const struct skeleton *k, uint32_t node)
{
	uint64_t sites = node < k->nest.sites;
	for (uint32_t c = k->nest.nodes[node].first; c != NEST_NONE; c = k->nest.nodes[c].next)
		sites += sites_below(k, c);
	return sites;
}

static void print_node(const struct loops *l, const struct skeleton *k, uint32_t node)
{
	char frame[512];
	struct range_text text;
	show_range(k, node, &text);
	print_indent((int)k->nest.nodes[node].depth);
	if (node > k->nest.sites) {
		say("loop %s times%s%s\n", text.count, k->nest.nodes[node].any_order ? ", in any order" : "",
		    text.share);
		return;
	}
	uint32_t site = k->sites[node];
	print_function(stdout, trace_schema(l->trace, &l->trace->sites[site]));
	site_names_text(&l->names, site, frame, sizeof frame);
	say("%s%s%s    # site %u, %s\n", k->ranges[node].most > 1 ? " x " : "",
	    k->ranges[node].most > 1 ? text.count : "", text.share, site, frame);
}

static void print_children(const struct loops *l, const struct skeleton *k, uint32_t node, const bool *shown,
                           const uint64_t *calls)
{
	uint64_t sites = 0, hidden = 0;
	for (uint32_t c = k->nest.nodes[node].first; c != NEST_NONE; c = k->nest.nodes[c].next) {
		if (shown[c]) {
			print_node(l, k, c);
			print_children(l, k, c, shown, calls);
			continue;
		}
		sites += sites_below(k, c);
		hidden += calls[c];
		uint32_t next = k->nest.nodes[c].next;
		if (next != NEST_NONE && !shown[next])
			continue;
		print_indent((int)k->nest.nodes[c].depth);
		say("... %" PRIu64 " more site%s, %" PRIu64 " calls\n", sites, sites == 1 ? "" : "s", hidden);
		sites = hidden = 0;
	}
}

/* {"site": N} for a call and {"body": [...]} for a loop, with "least" and "most" of a run, "runs" of "turns", and the
 * "total". */
static json_t *json_children(const struct skeleton *k, uint32_t node)
{
	json_t *list = json_array();
	for (uint32_t c = k->nest.nodes[node].first; c != NEST_NONE; c = k->nest.nodes[c].next) {
		const struct skeleton_range *r = &k->ranges[c];
		json_t *item = json_object();
		if (c < k->nest.sites)
			json_object_set_new(item, "site", json_integer(k->sites[c]));
		else
			json_object_set_new(item, "body", json_children(k, c));
		if (k->nest.nodes[c].any_order)
			json_object_set_new(item, "any_order", json_true());
		json_object_set_new(item, "least", json_integer((json_int_t)r->least));
		json_object_set_new(item, "most", json_integer((json_int_t)r->most));
		json_object_set_new(item, "runs", json_integer((json_int_t)r->runs));
		json_object_set_new(item, "turns", json_integer((json_int_t)skeleton_turns(k, c)));
		json_object_set_new(item, "total", json_integer((json_int_t)r->total));
		json_array_append_new(list, item);
	}
	return list;
}

static int show_folded(const struct show *s, const struct loops *l, json_t *json)
{
	int rv = -1;
	struct skeleton k;
	bool *shown = NULL;
	uint64_t *calls = NULL;
	if (skeleton_make(&k, &l->pattern) != 0)
		goto done;
	if (json) {
		json_object_set_new(json, "loops", json_children(&k, k.nest.sites));
		rv = 0;
		goto done;
	}
	shown = calloc(k.nest.count, sizeof *shown);
	calls = calloc(k.nest.count, sizeof *calls);
	if (!shown || !calls || skeleton_choose(&k, s->lines, shown, calls) != 0)
		goto done;
	print_children(l, &k, k.nest.sites, shown, calls);
	if (memchr(shown, 0, k.nest.count))
		say("The most frequent calls in %" PRIu64 " lines; --lines 0 prints all.\n", s->lines);
	rv = 0;
done:
	if (rv != 0)
		say_to(stderr, "spoor: no memory\n");
	free(shown);
	free(calls);
	skeleton_free(&k);
	return rv;
}

static int show_exact(struct loops *l, json_t *json)
{
	size_t whole = l->pattern.rule_count - 1;
	l->uses = calloc(l->pattern.rule_count, sizeof *l->uses);
	l->block = calloc(l->pattern.rule_count, sizeof *l->block);
	if (!l->uses || !l->block) {
		say_to(stderr, "spoor: no memory\n");
		return -1;
	}
	for (size_t i = 0; i < pattern_symbols(&l->pattern); i++)
		if (l->pattern.symbols[i].rule)
			l->uses[l->pattern.symbols[i].id]++;
	if (json)
		json_object_set_new(json, "loops", json_rule(l, whole));
	else
		print_rule(l, whole, 1);
	return 0;
}

int show_loops(const struct show *s, json_t *json)
{
	int rv = -1;
	char name[STREAM_NAME];
	struct loops l = {.trace = s->trace};
	if (show_sequence(s, &l.pattern) != 0)
		goto done;
	if (l.pattern.rule_count == 0) {
		rv = 0;
		goto done;
	}
	if (site_names_make(&l.names, s->trace) != 0) {
		say_to(stderr, "spoor: no memory\n");
		goto done;
	}
	uint64_t unordered = show_unordered(s, &l.pattern);
	if (json)
		json_object_set_new(json, "unordered", json_integer((json_int_t)unordered));
	else
		say("rank %s\n", stream_name(s->trace, (uint64_t)s->thread * s->trace->size + s->rank, name));
	if (!json && unordered > 0)
		say("  The order of the last %" PRIu64
		    " calls is lost: they are not below. spoor show --sites counts them.\n",
		    unordered);
	rv = s->exact ? show_exact(&l, json) : show_folded(s, &l, json);
done:
	free(l.uses);
	free(l.block);
	pattern_free(&l.pattern);
	site_names_free(&l.names);
	return rv;
}
