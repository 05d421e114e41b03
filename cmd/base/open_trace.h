/* SPDX-License-Identifier: BSD-3-Clause
 * open_trace - the trace that a command's argument names
 */
#ifndef SPOOR_OPEN_TRACE_H
#define SPOOR_OPEN_TRACE_H

#include <jansson.h>

#include "trace/file/container.h"
#include "trace/model/trace.h"

/* Opens a file, or a job of the archive ("123", "123.0", "123.0.1"), and decodes it. On failure says why on stderr and
 * returns -1; else 0, and the caller gives both back with trace_free and container_destroy. archive may be NULL: the
 * site's. */
int open_trace(const char *file_or_job, const char *archive, struct container **container, struct trace *trace);

/* To be called before the first open_trace, by commands that open several traces. Does nothing unless the process is
 * root's; then it opens all of them, for open_trace to find them, and if one is not root's, becomes its owner (nobody,
 * if they have several) for good, before anything in them is looked at. open_trace does the same for its one trace.
 * Where a command writes, it does so with these rights. Returns 0, or -1 after a message. */
int open_ahead(char **names, int n, const char *archive);

/* The metadata of a trace as its processes said: claims; new, or NULL if it has none. */
json_t *open_claims(const struct container *c);
/* The same, with the owner of the file as `user` and `uid`. If the trace names somebody else, that is `claimed_user`:
 * to be shown, and not to be used. So are `claimed_account`, `claimed_partition` and `claimed_qos`: only the index
 * knows what Slurm says of these. */
json_t *open_metadata(const struct container *c);

/* Opening a trace begins the budget that it is read with (trace/base/budget.h), for each trace anew. To be called by
 * commands that are linear in events, before they begin: so many events will be walked. Returns 0, or -1 after a
 * message: they are more than the limit. */
int open_expect(const char *name, uint64_t events);
/* The same; shows from then on how far they are, if stderr is a terminal. */
int open_events(const char *name, uint64_t events);
/* Is anything missing in what was read, because the limit was reached? Says so, and returns -1; else 0. For commands
 * that go on with other traces. */
int open_spent(const char *name);
/* When a command has ended: its status, or CMD_FAILED, after a message, if the limit was reached. */
int open_finish(int status);

#endif
