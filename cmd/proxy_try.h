/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_try - a program is run before it is handed out
 *
 * It is compiled and run with the ranks of its trace, and its own trace is compared with that, as `--check` does. Where
 * this machine cannot, it is said why not; a program that does something else is not handed out.
 */
#ifndef SPOOR_PROXY_TRY_H
#define SPOOR_PROXY_TRY_H

#include "cmd/proxy_check.h"
#include "trace/model/trace.h"

#define PROXY_SAID 200

enum proxy_tried { PROXY_GOOD, PROXY_NOT_RUN, PROXY_WRONG };

struct proxy_trial {
	const struct proxy_check *how; /* launcher and time limit */
	double scale;                  /* of its computation; 0: how much that is is not looked at */
	double steps;                  /* so many times the turns */
	bool shortened;                /* it makes fewer or more calls than the trace has: it only has to end */
};

/* said: gets a line, or nothing, for whoever gets the program: why it was not run, or how far its computation is off.
 * What makes it wrong is said on stderr. */
#define PROXY_SAID 200

enum proxy_tried proxy_try(const struct proxy_trial *o, const struct trace *t, const char *text, size_t size,
                           char said[PROXY_SAID]);

#endif
