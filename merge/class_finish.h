/* SPDX-License-Identifier: BSD-3-Clause
 * class_finish - what becomes of the classes of computations when all ranks are known
 *
 * Keys of one class that differ from rank to rank become one; what changes no rank's time by much has no classes; and
 * the means of ranks become relative to what their classes say.
 */
#ifndef SPOOR_CLASS_FINISH_H
#define SPOOR_CLASS_FINISH_H

#include "trace/model/trace.h"

/* Of all edges of a trace of all ranks. Returns how many sites were changed; -1 on no memory. */
int class_finish(struct trace *t);

#endif
