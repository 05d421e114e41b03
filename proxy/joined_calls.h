/* SPDX-License-Identifier: BSD-3-Clause
 * joined_calls - calls of a large program that stand together again and again, as one call
 *
 *     Type_vector(40, next(3), 1, 1, MPI_DOUBLE);      becomes    Bcast_2(40, next(3), 0, comm[7]);
 *     Type_commit(41);
 *     Bcast(42, 0, comm[7]);
 *     Type_free(43);
 *
 * These are calls of functions of the program (call_function.h), of call sites that have numbers in a row. The new
 * function is given the first number. What is the same in all places is in it, and what two of its calls are given
 * alike it is given once.
 */
#ifndef SPOOR_PROXY_JOINED_CALLS_H
#define SPOOR_PROXY_JOINED_CALLS_H

#include <stdio.h>

#include "proxy/names.h"

/* Replaces calls in malloc'ed texts. functions: the definitions of the functions that they call; new ones go to `out`,
 * which is to be behind them. Returns 0, or -1: no memory. */
int joined_calls_make(char **texts, size_t count, const char *functions, struct names *names, FILE *out);

#endif
