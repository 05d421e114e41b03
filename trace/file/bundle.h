/* SPDX-License-Identifier: BSD-3-Clause
 * bundle - the small chunks of a file as one, which is compressed as one (doc/trace-format.md, "JOIN")
 *
 * A trace of some kilobytes has ten chunks of some hundred bytes. Each would begin a compressor anew, and has an entry
 * of 32 bytes in the table.
 */
#ifndef SPOOR_BUNDLE_H
#define SPOOR_BUNDLE_H

#include "trace/base/varint.h"
#include "trace/file/container.h"

#define BUNDLE_ID       "JOIN"
#define BUNDLE_MOST     64          /* chunks */
#define BUNDLE_MAX_SIZE (16 * 1024) /* bytes of each of them */

/* Is it one of those? What a range coder made is not: nothing makes it smaller. */
bool bundle_takes(const struct chunk *c);
/* Writes those of the n chunks that are taken, if that are two at least. Returns how many. */
size_t bundle_put(struct writer *w, const struct chunk *chunks, size_t n);
/* Reads them: at most BUNDLE_MOST, whose data points into `bytes`. Their offsets and stored sizes are left alone.
 * Returns how many, or -1: damaged. */
int bundle_get(struct chunk out[BUNDLE_MOST], const uint8_t *bytes, size_t n);
/* A chunk's name as it can be printed. */
void bundle_name(char out[CHUNK_ID_SIZE + 1], const uint8_t *id);

#endif
