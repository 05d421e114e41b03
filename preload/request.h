/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * A request is live from the call that creates it until the one that completes it; a persistent one until
 * MPI_Request_free. A new one takes the lowest number that is free, so a loop's requests have the same numbers in every
 * iteration. Several live requests may have the same handle (Open MPI has one request object for all that is sent to
 * MPI_PROC_NULL): then the oldest one is meant, and an array is resolved from left to right, each live request at most
 * once.
 *
 * With several threads in MPI, a completed request's handle may be given to a new request of another thread before the
 * completing call has come back to us. Therefore a call that may complete requests claims what it was given: while
 * claimed, a live request is meant by nobody else. Every ref from request_find and request_find_all is given back by
 * request_end or request_release.
 */
#ifndef SPOOR_REQUEST_H
#define SPOOR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_trait {
	REQUEST_RECV = 1,      /* its status describes a message */
	REQUEST_PERSISTENT = 2 /* completing it does not end it */
};

/* A live request as a call meant it. */
struct request_ref {
	uint64_t bits;
	int32_t number; /* or REQUEST_NONE: MPI_REQUEST_NULL; REQUEST_UNKNOWN: no memory, or may_be_new was false */
	uint8_t traits;
};
#define REQUEST_NONE    (-1)
#define REQUEST_UNKNOWN (-2)

/* A new live request; null is the handle bits of MPI_REQUEST_NULL, which is never live. Returns its number, or
 * REQUEST_NONE, or REQUEST_UNKNOWN. */
int32_t request_new(uint64_t bits, uint64_t null, unsigned traits);
/* What handle bits mean now: the oldest live request that has them. One that was never seen becomes live if may_be_new.
 */
struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new);
/* The same for an array: fills n refs. Requests that were never seen become live. */
void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null);
/* The request is not live any more. Does nothing for a ref that has no number. */
void request_end(const struct request_ref *ref);
/* It is still live. */
void request_release(const struct request_ref *ref);
/* How many are live; for tests. */
size_t request_count(void);
/* Forgets everything and frees the memory; for tests. */
void request_reset(void);

#endif
