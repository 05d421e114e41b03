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

/* A time: a number, and s (or nothing), ms, us, ns. In ns. Returns 0 or -1. */
int parse_time(const char *text, double *ns);

#endif
