/* SPDX-License-Identifier: BSD-3-Clause
 * loops - a random program of loops in loops, whose turns are alike for long, and then are not
 *
 *     loops SEED FILE      on two or more ranks
 *
 * All ranks draw the same program from the seed. What a turn does depends on what was made before it: persistent
 * requests and datatypes are made anew now and then, under the same numbers, and mean something else from then on.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12, ELEMENTS = 64, RANKS = 64, KINDS = 13, STEPS_MOST = 5000 };

static uint64_t state;
static int self, size, right, left, taken;
static int out[RANKS * ELEMENTS], in[RANKS * ELEMENTS], counts[RANKS], places[RANKS];
static MPI_Datatype type = MPI_DATATYPE_NULL;
static MPI_Request lasting[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static MPI_Comm half;
static MPI_Win win;
static MPI_File file;

struct step {
	int kind, count, tag;
};

static int draw(int n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((state >> 33) % (uint64_t)n);
}

/* Of another size, and of what it was before. */
static void make_type(int n)
{
	MPI_Datatype old = type;
	MPI_Type_contiguous(1 + n % 3, n % 2 && old != MPI_DATATYPE_NULL ? MPI_DOUBLE : MPI_INT, &type);
	MPI_Type_commit(&type);
	if (old != MPI_DATATYPE_NULL)
		MPI_Type_free(&old);
}

static void make_lasting(const struct step *s)
{
	for (int i = 0; i < 2; i++)
		if (lasting[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&lasting[i]);
	MPI_Recv_init(in, ELEMENTS, type, left, 1, MPI_COMM_WORLD, &lasting[0]);
	MPI_Send_init(out, s->count, type, right, 1, MPI_COMM_WORLD, &lasting[1]);
}

static void messages(const struct step *s)
{
	MPI_Request r[2];
	MPI_Message got;
	MPI_Irecv(in, ELEMENTS, type, s->count % 3 ? left : MPI_ANY_SOURCE, s->tag, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(out, s->count, type, right, s->tag, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	if (s->count % 2)
		return;
	MPI_Isend(out, s->count, MPI_INT, self, 2, MPI_COMM_WORLD, r);
	MPI_Mprobe(self, 2, MPI_COMM_WORLD, &got, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, ELEMENTS, MPI_INT, &got, MPI_STATUS_IGNORE);
	MPI_Request_free(r);
}

static void all_to_all(const struct step *s)
{
	for (int i = 0; i < size; i++) {
		counts[i] = s->count % 7;
		places[i] = i * ELEMENTS;
	}
	if (s->tag)
		MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, half);
	else
		MPI_Alltoall(out, s->count, MPI_INT, in, s->count, MPI_INT, MPI_COMM_WORLD);
}

static void window(const struct step *s)
{
	MPI_Win_fence(0, win);
	if (s->tag)
		MPI_Put(out, s->count, MPI_INT, right, 0, s->count, MPI_INT, win);
	else
		MPI_Get(in, 1, MPI_INT, left, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
}

static void transfer(const struct step *s)
{
	MPI_Offset place = (MPI_Offset)self * 4096;
	if (s->tag)
		MPI_File_write_at(file, place, out, s->count, MPI_INT, MPI_STATUS_IGNORE);
	else
		MPI_File_read_at(file, place, in, s->count, MPI_INT, MPI_STATUS_IGNORE);
}

static void on_comm(const struct step *s)
{
	MPI_Comm c;
	MPI_Comm_dup(half, &c);
	MPI_Allreduce(out, in, s->count, MPI_INT, MPI_SUM, c);
	MPI_Comm_free(&c);
}

static void take(const struct step *s, int turn)
{
	MPI_Request r;
	switch (s->kind) {
	case 0:
		make_type(s->tag ? s->count : turn);
		break;
	case 1:
		make_lasting(s);
		break;
	case 2:
	case 3:
		MPI_Startall(2, lasting);
		MPI_Waitall(2, lasting, MPI_STATUSES_IGNORE);
		break;
	case 4:
	case 5:
		messages(s);
		break;
	case 6:
		MPI_Sendrecv(out, s->count, MPI_INT, turn % 5 ? right : MPI_PROC_NULL, 3, in, ELEMENTS, MPI_INT,
		             turn % 5 ? left : MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case 7:
		all_to_all(s);
		break;
	case 8:
		MPI_Bcast(out, s->count, type, s->tag % size, MPI_COMM_WORLD);
		break;
	case 9:
		MPI_Igather(out, s->count, MPI_INT, in, s->count, MPI_INT, 0, half, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		break;
	case 10:
		window(s);
		break;
	case 11:
		transfer(s);
		break;
	default:
		if (turn % 50 == 0)
			on_comm(s);
	}
}

static void loop(int depth)
{
	struct step list[STEPS];
	int n = 1 + draw(STEPS), turns = depth == 0 ? 3 + draw(5) : 20 + draw(depth == 1 ? 40 : 400), before = draw(3);
	uint64_t seed = state ^ (uint64_t)draw(1 << 30);
	for (int i = 0; i < n; i++) {
		int kind = draw(KINDS);
		/* an inner loop makes few objects, so that its turns are alike */
		list[i] = (struct step){kind < 2 && draw(depth + 1) ? 2 + draw(KINDS - 2) : kind,
		                        1 + draw(ELEMENTS - 1), draw(2)};
	}
	for (int turn = 0; turn < turns && taken < STEPS_MOST; turn++) {
		taken += n;
		for (int i = 0; i < n; i++)
			take(&list[i], turn);
		if (depth < 2 && turn % (before + 1) == 0) {
			uint64_t own = state;
			state = draw(2) ? seed : state; /* the same loop again, or another one */
			loop(depth + 1);
			state = own + 1;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	state = strtoull(argv[1], NULL, 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (self + 1) % size;
	left = (self + size - 1) % size;
	MPI_Comm_split(MPI_COMM_WORLD, self % 2, self, &half);
	MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	make_type(0);
	make_lasting(&(struct step){1, 5, 0});
	for (int i = 0; i < 2; i++) {
		loop(0);
		taken = STEPS_MOST / 2;
	}
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&lasting[i]);
	MPI_Type_free(&type);
	MPI_File_close(&file);
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
