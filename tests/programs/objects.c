/* SPDX-License-Identifier: BSD-3-Clause
 * objects - operations, error handlers, infos, attributes, names, versions: everything that is not communication
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int copied, deleted;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

/* A call of the application from inside a call of the library. */
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	int size;

	(void)keyval;
	(void)extra;
	MPI_Comm_size(comm, &size);
	*(void **)out = in;
	*flag = 1;
	copied++;
	return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	deleted++;
	return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
	(void)type;
	(void)keyval;
	(void)value;
	(void)extra;
	return MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static void infos(void)
{
	MPI_Info info, other;
	char value[64], key[MPI_MAX_INFO_KEY + 1];
	int flag, n;

	MPI_Info_create(&info);
	MPI_Info_set(info, "striping_factor", "4");
	MPI_Info_set(info, "quoted", "say \"no\" \\ \x01\x7f\xc3\xa9");
	MPI_Info_get_nkeys(info, &n);
	MPI_Info_get_nthkey(info, 0, key);
	MPI_Info_get_valuelen(info, "quoted", &n, &flag);
	MPI_Info_get(info, "quoted", sizeof(value) - 1, value, &flag);
	MPI_Info_get(info, "absent", sizeof(value) - 1, value, &flag);
	MPI_Info_get_valuelen(info, "absent", &n, &flag);
	MPI_Info_dup(info, &other);
	MPI_Info_delete(other, "quoted");
	MPI_Info_free(&info);
	MPI_Info_create(&info);
	MPI_Info_free(&info);
	MPI_Info_free(&other);
	MPI_Info_get(MPI_INFO_ENV, "maxprocs", sizeof(value) - 1, value, &flag);
}

static void attributes(void)
{
	int keyval, type_keyval, flag;
	void *value;
	MPI_Comm other;
	MPI_Datatype t;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
	MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &copied);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Comm_get_attr(other, keyval, &value, &flag);
	MPI_Comm_delete_attr(other, keyval);
	MPI_Comm_free(&other);
	MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
	MPI_Comm_free_keyval(&keyval);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
	MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
	MPI_Comm_free_keyval(&keyval);
	MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, &type_keyval, NULL);
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_set_attr(t, type_keyval, &copied);
	MPI_Type_get_attr(t, type_keyval, &value, &flag);
	MPI_Type_delete_attr(t, type_keyval);
	MPI_Type_free(&t);
	MPI_Type_free_keyval(&type_keyval);
}

int main(int argc, char **argv)
{
	int rank, flag, n, provided, a = 1, b = 0, class, code;
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Op op;
	MPI_Errhandler e, old;
	void *memory;

	MPI_Initialized(&flag);
	MPI_Get_version(&a, &b);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Initialized(&flag);
	MPI_Finalized(&flag);
	MPI_Query_thread(&provided);
	MPI_Is_thread_main(&flag);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_processor_name(text, &n);
	MPI_Get_library_version(text, &n);
	MPI_Pcontrol(1);
	MPI_Pcontrol(2, "more", 3);

	for (int i = 0; i < 3; i++) {
		MPI_Op_create(add, i % 2, &op);
		MPI_Op_commutative(op, &flag);
		MPI_Allreduce(&a, &b, 1, MPI_INT, op, MPI_COMM_WORLD);
		MPI_Op_free(&op);
	}
	MPI_Op_commutative(MPI_SUM, &flag);

	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
	MPI_Comm_create_errhandler(handler, &e);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
	MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&e);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &e);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "of our own");
	MPI_Error_class(code, &n);
	MPI_Error_string(code, text, &n);
	MPI_Error_string(MPI_ERR_TRUNCATE, text, &n);

	MPI_Alloc_mem(1024, MPI_INFO_NULL, &memory);
	MPI_Free_mem(memory);
	infos();
	attributes();
	MPI_Wtime();
	MPI_Wtick();
	if (rank == 0)
		printf("objects: %d copied, %d deleted\n", copied, deleted);
	MPI_Finalize();
	MPI_Finalized(&flag);
	MPI_Initialized(&flag);
	return 0;
}
