/* SPDX-License-Identifier: BSD-3-Clause
 * open - the trace that a command's argument names
 */
#ifndef SPOOR_OPEN_H
#define SPOOR_OPEN_H

#include "trace/container.h"
#include "trace/trace.h"

/* Opens a file, or a job of the archive ("123", "123.0", "123.0.1"), and decodes it. On failure says why on stderr and returns -1; else 0, and the
 * caller gives both back with trace_free and container_destroy. archive may be NULL: the site's. */
int open_trace(const char *file_or_job, const char *archive, struct container **container, struct trace *trace);

/* To be called before the first open_trace, by commands that open several traces. Does nothing unless the process is root's; then it opens all of them, for
 * open_trace to find them, and if one is not root's, becomes its owner (nobody, if they have several) for good, before anything in them is looked
 * at. open_trace does the same for its one trace. Where a command writes, it does so with these rights. Returns 0, or -1 after a message. */
int open_ahead(char **names, int n, const char *archive);

/* A time: a number, and s (or nothing), ms, us, ns. In ns. Returns 0 or -1. */
int parse_time(const char *text, double *ns);

#endif
