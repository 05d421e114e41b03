/* SPDX-License-Identifier: BSD-3-Clause
 * plugin - a library that calls MPI, to be loaded and unloaded; it is built twice, with a NUMBER each
 */
#include <mpi.h>

int plugin_number = NUMBER;

void visit(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	plugin_number++;
}
