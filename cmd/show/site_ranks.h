/* SPDX-License-Identifier: BSD-3-Clause
 * site_ranks - groups of ranks by how long the calls of a site take in them (trace/model/means.h)
 */
#ifndef SPOOR_SITE_RANKS_H
#define SPOOR_SITE_RANKS_H

#include <jansson.h>
#include <stdio.h>

#include "trace/model/trace.h"

#define SITE_RANKS_LIST 48 /* bytes of a list of ranks */

/* "0,2-3,...": as many of the ranks as there is room for. */
void site_ranks_list(const struct trace *t, const struct rankmap *m, char out[SITE_RANKS_LIST]);
/* A line for each group, the shortest calls first. Nothing is printed if it is not known. */
void site_ranks_print(FILE *out, const struct trace *t, const struct trace_site *s);
/* The same as a list; NULL: not known. */
json_t *site_ranks_json(const struct trace *t, const struct trace_site *s);

#endif
