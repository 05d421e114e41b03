/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_run - builds the program of a proxy, and runs it under the tracer
 */
#ifndef SPOOR_PROXY_RUN_H
#define SPOOR_PROXY_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "trace/model/trace.h"

struct proxy_run {
	char **launcher; /* the arguments of the user, as command_add_launcher takes them */
	int launcher_count;
	double seconds; /* how long the program may run */
};

/* Makes a folder for it. Returns 0, or -1 after a message. */
int proxy_run_folder(char path[PATH_MAX / 2]);
/* Compiles it with MPICC, else mpicc. define: one more option; NULL: none. Returns the compiler's exit status, as a
 * shell has it. */
int proxy_build(const char *source, const char *program, const char *define);
/* How long the application took, in s. */
double proxy_run_took(const struct trace *t);
/* How long its program may take, in s: ten times that, and a minute for what is not its own. */
double proxy_run_limit(const struct trace *t);
/* Runs it with the ranks of a trace, and with its counters. output: gets the program's trace. Returns the exit status,
 * or COMMAND_TOO_LONG. */
int proxy_run(const char *program, const char *output, const struct trace *t, const struct proxy_run *o);
/* A counter of a trace, from 0 on. */
const char *proxy_counter_name(const struct trace *t, uint32_t counter);
/* Was it counted, under a name that can be asked for again? */
bool proxy_counter_usable(const struct trace *t, uint32_t counter);

#endif
