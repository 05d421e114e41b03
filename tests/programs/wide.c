/* SPDX-License-Identifier: BSD-3-Clause
 * wide - counts of more than 32 bits (tests/cases.t)
 */
/* clang-format off */
#define CASES(X) \
	X(messages, MPI_Send_c) \
	X(nonblocking, MPI_Isend_c) \
	X(persistent, MPI_Send_init_c) \
	X(swapped, MPI_Isendrecv_c) \
	X(matched, MPI_Mrecv_c) \
	X(many, MPI_Send_c) \
	X(all, MPI_Allreduce_c) \
	X(vectors, MPI_Alltoallv_c) \
	X(started, MPI_Allgatherv_init_c) \
	X(types, MPI_Type_get_contents_c) \
	X(structures, MPI_Type_create_struct_c) \
	X(packed, MPI_Pack_c) \
	X(operations, MPI_Op_create_c) \
	X(one_sided, MPI_Put_c) \
	X(to_files, MPI_File_write_at_c)
/* clang-format on */
#include "tests/programs/cases.h"

#if HAS_MPI_Send_c
static int out[16], in[16];
static MPI_Request r[4];

static void fill(void)
{
	begin();
	for (int i = 0; i < 16; i++)
		out[i] = rank * 100 + i;
}

static void look(int n, const char *what)
{
	bool good = true;

	for (int i = 0; i < n; i++)
		good = good && in[i] == left * 100 + i;
	check(good, what);
}

