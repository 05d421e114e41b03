/* SPDX-License-Identifier: BSD-3-Clause
 * keys - a program that makes as many keys of threads as there are, and says how many
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int keys = 0, size;
	pthread_key_t key;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while (!pthread_key_create(&key, NULL))
		keys++;
	printf("%d keys\n", keys);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Finalize();
	return 0;
}
