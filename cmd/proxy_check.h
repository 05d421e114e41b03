/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_check - `spoor proxy --check`: how near a proxy is to the application
 */
#ifndef SPOOR_PROXY_CHECK_H
#define SPOOR_PROXY_CHECK_H

#include "trace/model/trace.h"

struct proxy_check {
	const char *folder;
	char **launcher; /* the arguments of the user, as command_add_launcher takes them */
	int launcher_count;
	double seconds; /* how long the program may run; 0: ten times as long as the application, at least a minute */
};

/* Builds the program in a folder, in another folder, runs it under the tracer, and compares its trace with this one.
 * Prints a table. Returns the command's status: it failed if events differ by more than what depends on time. */
int proxy_check(const struct proxy_check *o, const struct trace *t);

#endif
