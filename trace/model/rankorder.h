/* SPDX-License-Identifier: BSD-3-Clause
 * rankorder - the ranks of a map by number: 0 is the lowest one
 */
#ifndef SPOOR_RANKORDER_H
#define SPOOR_RANKORDER_H

#include "trace/model/rankmap.h"

struct rank_order {
	const struct rankmap *map; /* borrowed */
	uint64_t *share;
};
int rank_order_init(struct rank_order *o, const struct rankmap *m); /* returns 0 or -1 */
void rank_order_free(struct rank_order *o);
uint64_t rank_order_number(const struct rank_order *o,
                           uint32_t rank); /* how many ranks are lower; the rank need not be there */
uint32_t rank_order_rank(const struct rank_order *o, uint64_t number); /* UINT32_MAX: there are not so many */

#endif
