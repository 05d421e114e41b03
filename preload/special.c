/* SPDX-License-Identifier: BSD-3-Clause
 * special - wrappers of the functions with which MPI begins and ends, and of MPI_Pcontrol, in C
 */
#include "preload/special.h"

#include "preload/session.h"

#include <stdarg.h>

/* ---- begin ---- */

/* MPI is up: its communicators can be asked, and this rank's recording begins in earnest. */
static void mpi_is_up(void)
{
	int level = MPI_THREAD_SINGLE;

	real.MPI_Query_thread(&level);
	handle_initialized(level == MPI_THREAD_MULTIPLE);
	session_initialized(level);
}

void special_initialized(struct call *c, int rc)
{
	if (rc == MPI_SUCCESS)
		mpi_is_up();
	call_reconsider(c);
}

#ifdef HAVE_MPI_Session_init
/* Without MPI_Init there is no MPI_COMM_WORLD, but the process set of that name says the same. */
void put_new_session(struct call *c, MPI_Session session)
{
	char text[64] = "";
	int rank = 0, size = 1, flag = 0, length = sizeof(text), initialized = 0;
	MPI_Group group = MPI_GROUP_NULL;
	MPI_Info info = MPI_INFO_NULL;
	bool multiple = false;

	put_handle(c, HANDLE_SESSION, HANDLE_BITS(session), true);
	if (real.MPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
		return;
	if (real.MPI_Session_get_info(session, &info) == MPI_SUCCESS) {
		real.MPI_Info_get_string(info, "thread_level", &length, text, &flag);
		multiple = flag && !strcmp(text, "MPI_THREAD_MULTIPLE");
		real.MPI_Info_free(&info);
	}
	if (real.MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS) {
		real.MPI_Group_rank(group, &rank);
		real.MPI_Group_size(group, &size);
		real.MPI_Group_free(&group);
	}
	handle_session(multiple);
	session_opened(rank, size, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
}
#endif

/* ---- end: recorded when they are entered; what comes after is not the application's any more ---- */

void record_finalize(struct call *c)
{
	wrap_end(c, MPI_SUCCESS);
	call_commit(c);
	session_finalize();
}

void record_abort(struct call *c, MPI_Comm comm, int errorcode)
{
	const struct comm_info info =
		handle_comm(c, comm, false, NULL); /* never seen: it may be invalid, and is not asked */

	wrap_end(c, MPI_SUCCESS);
	put_comm(c, &info);
	call_put(c, errorcode);
	call_commit(c);
}

int wrap_MPI_Finalize(void)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Finalize))
		record_finalize(&c);
	else
		session_finalize();
	return next.MPI_Finalize();
}

int wrap_MPI_Abort(MPI_Comm comm, int errorcode)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Abort))
		record_abort(&c, comm, errorcode);
	return next.MPI_Abort(comm, errorcode);
}

/* ---- MPI_Pcontrol: what comes after the level is for tools that know it ---- */

void record_pcontrol(struct call *c, int rc, int level)
{
	bool ok = wrap_end(c, rc);

	call_put(c, level);
	wrap_commit(c, ok, rc);
}

/* Whatever was passed in registers is passed on: more than any tool is known to take. */
int wrap_MPI_Pcontrol(const int level, ...)
{
	struct call c;
	void *word[5];
	double number[8];
	va_list rest;
	bool recorded = wrap_begin(&c, FN_MPI_Pcontrol);
	int rc;

	va_start(rest, level);
	for (int i = 0; i < 5; i++)
		word[i] = va_arg(rest, void *);
	for (int i = 0; i < 8; i++)
		number[i] = va_arg(rest, double);
	va_end(rest);
	rc = next.MPI_Pcontrol(level, word[0], word[1], word[2], word[3], word[4], number[0], number[1], number[2],
	                       number[3], number[4], number[5], number[6], number[7]);
	if (recorded)
		record_pcontrol(&c, rc, level);
	return rc;
}
