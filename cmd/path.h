/* SPDX-License-Identifier: BSD-3-Clause
 * path - frames of call paths as text: "main at halo.c:41 (halo)", as far as the files of then are still there
 */
#ifndef SPOOR_PATH_H
#define SPOOR_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/trace.h"

struct path_names;

/* Returns NULL on no memory. The trace must outlive it. Files are opened when a frame in them is first asked for; one
 * whose build id is another than the trace's is not used. */
struct path_names *path_names_create(const struct trace *t);
void path_names_destroy(struct path_names *p);
/* Writes the frame of a node (not the root), cut to size. */
void path_frame(struct path_names *p, uint32_t node, char *out, size_t size);

#endif
