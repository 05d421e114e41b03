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

#define FORTRAN(name, parameters)      FORTRAN_SPELLED(name, parameters) void name##_ parameters
#define NEXT_FORTRAN(name, parameters) NEXT(name##_, void, parameters)
#include "tests/flatlog/life_fortran.h"
#undef FORTRAN
#undef NEXT_FORTRAN
#define FORTRAN(name, parameters)      void name##_f08_ parameters
#define NEXT_FORTRAN(name, parameters) NEXT(name##_f08_, void, parameters)
#include "tests/flatlog/life_fortran.h"
