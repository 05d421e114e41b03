/* SPDX-License-Identifier: BSD-3-Clause
 * buffers - what buffer identity is about: the same buffer again, places inside one, MPI_BOTTOM, MPI_IN_PLACE and null
 * pointers, in every kind of call that has a buffer
 *
 *     buffers FILE      the file is made and removed
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, MOST = 16 };
static int rank, size, left, right, field[4 * N], other[N], counts[MOST], displs[MOST], bytes[MOST];
static MPI_Datatype kinds[MOST], there; /* there: one int at the address of field */
static MPI_Status s;
static MPI_Request q[2];

/* Halves that are swapped, as solvers do: the pattern repeats. */
static void swapped(void)
{
	int *now = field, *next = field + 2 * N;

	for (int i = 0; i < 6; i++) {
		int *kept = now;

		MPI_Irecv(next, N, MPI_INT, left, 1, MPI_COMM_WORLD, &q[0]);
		MPI_Isend(now + N - 1, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &q[1]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		now = next;
		next = kept;
	}
	for (int i = 0; i < 20; i++) { /* always another one */
		int *fresh = malloc((size_t)(i + 1) * 1000);

		MPI_Allreduce(field + i, fresh, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		free(fresh);
	}
}

static void bottom(void)
{
	MPI_Sendrecv(MPI_BOTTOM, 1, there, right, 2, other, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &s);
	MPI_Sendrecv(other, 1, MPI_INT, right, 3, MPI_BOTTOM, 1, there, left, 3, MPI_COMM_WORLD, &s);
	MPI_Sendrecv_replace(MPI_BOTTOM, 1, there, right, 3, left, 3, MPI_COMM_WORLD, &s);
	MPI_Bcast(MPI_BOTTOM, 1, there, 0, MPI_COMM_WORLD);
	MPI_Gather(MPI_BOTTOM, 1, there, other, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_BOTTOM, 1, there, other, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Send(NULL, 0, MPI_INT, right, 4, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, left, 4, MPI_COMM_WORLD, &s);
}

static void in_place(void)
{
	int root = size - 1;

	if (rank == root) {
		MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, 1, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Scatter(field, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
		MPI_Scatterv(field, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
		MPI_Reduce(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
	} else {
		/* what is not significant is not read, whatever it is */
		MPI_Gather(field, 1, MPI_INT, (void *)1, 1, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Gatherv(field, 1, MPI_INT, (void *)2, (int *)2, (int *)2, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Scatter((void *)3, 1, MPI_INT, field, 1, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Scatterv((void *)4, (int *)4, (int *)4, MPI_INT, field, 1, MPI_INT, root, MPI_COMM_WORLD);
		MPI_Reduce(field, (void *)5, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
	}
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, counts, displs, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, field, counts, displs, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, field, counts, bytes, kinds, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Scan(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Exscan(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter(MPI_IN_PLACE, field, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Iallreduce(MPI_IN_PLACE, field, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

/* More buffers than there are arrays of counts: a number of the one kind means nothing in the other. */
static void fresh(void)
{
	enum { MANY = 500 };
	int *kept[MANY];

	for (int i = 0; i < MANY; i++) {
		kept[i] = calloc(MOST, sizeof(int));
		if (i % 2) {
			MPI_Alltoallv(kept[i], counts, displs, MPI_INT, kept[i / 2], counts, displs, MPI_INT,
			              MPI_COMM_WORLD);
		} else {
			MPI_Ialltoallv(kept[i], counts, displs, MPI_INT, other, counts, displs, MPI_INT, MPI_COMM_WORLD,
			               &q[0]);
			MPI_Wait(&q[0], MPI_STATUS_IGNORE);
		}
	}
	for (int i = 0; i < MANY; i++)
		free(kept[i]);
}

static void windows(void)
{
	MPI_Win many[3], w;

	for (int i = 0; i < 3; i++)
		MPI_Win_create(field + i * N, N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &many[i]);
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	for (int i = 0; i < 3; i++) {
		MPI_Win_fence(0, many[i]);
		MPI_Put(other, 1, MPI_INT, right, 0, 1, MPI_INT, many[i]);
		MPI_Get(other + 8, 1, MPI_INT, right, 8, 1, MPI_INT, many[i]);
		MPI_Accumulate(MPI_BOTTOM, 1, there, right, 16, 1, MPI_INT, MPI_SUM, many[i]);
		MPI_Win_fence(0, many[i]);
	}
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, many[0]);
	MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, other, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, many[0]);
	MPI_Fetch_and_op(other, other + 1, MPI_INT, right, 0, MPI_SUM, many[0]);
	MPI_Compare_and_swap(other, other + 2, other + 3, MPI_INT, right, 0, many[0]);
	MPI_Win_unlock(right, many[0]);
	MPI_Win_free(&w);
	for (int i = 2; i >= 0; i--)
		MPI_Win_free(&many[i]);
}

static void files(const char *name)
{
	MPI_File f;

	/* Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it. */
	fclose(fopen(name, "a"));
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
	              &f);
	MPI_File_write_at(f, 64 * rank, field, 4, MPI_INT, &s);
	MPI_File_write_at(f, 64 * rank, MPI_BOTTOM, 1, there, &s);
	MPI_File_read_at_all(f, 0, field + 4, 4, MPI_INT, &s);
	MPI_File_write_at_all_begin(f, 64 * rank, field, 4, MPI_INT);
	MPI_File_write_at_all_end(f, field, &s);
	MPI_File_iread_at(f, 0, other, 1, MPI_INT, &q[0]);
	MPI_Wait(&q[0], &s);
	MPI_File_close(&f);
}

static void others(void)
{
	int position = 0, n;
	char packed[256];
	void *memory;

	MPI_Pack(field, 4, MPI_INT, packed, sizeof(packed), &position, MPI_COMM_WORLD);
	position = 0;
	MPI_Unpack(packed, sizeof(packed), &position, MPI_BOTTOM, 1, there, MPI_COMM_WORLD);
	MPI_Reduce_local(field, other, 1, MPI_INT, MPI_SUM);
	MPI_Alloc_mem(1000 + MPI_BSEND_OVERHEAD, MPI_INFO_NULL, &memory);
	MPI_Buffer_attach(memory, 1000 + MPI_BSEND_OVERHEAD);
	MPI_Bsend(field, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
	MPI_Recv(other, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &s);
	MPI_Buffer_detach(&memory, &n);
	MPI_Free_mem(memory);
	MPI_Send_init(field, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(other, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &q[1]);
	MPI_Startall(2, q);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

int main(int argc, char **argv)
{
	MPI_Aint at;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	for (int i = 0; i < size && i < MOST; i++) {
		counts[i] = 1;
		displs[i] = i;
		bytes[i] = i * (int)sizeof(int);
		kinds[i] = MPI_INT;
	}
	MPI_Get_address(field, &at);
	MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, &there);
	MPI_Type_commit(&there);
	swapped();
	bottom();
	in_place();
	fresh();
	windows();
	files(argc > 1 ? argv[1] : "buffers.out");
	others();
	MPI_Type_free(&there);
	if (rank == 0)
		printf("buffers: done\n");
	MPI_Finalize();
	return 0;
}
