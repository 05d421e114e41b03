/* SPDX-License-Identifier: BSD-3-Clause
 * array_rule - arrays that follow from another one of the same call
 *
 * What MPI_Alltoallv is given are mostly four arrays of which one says the others: displacements are the sums of the
 * counts in front of them, and a rank receives what the others send to it.
 */
#ifndef SPOOR_PROXY_ARRAY_RULE_H
#define SPOOR_PROXY_ARRAY_RULE_H

#include "proxy/column_value.h"
#include "proxy/recipe.h"

/* How many of the arrays behind array i of a call follow from it. first: the number of the call's first column.
 * Returns 0, or -1 with error set. */
int array_followers(struct columns *c, const struct schema *schema, const struct recipe *recipe, uint32_t first,
                    size_t i, size_t *followers);
/* An array as a function of `from`, a function of the program for column from_number, with elements of C type
 * from_type. Returns 1, 0: it does not follow from that, or -1 with error set. */
int array_by_rule(struct columns *c, uint32_t number, const char *type, uint32_t from_number, const struct array *from,
                  const char *from_type, struct array *out);

#endif
