/* SPDX-License-Identifier: BSD-3-Clause
 * team - the threads of a rank (MPI_THREAD_MULTIPLE): each replays the events of one of them
 *
 * A trace has the order of the events of each thread. Between threads is kept what follows from what they did
 * (trace/read/needs.h): what a thread uses was made before, by whichever thread; a communicator is freed when nobody uses it
 * any more; a request's number is made anew when the one before was completed; no thread calls before MPI is
 * initialised, and MPI_Finalize is the last call. Threads make their first calls in the order of their numbers, so that
 * a tracer gives them the same ones. A thread that has to wait does so between its calls. If all wait for each other,
 * what one waits for was another object with the same number, and the one that waits for the least goes on. If the
 * trace has the exact times of all events (timing: full), their order is known (trace/read/weave.h), and all calls of a rank
 * begin in it.
 *
 * Each thread has its own table of objects: two threads may have made objects of the same number at the same time,
 * where the recorded ones had it one after the other. What a thread did not make itself it takes from the others'
 * tables.
 *
 * Not replayed, and refused before the start (team_impossible), is what the order matters for and is not known.
 */
#ifndef SPOOR_TEAM_H
#define SPOOR_TEAM_H

#include "replay/play.h"

struct team;

/* Why the trace cannot be replayed with its threads, in text (of n bytes); NULL: it can, or no rank has several. */
const char *team_impossible(const struct trace *t, bool partial, char *text, size_t n);
/* Of one rank; costs a walk of each of its threads. *out stays NULL if the rank has one thread only. Returns 0, or -1
 * with error set: also if which objects its threads passed to each other is not clear. */
int team_create(struct team **out, const struct trace *t, uint32_t rank, struct error *error);
void team_destroy(struct team *m);
/* How many further threads there are, and the stream of the i-th. */
int team_count(const struct team *m);
uint32_t team_stream(const struct team *m, int i);
/* The player of a stream; before its first event. */
void team_join(struct team *m, struct play *p);
/* Around each event: waits until it may be made; it was made. */
void team_enter(struct team *m, const struct event *e);
void team_leave(struct team *m, const struct event *e);
/* The calling thread has no more events; waits for the others. */
void team_leave_all(struct team *m);

/* For play.c: what another thread has under this number; NULL: nobody has. The lock that a table is changed under. */
struct object *team_object(struct team *m, enum play_kind kind, int64_t v);
struct entry *team_entry(struct team *m, uint32_t thread, uint32_t number);
void team_lock(struct team *m);
void team_unlock(struct team *m);

#endif
