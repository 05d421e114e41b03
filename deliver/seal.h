/* SPDX-License-Identifier: BSD-3-Clause
 * seal - a raw trace, as the tracer leaves it in a spool folder, into the file that is kept: with metadata, compressed
 */
#ifndef SPOOR_SEAL_H
#define SPOOR_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/facts.h"

/* The file of a trace. */
struct sealed {
	uint8_t *bytes; /* malloc'ed */
	size_t size;
	bool part; /* ranks are missing: other nodes may have them (merge/world.h) */
};

/* Makes the file from the raw trace at path: its own facts, and the job's, which win, become the chunk META.
 * Returns 0, or -1 with error set; sealed->bytes may be freed in any case. */
int seal_trace(const char *path, const struct facts *job, struct sealed *sealed, struct error *error);
/* The same from memory; name is for messages. */
int seal_bytes(const char *name, const void *bytes, size_t size, const struct facts *job, struct sealed *sealed,
               struct error *error);

/* The facts of a raw trace and of its job as the text of META (malloc'ed), or NULL with error set. Decides why a
 * partial trace is one (doc/metadata.md, "reason"). */
struct container;
char *seal_describe(const struct container *raw, const struct facts *job, bool *part, struct error *error);

#endif
