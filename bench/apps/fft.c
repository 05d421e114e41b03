/* SPDX-License-Identifier: BSD-3-Clause
 * fft - the transposes of a 3D FFT: pencils on a 2D process grid, MPI_Alltoall in its rows and columns
 *
 * The transform along a pencil is a cheap stand-in of the same shape (butterflies); what is exchanged, and with whom,
 * is real.
 */
#include "bench/apps/app.h"

#include <complex.h>

enum { BLOCK = 8 }; /* numbers that each two ranks of the grid exchange, at least */

static void butterflies(double complex *x, int n)
{
	for (int half = n / 2, depth = 0; half > 0 && depth < 3; half /= 2, depth++)
		for (int i = 0; i + half < n; i++) {
			double complex a = x[i], b = x[i + half];
			x[i] = 0.5 * (a + b);
			x[i + half] = 0.5 * (a - b) * I + 0.125;
		}
}

/* The numbers of a rank go to all of the communicator, an equal part to each. */
static void transpose(MPI_Comm comm, int parts, double complex *from, double complex *to, int n)
{
	MPI_Alltoall(from, n / parts, MPI_C_DOUBLE_COMPLEX, to, n / parts, MPI_C_DOUBLE_COMPLEX, comm);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("fft", &argc, &argv);
	int dims[2] = {0, 0}, periods[2] = {0, 0};
	MPI_Comm grid, row, column;
	double complex part, all = 0;

	MPI_Dims_create(app.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Cart_sub(grid, (int[]){0, 1}, &row);
	MPI_Cart_sub(grid, (int[]){1, 0}, &column);
	int n = BLOCK * dims[0] * dims[1];
	double complex *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
	if (!a || !b)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < n; i++)
		a[i] = random_unit(&app.random) + I * random_unit(&app.random);

	uint64_t sum = 0;
	for (int step = 0; step < app.steps; step++) {
		butterflies(a, n);
		transpose(row, dims[1], a, b, n);
		butterflies(b, n);
		transpose(column, dims[0], b, a, n);
		butterflies(a, n);
		app_work(&app);
		part = 0;
		for (int i = 0; i < n; i += 7)
			part += a[i];
		MPI_Reduce(&part, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
		if (app.rank == 0)
			sum = sum_add(sum, (double[]){creal(all), cimag(all)}, 2);
	}
	sum = sum_add(sum, (double *)a, 2 * (size_t)n);
	free(a);
	free(b);
	MPI_Comm_free(&row);
	MPI_Comm_free(&column);
	MPI_Comm_free(&grid);
	return app_end(&app, sum);
}
