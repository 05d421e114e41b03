/* SPDX-License-Identifier: BSD-3-Clause
 * amr - adaptive refinement: blocks are refined where a storm is, and dealt out again along a curve when it has moved
 *
 * All ranks know where the storm is, and so who has which block; every 10 steps it moves by chance, blocks are refined
 * or coarsened, those whose owner changes are sent there, and with them the neighbours of a rank, and the number and
 * size of its messages, change.
 */
#include "bench/apps/app.h"

enum { CELLS = 4, MAX_LEVEL = 2, REGRID = 10, MOST = CELLS << MAX_LEVEL };

struct block {
	int x, y, level, owner;
	double edge[4][MOST]; /* what the neighbours sent */
	double value[MOST];
};

static struct block *blocks; /* along the curve */
static int *at;              /* index in blocks of (x, y) */
static int width, count;
static double storm[2];

/* Bits of x and y in turn: near blocks have near numbers. */
static unsigned curve(int x, int y)
{
	unsigned n = 0;
	for (int i = 0; i < 15; i++)
		n |= ((unsigned)x >> i & 1) << (2 * i) | ((unsigned)y >> i & 1) << (2 * i + 1);
	return n;
}

static int by_curve(const void *a, const void *b)
{
	const struct block *p = a, *q = b;
	unsigned x = curve(p->x, p->y), y = curve(q->x, q->y);
	return (x > y) - (x < y);
}

static struct block *neighbour(const struct block *b, int direction)
{
	static const int dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
	int x = b->x + dx[direction], y = b->y + dy[direction];
	return x < 0 || y < 0 || x >= width || y >= width ? NULL : &blocks[at[y * width + x]];
}

/* Levels and owners for where the storm is. */
static void deal(int size)
{
	int64_t all = 0, before = 0;
	for (int i = 0; i < count; i++) {
		struct block *b = &blocks[i];
		double dx = b->x + 0.5 - storm[0] * width, dy = b->y + 0.5 - storm[1] * width, d = dx * dx + dy * dy;
		b->level = d < 0.02 * count ? 2 : d < 0.08 * count ? 1 : 0;
		all += 1 << 2 * b->level;
	}
	for (int i = 0; i < count; i++) {
		blocks[i].owner = (int)(before * size / all);
		before += 1 << 2 * blocks[i].level;
	}
}

static void regrid(const struct app *app, uint64_t *weather)
{
	int n = 0, *old = malloc((size_t)count * sizeof *old);
	MPI_Request *q = malloc((size_t)count * sizeof *q);
	if (!old || !q)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < count; i++)
		old[i] = blocks[i].owner;
	for (int i = 0; i < 2; i++) {
		storm[i] += 0.2 * (random_unit(weather) - 0.5);
		storm[i] = storm[i] < 0 ? -storm[i] : storm[i] > 1 ? 2 - storm[i] : storm[i];
	}
	deal(app->size);
	for (int i = 0; i < count; i++) {
		struct block *b = &blocks[i];
		if (b->owner == old[i])
			continue;
		if (b->owner == app->rank)
			MPI_Irecv(b->value, MOST, MPI_DOUBLE, old[i], i, MPI_COMM_WORLD, &q[n++]);
		if (old[i] == app->rank)
			MPI_Isend(b->value, MOST, MPI_DOUBLE, b->owner, i, MPI_COMM_WORLD, &q[n++]);
	}
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	free(q);
	free(old);
}

/* Each block's edges, as fine as the coarser of the two blocks. */
static void exchange(const struct app *app, MPI_Request *q)
{
	int n = 0;
	for (int i = 0; i < count; i++) {
		struct block *b = &blocks[i];
		for (int d = 0; d < 4 && b->owner == app->rank; d++) {
			struct block *other = neighbour(b, d);
			if (!other)
				continue;
			int size = CELLS << (b->level < other->level ? b->level : other->level);
			if (other->owner == app->rank) {
				memcpy(b->edge[d], other->value, (size_t)size * sizeof(double));
				continue;
			}
			MPI_Irecv(b->edge[d], size, MPI_DOUBLE, other->owner, 4 * (int)(other - blocks) + (d ^ 1),
			          MPI_COMM_WORLD, &q[n++]);
			MPI_Isend(b->value, size, MPI_DOUBLE, other->owner, 4 * i + d, MPI_COMM_WORLD, &q[n++]);
		}
	}
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
}

static void compute(const struct app *app)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < MOST && blocks[i].owner == app->rank; k++) {
			const struct block *b = &blocks[i];
			double sum = 0;
			for (int d = 0; d < 4; d++)
				sum += b->edge[d][k & (CELLS - 1)];
			blocks[i].value[k] = 0.5 * b->value[k] + 0.124 * sum;
		}
}

int main(int argc, char **argv)
{
	struct app app = app_begin("amr", &argc, &argv);
	uint64_t weather = app.seed, sum = 0; /* weather: the same on all ranks */

	for (width = 2; width * width < 4 * app.size; width *= 2)
		;
	count = width * width;
	blocks = calloc((size_t)count, sizeof *blocks);
	at = calloc((size_t)count, sizeof *at);
	MPI_Request *q = calloc(8 * (size_t)count, sizeof *q);
	if (!blocks || !at || !q)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < count; i++) {
		blocks[i].x = i % width;
		blocks[i].y = i / width;
		for (int k = 0; k < MOST; k++)
			blocks[i].value[k] = i + 0.125 * k;
	}
	qsort(blocks, (size_t)count, sizeof *blocks, by_curve);
	for (int i = 0; i < count; i++)
		at[blocks[i].y * width + blocks[i].x] = i;
	storm[0] = storm[1] = 0.3;
	deal(app.size);

	for (int step = 0; step < app.steps; step++) {
		if (step % REGRID == REGRID - 1)
			regrid(&app, &weather);
		exchange(&app, q);
		compute(&app);
		app_work(&app);
	}
	for (int i = 0; i < count; i++)
		if (blocks[i].owner == app.rank)
			sum = sum_add(sum, blocks[i].value, MOST);
	free(q);
	free(at);
	free(blocks);
	return app_end(&app, sum);
}
