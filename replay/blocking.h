/* SPDX-License-Identifier: BSD-3-Clause
 * blocking - calls that wait for other ranks and have no non-blocking form: they are made when all whom they wait for
 * are there
 *
 * Only where waiting must come to an end (replay_outcome.polling); else the functions below do nothing.
 */
#ifndef SPOOR_BLOCKING_H
#define SPOOR_BLOCKING_H

#include "replay/outcome.h"

/* A window or file was made on this communicator. Collective. */
void blocking_register(void *handle, MPI_Comm comm);
/* Until all its members have come here. */
void blocking_enter(void *handle);
/* It is gone. Collective. */
void blocking_unregister(void *handle);
/* MPI_Win_wait, for MPI_Win_test. */
int blocking_win_wait(MPI_Win win);

#endif
