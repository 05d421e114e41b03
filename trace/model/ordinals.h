/* SPDX-License-Identifier: BSD-3-Clause
 * ordinals - the ranks of a map by number: 0 is the lowest one
 */
#ifndef SPOOR_ORDINALS_H
#define SPOOR_ORDINALS_H

#include "trace/model/rankmap.h"

struct ordinals {
	const struct rankmap *map; /* borrowed */
	uint64_t *share;
};
int ordinals_init(struct ordinals *o, const struct rankmap *m); /* returns 0 or -1 */
void ordinals_free(struct ordinals *o);
uint64_t ordinals_number(const struct ordinals *o,
                         uint32_t rank); /* how many ranks are lower; the rank need not be there */
uint32_t ordinals_rank(const struct ordinals *o, uint64_t number); /* UINT32_MAX: there are not so many */

#endif
