/* SPDX-License-Identifier: BSD-3-Clause
 * addresses - addresses of the recorded processes, which mean nothing here
 */
#ifndef SPOOR_ADDRESSES_H
#define SPOOR_ADDRESSES_H

#include "replay/outcome.h"

/* The displacement to use where the application used this one: in a dynamic window it was an address. */
MPI_Aint address_in_window(MPI_Win win, int target, MPI_Aint disp);

#endif
