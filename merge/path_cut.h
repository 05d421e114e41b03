/* SPDX-License-Identifier: BSD-3-Clause
 * path_cut - call paths of a whole trace, cut to the innermost frames that tell its sites apart
 *
 * Each site stays a site of its own: no two of a function are left with the same frames. A path keeps 8 frames at
 * least, as many as the tracer leaves of one at most when memory is short.
 */
#ifndef SPOOR_MERGE_PATH_CUT_H
#define SPOOR_MERGE_PATH_CUT_H

#include "trace/model/trace.h"

/* The trace is in no order then (merge_finish). Returns 1; 0 if there would be no fewer frames, and nothing is changed;
 * -1 on no memory, and neither is it then. */
int path_cut(struct trace *t);

#endif
