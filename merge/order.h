/* SPDX-License-Identifier: BSD-3-Clause
 * order - the things of a trace, sorted: what is left when one trace is merged into its own tables is in canonical
 * order
 */
#ifndef SPOOR_ORDER_H
#define SPOOR_ORDER_H

#include "merge/translate.h"

/* Gives x->into, which is empty, what x->from has but for the groups of its columns: strings, patterns and arrays that
 * are used, frames, functions, sites, counters. vectors: NULL, or the arrays of x->from, which it then loses; *moved
 * gets their numbers (malloc'ed). Returns 0, or -1 on no memory. */
int order_tables(struct translation *x, struct pool *vectors, uint32_t **moved);
/* The groups of a column; groups and edges of each of n sites. */
void order_column(struct trace_column *c);
void order_inside(struct trace_site *sites, uint32_t n);

#endif
