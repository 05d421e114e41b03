/* SPDX-License-Identifier: BSD-3-Clause
 * unended_lines - of `spoor show`: what killed ranks were doing, for how long, and whom they waited for
 */
#ifndef SPOOR_UNENDED_LINES_H
#define SPOOR_UNENDED_LINES_H

#include <jansson.h>

#include "trace/model/trace.h"
#include "insight/verdict.h"

/* The lines "Never ended" and "Verdict"; nothing if nothing is known. patience (ns), end: as of verdict_find. */
void unended_print(const struct trace *t, uint64_t patience, const struct run_end *end);
/* The members "unended", a list, and "verdict" and "hang", its kind and proof, where something is known. */
void unended_json(const struct trace *t, uint64_t patience, const struct run_end *end, json_t *json);
/* A line of a site of --sites: who did not come back from it. */
void unended_site_print(const struct trace *t, uint32_t site);
/* The members "unended_ns" and "unended_ranks" of a site of --sites. */
void unended_site_json(const struct trace *t, uint32_t site, json_t *json);

#endif
