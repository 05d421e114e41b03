/* SPDX-License-Identifier: BSD-3-Clause
 * cg - conjugate gradient on a 2D process grid with transpose partners, as in the CG benchmark
 *
 * A matrix-vector product is summed along the rows of the grid by exchanges with partners at halving distances, then
 * each rank swaps its part with its partner across the diagonal. Dot products are exchanges of one number. The operator
 * is a stand-in of the same shape that keeps the numbers bounded.
 */
#include "bench/apps/app.h"

enum { MAX_STAGES = 16, LENGTH = 64, INNER = 5 };

static int rows, columns, stages, partner[MAX_STAGES], across;
static double p[LENGTH], q[LENGTH], r[LENGTH], z[LENGTH], in[LENGTH];

static void plan(int rank, int size)
{
	int log = 0;
	while (1 << log < size)
		log++;
	rows = 1 << log / 2;
	columns = size / rows;
	int row = rank / columns, column = rank % columns;
	for (int width = columns; width > 1; width /= 2)
		partner[stages++] = row * columns + column / width * width + (column + width / 2) % width;
	if (rows == columns)
		across = rank % rows * rows + rank / rows;
	else
		across = 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
}

/* Sum of a number over the row of the grid. */
static double row_sum(double x)
{
	for (int i = 0; i < stages; i++) {
		MPI_Request request;
		double other;
		MPI_Irecv(&other, 1, MPI_DOUBLE, partner[i], 1, MPI_COMM_WORLD, &request);
		MPI_Send(&x, 1, MPI_DOUBLE, partner[i], 1, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		x += other;
	}
	return x;
}

static double dot(const double *a, const double *b)
{
	double sum = 0;
	for (int i = 0; i < LENGTH; i++)
		sum += a[i] * b[i];
	return row_sum(sum);
}

/* to = A * from */
static void multiply(const double *from, double *to)
{
	double w[LENGTH];
	MPI_Request request;
	for (int i = 0; i < LENGTH; i++)
		w[i] = (2.5 * from[i] - from[(i + 1) % LENGTH] - from[(i + LENGTH - 1) % LENGTH]) / columns;
	for (int i = 0; i < stages; i++) {
		MPI_Irecv(in, LENGTH, MPI_DOUBLE, partner[i], 2, MPI_COMM_WORLD, &request);
		MPI_Send(w, LENGTH, MPI_DOUBLE, partner[i], 2, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int k = 0; k < LENGTH; k++)
			w[k] += in[k];
	}
	if (stages == 0) {
		memcpy(to, w, sizeof w);
		return;
	}
	MPI_Irecv(to, LENGTH, MPI_DOUBLE, across, 3, MPI_COMM_WORLD, &request);
	MPI_Send(w, LENGTH, MPI_DOUBLE, across, 3, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double ratio(double a, double b)
{
	double x = b != 0 ? a / b : 0;
	return x > 2 ? 2 : x < -2 ? -2 : x;
}

static void solve(void)
{
	double rho = dot(r, r);
	for (int n = 0; n < INNER; n++) {
		multiply(p, q);
		double alpha = ratio(rho, dot(p, q)), before = rho;
		for (int i = 0; i < LENGTH; i++) {
			z[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		rho = dot(r, r);
		double beta = ratio(rho, before);
		for (int i = 0; i < LENGTH; i++)
			p[i] = r[i] + beta * p[i];
	}
	multiply(z, in);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("cg", &argc, &argv);
	double x[LENGTH], norm;

	app_need(&app, (app.size & (app.size - 1)) == 0 && app.size <= 1 << MAX_STAGES,
	         "1, 2, 4, 8, ... (a power of two)");
	plan(app.rank, app.size);
	for (int i = 0; i < LENGTH; i++)
		x[i] = random_unit(&app.random);

	for (int step = 0; step < app.steps; step++) {
		for (int i = 0; i < LENGTH; i++) {
			z[i] = q[i] = 0;
			r[i] = p[i] = x[i];
		}
		solve();
		app_work(&app);
		norm = dot(z, z);
		for (int i = 0; i < LENGTH; i++)
			x[i] = 0.5 * x[i] + 0.5 * z[i] / (1 + norm);
	}
	return app_end(&app, sum_add(0, x, LENGTH));
}
