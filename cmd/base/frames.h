/* SPDX-License-Identifier: BSD-3-Clause
 * frames - frames of call paths as text: "main at halo.c:41 (halo)", as far as the files of then are still there
 */
#ifndef SPOOR_FRAMES_H
#define SPOOR_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/trace.h"

struct frames;

/* Returns NULL on no memory. The trace must outlive it. Files are opened when a frame in them is first asked for; one
 * whose build id is another than the trace's is not used. */
struct frames *frames_create(const struct trace *t);
void frames_destroy(struct frames *p);
/* Writes the frame of a node (not the root), cut to size. What was found is kept by module and address. */
void frames_text(struct frames *p, uint32_t node, char *out, size_t size);
/* Only the name of its function (symbol_readable); the same as frames_text where that is not known. */
void frames_function(struct frames *p, uint32_t node, char *out, size_t size);

#endif
