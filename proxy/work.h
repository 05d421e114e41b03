/* SPDX-License-Identifier: BSD-3-Clause
 * work - what a proxy computes between its calls
 */
#ifndef SPOOR_PROXY_WORK_H
#define SPOOR_PROXY_WORK_H

#include <stdio.h>

#include "trace/model/trace.h"

/* Writes `static void compute(int site)`, with its tables, which is called before each MPI call of a call site, but not
 * before MPI_Init. It keeps the last site itself. site_of[N]: the trace's site of call site N of the program, each
 * once; `rank` and `size` are static variables of the program (long), and are set when MPI_Init has returned.
 * Returns 0, or -1 with error set. */
int work_write(FILE *out, const struct trace *t, const uint32_t *site_of, uint32_t sites, struct error *error);

#endif
