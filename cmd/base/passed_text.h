/* SPDX-License-Identifier: BSD-3-Clause
 * passed_text - the arguments of calls that did not end, as text: "source=3 tag=7 comm=MPI_COMM_WORLD"
 *
 * Ranks that pass the same are to have the same text. So a rank is written relative to the caller's ("source=rank+1")
 * where that makes fewer texts of the ranks that were in a call than "source=1", "source=2", ... does.
 */
#ifndef SPOOR_PASSED_TEXT_H
#define SPOOR_PASSED_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "trace/model/unended.h"

struct passed_text;

/* Returns NULL on no memory. The trace must outlive it. */
struct passed_text *passed_text_create(const struct trace *t);
void passed_text_destroy(struct passed_text *p);
/* What a rank passed to the call that it was in; "" if nothing is known, or u is a computation. Valid until the next
 * call. */
const char *passed_text_of(struct passed_text *p, const struct trace_unended *u, uint32_t rank);
/* The same text for JSON: {"source": "rank+1", "tag": 7}. */
json_t *passed_text_json(const char *text);

#endif
