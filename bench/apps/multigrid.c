/* SPDX-License-Identifier: BSD-3-Clause
 * multigrid - V-cycles on a periodic 3D grid, as in the MG benchmark
 *
 * On the finest levels all ranks have a cube of cells. Where a rank's cube would shrink below 2 cells a side, only
 * every second rank of each dimension goes on: the others send it their cell and wait for it to come back. So the
 * neighbours, the message sizes and who takes part depend on the level.
 *
 * As in MG the grid is the same however many ranks share it: 32 cells along its longest side. Then there are as many
 * levels on 4 ranks as on 256. With --weak each rank has a cube of 8 cells a side, and twice as many ranks along a side
 * are one level more.
 */
#include "bench/apps/app.h"

enum { GRID = 32, WEAK = 8, FINEST = GRID, COARSEST = 2, MAX_LEVELS = 24 };

typedef double cube[FINEST + 2][FINEST + 2][FINEST + 2];

struct level {
	int cells;      /* a side, on each rank that takes part */
	int stride;     /* between ranks that take part */
	bool part;      /* does this rank? */
	int side[3][2]; /* the neighbours */
	int parent;     /* who goes on for this rank on the next level */
	int child[8];   /* for whom this rank goes on, from the level before; MPI_PROC_NULL: nobody is there */
	cube grid;
};

static struct level levels[MAX_LEVELS];
static int level_count;
static MPI_Comm comm;

static int rank_at(int x, int y, int z)
{
	int rank;
	MPI_Cart_rank(comm, (int[]){x, y, z}, &rank);
	return rank;
}

/* Cells a side of each rank's cube on the finest level. */
static int finest(int most, bool weak)
{
	int side = 1;
	while (side < most)
		side *= 2;
	return weak ? WEAK : GRID / side > COARSEST ? GRID / side : COARSEST;
}

static void plan(int rank, const int *dims, bool weak)
{
	int at[3], most = 1, n = 0;
	MPI_Cart_coords(comm, rank, 3, at);
	for (int i = 0; i < 3; i++)
		most = dims[i] > most ? dims[i] : most;
	for (int cells = finest(most, weak), stride = 1; n < MAX_LEVELS; n++) {
		struct level *l = &levels[n];
		l->cells = cells;
		l->stride = stride;
		l->part = at[0] % stride == 0 && at[1] % stride == 0 && at[2] % stride == 0;
		for (int i = 0; i < 3 && l->part; i++) {
			int there[3] = {at[0], at[1], at[2]};
			there[i] = at[i] >= stride ? at[i] - stride : (dims[i] - 1) / stride * stride;
			l->side[i][0] = rank_at(there[0], there[1], there[2]);
			there[i] = at[i] + stride < dims[i] ? at[i] + stride : 0;
			l->side[i][1] = rank_at(there[0], there[1], there[2]);
		}
		int wide = 2 * stride;
		l->parent = rank_at(at[0] / wide * wide, at[1] / wide * wide, at[2] / wide * wide);
		for (int i = 0; i < 8; i++) {
			int there[3] = {at[0] + (i & 1) * stride / 2, at[1] + (i >> 1 & 1) * stride / 2,
			                at[2] + (i >> 2) * stride / 2};
			bool there_is = there[0] < dims[0] && there[1] < dims[1] && there[2] < dims[2];
			l->child[i] = l->part && stride > 1 && there_is ? rank_at(there[0], there[1], there[2])
			                                                : MPI_PROC_NULL;
		}
		if (cells > COARSEST)
			cells /= 2;
		else if (stride < most)
			stride *= 2;
		else
			break;
	}
	level_count = n < MAX_LEVELS ? n + 1 : n;
}

/* Copies the face of one axis and side to or from a buffer. */
static void face(struct level *l, int axis, int at, double *buffer, bool out)
{
	for (int i = 0, n = 0; i < l->cells + 2; i++)
		for (int j = 0; j < l->cells + 2; j++, n++) {
			double *cell = axis == 0   ? &l->grid[at][i][j]
			               : axis == 1 ? &l->grid[i][at][j]
			                           : &l->grid[i][j][at];
			if (out)
				buffer[n] = *cell;
			else
				*cell = buffer[n];
		}
}

static void exchange(struct level *l)
{
	static double out[2][(FINEST + 2) * (FINEST + 2)], in[2][(FINEST + 2) * (FINEST + 2)];
	int n = l->cells, count = (n + 2) * (n + 2);
	for (int axis = 0; axis < 3; axis++) {
		MPI_Request q[2];
		for (int i = 0; i < 2; i++)
			MPI_Irecv(in[i], count, MPI_DOUBLE, l->side[axis][i], 10 * axis + 1 - i, comm, &q[i]);
		for (int i = 0; i < 2; i++) {
			face(l, axis, i ? n : 1, out[i], true);
			MPI_Send(out[i], count, MPI_DOUBLE, l->side[axis][i], 10 * axis + i, comm);
		}
		for (int i = 0; i < 2; i++) {
			MPI_Wait(&q[i], MPI_STATUS_IGNORE);
			face(l, axis, i ? n + 1 : 0, in[i], false);
		}
	}
}

