/* SPDX-License-Identifier: BSD-3-Clause
 * old - what MPI-3.0 removed, or the standard discourages since MPI-2, and libraries still have for old programs
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0 /* Open MPI: declare them */
#include <mpi.h>
#include <stdio.h>

static int handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	handled++;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm, (void)keyval, (void)extra;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	return MPI_SUCCESS;
}

static void types(void)
{
	struct pair {
		int number;
		double values[2];
	} pair = {1, {2, 3}}, got;
	int lengths[] = {1, 2};
	MPI_Aint at[2], first, extent, lower, upper;
	MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, whole, strided, indexed;

	MPI_Address(&pair, &first);
	MPI_Address(&pair.values, &at[1]);
	at[0] = 0;
	at[1] -= first;
	MPI_Type_struct(2, lengths, at, parts, &whole);
	MPI_Type_commit(&whole);
	MPI_Type_extent(whole, &extent);
	MPI_Type_lb(whole, &lower);
	MPI_Type_ub(whole, &upper);
	MPI_Sendrecv(&pair, 1, whole, 0, 1, &got, 1, whole, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Type_hvector(3, 2, 32, MPI_INT, &strided);
	MPI_Type_hindexed(2, lengths, at, strided, &indexed);
	MPI_Type_extent(indexed, &extent);
	MPI_Type_free(&indexed);
	MPI_Type_free(&strided);
	MPI_Type_free(&whole);
}

static void attributes(void)
{
	int keyval, flag;
	void *value;
	MPI_Comm other;

	MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
	MPI_Keyval_create(copy, delete, &keyval, NULL);
	MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag);
	MPI_Attr_put(MPI_COMM_WORLD, keyval, &handled);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Attr_get(other, keyval, &value, &flag);
	MPI_Attr_delete(other, keyval);
	MPI_Comm_free(&other);
	MPI_Attr_delete(MPI_COMM_WORLD, keyval);
	MPI_Keyval_free(&keyval);
}

static void handlers(void)
{
	MPI_Errhandler e, was;

	MPI_Errhandler_get(MPI_COMM_WORLD, &was);
	MPI_Errhandler_create(on_error, &e);
	MPI_Errhandler_set(MPI_COMM_WORLD, e);
	MPI_Send(&handled, 1, MPI_INT, 1000000, 1, MPI_COMM_WORLD);
	MPI_Errhandler_set(MPI_COMM_WORLD, was);
	MPI_Errhandler_free(&e);
	MPI_Errhandler_free(&was);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 3; i++) {
		types();
		attributes();
		handlers();
	}
	if (rank == 0)
		printf("old: %d\n", handled);
	MPI_Finalize();
	return 0;
}
