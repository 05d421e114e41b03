/* SPDX-License-Identifier: BSD-3-Clause
 * wrap - what every wrapper of an MPI function does around the call itself
 *
 * The generated wrappers look like this (MPI_Test_cancelled stands for all; special.c and completion.c have those
 * written by hand):
 *
 *     int wrap_MPI_Test_cancelled(const MPI_Status *status, int *flag)
 *     {
 *         struct call c;
 *         if (!wrap_begin(&c, FN_MPI_Test_cancelled))              // not recorded: just pass it on
 *             return next.MPI_Test_cancelled(status, flag);
 *         int rc = next.MPI_Test_cancelled(status, flag);
 *         bool ok = wrap_end(&c, rc);                              // takes the time
 *         record_MPI_Test_cancelled(&c, ok, rc, status, flag);     // puts every parameter, commits
 *         return rc;
 *     }
 *
 * Their names are not MPI's: a debugger that is told to stop in MPI_Test_cancelled stops in the library. They are
 * reached where the library's own functions were (bind.h).
 *
 * The record_ functions take what C callers pass and are shared: the Fortran wrapper calls the library's own Fortran
 * function with its caller's own arguments, and then translates them for record_.
 */
#ifndef SPOOR_WRAP_H
#define SPOOR_WRAP_H

#include "preload/put.h"

/* A wrapper of a function that no program calls often, away from the others. There are two thousand of them. */
#define WRAP_SELDOM __attribute__((cold))

/* May this call be recorded, although the thread is not ready? While the thread is in a recorded call
 * (recording.frame), a call comes from the MPI library itself, which executes the application's call, or from a
 * callback of the application; only the latter is recorded. */
bool wrap_may_begin(void *return_address);
/* c->rec as call_begin_at left it: NULL if the thread was not ready. */
bool wrap_begin_slowly(struct call *c, enum mpi_number f, void *return_address, void *cfa);

/* Has a parameter stay in memory: said before and after the MPI call, each is stored once and loaded where it is
 * needed. Left alone the compiler keeps as many of them as it can in registers, all of which are the caller's and would
 * have to be saved and put back. */
#define WRAP_KEEP(parameter) __asm__ volatile("" : "+m"(parameter))

/* Must be expanded in the wrapper itself: it is identified by its return address. False: pass the call on. */
#define wrap_begin(c, f) wrap_begin_from((c), (f), __builtin_return_address(0), __builtin_dwarf_cfa())
/* The same for a wrapper with this return address and frame. */
#define wrap_begin_from(c, f, return_address, cfa)                                                \
	(__builtin_expect(call_begin_at(CALL_HERE((c), "="), (f), (return_address), (cfa)), 1) || \
	 wrap_begin_slowly(CALL_HERE((c), "="), (f), (return_address), (cfa)))

static inline bool wrap_end(struct call *c, int rc)
{
	bool ok = call_end(c, rc);
	call_first(c, 0);
	return ok;
}

/* The last step of a record_ function. */
void wrap_error(struct call *c, int rc);
static inline void wrap_commit(struct call *c, bool ok, int rc)
{
	if (__builtin_expect(!ok, 0))
		wrap_error(c, rc);
	call_commit(CALL_HERE(c, "+"));
}

#endif
