/* SPDX-License-Identifier: BSD-3-Clause
 * callbacks - functions that stand in for those that the application gave to MPI
 */
#include "replay/callbacks.h"

void callback_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

void callback_comm_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
}

void callback_win_error(MPI_Win *win, int *code, ...)
{
	(void)win, (void)code;
}

void callback_file_error(MPI_File *file, int *code, ...)
{
	(void)file, (void)code;
}

int callback_query(void *state, MPI_Status *status)
{
	(void)state;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

int callback_free(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

int callback_cancel(void *state, int complete)
{
	(void)state, (void)complete;
	return MPI_SUCCESS;
}

int callback_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	MPI_Aint lb;
	(void)state;
	return PMPI_Type_get_extent(type, &lb, extent);
}

void *callback_attribute(void)
{
	static void *value[4];
	return value;
}
