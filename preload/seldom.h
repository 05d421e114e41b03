/* SPDX-License-Identifier: BSD-3-Clause
 * seldom - the steps of a wrapper as calls, for functions that no program calls often
 *
 * Most MPI functions are such. What wrap.h, put.h and fortran.h expand in place, so that an event costs little, would
 * be most of the tracer's code and of the time to compile it, if these had it, too. A source that includes this header
 * last has the same steps under the same names, each as one call: same results, a few nanoseconds more.
 */
#ifndef SPOOR_SELDOM_H
#define SPOOR_SELDOM_H

#include "preload/fortran.h"

bool seldom_begin(struct call *c, enum mpi_number f, void *return_address, void *cfa);
bool seldom_end(struct call *c, int rc);
void seldom_commit(struct call *c, bool ok, int rc);
struct comm_info seldom_comm(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like);
int64_t seldom_value(struct call *c, int32_t number);
void seldom_free(enum handle_kind kind, uint64_t bits, const void *frame);
struct request_ref seldom_request_passed(uint64_t bits, bool ends);

void seldom_put(struct call *c, int64_t value);
void seldom_put_absents(struct call *c, int n);
void seldom_put_array(struct call *c, const int64_t *values, ptrdiff_t n); /* values NULL: absent */
void seldom_put_handle(struct call *c, enum handle_kind kind, uint64_t bits, bool ok);
void seldom_put_returned(struct call *c, enum handle_kind kind, uint64_t bits);
void seldom_put_new_comm(struct call *c, const MPI_Comm *comm, bool ok, const struct comm_info *like);
void seldom_put_text(struct call *c, struct text t, bool ok);
void seldom_put_in_place(struct call *c, const void *buffer);
void seldom_put_buffer(struct call *c, const void *buffer);
void seldom_put_request_passed(struct call *c, struct request_ref *ref, bool ok, bool ends);
void seldom_put_new_request(struct call *c, const MPI_Request *request, bool ok, unsigned traits);
void seldom_put_status(struct call *c, const MPI_Status *s, bool of_request, int base, bool typed, MPI_Datatype type);
void seldom_put_status_passed(struct call *c, const MPI_Status *s, int base, bool typed, MPI_Datatype type);
void seldom_put_moved(struct call *c, const MPI_Status *s, bool typed, MPI_Datatype type);
bool seldom_put_weights_sentinel(struct call *c, const int *weights);

struct text seldom_text_fortran(const char *s, size_t n);
const void *seldom_fortran_buffer(const void *buffer);
const int *seldom_fortran_weights(const MPI_Fint *weights);
bool seldom_fortran_ignores(const MPI_Fint *status);
const MPI_Status *seldom_fortran_status(const MPI_Fint *status, MPI_Status *translated, bool valid);

/* What defines these functions has the steps as they are. */
#ifndef SELDOM_DEFINES
#undef wrap_begin_from
#define wrap_begin_from           seldom_begin
#define wrap_end                  seldom_end
#define wrap_commit               seldom_commit
#define handle_comm               seldom_comm
#define handle_value              seldom_value
#define handle_free               seldom_free
#define request_passed            seldom_request_passed
#define call_put                  seldom_put
#define call_put_absents          seldom_put_absents
#define put_handle                seldom_put_handle
#define put_returned              seldom_put_returned
#define put_comm(c, info)         seldom_put((c), seldom_value((c), (info)->number))
#define put_new_comm              seldom_put_new_comm
#define put_keyval(c, keyval, ok) seldom_put_handle((c), HANDLE_KEYVAL, HANDLE_BITS((intptr_t)(keyval)), (ok))
#define put_text                  seldom_put_text
#define put_in_place              seldom_put_in_place
#define put_buffer                seldom_put_buffer
#define put_request_passed        seldom_put_request_passed
#define put_new_request           seldom_put_new_request
#define put_no_status(c)          seldom_put_absents((c), 3)
#define put_moved                 seldom_put_moved
#define put_weights_sentinel      seldom_put_weights_sentinel
#define text_fortran              seldom_text_fortran
#define fortran_buffer            seldom_fortran_buffer
#define fortran_weights           seldom_fortran_weights
#define fortran_ignores           seldom_fortran_ignores
#define fortran_status            seldom_fortran_status

#undef PUT_STATUS
#define PUT_STATUS(c, status, of_request, base, typed, type, same) \
	seldom_put_status((c), (status), (of_request), (base), (typed), (type))

#undef PUT_STATUS_PASSED
#define PUT_STATUS_PASSED(c, status, base, typed, type, same) \
	seldom_put_status_passed((c), (status), (base), (typed), (type))

#undef PUT_ARRAY
#define PUT_ARRAY(c, array, n, element)                                                            \
	do {                                                                                       \
		ptrdiff_t n_ = (n);                                                                \
		int64_t *values_ = n_ >= 0 && (n_ == 0 || (array))                                 \
		                           ? scratch(SCRATCH_VALUES, (size_t)n_, sizeof(*values_)) \
		                           : NULL;                                                 \
		for (ptrdiff_t i_ = 0; values_ && i_ < n_; i_++)                                   \
			values_[i_] = (element);                                                   \
		seldom_put_array((c), values_, n_);                                                \
	} while (0)
#endif

#endif
