/* SPDX-License-Identifier: BSD-3-Clause
 * thread - the recorders of a rank's further threads
 *
 * If MPI provides MPI_THREAD_MULTIPLE, every thread that calls MPI has a recorder of its own, with an arena of its own,
 * so that recording an event takes no lock and touches nothing that another thread writes to. Thread 0 is the one that
 * initialised MPI, and its recorder is recorder_current. Another thread takes the lowest number that no living thread
 * has, at its first call; when it ends, its recorder waits for the next thread that takes the number. So there are
 * never more recorders than there were threads at a time.
 *
 * With the other thread levels there is one recorder for all threads: the program itself sees to it that they call one
 * after the other, and the order in which they do is the rank's. Whose turn it is is known all the same. Not all
 * programs are right; and what any thread may call at any time is no event where it is not its turn.
 */
#ifndef SPOOR_THREAD_H
#define SPOOR_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/error.h"

struct recorder;

/* Threads that may be in MPI at a time. Calls of further ones are counted, not recorded. */
#define THREADS_MAX 4096

/* MPI is initialised, with MPI_THREAD_MULTIPLE, and the calling thread is thread 0: from now on others have recorders
 * of their own. prefix: of the names of their arenas; the thread's number and ".arena" follow. joined: called in each
 * thread that gets a number, with it, and now for thread 0. */
void thread_begin(const char *prefix, void (*joined)(uint32_t thread));
extern bool thread_several __attribute__((visibility("hidden")));

/* The calling thread's recorder, which is made if it has none. NULL: it cannot be made (that is noted once, see
 * thread_failed), and calls of this thread are counted as lost. Keeps errno. */
struct recorder *thread_recorder(void);
/* Below MPI_THREAD_MULTIPLE: is it the calling thread's turn to record in r? It is in no event, and not `ready`. The
 * turn is taken from a thread that is in no event either. False: two threads are in MPI at a time. Keeps errno. */
bool thread_turn(struct recorder *r);
/* The calling thread uses this recorder. When it ends, what the recorder knows of its stack must be forgotten. */
void thread_uses(struct recorder *r);

/* The recorder of thread n; NULL: it has none, as it is being made, or could not be. 0: recorder_current. */
struct recorder *thread_at(uint32_t n);
/* Threads have numbers below this one. */
uint32_t thread_count(void);
/* The name of the arena of thread n > 0, which has a recorder. */
void thread_arena(uint32_t n, char *path, size_t size);
/* Why the first recorder that could not be made could not; NULL: all could. */
const char *thread_failed(void);

#endif
