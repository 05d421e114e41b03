/* SPDX-License-Identifier: BSD-3-Clause
 * drawn - columns that have no order (of a lossy trace), which the program draws from what was counted
 *
 * What is drawn must not decide which message meets which receive, nor what a request is: sizes of messages that are
 * sent, and of what MPI_Get_count is asked for. A tally holds the values of all visits of all ranks. Visit k of a rank
 * is number n of all of these, and gets the value at place p(n), where p is a permutation that the seed says. So each
 * value comes as often as it came (ScalaTrace II, ICS'13, section 3.5).
 */
#ifndef SPOOR_PROXY_DRAWN_H
#define SPOOR_PROXY_DRAWN_H

#include "proxy/columns.h"

/* Says on `out`, one a line, which columns are needed, have no order, and cannot be drawn. Returns how many. */
int drawn_refused(const struct trace *t, FILE *out);
/* Is there room for each size that may be drawn, whichever receive it comes to? Walks the trace. Returns 0, or -1 with
 * error set. */
int drawn_has_room(const struct trace *t, struct error *error);
/* Has a column no order? Its value as an expression of the visit: as column_scalar. */
bool column_is_drawn(const struct columns *c, uint32_t number);
int column_drawn(struct columns *c, const struct proxy_site *site, uint32_t number, struct expression *out);

#endif
