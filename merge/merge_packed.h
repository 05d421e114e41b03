/* SPDX-License-Identifier: BSD-3-Clause
 * merge_packed - the columns of a site of two packed traces, as bytes
 *
 * Ranks of a parallel program mostly have the same columns. One that both sides have, and that says the same of all its
 * ranks, stays as it is, and only the set of ranks grows. Of others, what two are together is remembered.
 */
#ifndef SPOOR_MERGE_PACKED_H
#define SPOOR_MERGE_PACKED_H

#include "merge/joined.h"
#include "merge/translate.h"

/* Visits and columns of site i of x->from and of the site that it is in x->into, into x->columns and x->traits. Returns
 * 0, or -1 on no memory, or if a rank is in both. */
int merge_packed_columns(struct translation *x, uint32_t i);

#endif
