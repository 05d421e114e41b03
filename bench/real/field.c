/* SPDX-License-Identifier: BSD-3-Clause
 * field - a program that uses parallel HDF5: the ranks write a field of two dimensions together, ten times, and each
 * reads its right neighbour's part of it
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 50, STEPS = 10 };

static double part[ROWS][COLUMNS];

/* Writes or reads the part of one rank, of all ranks together. */
static void move(hid_t data, hid_t together, int of, bool writes)
{
	hsize_t start[2] = {(hsize_t)of * ROWS, 0}, count[2] = {ROWS, COLUMNS};
	hid_t memory = H5Screate_simple(2, count, NULL), space = H5Dget_space(data);

	H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
	if (writes)
		H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, together, part);
	else
		H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, together, part);
	H5Sclose(space);
	H5Sclose(memory);
}

int main(int argc, char **argv)
{
	int rank, size;
	double sum = 0, total;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	hid_t by_mpi = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
	H5Pset_fapl_mpio(by_mpi, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
	hid_t file = H5Fcreate(argc > 1 ? argv[1] : "field.h5", H5F_ACC_TRUNC, H5P_DEFAULT, by_mpi);
	hsize_t all[2] = {(hsize_t)size * ROWS, COLUMNS};
	hid_t space = H5Screate_simple(2, all, NULL);

	for (int step = 0; step < STEPS; step++) {
		char name[32];
		snprintf(name, sizeof name, "step%d", step);
		hid_t data = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
		for (int i = 0; i < ROWS * COLUMNS; i++)
			part[i / COLUMNS][i % COLUMNS] = rank + step * 0.5 + i * 0.001;
		move(data, together, rank, true);
		MPI_Barrier(MPI_COMM_WORLD);
		move(data, together, (rank + 1) % size, false);
		for (int i = 0; i < ROWS * COLUMNS; i++)
			sum += part[i / COLUMNS][i % COLUMNS];
		H5Dclose(data);
	}
	H5Sclose(space);
	H5Fclose(file);
	H5Pclose(together);
	H5Pclose(by_mpi);
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("field: %d ranks, sum %.6f\n", size, total);
	MPI_Finalize();
	return 0;
}
