/* SPDX-License-Identifier: BSD-3-Clause
 * special - the functions with which MPI begins and ends, and MPI_Pcontrol
 *
 * The record_ functions are what a wrapper does besides the call itself, for C and for Fortran: after it, of
 * MPI_Finalize and MPI_Abort before it. They do what wrap_end does.
 */
#ifndef SPOOR_SPECIAL_H
#define SPOOR_SPECIAL_H

#include "preload/wrap.h"

/* MPI_Init or MPI_Init_thread came back with rc: said before wrap_end. */
void special_initialized(struct call *c, int rc);
void record_finalize(struct call *c);
void record_abort(struct call *c, MPI_Comm comm, int errorcode);
void record_pcontrol(struct call *c, int rc, int level);

#endif
