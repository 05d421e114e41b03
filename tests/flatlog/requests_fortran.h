/* SPDX-License-Identifier: BSD-3-Clause
 * requests_fortran - the Fortran functions that start, complete and free requests; included by requests.c, once for
 * mpif.h and once for mpi_f08
 */
FORTRAN(mpi_wait, (int *request, int *status, int *ierror))
{
	NEXT_FORTRAN(mpi_wait, (int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Wait, request, status, ierror);
	FSINGLE();
	line_absent_status(&l, 1, "status");
	OWN_FSTATUS(status);
	next(request, status, ierror);
	MPI_Status *s = c_statuses(1, status);
	if (line_end(&l, *ierror))
		after_wait(&l, &b, 1, s);
	free(s);
	FEND(1, request);
}

FORTRAN(mpi_test, (int *request, int *flag, int *status, int *ierror))
{
	NEXT_FORTRAN(mpi_test, (int *, int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Test, request, flag, status, ierror);
	FSINGLE();
	line_absent(&l, 1, "flag");
	line_absent_status(&l, 2, "status");
	OWN_FSTATUS(status);
	next(request, flag, status, ierror);
	MPI_Status *s = c_statuses(1, status);
	if (line_end(&l, *ierror)) {
		line_put(&l, 1, "flag", say_flag(*flag));
		if (*flag)
			after_wait(&l, &b, 2, s);
	}
	free(s);
	FEND(1, request);
}

FORTRAN(mpi_request_get_status, (int *request, int *flag, int *status, int *ierror))
{
	NEXT_FORTRAN(mpi_request_get_status, (int *, int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Request_get_status, request, flag, status, ierror);
	FSINGLE();
	line_absent(&l, 1, "flag");
	line_absent_status(&l, 2, "status");
	OWN_FSTATUS(status);
	next(request, flag, status, ierror);
	MPI_Status *s = c_statuses(1, status);
	if (line_end(&l, *ierror)) {
		line_put(&l, 1, "flag", say_flag(*flag));
		if (*flag)
			fields_put(&l, 2, "status", fields_of(s, MPI_BYTE, batch_tells(&b, 0)));
	}
	free(s);
	FEND(1, request);
}

FORTRAN(mpi_waitall, (int *count, int *requests, int *statuses, int *ierror))
{
	NEXT_FORTRAN(mpi_waitall, (int *, int *, int *, int *));
	int *own;
	OWN_IERROR();
	FBEGIN(MPI_Waitall, count, requests, statuses, ierror);
	FARRAY("count", *count);
	line_absent_status(&l, 2, "statuses");
	statuses = own_fstatuses(*count, statuses, &own);
	next(count, requests, statuses, ierror);
	if (line_end(&l, *ierror)) {
		MPI_Status *s = c_statuses(*count, statuses);
		complete_array(&l, 2, &b, b.n, NULL, s);
		free(s);
	}
	free(own);
	FEND(*count, requests);
}

FORTRAN(mpi_testall, (int *count, int *requests, int *flag, int *statuses, int *ierror))
{
	NEXT_FORTRAN(mpi_testall, (int *, int *, int *, int *, int *));
	int *own;
	OWN_IERROR();
	FBEGIN(MPI_Testall, count, requests, flag, statuses, ierror);
	FARRAY("count", *count);
	line_absent(&l, 2, "flag");
	line_absent_status(&l, 3, "statuses");
	statuses = own_fstatuses(*count, statuses, &own);
	next(count, requests, flag, statuses, ierror);
	if (line_end(&l, *ierror)) {
		line_put(&l, 2, "flag", say_flag(*flag));
		if (*flag) {
			MPI_Status *s = c_statuses(*count, statuses);
			complete_array(&l, 3, &b, b.n, NULL, s);
			free(s);
		}
	}
	free(own);
	FEND(*count, requests);
}

FORTRAN(mpi_waitany, (int *count, int *requests, int *index, int *status, int *ierror))
{
	NEXT_FORTRAN(mpi_waitany, (int *, int *, int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Waitany, count, requests, index, status, ierror);
	FARRAY("count", *count);
	line_absent(&l, 2, "index");
	line_absent_status(&l, 3, "status");
	OWN_FSTATUS(status);
	next(count, requests, index, status, ierror);
	if (line_end(&l, *ierror)) {
		MPI_Status *s = c_statuses(1, status);
		line_put(&l, 2, "index", say_count(c_index(*index)));
		after_any(&l, &b, 3, c_index(*index), true, s);
		free(s);
	}
	FEND(*count, requests);
}

FORTRAN(mpi_testany, (int *count, int *requests, int *index, int *flag, int *status, int *ierror))
{
	NEXT_FORTRAN(mpi_testany, (int *, int *, int *, int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Testany, count, requests, index, flag, status, ierror);
	FARRAY("count", *count);
	line_absent(&l, 2, "index");
	line_absent(&l, 3, "flag");
	line_absent_status(&l, 4, "status");
	OWN_FSTATUS(status);
	next(count, requests, index, flag, status, ierror);
	if (line_end(&l, *ierror)) {
		MPI_Status *s = c_statuses(1, status);
		line_put(&l, 2, "index", say_count(c_index(*index)));
		line_put(&l, 3, "flag", say_flag(*flag));
		after_any(&l, &b, 4, c_index(*index), *flag, s);
		free(s);
	}
	FEND(*count, requests);
}

#undef FSOME
#define FSOME(name, function)                                                                                 \
	FORTRAN(name, (int *incount, int *requests, int *outcount, int *indices, int *statuses, int *ierror)) \
	{                                                                                                     \
		NEXT_FORTRAN(name, (int *, int *, int *, int *, int *, int *));                               \
		int *own;                                                                                     \
		OWN_IERROR();                                                                                 \
		FBEGIN(function, incount, requests, outcount, indices, statuses, ierror);                     \
		FARRAY("incount", *incount);                                                                  \
		line_absent(&l, 2, "outcount");                                                               \
		line_absent(&l, 3, "indices");                                                                \
		line_absent_status(&l, 4, "statuses");                                                        \
		statuses = own_fstatuses(*incount, statuses, &own);                                           \
		next(incount, requests, outcount, indices, statuses, ierror);                                 \
		if (line_end(&l, *ierror)) {                                                                  \
			int n = *outcount == MPI_UNDEFINED ? 0 : *outcount;                                   \
			MPI_Status *s = c_statuses(n, statuses);                                              \
			int c[n + 1];                                                                         \
			for (int i = 0; i < n; i++)                                                           \
				c[i] = c_index(indices[i]);                                                   \
			after_some(&l, &b, *outcount, c, s);                                                  \
			free(s);                                                                              \
		}                                                                                             \
		free(own);                                                                                    \
		FEND(*incount, requests);                                                                     \
	}
FSOME(mpi_waitsome, MPI_Waitsome)
FSOME(mpi_testsome, MPI_Testsome)

FORTRAN(mpi_request_free, (int *request, int *ierror))
{
	NEXT_FORTRAN(mpi_request_free, (int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Request_free, request, ierror);
	FSINGLE();
	next(request, ierror);
	if (line_end(&l, *ierror))
		batch_free(&b);
	FEND(1, request);
}

FORTRAN(mpi_cancel, (int *request, int *ierror))
{
	NEXT_FORTRAN(mpi_cancel, (int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Cancel, request, ierror);
	FSINGLE();
	next(request, ierror);
	line_end(&l, *ierror);
	FEND(1, request);
}

FORTRAN(mpi_start, (int *request, int *ierror))
{
	NEXT_FORTRAN(mpi_start, (int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Start, request, ierror);
	FSINGLE();
	next(request, ierror);
	if (line_end(&l, *ierror))
		batch_start(&b);
	FEND(1, request);
}

FORTRAN(mpi_startall, (int *count, int *requests, int *ierror))
{
	NEXT_FORTRAN(mpi_startall, (int *, int *, int *));
	OWN_IERROR();
	FBEGIN(MPI_Startall, count, requests, ierror);
	FARRAY("count", *count);
	next(count, requests, ierror);
	if (line_end(&l, *ierror))
		batch_start(&b);
	FEND(*count, requests);
}
