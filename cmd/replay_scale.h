/* SPDX-License-Identifier: BSD-3-Clause
 * replay_scale - names in --scale become numbers of sites (cmd/base/scale.h)
 */
#ifndef SPOOR_REPLAY_SCALE_H
#define SPOOR_REPLAY_SCALE_H

#include "trace/model/trace.h"

/* Returns the text for spoor-replay, malloc'ed; NULL: no call path has one of the names, which has been said on stderr,
 * or there is no memory. */
char *replay_scale(const struct trace *t, const char *text);

#endif
