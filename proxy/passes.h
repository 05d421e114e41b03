/* SPDX-License-Identifier: BSD-3-Clause
 * passes - how often nodes of a loop nest are passed in a turn of their parent
 */
#ifndef SPOOR_PROXY_PASSES_H
#define SPOOR_PROXY_PASSES_H

#include "proxy/structure.h"

/* At most once, in each turn? */
bool passes_once(const struct structure *s, uint32_t node);
/* At most once, and on each rank always or never? */
bool passes_plain(const struct structure *s, uint32_t node);
/* Once, always, on all ranks that come to it? */
bool passes_always(const struct structure *s, uint32_t node);
/* Are the nodes from `first` to the one before `end` passed at the same visits as `node`, and none of them in any
 * order? */
bool passes_together(const struct structure *s, uint32_t node, uint32_t first, uint32_t end);
/* How many nodes these are. */
uint32_t passes_count(const struct structure *s, uint32_t first, uint32_t end);

#endif
