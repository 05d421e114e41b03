/* SPDX-License-Identifier: BSD-3-Clause
 * source - what the ranks of the smaller runs did, in numbers that all traces have in common
 *
 * The model is a trace without ranks: its strings, functions, call paths and sites are those of all traces. Sites come
 * in the order of their first appearance.
 */
#ifndef SPOOR_EXTRAPOLATE_SOURCE_H
#define SPOOR_EXTRAPOLATE_SOURCE_H

#include "cmd/extrapolate/durations.h"
#include "cmd/extrapolate/grid.h"
#include "trace/base/error.h"
#include "trace/model/trace.h"

/* The events of a rank, or the rows of its object tables. An event is its base and then, for each column, the value; of
 * an array how many elements follow, and these, or the constant in its place. */
struct rank_log {
	uint32_t *site;
	uint64_t *at; /* where the event begins in source.words */
	uint32_t count, capacity, at_capacity;
};

struct event_source {
	struct trace model;
	struct world *worlds; /* by size */
	uint32_t *first;      /* of each world, its first rank's log; and the number of all logs */
	uint32_t count, world_room, first_room;
	struct rank_log *events, *rows; /* of each rank of each world */
	uint32_t logs, events_room, rows_room;
	int64_t *words;
	uint64_t word_count, word_room;
	struct duration_seen *times;
	uint32_t time_count, time_room;
};

int source_init(struct event_source *s);
/* Adds a whole trace of more ranks than those before. Returns 0, or -1 with error set. */
int source_add(struct event_source *s, const char *name, const struct trace *t, struct error *error);
void source_free(struct event_source *s);

/* The share of all events that are at call sites which ranks of all worlds come to. Negative: no memory. */
double source_common(const struct event_source *s);
/* Of the event that begins at `at`, where the value of a column is. */
uint64_t source_column(const struct event_source *s, const struct schema *schema, uint64_t at, uint32_t column);
/* How many elements an array has of which this is the value. */
static inline uint64_t array_length(int64_t value)
{
	return value < 0 ? 0 : (uint64_t)value;
}

#endif
