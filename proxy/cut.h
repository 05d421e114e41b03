/* SPDX-License-Identifier: BSD-3-Clause
 * cut - where the program of a run that was ended ends: behind the last call that all ranks made together
 *
 * What ranks did behind it may have waited for others that were killed. Only calls on communicators of all ranks that
 * return when all processes have called them count, and MPI_Init.
 */
#ifndef SPOOR_PROXY_CUT_H
#define SPOOR_PROXY_CUT_H

#include <stdio.h>

#include "trace/base/error.h"
#include "trace/model/trace.h"

/* How many ranks did not come to MPI_Finalize. */
uint64_t cut_killed(const struct trace *t);
/* ends: of each rank of MPI_COMM_WORLD, gets how many of its events are in front of it. `notes` gets how many that is.
 * Returns 0, or -1 with error set: there is no such call, or no memory. */
int cut_make(const struct trace *t, uint64_t *ends, FILE *notes, struct error *error);

#endif
