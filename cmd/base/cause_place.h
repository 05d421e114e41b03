/* SPDX-License-Identifier: BSD-3-Clause
 * cause_place - where a cause of lost time is, in words: for findings, what-if, differences of runs, and libspoor
 */
#ifndef SPOOR_CAUSE_PLACE_H
#define SPOOR_CAUSE_PLACE_H

#include <stddef.h>

#include "insight/cause.h"

#define CAUSE_PLACE_TEXT 512
#define CAUSE_RANKS_TEXT 128

struct site_names;

/* "MPI_Send in serial at planted.c:65 (planted)"; "calls that are not known". Returns the text, in out or elsewhere. */
const char *cause_site_text(const struct site_names *names, const struct trace *t, uint32_t site,
                            char out[CAUSE_PLACE_TEXT]);
/* "Rank 2 on n1", "Ranks 4-7", "Ranks 1, 5 and 12 more": those that compute longer. */
void cause_ranks_text(const struct trace *t, const struct cause *c, char out[CAUSE_RANKS_TEXT]);
/* "rank 2 on n1, before MPI_Send in serial at planted.c:65"; of a cause of calls: "in MPI_Send in ...". */
void cause_place_text(char *out, size_t size, const struct trace *t, const struct site_names *names,
                      const struct cause *c);

#endif
