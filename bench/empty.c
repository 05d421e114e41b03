/* SPDX-License-Identifier: BSD-3-Clause
 * empty - an MPI program that does nothing: what it takes to trace it is the cost of starting and ending
 * (bench/start.py)
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}
