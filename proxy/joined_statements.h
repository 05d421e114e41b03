/* SPDX-License-Identifier: BSD-3-Clause
 * joined_statements - statements of a large program that stand in several places, but for numbers: one function
 *
 *     if (rank == 0)                                     becomes    Recv_5(10, 0, rank == 0, MPI_INT);
 *             Recv(10, 1, MPI_INT, next(0));
 *     Send(11, 1, MPI_INT, next(1));
 *
 * The new function is given the numbers of its first call site, its first queue and its first counter: in each place,
 * the others have the same distance from them. Else it is given what is a number, a function of the rank, a handle or
 * a table, and not the same everywhere. A function without a name of the application that has become short is written
 * where it is called.
 */
#ifndef SPOOR_PROXY_JOINED_STATEMENTS_H
#define SPOOR_PROXY_JOINED_STATEMENTS_H

#include "proxy/names.h"
#include "proxy/routine.h"

/* What it may take, some seconds: half as much again as for a program of 16,000 call sites that are alike, and 17 times
 * as for ScaLAPACK's xdlu. */
#define JOINED_STEPS (UINT64_C(1) << 29)

/* Replaces statements of functions. calls: those that they call (call_function.h). steps: of so many statements that
 * are looked at and letters, what has not been joined stays as it is. New functions go to `made`, each behind those
 * that it calls. Returns 0, or -1: no memory, or the trace's budget has run out. */
int joined_statements_make(struct tree *t, struct routines *functions, const struct routines *calls,
                           struct names *names, uint64_t steps, struct routines *made);

#endif
