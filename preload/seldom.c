/* SPDX-License-Identifier: BSD-3-Clause
 * seldom - the steps of a wrapper as calls, for functions that no program calls often
 */
#define SELDOM_DEFINES
#include "preload/seldom.h"

bool seldom_begin(struct call *c, enum mpi_number f, void *return_address, void *cfa)
{
	return wrap_begin_from(c, f, return_address, cfa);
}

bool seldom_end(struct call *c, int rc)
{
	return wrap_end(c, rc);
}

void seldom_commit(struct call *c, bool ok, int rc)
{
	wrap_commit(c, ok, rc);
}

struct comm_info seldom_comm(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	return handle_comm(c, comm, ok, like);
}

int64_t seldom_value(struct call *c, int32_t number)
{
	return handle_value(c, number);
}

void seldom_free(enum handle_kind kind, uint64_t bits, const void *frame)
{
	handle_free(kind, bits, frame);
}

struct request_ref seldom_request_passed(uint64_t bits, bool ends)
{
	return request_passed(bits, ends);
}

void seldom_put(struct call *c, int64_t value)
{
	call_put(c, value);
}

void seldom_put_absents(struct call *c, int n)
{
	call_put_absents(c, n);
}

void seldom_put_array(struct call *c, const int64_t *values, ptrdiff_t n)
{
	if (values)
		call_put_vector(c, values, (size_t)n);
	else
		call_put_absent(c);
}

void seldom_put_handle(struct call *c, enum handle_kind kind, uint64_t bits, bool ok)
{
	put_handle(c, kind, bits, ok);
}

void seldom_put_returned(struct call *c, enum handle_kind kind, uint64_t bits)
{
	put_returned(c, kind, bits);
}

void seldom_put_new_comm(struct call *c, const MPI_Comm *comm, bool ok, const struct comm_info *like)
{
	put_new_comm(c, comm, ok, like);
}

void seldom_put_text(struct call *c, struct text t, bool ok)
{
	put_text(c, t, ok);
}

void seldom_put_in_place(struct call *c, const void *buffer)
{
	put_in_place(c, buffer);
}

void seldom_put_buffer(struct call *c, const void *buffer)
{
	put_buffer(c, buffer);
}

void seldom_put_request_passed(struct call *c, struct request_ref *ref, bool ok, bool ends)
{
	put_request_passed(c, ref, ok, ends);
}

void seldom_put_new_request(struct call *c, const MPI_Request *request, bool ok, unsigned traits)
{
	put_new_request(c, request, ok, traits);
}

void seldom_put_status(struct call *c, const MPI_Status *s, bool of_request, int base, bool typed, MPI_Datatype type)
{
	put_status(c, s, of_request, base, typed, type);
}

void seldom_put_status_passed(struct call *c, const MPI_Status *s, int base, bool typed, MPI_Datatype type)
{
	put_status_passed(c, s, base, typed, type);
}

void seldom_put_moved(struct call *c, const MPI_Status *s, bool typed, MPI_Datatype type)
{
	put_moved(c, s, typed, type);
}

bool seldom_put_weights_sentinel(struct call *c, const int *weights)
{
	return put_weights_sentinel(c, weights);
}

struct text seldom_text_fortran(const char *s, size_t n)
{
	return text_fortran(s, n);
}

const void *seldom_fortran_buffer(const void *buffer)
{
	return fortran_buffer(buffer);
}

const int *seldom_fortran_weights(const MPI_Fint *weights)
{
	return fortran_weights(weights);
}

bool seldom_fortran_ignores(const MPI_Fint *status)
{
	return fortran_ignores(status);
}

const MPI_Status *seldom_fortran_status(const MPI_Fint *status, MPI_Status *translated, bool valid)
{
	return fortran_status(status, translated, valid);
}
