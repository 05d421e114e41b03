/* SPDX-License-Identifier: BSD-3-Clause
 * node_times - how long the ranks of each node computed for equal work
 *
 * What a rank computes on its way from one call to the next is compared with what all ranks compute there in the mean,
 * for as many visits. So it does not count that a rank has other or more calls. A node is as its ranks are in the mean.
 */
#ifndef SPOOR_INSIGHT_NODE_TIMES_H
#define SPOOR_INSIGHT_NODE_TIMES_H

#include "trace/model/trace.h"

/* Of more nodes nothing is kept, nor of ranks that compute for less than this part of their time. */
#define NODE_TIMES_MOST  256
#define NODE_TIMES_WORTH 0.1

/* "1000 998 1103": of each node, in the order of host_each, parts per thousand of the median node. NULL: one node, too
 * many, nothing is known, or no memory. The caller frees it. */
char *node_times_text(const struct trace *t);
/* The same as numbers, at most `most` of them. Returns how many; 0: it is no such text. */
size_t node_times_read(const char *text, double *out, size_t most);

#endif
