/* SPDX-License-Identifier: BSD-3-Clause
 * slim - how large the file of a lossy trace may be, and what it gives up to be no larger
 *
 * A lossy trace does not grow with time: what does is a tally. What is left are its call sites, what they have, and how
 * their times were. Where that is too much, times become means, those that matter least first, then columns lose
 * their order, and at last call paths are cut (merge/path_cut.h). How often something happened, and how long it took
 * together, stays exact.
 */
#ifndef SPOOR_MERGE_SLIM_H
#define SPOOR_MERGE_SLIM_H

#include <stddef.h>

#include "trace/file/container.h"
#include "trace/model/trace.h"

/* The bytes that a trace may have in its file, compressed. SIZE_MAX if it may have any number: it is not lossy, or it
 * keeps its structure, or it is still to be merged. */
size_t slim_bytes(const struct trace *t);

/* Makes a complete trace smaller. Steps are taken one after the other, from 0. Returns 1; 0 if there is no such step,
 * or none that would help, and nothing is changed; -1 on no memory. */
int slim_shrink(struct trace *t, unsigned step);

/* What the steps that were taken gave up, in words; NULL if none was. */
const char *slim_given_up(const struct trace *t);

/* Of a trace whose file has *size bytes, which are too many: takes steps until they are not, or there is no further
 * one. *bytes and *size become those of the smaller file (trace_encode). Returns 0, or -1 on no memory. */
int slim_encode(struct trace *t, const struct chunk *meta, const struct codec *codec, uint8_t **bytes, size_t *size);

#endif
