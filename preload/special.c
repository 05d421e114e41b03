/* SPDX-License-Identifier: BSD-3-Clause
 * special - wrappers of the functions with which MPI begins and ends, and of those that are legal without it
 */
#include "preload/fortran.h"
#include "preload/session.h"
#include "preload/wrap.h"

/* ---- begin ---- */

/* MPI is up: its communicators can be asked, and this rank's recording begins in earnest. */
static void initialized(void)
{
	int level = MPI_THREAD_SINGLE;

	real.MPI_Query_thread(&level);
	handle_initialized(level == MPI_THREAD_MULTIPLE);
	session_initialized(level);
}

static void record_init(struct call *c, int rc)
{
	bool ok;

	wrap_depth--;
	if (rc == MPI_SUCCESS)
		initialized();
	ok = call_end(c, rc);
	wrap_commit(c, ok, rc);
}

static void record_init_thread(struct call *c, int rc, int required, const int *provided)
{
	bool ok;

	wrap_depth--;
	if (rc == MPI_SUCCESS)
		initialized();
	ok = call_end(c, rc);
	call_put(c, role_thread(c, required));
	if (ok)
		call_put(c, role_thread(c, *provided));
	else
		call_put_absent(c);
	wrap_commit(c, ok, rc);
}

MPI_WRAPPER int MPI_Init(int *argc, char ***argv)
{
	struct call c;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Init))
		return next.MPI_Init(argc, argv);
	rc = next.MPI_Init(argc, argv);
	record_init(&c, rc);
	return rc;
}

MPI_WRAPPER int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct call c;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Init_thread))
		return next.MPI_Init_thread(argc, argv, required, provided);
	rc = next.MPI_Init_thread(argc, argv, required, provided);
	record_init_thread(&c, rc, required, provided);
	return rc;
}

MPI_WRAPPER void mpi_init_(MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin_fortran(&c, FN_MPI_Init)) {
		next_fortran.mpi_init(ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	next_fortran.mpi_init(ierror);
	record_init(&c, *ierror);
}
FORTRAN_ALIASES(mpi_init, MPI_INIT)

MPI_WRAPPER void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin_fortran(&c, FN_MPI_Init_thread)) {
		next_fortran.mpi_init_thread(required, provided, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	next_fortran.mpi_init_thread(required, provided, ierror);
	record_init_thread(&c, *ierror, *required, provided);
}
FORTRAN_ALIASES(mpi_init_thread, MPI_INIT_THREAD)

/* ---- end: recorded when they are entered; what comes after is not the application's any more ---- */

static void record_finalize(struct call *c)
{
	wrap_end(c, MPI_SUCCESS);
	call_commit(c);
	session_finalize();
}

static void record_abort(struct call *c, MPI_Comm comm, int errorcode)
{
	const struct comm_info info =
		handle_comm(c, comm, false, NULL); /* never seen: it may be invalid, and is not asked */

	wrap_end(c, MPI_SUCCESS);
	put_comm(c, &info);
	call_put(c, errorcode);
	call_commit(c);
}

MPI_WRAPPER int MPI_Finalize(void)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Finalize))
		record_finalize(&c);
	return next.MPI_Finalize();
}

MPI_WRAPPER void mpi_finalize_(MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin_fortran(&c, FN_MPI_Finalize))
		record_finalize(&c);
	next_fortran.mpi_finalize(ierror);
}
FORTRAN_ALIASES(mpi_finalize, MPI_FINALIZE)

MPI_WRAPPER int MPI_Abort(MPI_Comm comm, int errorcode)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Abort))
		record_abort(&c, comm, errorcode);
	return next.MPI_Abort(comm, errorcode);
}

MPI_WRAPPER void mpi_abort_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin_fortran(&c, FN_MPI_Abort))
		record_abort(&c, real.MPI_Comm_f2c(*comm), *errorcode);
	next_fortran.mpi_abort(comm, errorcode, ierror);
}
FORTRAN_ALIASES(mpi_abort, MPI_ABORT)

/* ---- is MPI there? Libraries ask that in programs without MPI, through weak references that find us: the answer is no
 * ---- */

static void record_flag(struct call *c, int rc, const int *flag)
{
	bool ok = wrap_end(c, rc);

	if (ok)
		call_put(c, role_flag(c, *flag));
	else
		call_put_absent(c);
	wrap_commit(c, ok, rc);
}

MPI_WRAPPER int MPI_Initialized(int *flag)
{
	struct call c;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Initialized)) {
		if (real_state != REAL_UNKNOWN)
			return next.MPI_Initialized(flag);
		*flag = 0;
		return MPI_SUCCESS;
	}
	rc = next.MPI_Initialized(flag);
	record_flag(&c, rc, flag);
	return rc;
}

MPI_WRAPPER int MPI_Finalized(int *flag)
{
	struct call c;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Finalized)) {
		if (real_state != REAL_UNKNOWN)
			return next.MPI_Finalized(flag);
		*flag = 0;
		return MPI_SUCCESS;
	}
	rc = next.MPI_Finalized(flag);
	record_flag(&c, rc, flag);
	return rc;
}

MPI_WRAPPER void mpi_initialized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin_fortran(&c, FN_MPI_Initialized)) {
		if (real_state == REAL_UNKNOWN)
			*flag = *ierror = 0;
		next_fortran.mpi_initialized(flag, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	next_fortran.mpi_initialized(flag, ierror);
	record_flag(&c, *ierror, flag);
}
FORTRAN_ALIASES(mpi_initialized, MPI_INITIALIZED)

MPI_WRAPPER void mpi_finalized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin_fortran(&c, FN_MPI_Finalized)) {
		if (real_state == REAL_UNKNOWN)
			*flag = *ierror = 0;
		next_fortran.mpi_finalized(flag, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	next_fortran.mpi_finalized(flag, ierror);
	record_flag(&c, *ierror, flag);
}
FORTRAN_ALIASES(mpi_finalized, MPI_FINALIZED)

/* ---- MPI_Pcontrol: the arguments after the level are for tools that know them, and cannot be passed on ---- */

static void record_pcontrol(struct call *c, int rc, int level)
{
	bool ok = wrap_end(c, rc);

	call_put(c, level);
	wrap_commit(c, ok, rc);
}

MPI_WRAPPER int MPI_Pcontrol(const int level, ...)
{
	struct call c;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Pcontrol))
		return next.MPI_Pcontrol(level);
	rc = next.MPI_Pcontrol(level);
	record_pcontrol(&c, rc, level);
	return rc;
}

MPI_WRAPPER void mpi_pcontrol_(MPI_Fint *level)
{
	struct call c;

	if (!wrap_begin_fortran(&c, FN_MPI_Pcontrol)) {
		next_fortran.mpi_pcontrol(level);
		return;
	}
	next_fortran.mpi_pcontrol(level);
	record_pcontrol(&c, MPI_SUCCESS, *level);
}
FORTRAN_ALIASES(mpi_pcontrol, MPI_PCONTROL)
