/* SPDX-License-Identifier: BSD-3-Clause
 * mismatch - messages and collectives that do not fit what is waited for
 */
#ifndef SPOOR_INSIGHT_MISMATCH_H
#define SPOOR_INSIGHT_MISMATCH_H

#include "insight/blocked.h"
#include "insight/phrase.h"

/* True, with the text, and the number of the stream that is in it, if ranks are in different collectives of one
 * communicator, or name different roots; or if one that is stuck waits for a message that was sent to it otherwise. */
bool mismatch_find(struct phrase *x, const struct blocked *b, uint32_t *number);
/* The call that a stream is in, or that it polls: "MPI_Recv source=3 tag=7", "MPI_Waitall of MPI_Irecv source=3 tag=7".
 * Ranks are those of the call's communicator. Returns out. */
const char *mismatch_call(char *out, size_t size, const struct blocked *b, uint32_t number);

#endif