static void smooth(struct level *l)
{
	static cube next;
	exchange(l);
	for (int i = 1; i <= l->cells; i++)
		for (int j = 1; j <= l->cells; j++)
			for (int k = 1; k <= l->cells; k++)
				next[i][j][k] =
					0.4 * l->grid[i][j][k] +
					0.1 * (l->grid[i - 1][j][k] + l->grid[i + 1][j][k] + l->grid[i][j - 1][k] +
				               l->grid[i][j + 1][k] + l->grid[i][j][k - 1] + l->grid[i][j][k + 1]);
	for (int i = 1; i <= l->cells; i++)
		for (int j = 1; j <= l->cells; j++)
			memcpy(&l->grid[i][j][1], &next[i][j][1], (size_t)l->cells * sizeof(double));
}

/* The cell of the next level that covers 2*2*2 cells of this one. */
static double mean(const struct level *l, int i, int j, int k)
{
	double sum = 0;
	for (int n = 0; n < 8; n++)
		sum += l->grid[2 * i - 1 + (n & 1)][2 * j - 1 + (n >> 1 & 1)][2 * k - 1 + (n >> 2)];
	return sum / 8;
}

static void down(struct level *fine, struct level *coarse, int rank)
{
	if (coarse->stride == fine->stride) {
		for (int i = 1; i <= coarse->cells; i++)
			for (int j = 1; j <= coarse->cells; j++)
				for (int k = 1; k <= coarse->cells; k++)
					coarse->grid[i][j][k] = mean(fine, i, j, k);
		return;
	}
	double own = mean(fine, 1, 1, 1), other;
	if (!coarse->part) {
		MPI_Send(&own, 1, MPI_DOUBLE, fine->parent, 40, comm);
		return;
	}
	for (int n = 0; n < 8; n++) {
		other = 0;
		if (coarse->child[n] == rank)
			other = own;
		else if (coarse->child[n] != MPI_PROC_NULL)
			MPI_Recv(&other, 1, MPI_DOUBLE, coarse->child[n], 40, comm, MPI_STATUS_IGNORE);
		coarse->grid[1 + (n & 1)][1 + (n >> 1 & 1)][1 + (n >> 2)] = other;
	}
}

static void up(struct level *fine, struct level *coarse, int rank)
{
	double own = 0;
	if (coarse->stride > fine->stride && !coarse->part)
		MPI_Recv(&own, 1, MPI_DOUBLE, fine->parent, 50, comm, MPI_STATUS_IGNORE);
	for (int n = 0; n < 8 && coarse->stride > fine->stride && coarse->part; n++) {
		double *cell = &coarse->grid[1 + (n & 1)][1 + (n >> 1 & 1)][1 + (n >> 2)];
		if (coarse->child[n] == rank)
			own = *cell;
		else if (coarse->child[n] != MPI_PROC_NULL)
			MPI_Send(cell, 1, MPI_DOUBLE, coarse->child[n], 50, comm);
	}
	for (int i = 1; i <= fine->cells; i++)
		for (int j = 1; j <= fine->cells; j++)
			for (int k = 1; k <= fine->cells; k++)
				fine->grid[i][j][k] =
					0.5 * (fine->grid[i][j][k] +
				               (coarse->stride > fine->stride
				                        ? own
				                        : coarse->grid[(i + 1) / 2][(j + 1) / 2][(k + 1) / 2]));
}

static void cycle(int rank, int n)
{
	struct level *l = &levels[n];
	smooth(l);
	if (n + 1 == level_count)
		return;
	down(l, &levels[n + 1], rank);
	if (levels[n + 1].part)
		cycle(rank, n + 1);
	up(l, &levels[n + 1], rank);
	smooth(l);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("multigrid", &argc, &argv);
	int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
	double part, all = 0;

	MPI_Dims_create(app.size, 3, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &comm);
	plan(app.rank, dims, app.weak);
	for (int i = 1; i <= levels[0].cells; i++)
		for (int j = 1; j <= levels[0].cells; j++)
			for (int k = 1; k <= levels[0].cells; k++)
				levels[0].grid[i][j][k] = random_unit(&app.random);

	for (int step = 0; step < app.steps; step++) {
		cycle(app.rank, 0);
		app_work(&app);
		if (step % 10 == 9) {
			part = levels[0].grid[1][1][1];
			MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
		}
	}
	uint64_t sum = sum_add(sum_add(0, &all, 1), &levels[0].grid[0][0][0], sizeof(cube) / sizeof(double));
	MPI_Comm_free(&comm);
	return app_end(&app, sum);
}
