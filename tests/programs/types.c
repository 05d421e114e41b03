/* SPDX-License-Identifier: BSD-3-Clause
 * types - derived datatypes of every constructor, in communication, packing, asking what they are made of
 *
 *     types plain        without the last: which handles MPI_Type_get_contents returns is the library's choice
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, left, right, plain;

/* Commits, sends around the ring, frees. */
static void use(MPI_Datatype t)
{
	static char out[4096], in[4096];
	int n, bytes;
	MPI_Aint lb, extent;
	MPI_Status s;
	MPI_Request q;

	MPI_Type_commit(&t);
	MPI_Type_size(t, &n);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_get_true_extent(t, &lb, &extent);
	MPI_Irecv(in, 2, t, left, 1, MPI_COMM_WORLD, &q);
	MPI_Send(out, 1, t, right, 1, MPI_COMM_WORLD);
	MPI_Wait(&q, &s);
	MPI_Get_count(&s, t, &n);
	MPI_Get_elements(&s, t, &n);
	MPI_Get_elements_x(&s, t, &(MPI_Count){0});
	/* one and a half: not a whole number of elements */
	MPI_Sendrecv(out, 1, t, right, 2, in, 2, t, left, 2, MPI_COMM_WORLD, &s);
	MPI_Type_size(t, &bytes);
	MPI_Sendrecv(out, bytes + 4, MPI_BYTE, right, 3, in, 2, t, left, 3, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, t, &n);
	MPI_Type_free(&t);
}

static void packing(void)
{
	char buffer[256];
	int position = 0, n, values[3] = {1, 2, 3};
	double x = 1;
	MPI_Aint apos = 0, asize;

	MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &n);
	MPI_Pack(values, 3, MPI_INT, buffer, sizeof(buffer), &position, MPI_COMM_WORLD);
	MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof(buffer), &position, MPI_COMM_WORLD);
	n = position;
	MPI_Sendrecv_replace(buffer, n, MPI_PACKED, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	position = 0;
	MPI_Unpack(buffer, n, &position, values, 3, MPI_INT, MPI_COMM_WORLD);
	MPI_Unpack(buffer, n, &position, &x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Pack_external_size("external32", 3, MPI_INT, &asize);
	MPI_Pack_external("external32", values, 3, MPI_INT, buffer, sizeof(buffer), &apos);
	apos = 0;
	MPI_Unpack_external("external32", buffer, asize, &apos, values, 3, MPI_INT);
}

static void contents(MPI_Datatype t)
{
	int ni, na, nd, combiner, integers[32];
	MPI_Aint addresses[32];
	MPI_Datatype types[32];

	if (plain)
		return;
	MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		MPI_Type_get_contents(t, ni, na, nd, integers, addresses, types);
	for (int i = 0; i < nd; i++) {
		int a, b, c, k;
		MPI_Type_get_envelope(types[i], &a, &b, &c, &k);
		if (k != MPI_COMBINER_NAMED)
			MPI_Type_free(&types[i]);
	}
}

int main(int argc, char **argv)
{
	MPI_Datatype t, u, v;
	int two[2] = {1, 2}, zero_four[2] = {0, 4}, sizes[2] = {8, 8}, part[2] = {2, 3}, starts[2] = {1, 1}, length;
	MPI_Aint bytes[2] = {0, 32};
	MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
	char name[MPI_MAX_OBJECT_NAME];
	struct mixed {
		int i;
		double d[2];
	} mixed;
	MPI_Aint base, addresses[2];
	MPI_Count big, big_lb;

	plain = argc > 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	for (int i = 0; i < 3; i++) {
		MPI_Type_contiguous(3, MPI_INT, &t);
		use(t);
		MPI_Type_vector(2, 2, 4, MPI_INT, &t);
		use(t);
	}
	MPI_Type_create_hvector(2, 2, 64, MPI_INT, &t);
	use(t);
	MPI_Type_indexed(2, two, zero_four, MPI_INT, &t);
	use(t);
	MPI_Type_create_hindexed(2, two, bytes, MPI_INT, &t);
	use(t);
	MPI_Type_create_indexed_block(2, 2, zero_four, MPI_INT, &t);
	use(t);
	MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &t);
	use(t);
	MPI_Get_address(&mixed, &base);
	MPI_Get_address(&mixed.i, &addresses[0]);
	MPI_Get_address(mixed.d, &addresses[1]);
	addresses[0] = MPI_Aint_diff(addresses[0], base);
	addresses[1] = MPI_Aint_diff(addresses[1], base);
	MPI_Type_create_struct(2, two, addresses, kinds, &t);
	contents(t);
	MPI_Type_create_resized(t, 0, sizeof(mixed), &u);
	contents(u);
	MPI_Type_free(&t);
	use(u);
	/* A part of a large file, far from the beginning. */
	MPI_Type_create_hindexed(2, two, (MPI_Aint[]){0, (MPI_Aint)5 << 30}, MPI_INT, &t);
	MPI_Type_get_extent(t, &base, &addresses[0]);
	contents(t);
	MPI_Type_free(&t);
	MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &t);
	contents(t);
	use(t);
	MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
	use(t);
	MPI_Type_create_darray(size, rank, 2, (int[]){8 * size, 4}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
	                       (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){size, 1},
	                       MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_free(&t);
	MPI_Type_dup(MPI_DOUBLE, &t);
	MPI_Type_contiguous(2, t, &u);
	MPI_Type_vector(1, 1, 1, u, &v);
	contents(v);
	contents(MPI_INT);
	MPI_Type_set_name(v, "vector of pairs");
	MPI_Type_get_name(v, name, &length);
	MPI_Type_get_name(MPI_INT, name, &length);
	MPI_Type_size_x(v, &big);
	MPI_Type_get_extent_x(v, &big_lb, &big);
	MPI_Type_get_true_extent_x(v, &big_lb, &big);
	MPI_Type_free(&u);
	MPI_Type_free(&t);
	use(v);
	MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
	MPI_Type_create_f90_integer(9, &t);
	MPI_Type_create_f90_real(6, 30, &t);
	MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &t);
	contents(t);
	packing();
	/* predefined types by name, those with two names too */
	MPI_Datatype all[] = {MPI_CHAR,
	                      MPI_LONG_LONG,
	                      MPI_LONG_LONG_INT,
	                      MPI_UNSIGNED,
	                      MPI_C_BOOL,
	                      MPI_C_COMPLEX,
	                      MPI_C_FLOAT_COMPLEX,
	                      MPI_C_DOUBLE_COMPLEX,
	                      MPI_UINT64_T,
	                      MPI_AINT,
	                      MPI_COUNT,
	                      MPI_OFFSET,
	                      MPI_2INT,
	                      MPI_DOUBLE_INT,
	                      MPI_SHORT_INT,
	                      MPI_WCHAR,
	                      MPI_SIGNED_CHAR,
	                      MPI_LONG_DOUBLE,
	                      MPI_PACKED,
	                      MPI_BYTE,
	                      MPI_INTEGER,
	                      MPI_REAL8,
	                      MPI_DOUBLE_PRECISION,
	                      MPI_CXX_BOOL};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		MPI_Type_size(all[i], &length);
	if (rank == 0)
		printf("types: done\n");
	MPI_Finalize();
	return 0;
}
