/* SPDX-License-Identifier: BSD-3-Clause
 * request_number - the handles of the replay's requests, which are numbers of our own
 *
 * Two live requests never have the same handle (Open MPI's may). A number fits into a handle of any MPI library, be it
 * a pointer or an int.
 */
#ifndef SPOOR_REQUEST_NUMBER_H
#define SPOOR_REQUEST_NUMBER_H

#include "replay/outcome.h"

/* A request that no call has made yet; NULL: no memory. */
struct request *request_create(void);
/* Only of one that nobody uses any more. */
void request_destroy(struct request *r);
/* NULL: MPI_REQUEST_NULL. */
struct request *request_of(MPI_Request request);
static inline MPI_Request request_handle(const struct request *r)
{
	return r ? HANDLE_OF(MPI_Request, r->number) : MPI_REQUEST_NULL;
}

#endif
