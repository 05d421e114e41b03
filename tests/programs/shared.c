/* SPDX-License-Identifier: BSD-3-Clause
 * shared - MPI-IO: shared file pointers, split collectives, collectives without blocking, error handlers, hints, data
 * representations
 *
 *     shared FILE      the file is made and removed
 */
#include <mpi.h>
#include <stdio.h>

static int rank, size, a[16], b[16], failed;
static MPI_File f;
static MPI_Status s;
static MPI_Request q;

static void on_error(MPI_File *file, int *code, ...)
{
	(void)file, (void)code;
	failed++;
}

static void split(void)
{
	MPI_File_write_at_all_begin(f, rank * 64, a, 16, MPI_INT);
	MPI_File_write_at_all_end(f, a, &s);
	MPI_File_read_at_all_begin(f, 0, b, 16, MPI_INT);
	MPI_File_read_at_all_end(f, b, MPI_STATUS_IGNORE);
	MPI_File_seek(f, rank * 64, MPI_SEEK_SET);
	MPI_File_write_all_begin(f, a, 8, MPI_INT);
	MPI_File_write_all_end(f, a, &s);
	MPI_File_seek(f, -32, MPI_SEEK_CUR);
	MPI_File_read_all_begin(f, b, 8, MPI_INT);
	MPI_File_read_all_end(f, b, &s);
}

static void later(void)
{
	MPI_File_iwrite_at_all(f, rank * 64, a, 4, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_File_iread_at_all(f, 0, b, 4, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_iwrite_all(f, a, 4, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_iread_all(f, b, 4, MPI_INT, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void together(void)
{
	MPI_Offset at;

	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_write_ordered(f, a, rank + 1, MPI_INT, &s);
	MPI_File_write_ordered_begin(f, a, 2, MPI_INT);
	MPI_File_write_ordered_end(f, a, &s);
	MPI_File_get_position_shared(f, &at);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_read_ordered(f, b, rank + 1, MPI_INT, &s);
	MPI_File_read_ordered_begin(f, b, 2, MPI_INT);
	MPI_File_read_ordered_end(f, b, &s);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_write_shared(f, a, 1, MPI_INT, &s);
	MPI_File_iwrite_shared(f, a, 2, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_read_shared(f, b, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iread_shared(f, b, 2, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void handlers(void)
{
	MPI_Errhandler e, was;
	MPI_Info info;
	MPI_File none;

	MPI_File_get_errhandler(MPI_FILE_NULL, &was); /* that of files that are still to be opened */
	MPI_Errhandler_free(&was);
	MPI_File_get_errhandler(f, &was);
	MPI_File_create_errhandler(on_error, &e);
	MPI_File_set_errhandler(f, e);
	MPI_File_call_errhandler(f, MPI_ERR_IO);
	MPI_File_read(f, b, -1, MPI_INT, &s); /* fails: comes back by way of the handler */
	MPI_File_set_errhandler(f, was);
	MPI_Errhandler_free(&e);
	MPI_Errhandler_free(&was);
	MPI_Info_create(&info);
	MPI_Info_set(info, "access_style", "write_mostly");
	MPI_File_set_info(f, info);
	MPI_Info_free(&info);
	MPI_File_open(MPI_COMM_SELF, "/nonexistent/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
	              &none); /* files' errors return */
}

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra)
{
	(void)type, (void)extra;
	*bytes = 4;
	return MPI_SUCCESS;
}

/* shared FILE: the file is made and removed */
int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "shared.out";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL);
	/* Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it. */
	fclose(fopen(name, "a"));
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
	              &f);
	split();
	later();
	together();
	handlers();
	MPI_File_close(&f);
	if (rank == 0)
		printf("shared: %d\n", failed);
	MPI_Finalize();
	return 0;
}
