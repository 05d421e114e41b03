/* SPDX-License-Identifier: BSD-3-Clause
 * callbacks - functions that stand in for those that the application gave to MPI: they do nothing
 */
#ifndef SPOOR_CALLBACKS_H
#define SPOOR_CALLBACKS_H

#include "replay/outcome.h"

void callback_op(void *in, void *inout, int *n, MPI_Datatype *type);
void callback_comm_error(MPI_Comm *comm, int *code, ...);
void callback_win_error(MPI_Win *win, int *code, ...);
void callback_file_error(MPI_File *file, int *code, ...);
int callback_query(void *state, MPI_Status *status);
int callback_free(void *state);
int callback_cancel(void *state, int complete);
int callback_extent(MPI_Datatype type, MPI_Aint *extent, void *state);
/* An attribute's value: valid always. */
void *callback_attribute(void);

#endif
