/* SPDX-License-Identifier: BSD-3-Clause
 * columns - what each column of a trace is, and what was given up
 */
#include "cmd/show/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "merge/slim.h"
#include "trace/model/value.h"

static const struct {
	const char *name, *text;
} stages[TRACE_STAGES] = {
	[STAGE_COLUMNS] = {"columns", "memory was nearly used up: the largest columns are lossy"},
	[STAGE_PATHS] = {"paths",
                         "too many call paths, or too little memory: new ones are cut to their innermost frames"},
	[STAGE_COUNTING] = {"counting", "memory was used up: some calls are only counted"},
};

void columns_print_loss(const struct trace *t)
{
	if (t->loss.lossy)
		say("%-12s lossy:%" PRIu64 ", structure %s\n", "Lossy", t->loss.threshold,
		    t->loss.structure ? "lossy" : "exact");
	if (slim_given_up(t))
		say("%-12s to be small: %s\n", "Given up", slim_given_up(t));
	for (int i = 0; i < TRACE_STAGES; i++)
		if (t->loss.stage[i].ranks)
			say("%-12s %s, in %" PRIu64 " ranks, since event %" PRIu64 "\n", "Given up", stages[i].text,
			    t->loss.stage[i].ranks, t->loss.stage[i].since);
}

json_t *columns_loss_json(const struct trace *t)
{
	json_t *loss = json_object(), *list = json_array();
	if (t->loss.lossy) {
		json_object_set_new(loss, "threshold", json_integer((json_int_t)t->loss.threshold));
		json_object_set_new(loss, "structure", json_string(t->loss.structure ? "lossy" : "exact"));
	}
	if (slim_given_up(t))
		json_object_set_new(loss, "small", json_string(slim_given_up(t)));
	for (int i = 0; i < TRACE_STAGES; i++)
		if (t->loss.stage[i].ranks)
			json_array_append_new(list,
			                      json_pack("{s:s, s:s, s:I, s:I}", "stage", stages[i].name, "what",
			                                stages[i].text, "ranks", (json_int_t)t->loss.stage[i].ranks,
			                                "since", (json_int_t)t->loss.stage[i].since));
	if (json_array_size(list))
		json_object_set(loss, "given_up", list);
	json_decref(list);
	return loss;
}

/* Over all groups of ranks. */
struct kinds {
	uint64_t constant, patterns; /* groups */
	const struct trace_lossy *lossy;
};

static struct kinds kinds_of(const struct trace_column *c)
{
	struct kinds k = {0, 0, NULL};
	for (uint32_t g = 0; g < c->count; g++) {
		k.constant += !c->groups[g].pattern && !c->groups[g].edits && !c->groups[g].lossy;
		k.patterns += c->groups[g].pattern != 0;
		if (c->groups[g].lossy)
			k.lossy = c->groups[g].lossy;
	}
	return k;
}

static void column_name_of(const struct trace *t, const struct trace_site *s, uint32_t column, char out[80])
{
	const struct schema *schema = trace_schema(t, s);
	bool successor = column >= schema->count;
	snprintf(out, 80, "%.*s", successor ? 9 : (int)schema->column[column].length,
	         successor ? "successor" : schema->column[column].name);
}

/* Is it only known how many values there were? */
static bool forgotten(const struct trace *t, const struct tally *values)
{
	return values->count == 1 && trace_is_unknown(t, values->bins[0].min);
}

static const char *counted_how(const struct trace *t, const struct trace_lossy *l)
{
	return l->next_count                                            ? "runs"
	       : l->values.count == 0 || forgotten(t, &l->values)       ? "number only"
	       : tally_coarse(&l->values) || tally_coarse(&l->elements) ? "bins"
	                                                                : "exact counts";
}

static void print_one(const struct trace *t, const struct trace_column *c)
{
	char why[WHY_SIZE];
	struct kinds k = kinds_of(c);
	const struct trace_lossy *l = k.lossy;
	if (c->count == 0)
		say("nothing");
	if (k.constant)
		say("constant%s", k.patterns || l ? ", " : "");
	if (k.patterns)
		say("in order (%" PRIu64 " patterns)%s", k.patterns, l ? ", " : "");
	if (!l)
		return;
	say("lossy (%s, since event %" PRIu64 "), %s: ", trace_why_text(l->why, why), l->since, counted_how(t, l));
	if (l->next_count)
		say("%u successors", l->next_count);
	else
		say("%" PRIu64 " values in %u bins", tally_count(&l->values), l->values.count);
	if (l->elements.count)
		say("; %" PRIu64 " elements in %u bins", tally_count(&l->elements), l->elements.count);
}

void columns_print(const struct trace *t, const struct trace_site *s)
{
	for (uint32_t k = 0; k < s->column_count; k++) {
		char name[80];
		column_name_of(t, s, k, name);
		say("  %-24s ", name);
		print_one(t, &s->columns[k]);
		say("\n");
	}
}

void columns_print_short(const struct trace *t, const struct trace_site *s)
{
	uint32_t constant = 0, ordered = 0, lossy = 0;
	for (uint32_t i = 0; i < s->column_count; i++) {
		struct kinds k = kinds_of(&s->columns[i]);
		lossy += k.lossy != NULL;
		ordered += !k.lossy && (k.patterns || k.constant > 1);
		constant += !k.lossy && !k.patterns && k.constant == 1;
	}
	say("    columns: %u constant, %u in order, %u lossy%s", constant, ordered, lossy, lossy ? ": " : "");
	for (uint32_t i = 0, n = 0; i < s->column_count; i++) {
		struct kinds k = kinds_of(&s->columns[i]);
		char why[WHY_SIZE], name[80];
		if (!k.lossy)
			continue;
		column_name_of(t, s, i, name);
		say("%s%s (%s, %s)", n++ ? ", " : "", name, counted_how(t, k.lossy), trace_why_text(k.lossy->why, why));
	}
	say("\n");
}

json_t *columns_json(const struct trace *t, const struct trace_site *s)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < s->column_count; i++) {
		struct kinds k = kinds_of(&s->columns[i]);
		char why[WHY_SIZE], name[80];
		column_name_of(t, s, i, name);
		json_t *column =
			json_pack("{s:s, s:s, s:I, s:I}", "name", name, "kind",
		                  k.lossy      ? "lossy"
		                  : k.patterns ? "pattern"
		                  : k.constant ? "constant"
		                               : "nothing",
		                  "constant_groups", (json_int_t)k.constant, "patterns", (json_int_t)k.patterns);
		if (k.lossy) {
			json_object_set_new(column, "counted", json_string(counted_how(t, k.lossy)));
			json_object_set_new(column, "why", json_string(trace_why_text(k.lossy->why, why)));
			json_object_set_new(column, "since", json_integer((json_int_t)k.lossy->since));
			json_object_set_new(column, "values", json_integer((json_int_t)tally_count(&k.lossy->values)));
			json_object_set_new(column, "bins",
			                    json_integer(k.lossy->values.count + k.lossy->elements.count));
			json_object_set_new(column, "successors", json_integer(k.lossy->next_count));
		}
		json_array_append_new(list, column);
	}
	return list;
}
