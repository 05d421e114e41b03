/* SPDX-License-Identifier: BSD-3-Clause
 * life - the functions with which MPI begins and ends, and MPI_Pcontrol, which has no fixed parameters
 */
#include "tests/flatlog/flatlog.h"

int MPI_Init(int *argc, char ***argv)
{
	NEXT(MPI_Init, int, (int *, char ***));
	struct line l;
	bool said = line_begin(&l, "MPI_Init", __builtin_return_address(0));
	int rc = next(argc, argv);

	if (!said)
		return rc;
	if (line_end(&l, rc))
		flatlog_open();
	line_write(&l);
	return rc;
}

void mpi_init_(int *ierror)
{
	NEXT(mpi_init_, void, (int *));
	struct line l;
	bool said = line_begin(&l, "MPI_Init", __builtin_return_address(0));

	next(ierror);
	if (!said)
		return;
	if (line_end(&l, *ierror))
		flatlog_open();
	line_write(&l);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	NEXT(MPI_Init_thread, int, (int *, char ***, int, int *));
	struct line l;
	bool said = line_begin(&l, "MPI_Init_thread", __builtin_return_address(0));
	int rc = next(argc, argv, required, provided);

	if (!said)
		return rc;
	line_put(&l, 2, "required", say_thread(required));
	line_absent(&l, 3, "provided");
	if (line_end(&l, rc)) {
		line_put(&l, 3, "provided", say_thread(*provided));
		flatlog_open();
	}
	line_write(&l);
	return rc;
}

void mpi_init_thread_(int *required, int *provided, int *ierror)
{
	NEXT(mpi_init_thread_, void, (int *, int *, int *));
	struct line l;
	bool said = line_begin(&l, "MPI_Init_thread", __builtin_return_address(0));

	next(required, provided, ierror);
	if (!said)
		return;
	line_put(&l, 2, "required", say_thread(*required));
	line_absent(&l, 3, "provided");
	if (line_end(&l, *ierror)) {
		line_put(&l, 3, "provided", say_thread(*provided));
		flatlog_open();
	}
	line_write(&l);
}

/* Said on entry: nothing comes after it. */
static void say_finalize(void *return_address)
{
	struct line l;

	if (!line_begin(&l, "MPI_Finalize", return_address))
		return;
	line_write(&l);
	flatlog_close();
}

int MPI_Finalize(void)
{
	NEXT(MPI_Finalize, int, (void));
	say_finalize(__builtin_return_address(0));
	return next();
}

void mpi_finalize_(int *ierror)
{
	NEXT(mpi_finalize_, void, (int *));
	say_finalize(__builtin_return_address(0));
	next(ierror);
}

static void say_abort(MPI_Comm comm, int errorcode, void *return_address)
{
	struct line l;

	if (!line_begin(&l, "MPI_Abort", return_address))
		return;
	line_put(&l, 0, "comm", say_comm(comm));
	line_put(&l, 1, "errorcode", say_int(errorcode));
	line_write(&l);
	flatlog_close();
}

int MPI_Abort(MPI_Comm comm, int errorcode)
{
	NEXT(MPI_Abort, int, (MPI_Comm, int));
	say_abort(comm, errorcode, __builtin_return_address(0));
	return next(comm, errorcode);
}

void mpi_abort_(int *comm, int *errorcode, int *ierror)
{
	NEXT(mpi_abort_, void, (int *, int *, int *));
	say_abort(PMPI_Comm_f2c(*comm), *errorcode, __builtin_return_address(0));
	next(comm, errorcode, ierror);
}

static void say_pcontrol(int level, void *return_address)
{
	struct line l;

	if (!line_begin(&l, "MPI_Pcontrol", return_address))
		return;
	line_put(&l, 0, "level", say_int(level));
	line_write(&l);
}

/* The standard leaves the further arguments to the tool; Open MPI has no use for them. */
int MPI_Pcontrol(const int level, ...)
{
	NEXT(MPI_Pcontrol, int, (const int, ...));
	int rc = next(level);

	say_pcontrol(level, __builtin_return_address(0));
	return rc;
}

void mpi_pcontrol_(int *level)
{
	NEXT(mpi_pcontrol_, void, (int *));
	next(level);
	say_pcontrol(*level, __builtin_return_address(0));
}
