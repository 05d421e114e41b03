/* SPDX-License-Identifier: BSD-3-Clause
 * outstanding - call sites whose requests need no numbers in a program
 *
 *     MPI_Irecv(..., &request[started()]);                          the first one that is free
 *     MPI_Waitall(started(), &request[0], MPI_STATUSES_IGNORE);     all that are not
 *
 * It follows no request, but asks of each call whether a program that counts alone would name the same ones.
 *
 * A trace numbers requests from 0 on, and gives a number again when its request is complete. If all are completed
 * together, that is how most applications number them, too.
 */
#ifndef SPOOR_PROXY_OUTSTANDING_H
#define SPOOR_PROXY_OUTSTANDING_H

#include "trace/read/walk.h"

/* The requests of a rank on its way: 0 .. count - 1 are not complete; negative: others are, or it is not known. */
struct outstanding {
	int64_t count;
};

/* An event of the rank. *in_order: it becomes false if a program could not know the call's requests by itself. */
void outstanding_pass(struct outstanding *r, const struct trace *t, const struct event *e, bool *in_order);
/* What a program writes for a column of a site in order; NULL: nothing else than for others. */
const char *outstanding_text(const struct schema *s, size_t column);

#endif
