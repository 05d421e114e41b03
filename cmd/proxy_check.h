/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_check - `spoor proxy --check`: how near a proxy is to the application
 */
#ifndef SPOOR_PROXY_CHECK_H
#define SPOOR_PROXY_CHECK_H

#include "trace/model/trace.h"

/* Builds the program in a folder, in another folder, runs it under the tracer, and compares its trace with this one.
 * launcher: the arguments of the user, as command_add_launcher takes them. Prints a table. Returns the command's
 * status: it failed if events differ by more than what depends on time. */
int proxy_check(const char *folder, const struct trace *t, char **launcher, int launcher_count);

#endif
