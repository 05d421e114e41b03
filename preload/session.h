/* SPDX-License-Identifier: BSD-3-Clause
 * session - the life of the tracer in one process: from its first MPI call to MPI_Finalize
 */
#ifndef SPOOR_SESSION_H
#define SPOOR_SESSION_H

#include <stdbool.h>

/* Called by the recorder at a call while nothing is recorded: decides once, by the handoff, whether this process
 * records, and starts the recorder. False: nothing is recorded. Keeps errno. */
bool session_wake(void);

/* Says in the step's spool folder, if it has one, why this process records nothing; it will not record anything later,
 * either. */
void session_refuse(const char *why);
/* The same of what may change. */
void session_remark(const char *why);

/* Called by the MPI_Init and MPI_Init_thread wrappers after the PMPI function succeeded, before call_end: learns rank
 * and size in MPI_COMM_WORLD. No other rank is asked for anything: it may not be traced. thread_level: MPI_THREAD_* as
 * provided. */
void session_initialized(int thread_level);

/* Called by the MPI_Session_init wrapper: rank and size in the process set of the world. Until MPI_Init is called, if
 * ever, there is no MPI_COMM_WORLD to merge in: not every process of the world need have a session. The arenas stay
 * then. */
void session_opened(int rank, int size, int thread_level);

/* Called by the MPI_Finalize wrapper after its event was committed and before PMPI_Finalize: ends recording, merges the
 * ranks' traces, leaves one trace file in the spool. Never fails the caller and never blocks longer than the deadline.
 * */
void session_finalize(void);

/* This is a child process of the one that records: it does not. */
void session_forked(void);

/* Rank in MPI_COMM_WORLD; 0 before session_initialized. */
static inline int session_world_rank(void);

/* ---- implementation ---- */

extern int session_rank __attribute__((visibility("hidden")));

static inline int session_world_rank(void)
{
	return session_rank;
}

#endif
