/* SPDX-License-Identifier: BSD-3-Clause
 * left - calls that did not return: an error handler, or another callback, threw a C++ exception or called longjmp
 *
 * Nothing on the way of an event asks for them. A call that was left leaves its frame in recording.frame, so that the
 * thread is not ready, and its next call takes the slow way. There the stack is unwound: it still has the frame of a
 * call that this one is inside of, and no frame of one that was left.
 *
 *     main -> MPI_Send -> handler -> MPI_Error_string    MPI_Send's frame is on the stack: this call is inside of it
 *     main -> solve -> MPI_Barrier                       it is not: MPI_Send was left
 *
 * What was left becomes an event before the next one: a failed call whose error is CONST_LEFT, all parameters "-". They
 * were in a frame that is gone. It ends when it is found, and takes no time.
 */
#ifndef SPOOR_LEFT_H
#define SPOOR_LEFT_H

#include "preload/recorder_internal.h"

/* Of a thread that is in a call (recording.frame), when it makes another one: calls that it left become events, and
 * the thread is in none of them any more. Leaves the thread not ready. now: in ticks. */
void left_look(struct recorder *r, void *return_address, void *cfa, uint64_t now);
/* The thread ends: it left all calls that it is in. */
void left_thread_ends(struct recorder *r);
/* A call begins inside of another one, the innermost that the thread is in. */
void left_nest(struct recorder *r);

#endif
