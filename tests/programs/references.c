/* SPDX-License-Identifier: BSD-3-Clause
 * references - objects that MPI returns several times, and that are freed as often: groups, error handlers, datatypes
 *
 *     references [FILE]     FILE: is opened, and deleted
 *     references unseen     uses a group that no function with MPI's name has returned
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static void win_handler(MPI_Win *win, int *code, ...)
{
	(void)win;
	(void)code;
}

static void file_handler(MPI_File *file, int *code, ...)
{
	(void)file;
	(void)code;
}

/* One of two is freed; a new group takes the lowest free number; then the other is used, and freed. */
static void used_once_more(MPI_Group one, MPI_Group two)
{
	MPI_Group other;
	int size, rank = 0;

	MPI_Group_size(one, &size);
	MPI_Group_free(&one);
	MPI_Group_incl(two, 1, &rank, &other);
	MPI_Group_size(other, &size);
	MPI_Group_rank(two, &rank);
	MPI_Group_free(&two);
	MPI_Group_free(&other);
}

static void groups_of_comms(void)
{
	MPI_Group first, second, third;
	MPI_Comm comm, smaller;
	int result;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_group(comm, &first);
		MPI_Comm_group(comm, &second);
		MPI_Group_compare(first, second, &result);
		used_once_more(first, second);
	}
	/* what coarrays do: the group is kept, and asked for again in between */
	MPI_Comm_group(MPI_COMM_WORLD, &first);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_group(MPI_COMM_WORLD, &second);
		MPI_Comm_create(MPI_COMM_WORLD, second, &smaller);
		MPI_Group_free(&second);
		MPI_Comm_group(smaller, &third);
		MPI_Group_translate_ranks(first, 1, &(int){0}, third, &result);
		MPI_Group_free(&third);
		MPI_Comm_free(&smaller);
	}
	MPI_Group_free(&first);
	MPI_Comm_free(&comm);
}

static void groups_of_windows(void)
{
	MPI_Group first, second;
	MPI_Win win;
	void *memory;

	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_get_group(win, &first);
	MPI_Win_get_group(win, &second);
	used_once_more(first, second);
	MPI_Win_free(&win);
}

static void handlers_of_comms(void)
{
	MPI_Errhandler made, first, second;

	MPI_Comm_create_errhandler(handler, &made);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, made);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &first);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &second);
	MPI_Errhandler_free(&made);
	MPI_Comm_create_errhandler(handler, &made);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, first);
	MPI_Errhandler_free(&first);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, second);
	MPI_Errhandler_free(&second);
	MPI_Errhandler_free(&made);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	/* one that lives in the communicator only */
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &first);
	MPI_Errhandler_free(&first);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void handlers_of_windows(void)
{
	MPI_Errhandler made, first, second;
	MPI_Win win;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_create_errhandler(win_handler, &made);
	MPI_Win_set_errhandler(win, made);
	MPI_Win_get_errhandler(win, &first);
	MPI_Errhandler_free(&made);
	MPI_Win_get_errhandler(win, &second);
	MPI_Errhandler_free(&first);
	MPI_Win_set_errhandler(win, second);
	MPI_Errhandler_free(&second);
	MPI_Win_free(&win);
}

static void files(const char *name)
{
	MPI_Errhandler made, first;
	MPI_Group one, two;
	MPI_File file;

	MPI_File_create_errhandler(file_handler, &made);
	MPI_File_set_errhandler(MPI_FILE_NULL, made);
	MPI_File_get_errhandler(MPI_FILE_NULL, &first);
	MPI_Errhandler_free(&made);
	MPI_File_set_errhandler(MPI_FILE_NULL, first);
	MPI_Errhandler_free(&first);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	if (!name)
		return;
	/* Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it. */
	fclose(fopen(name, "a"));
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
	              &file);
	MPI_File_get_group(file, &one);
	MPI_File_get_group(file, &two);
	used_once_more(one, two);
	MPI_File_close(&file);
}

/* The datatype that another one was made of is returned, too. */
static void types(void)
{
	MPI_Datatype inner, outer, again[1], real;
	int integers[3], size;
	MPI_Aint addresses[1];

	MPI_Type_contiguous(3, MPI_INT, &inner);
	MPI_Type_vector(2, 1, 2, inner, &outer);
	for (int i = 0; i < 2; i++) {
		MPI_Type_get_contents(outer, 3, 0, 1, integers, addresses, again);
		MPI_Type_free(&again[0]);
	}
	MPI_Type_get_contents(outer, 3, 0, 1, integers, addresses, again);
	MPI_Type_free(&inner);
	MPI_Type_contiguous(5, MPI_INT, &inner);
	MPI_Type_size(again[0], &size);
	MPI_Type_free(&again[0]);
	MPI_Type_free(&inner);
	MPI_Type_free(&outer);
	/* always the same one, and nobody's to free */
	for (int i = 0; i < 3; i++)
		MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real);
	MPI_Type_size(real, &size);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (argc > 1 && !strcmp(argv[1], "unseen")) {
		MPI_Group group;

		PMPI_Comm_group(MPI_COMM_WORLD, &group);
		MPI_Group_size(group, &rank);
		MPI_Group_free(&group);
		MPI_Finalize();
		return 0;
	}
	groups_of_comms();
	groups_of_windows();
	handlers_of_comms();
	handlers_of_windows();
	files(argv[1]);
	types();
	MPI_Comm_get_parent(&parent);
	if (rank == 0)
		puts("references: done");
	MPI_Finalize();
	return 0;
}
