/* SPDX-License-Identifier: BSD-3-Clause
 * refused - why no program can be generated of a trace
 */
#ifndef SPOOR_PROXY_REFUSED_H
#define SPOOR_PROXY_REFUSED_H

#include <stdio.h>

#include "trace/model/trace.h"

/* Says on `out`, one a line, what of a trace cannot be generated. Returns how much that is. partial: of a run that was
 * ended, as far as all ranks came. */
int refused_list(const struct trace *t, bool partial, FILE *out);

#endif
