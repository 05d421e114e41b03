/* SPDX-License-Identifier: BSD-3-Clause
 * special - the functions with which MPI begins and ends, and those that are legal without it
 *
 * Each of these is the second half of a wrapper, after the call itself (record_finalize, record_abort: before it), for
 * C and for Fortran. They do what wrap_end does.
 */
#ifndef SPOOR_SPECIAL_H
#define SPOOR_SPECIAL_H

#include "preload/wrap.h"

void record_init(struct call *c, int rc);
void record_init_thread(struct call *c, int rc, int required, const int *provided);
void record_finalize(struct call *c);
void record_abort(struct call *c, MPI_Comm comm, int errorcode);
void record_flag(struct call *c, int rc, const int *flag); /* MPI_Initialized, MPI_Finalized */
void record_pcontrol(struct call *c, int rc, int level);

#endif
