/* SPDX-License-Identifier: BSD-3-Clause
 * seating - where ranks sat, in words, for `spoor show` and the report (trace/read/seats.h)
 */
#ifndef SPOOR_SHOW_SEATING_H
#define SPOOR_SHOW_SEATING_H

#include <jansson.h>

#include "insight/traffic.h"
#include "trace/read/seats.h"

#define SEATING_TEXT 400

/* "16 ranks on 2 nodes, 8 on each; each may run on 1 core"; "" if nothing is known. */
void seating_text(const struct seats *s, char out[SEATING_TEXT]);
/* Group i of those that share: "ranks 0-3 share 1 core of node n1 (CPUs 0)". */
void seating_shared_text(const struct seats *s, const struct trace *t, uint32_t i, char out[SEATING_TEXT]);
/* What that did, as far as it is known: "their computation took 1.9 times as long as that of the others"; "". */
void seating_effect_text(const struct seats *s, char out[SEATING_TEXT]);
/* The lines of the summary; the members of its object. */
void seating_print(const struct trace *t);
void seating_json(const struct trace *t, json_t *json);

/* Messages and bytes by how far they went. */
struct seating_split {
	uint64_t messages[SEATS_DISTANCES], bytes[SEATS_DISTANCES], all_messages, all_bytes;
};
void seating_split(const struct seats *s, const struct traffic *m, struct seating_split *split);
extern const char *const seating_distances[SEATS_DISTANCES]; /* "within a socket" */

#endif
