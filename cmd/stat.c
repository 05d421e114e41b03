/* SPDX-License-Identifier: BSD-3-Clause
 * stat - `spoor stat FILE|JOB`: where the bytes of a trace go
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/show/columns.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "trace/file/bundle.h"
#include "trace/read/bound.h"
#include "trace/model/stream.h"

static const struct {
	const char *id, *what;
} parts[] = {
	{"STRG", "strings: functions, parameters, names, files"},
	{"PATH", "call paths: modules and frames"},
	{"VECT", "vectors: values of array parameters"},
	{"PATT", "patterns: the order of values"},
	{"MAPS", "maps: values as functions of the rank"},
	{"RANK", "ranks: events, first sites, hosts"},
	{"SITE", "sites: columns and dictionaries"},
	{"HIST", "times: compute and communicate deltas"},
	{"TIME", "times (version 1.0)"},
	{"MEAN", "what each rank spent: in sites, and in all"},
	{"FACT", "facts of the process"},
	{"LOSS", "loss: what was given up, and why"},
	{"PLAC", "placement: CPUs of ranks, what nodes have"},
	{"CNTR", "counters: in calls and between them"},
	{"FULL", "times of each event"},
	{"CLAS", "classes of computations"},
	{"OPEN", "what killed ranks were doing"},
	{"AWAY", "time off the processor, and before MPI_Init"},
	{"PACK", "sites of a part, packed"},
	{"META", "metadata of the job"},
};

#define JOINED_WHAT "those without a size of their own, compressed together"

static const char *what_is(const char *id)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcmp(parts[i].id, id) == 0)
			return parts[i].what;
	return "(unknown to this version)";
}

/* What a trace holds, counted. */
struct counts {
	uint64_t events, columns, constant, lossy, unordered, groups, values;
};

static struct counts count_columns(const struct trace *t)
{
	struct counts n = {.events = (uint64_t)rankmap_sum(&t->events)};
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++) {
			const struct trace_column *c = &t->sites[i].columns[k];
			n.columns++;
			n.constant += c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].edits &&
			              !c->groups[0].lossy;
			n.groups += c->count;
			bool lossy = false;
			for (uint32_t g = 0; g < c->count; g++) {
				n.values += c->groups[g].count;
				lossy |= c->groups[g].lossy != NULL;
			}
			n.lossy += lossy;
			n.unordered += lossy && k + 1 == t->sites[i].column_count;
		}
	return n;
}

/* Of the chunks that are compressed together. */
static size_t joined_bytes(const struct container *c)
{
	size_t sum = 0;
	for (size_t i = 0; i < container_count(c); i++)
		sum += container_at(c, i)->stored_size ? 0 : container_at(c, i)->size;
	return sum;
}

static void say_part(const char *id, size_t stored, size_t bytes, size_t file, const char *what)
{
	say("%-6s %10zu %10zu %5.1f%%  %s\n", id, stored, bytes, 100.0 * (double)stored / (double)file, what);
}

static void stat_text(const struct container *c, const struct trace *t)
{
	struct counts n = count_columns(t);
	size_t size = container_file_size(c), joined = container_joined_size(c), rest = size - joined;
	say("%-6s %10s %10s %6s  %s\n", "PART", "STORED", "SIZE", "SHARE", "WHAT");
	for (size_t i = 0; i < container_count(c); i++) {
		const struct chunk *chunk = container_at(c, i);
		rest -= chunk->stored_size < rest ? chunk->stored_size : rest;
		if (chunk->stored_size || !chunk->size)
			say_part(chunk->id, chunk->stored_size, chunk->size, size, what_is(chunk->id));
		else
			say("%-6s %10s %10zu %6s  %s\n", chunk->id, "-", chunk->size, "-", what_is(chunk->id));
	}
	if (joined)
		say_part(BUNDLE_ID, joined, joined_bytes(c), size, JOINED_WHAT);
	say("%-6s %10zu %10zu %5.1f%%  %s\n", "-", rest, rest, 100.0 * (double)rest / (double)size,
	    "header and table of chunks");
	say("%-6s %10zu\n\n", "all", size);
	say("%" PRIu64 " events of %" PRIu64 " ranks, %.3f bytes an event\n", n.events, stream_ranks(t, &t->events),
	    n.events ? (double)size / (double)n.events : 0.0);
	say("%u sites (%u functions, %u frames), %" PRIu64 " columns of which %" PRIu64 " are constant\n",
	    t->site_count, t->function_count, t->node_count - 1, n.columns, n.constant);
	if (n.lossy)
		say("%" PRIu64 " columns are lossy (values are counted, their order is not kept), %" PRIu64
		    " of them successors\n",
		    n.lossy, n.unordered);
	say("%" PRIu64 " groups of ranks, %" PRIu64 " dictionary stretches, %u patterns, %u vectors, %u strings\n",
	    n.groups, n.values, t->patterns.count, t->vector_pool.count, t->strings.count);
}

