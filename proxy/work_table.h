/* SPDX-License-Identifier: BSD-3-Clause
 * work_table - what is computed between two calls of a large program, as tables
 *
 * There is a row for each pair of call sites, in the order of those behind. A time is written as one of 64 steps
 * between a power of two and the next one: no more than 0.8 % off.
 *
 *     static const long work_rows[] = {1, 2};        of each call site: so many rows
 *     static const long work_ahead[] = {1, 1, -1};    the call in front is so many sites back
 *     static const long work_what[] = {630, 645, -1} the time, or -1 - N: case N of what is not always the same
 */
#ifndef SPOOR_PROXY_WORK_TABLE_H
#define SPOOR_PROXY_WORK_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proxy/definition.h"

struct work_row {
	uint32_t from, to; /* call sites of the program */
	int64_t what;      /* work_table_time, or another number that is not negative; or -1 - N */
};

/* The number that stands for a time in ns. */
int64_t work_table_time(double ns);
/* rows: by `to`. sites: call sites of the program. */
void work_table_make(struct definitions *tables, struct tree *t, const struct work_row *rows, size_t count,
                     uint32_t sites);
/* Writes `static double work_between(int last, int site)`, which gives `otherwise` where there is no row. cases: of a
 * switch, each returns what is computed. times: work_what has times. */
void work_table_function(FILE *out, const char *cases, uint32_t sites, bool times, double otherwise);

#endif
