/* SPDX-License-Identifier: BSD-3-Clause
 * adi - alternating directions on a cyclic multipartition, as in the BT and SP benchmarks
 *
 * q*q ranks share a grid of q*q*q cells; each rank has q of them, one in every slice of every dimension, so that in a
 * sweep no rank waits: in each of q stages it takes what its predecessor found out, solves in one cell, and passes on.
 * Cells are not all of the same size, so message sizes and tags change from stage to stage.
 */
#include "bench/apps/app.h"

enum { SIDE = 4, MAX_Q = 32, CELL = (SIDE + 1) * (SIDE + 1) * (SIDE + 1), FACE = (SIDE + 1) * (SIDE + 1) };

struct cell {
	int at[3], size[3];
	double value[CELL];
};

static struct cell cells[MAX_Q];
static int q, predecessor[3], successor[3];

/* Part i of a dimension that q does not divide. */
static int extent(int i)
{
	return SIDE + (i < (q + 1) / 2);
}

static void plan(int rank)
{
	int i = rank % q, j = rank / q;
	for (int c = 0; c < q; c++) {
		cells[c].at[0] = (i + c) % q;
		cells[c].at[1] = (j - c + q) % q;
		cells[c].at[2] = c;
		for (int d = 0; d < 3; d++)
			cells[c].size[d] = extent(cells[c].at[d]);
	}
	successor[0] = (i + 1) % q + q * j;
	successor[1] = i + q * ((j + 1) % q);
	successor[2] = (i - 1 + q) % q + q * ((j + 1) % q);
	predecessor[0] = (i - 1 + q) % q + q * j;
	predecessor[1] = i + q * ((j - 1 + q) % q);
	predecessor[2] = (i + 1) % q + q * ((j - 1 + q) % q);
}

/* Which of this rank's cells is in a slice. */
static struct cell *slice(int d, int stage)
{
	for (int c = 0; c < q; c++)
		if (cells[c].at[d] == stage)
			return &cells[c];
	abort();
}

/* The value at position t of line (a, b) in direction d. */
static double *value(struct cell *c, int d, int a, int b, int t)
{
	int at[3];
	at[d] = t;
	at[(d + 1) % 3] = a;
	at[(d + 2) % 3] = b;
	return &c->value[(at[0] * (SIDE + 1) + at[1]) * (SIDE + 1) + at[2]];
}

static int face_size(const struct cell *c, int d)
{
	return c->size[(d + 1) % 3] * c->size[(d + 2) % 3];
}

static int tag_of(const struct cell *c, int d, bool back)
{
	return 100 + c->at[(d + 1) % 3] + q * c->at[(d + 2) % 3] + 2 * q * q * d + back * q * q;
}

/* The faces of all cells, to the neighbours in six directions at once. */
static void copy_faces(void)
{
	static double out[6][MAX_Q * FACE], in[6][MAX_Q * FACE];
	MPI_Request request[12];
	int n[3] = {0, 0, 0};
	for (int d = 0; d < 3; d++)
		for (int c = 0; c < q; c++)
			n[d] += face_size(&cells[c], d);
	for (int i = 0; i < 6; i++)
		MPI_Irecv(in[i], n[i / 2], MPI_DOUBLE, i % 2 ? successor[i / 2] : predecessor[i / 2], 10 + (i ^ 1),
		          MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < 6; i++) {
		int d = i / 2, k = 0;
		for (int s = 0; s < q; s++) {
			struct cell *c = slice(d, s);
			for (int a = 0; a < c->size[(d + 1) % 3]; a++)
				for (int b = 0; b < c->size[(d + 2) % 3]; b++)
					out[i][k++] = *value(c, d, a, b, i % 2 ? c->size[d] - 1 : 0);
		}
	}
	for (int i = 0; i < 6; i++)
		MPI_Isend(out[i], n[i / 2], MPI_DOUBLE, i % 2 ? successor[i / 2] : predecessor[i / 2], 10 + i,
		          MPI_COMM_WORLD, &request[6 + i]);
	MPI_Waitall(12, request, MPI_STATUSES_IGNORE);
	for (int c = 0; c < q; c++)
		for (int i = 0; i < 6; i++)
			cells[c].value[0] = 0.75 * cells[c].value[0] + 0.25 * in[i][c];
}

/* Forward elimination through the stages, or (back) substitution in the reverse order. */
static void sweep(int d, bool back)
{
	double carry[FACE] = {0}, sent[FACE];
	MPI_Request request = MPI_REQUEST_NULL;
	for (int n = 0; n < q; n++) {
		struct cell *c = slice(d, back ? q - 1 - n : n);
		int count = face_size(c, d);
		if (n > 0) {
			MPI_Request incoming;
			MPI_Irecv(carry, count, MPI_DOUBLE, back ? successor[d] : predecessor[d], tag_of(c, d, back),
			          MPI_COMM_WORLD, &incoming);
			MPI_Wait(&incoming, MPI_STATUS_IGNORE);
		}
		for (int a = 0, k = 0; a < c->size[(d + 1) % 3]; a++)
			for (int b = 0; b < c->size[(d + 2) % 3]; b++, k++)
				for (int t = 0; t < c->size[d]; t++) {
					double *x = value(c, d, a, b, back ? c->size[d] - 1 - t : t);
					carry[k] = *x = 0.625 * *x + 0.375 * carry[k];
				}
		if (n > 0 && request != MPI_REQUEST_NULL)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (n < q - 1) {
			memcpy(sent, carry, sizeof sent);
			MPI_Isend(sent, count, MPI_DOUBLE, back ? predecessor[d] : successor[d], tag_of(c, d, back),
			          MPI_COMM_WORLD, &request);
		}
	}
	if (request != MPI_REQUEST_NULL)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void x_solve(void)
{
	sweep(0, false);
	sweep(0, true);
}

static void y_solve(void)
{
	sweep(1, false);
	sweep(1, true);
}

static void z_solve(void)
{
	sweep(2, false);
	sweep(2, true);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("adi", &argc, &argv);
	uint64_t sum = 0;

	while (q * q < app.size)
		q++;
	app_need(&app, q * q == app.size && q <= MAX_Q, "1, 4, 9, 16, ... (a square, at most 1024)");
	plan(app.rank);
	for (int c = 0; c < q; c++)
		for (int i = 0; i < CELL; i++)
			cells[c].value[i] = random_unit(&app.random);

	for (int step = 0; step < app.steps; step++) {
		copy_faces();
		x_solve();
		y_solve();
		z_solve();
		app_work(&app);
	}
	for (int c = 0; c < q; c++)
		sum = sum_add(sum, cells[c].value, CELL);
	return app_end(&app, sum);
}