void messages(void)
{
	MPI_Status status;
	MPI_Count n = -1, elements = -1;

	fill();
	MPI_Sendrecv_c(out, 16, MPI_INT, right, 1, in, 16, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
	MPI_Get_count_c(&status, MPI_INT, &n);
	MPI_Get_elements_c(&status, MPI_INT, &elements);
	check(n == 16 && elements == 16, "a count");
	look(16, "MPI_Sendrecv_c");
	if (rank % 2 == 0)
		MPI_Send_c(out, 5, MPI_INT, right, 2, MPI_COMM_WORLD);
	MPI_Recv_c(in, 16, MPI_INT, rank % 2 ? left : MPI_PROC_NULL, 2, MPI_COMM_WORLD, &status);
	MPI_Get_count_c(&status, MPI_INT, &n);
	check(n == (rank % 2 ? 5 : 0), "the count of a short message");
	end();
}

void nonblocking(void)
{
	MPI_Status status[2];

	fill();
	MPI_Irecv_c(in, 16, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[0]);
	MPI_Isend_c(out, 12, MPI_INT, right, 3, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, status);
	check(status[0].MPI_SOURCE == left, "the source");
	look(12, "MPI_Irecv_c");
	end();
}

void persistent(void)
{
	fill();
	MPI_Recv_init_c(in, 16, MPI_INT, left, 4, MPI_COMM_WORLD, &r[0]);
	MPI_Send_init_c(out, 16, MPI_INT, right, 4, MPI_COMM_WORLD, &r[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		look(16, "MPI_Recv_init_c");
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	end();
}

/* So many elements of nothing. */
void many(void)
{
	const MPI_Count more = 5000000000;
	MPI_Datatype nothing;
	MPI_Status status;

	fill();
	MPI_Type_contiguous(0, MPI_INT, &nothing);
	MPI_Type_commit(&nothing);
	MPI_Irecv_c(in, more, nothing, left, 5, MPI_COMM_WORLD, &r[0]);
	MPI_Send_c(out, more, nothing, right, 5, MPI_COMM_WORLD);
	MPI_Wait(&r[0], &status);
	MPI_Bcast_c(out, more, nothing, 0, MPI_COMM_WORLD);
	check(status.MPI_SOURCE == left && status.MPI_TAG == 5, "a message of nothing");
	MPI_Type_free(&nothing);
	end();
}
#endif

#if HAS_MPI_Isendrecv_c
void swapped(void)
{
	fill();
	MPI_Isendrecv_c(out, 7, MPI_INT, right, 6, in, 7, MPI_INT, left, 6, MPI_COMM_WORLD, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	look(7, "MPI_Isendrecv_c");
	MPI_Isendrecv_replace_c(out, 7, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	check(out[6] == left * 100 + 6, "MPI_Isendrecv_replace_c");
	end();
}
#endif

#if HAS_MPI_Mrecv_c
void matched(void)
{
	MPI_Message message;

	fill();
	MPI_Isend_c(out, 4, MPI_INT, right, 7, MPI_COMM_WORLD, &r[0]);
	MPI_Mprobe(left, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv_c(in, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	look(4, "MPI_Mrecv_c");
	end();
}
#endif

#if HAS_MPI_Allreduce_c
void all(void)
{
	fill();
	MPI_Allreduce_c(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(in[0] == 100 * size * (size - 1) / 2, "MPI_Allreduce_c");
	MPI_Bcast_c(in, 3, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Reduce_c(out, in, 3, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Scan_c(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(in[0] == 100 * rank * (rank + 1) / 2, "MPI_Scan_c");
	MPI_Iallreduce_c(MPI_IN_PLACE, in, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	check(in[0] == 0, "MPI_Iallreduce_c");
	end();
}
#endif

#if HAS_MPI_Alltoallv_c
void vectors(void)
{
	MPI_Count ones[16];
	MPI_Aint places[16];

	fill();
	for (int i = 0; i < 16; i++) {
		ones[i] = 1;
		places[i] = i;
	}
	MPI_Alltoallv_c(out, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD);
	check(in[left] == left * 100 + rank, "MPI_Alltoallv_c");
	MPI_Allgatherv_c(&out[1], 1, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD);
	check(in[right] == right * 100 + 1, "MPI_Allgatherv_c");
	MPI_Scatterv_c(out, ones, places, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
	check(in[0] == rank, "MPI_Scatterv_c");
	MPI_Reduce_scatter_c(out, in, ones, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	check(in[0] == (size - 1) * 100 + rank, "MPI_Reduce_scatter_c");
	end();
}
#endif

#if HAS_MPI_Allgatherv_init_c
void started(void)
{
	MPI_Count ones[16];
	MPI_Aint places[16];

	fill();
	for (int i = 0; i < 16; i++) {
		ones[i] = 1;
		places[i] = size - 1 - i;
	}
	MPI_Allgatherv_init_c(out, 1, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Alltoall_init_c(out, 1, MPI_INT, in + 8, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		check(in[size - 1 - left] == left * 100 && in[8 + left] == left * 100 + rank, "persistent ones");
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	end();
}
#endif

#if HAS_MPI_Type_get_contents_c
static void tell(const char *what, MPI_Datatype type)
{
	MPI_Count integers, addresses, counts, types, number[16] = {0}, lower = 0, extent = 0, bytes = 0;
	MPI_Aint address[16] = {0};
	MPI_Datatype part[16];
	int combiner, integer[16] = {0};

	MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
	MPI_Type_get_contents_c(type, integers, addresses, counts, types, integer, address, number, part);
	MPI_Type_get_extent_c(type, &lower, &extent);
	MPI_Type_size_c(type, &bytes);
	if (rank == 0)
		printf("%s: %lld integers, %lld addresses, %lld counts (%lld), %lld types; extent %lld, size %lld\n",
		       what, (long long)integers, (long long)addresses, (long long)counts, (long long)number[0],
		       (long long)types, (long long)extent, (long long)bytes);
	MPI_Type_free(&type);
}

void types(void)
{
	MPI_Datatype type;

	fill();
	MPI_Type_contiguous_c(5000000000, MPI_INT, &type);
	tell("contiguous", type);
	MPI_Type_vector_c(3, 2, 3000000000, MPI_CHAR, &type);
	tell("vector", type);
	MPI_Type_create_hvector_c(3, 2, 40, MPI_INT, &type);
	tell("hvector", type);
	MPI_Type_indexed_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){0, 4000000000}, MPI_CHAR, &type);
	tell("indexed", type);
	MPI_Type_create_resized_c(MPI_INT, 0, 6000000000, &type);
	tell("resized", type);
	MPI_Type_create_subarray_c(2, (MPI_Count[]){8, 8}, (MPI_Count[]){2, 3}, (MPI_Count[]){1, 1}, MPI_ORDER_C,
	                           MPI_INT, &type);
	tell("subarray", type);
	end();
}

void structures(void)
{
	MPI_Datatype type, part[2] = {MPI_INT, MPI_CHAR};

	fill();
	MPI_Type_create_struct_c(2, (MPI_Count[]){2, 3}, (MPI_Count[]){0, 8}, part, &type);
	MPI_Type_commit(&type);
	MPI_Sendrecv_c(out, 1, type, right, 8, in, 1, type, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	look(2, "a structure");
	tell("struct", type);
	end();
}
#endif

#if HAS_MPI_Pack_c
void packed(void)
{
	char bytes[64];
	MPI_Count position = 0, need = 0;

	fill();
	MPI_Pack_size_c(4, MPI_INT, MPI_COMM_WORLD, &need);
	MPI_Pack_c(out, 4, MPI_INT, bytes, sizeof bytes, &position, MPI_COMM_WORLD);
	check(position == 16 && need >= 16, "the length of what was packed");
	position = 0;
	MPI_Unpack_c(bytes, sizeof bytes, &position, in, 4, MPI_INT, MPI_COMM_WORLD);
	check(in[3] == out[3], "MPI_Unpack_c");
	end();
}
#endif

#if HAS_MPI_Op_create_c
static void multiply(void *from, void *to, MPI_Count *n, MPI_Datatype *type)
{
	(void)type;
	for (MPI_Count i = 0; i < *n; i++)
		((int *)to)[i] *= ((int *)from)[i];
}

void operations(void)
{
	MPI_Op op;
	int two[2] = {2, 3}, product[2] = {0};

	fill();
	MPI_Op_create_c(multiply, 1, &op);
	MPI_Allreduce_c(two, product, 2, MPI_INT, op, MPI_COMM_WORLD);
	check(product[0] == 1 << size, "an operation");
	MPI_Reduce_local_c(two, product, 2, MPI_INT, op);
	check(product[0] == 2 << size, "MPI_Reduce_local_c");
	MPI_Op_free(&op);
	end();
}
#endif

#if HAS_MPI_Put_c
void one_sided(void)
{
	MPI_Win win;
	int *memory;

	fill();
	MPI_Win_allocate_c(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, 64);
	MPI_Win_fence(0, win);
	MPI_Put_c(out, 4, MPI_INT, right, 0, 4, MPI_INT, win);
	MPI_Accumulate_c(&rank, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	memcpy(in, memory, sizeof in);
	look(4, "MPI_Put_c");
	MPI_Get_c(in, 4, MPI_INT, left, 0, 4, MPI_INT, win);
	MPI_Win_fence(0, win);
	check(in[1] == (left + size - 1) % size * 100 + 1, "MPI_Get_c");
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Rput_c(out, 2, MPI_INT, right, 12, 2, MPI_INT, win, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Win_unlock(right, win);
	MPI_Win_free(&win);
	end();
}
#endif

#if HAS_MPI_File_write_at_c
void to_files(void)
{
	MPI_File file;
	MPI_Status status;
	MPI_Count n = -1;

	fill();
	MPI_File_open(MPI_COMM_WORLD, "wide.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
	              MPI_INFO_NULL, &file);
	MPI_File_write_at_c(file, 64 * rank, out, 16, MPI_INT, &status);
	MPI_Get_count_c(&status, MPI_INT, &n);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_read_at_all_c(file, 64 * left, in, 16, MPI_INT, MPI_STATUS_IGNORE);
	check(n == 16, "the count of what was written");
	look(16, "MPI_File_read_at_all_c");
	MPI_File_close(&file);
	end();
}
#endif
