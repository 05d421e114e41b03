/* SPDX-License-Identifier: BSD-3-Clause
 * buffers - the memory that replayed calls send from and receive into
 *
 * A buffer is in one of two pools: those that are sent from, which are filled as far as something is sent, and those
 * that are received into. Where the trace says which one it was, it is always at the same address: the one of this
 * number among the call's buffers. Buffers never move while the replay runs. Of those that are received into, memory is
 * touched only by what comes: a receive of 1 GB that gets 1 KB takes one page. What there are no addresses for leaves
 * the call (args_fail).
 */
#ifndef SPOOR_BUFFERS_H
#define SPOOR_BUFFERS_H

#include "replay/args.h"

enum buffer_use { BUFFER_OUT, BUFFER_IN };
/* What functions below call `which`: the pool, and the buffer's number in the call; -1: the trace does not say where
 * it was. */
#define BUFFER_NUMBER(use, number) ((int)(use) | ((number) + 1) << 1)

void *buffer_bytes(struct args *a, int which, int64_t bytes);
void *buffer_typed(struct args *a, int which, int64_t count, struct object *type);
/* One with a count and a displacement for each peer, in units of the type's extent; with a type for each: in bytes. */
void *buffer_vector(struct args *a, int which, int64_t counts, int64_t displs, struct object *type);
void *buffer_typed_vector(struct args *a, int which, int64_t counts, int64_t displs, int64_t types);
/* The position before a call of MPI_Pack or MPI_Unpack, of which the one behind it is recorded. */
int64_t buffer_position(struct args *a, int64_t v, int64_t count, struct object *type, bool external);

/* Memory that the application gave to MPI; freed with the window, if there is one. */
void *buffer_memory(struct args *a, int which, struct object *win, int64_t size);
/* The window that is made now. */
struct object *buffer_window(struct args *a, int64_t v);
/* MPI_Alloc_mem gave this; what MPI_Free_mem gets: the last one. */
void buffer_allocated(struct args *a, void *base);
void *buffer_freed(struct args *a, int which);

#endif
