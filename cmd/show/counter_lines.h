/* SPDX-License-Identifier: BSD-3-Clause
 * counter_lines - of `spoor show`: what was counted, and whether there are all times
 */
#ifndef SPOOR_CMD_COUNTERS_H
#define SPOOR_CMD_COUNTERS_H

#include <jansson.h>
#include <stdio.h>

#include "trace/model/trace.h"

/* The lines "Counters" and "Times" of the summary, where the trace has something to say. */
void counters_print(FILE *out, const struct trace *t);
/* Their members, "counters" and "timing". */
void counters_json(const struct trace *t, json_t *json);
/* One line with the counts of a site's calls, or of an edge (may be NULL: nothing), indented. */
void counters_line(FILE *out, const struct trace *t, const char *indent, const struct histogram *counts);
/* The same as an object, by name; NULL: nothing was counted. */
json_t *counters_object(const struct trace *t, const struct histogram *counts);
/* One line with a number for each counter, indented; nothing if there are none. */
void counters_numbers_line(FILE *out, const struct trace *t, const char *indent, const double numbers[TRACE_COUNTERS]);
json_t *counters_numbers_object(const struct trace *t, const double numbers[TRACE_COUNTERS]);

#endif
