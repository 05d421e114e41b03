/* SPDX-License-Identifier: BSD-3-Clause
 * draw - values of columns that have no order, drawn from what was counted (ScalaTrace II, ICS'13, section 3.5)
 *
 * Values are dealt out (deal.h).
 *
 * The calls of a collective operation must fit each other, wherever in the program they were made. Their roots and
 * counts are drawn from what all sites of the function have together, by the number of the operation on its
 * communicator; counts between two ranks by their two ranks as well. So all ranks draw the same without a message.
 */
#ifndef SPOOR_DRAW_H
#define SPOOR_DRAW_H

#include "replay/play.h"

struct draw;

/* Can this trace be replayed? Returns 0; or -1 with error set, which says what has no order and must have one. */
int draw_possible(const struct trace *t, struct error *error);
/* Returns 0, or -1 with error set. */
int draw_begin(struct draw **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error);
void draw_end(struct draw *d);
/* Is the source of a receive never MPI_PROC_NULL? */
bool draw_sure(const struct draw *d, const struct event *e);
/* Replaces values of the event that are not known. What stays VALUE_LOSSY is an output, or a request. */
void draw_event(struct draw *d, struct play *p, struct event *e);

#endif