/* How large a lossy trace can get. */
static void print_bound(const struct trace *t)
{
	struct bound b;
	if (bound_make(&b, t) != 0)
		return;
	say("%-12s at most %" PRIu64 " bytes and %" PRIu64 " entries, however many events, for %" PRIu64
	    " sites, %" PRIu64 " columns, %" PRIu64 " edges, %" PRIu64 " nodes of ranks; there are %" PRIu64
	    " entries\n",
	    "Bound", b.bytes_most, b.entries_most, b.sites, b.columns, b.edges, b.behaviours, b.entries);
	if (b.exact)
		say("%-12s %" PRIu64 " columns keep their order, and may grow (structure exact, objects)\n", "",
		    b.exact);
}

static json_t *bound_json(const struct trace *t)
{
	struct bound b;
	if (bound_make(&b, t) != 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "bytes_most", (json_int_t)b.bytes_most,
	                 "entries_most", (json_int_t)b.entries_most, "entries", (json_int_t)b.entries, "sites",
	                 (json_int_t)b.sites, "columns", (json_int_t)b.columns, "edges", (json_int_t)b.edges,
	                 "nodes_of_ranks", (json_int_t)b.behaviours, "columns_in_order", (json_int_t)b.exact);
}

static void print_columns(const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		const struct schema *schema = trace_schema(t, s);
		say("\nsite %u %.*s\n", i, (int)schema->function_length, schema->function);
		columns_print(t, s);
	}
}

static int stat_json(const struct container *c, const struct trace *t, bool columns)
{
	struct counts n = count_columns(t);
	json_t *list = json_array();
	for (size_t i = 0; i < container_count(c); i++) {
		const struct chunk *chunk = container_at(c, i);
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "part", chunk->id, "stored",
		                                      (json_int_t)chunk->stored_size, "size", (json_int_t)chunk->size));
	}
	if (container_joined_size(c))
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "part", BUNDLE_ID, "stored",
		                                      (json_int_t)container_joined_size(c), "size",
		                                      (json_int_t)joined_bytes(c)));
	json_t *root = json_pack(
		"{s:I, s:o, s:I, s:I, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i}", "size",
		(json_int_t)container_file_size(c), "parts", list, "events", (json_int_t)n.events, "ranks",
		(json_int_t)stream_ranks(t, &t->events), "sites", (int)t->site_count, "functions",
		(int)t->function_count, "frames", (int)t->node_count - 1, "columns", (json_int_t)n.columns,
		"constant_columns", (json_int_t)n.constant, "lossy_columns", (json_int_t)n.lossy, "lossy_successors",
		(json_int_t)n.unordered, "groups", (json_int_t)n.groups, "stretches", (json_int_t)n.values, "patterns",
		(int)t->patterns.count, "vectors", (int)t->vector_pool.count, "strings", (int)t->strings.count);
	json_object_set_new(root, "loss", columns_loss_json(t));
	json_object_set_new(root, "bound", bound_json(t));
	json_t *sites = columns ? json_array() : NULL;
	for (uint32_t i = 0; columns && i < t->site_count; i++)
		json_array_append_new(sites, json_pack("{s:I, s:s%, s:o}", "site", (json_int_t)i, "function",
		                                       trace_schema(t, &t->sites[i])->function,
		                                       (size_t)trace_schema(t, &t->sites[i])->function_length,
		                                       "columns", columns_json(t, &t->sites[i])));
	if (columns)
		json_object_set_new(root, "columns_of_sites", sites);
	return json_tell(root);
}

int cmd_stat(int argc, char **argv)
{
	const char *archive = NULL;
	bool json = false, columns = false;
	const struct option_line lines[] = {
		OPTION_FLAG("json", 0, &json, "as JSON"),
		OPTION_FLAG("columns", 0, &columns,
	                    "with what each column is: constant, in order, or lossy (counted), and why"),
		OPTION_ARCHIVE(&archive), OPTION_LIMIT, OPTION_END};
	const struct options options = {"spoor stat",
	                                "FILE|JOB",
	                                "Prints the size of each part of a trace, as stored and decompressed, and what "
	                                "it holds.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	struct container *c;
	struct trace t;
	if (open_trace(argv[optind], archive, &c, &t) != 0)
		return CMD_FAILED;
	if (json)
		rv = stat_json(c, &t, columns);
	else
		stat_text(c, &t), columns_print_loss(&t), print_bound(&t);
	if (!json && columns)
		print_columns(&t);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 && fflush(stdout) == 0 ? CMD_OK : CMD_FAILED;
}
