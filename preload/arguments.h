/* SPDX-License-Identifier: BSD-3-Clause
 * arguments - what a call that can wait for others is passed, written into the arena before it waits
 *
 * preload/generator/arguments.py writes into the wrappers of such calls, from preload/mpi.table:
 *
 *     struct record_passed *passed = arguments_begin(&c);
 *     passed->value[2] = arguments_peer(source, me.rank);      // by column of the schema
 *     passed->value[3] = arguments_tag(tag);
 *     arguments_end(&c, passed, 0xc);                          // from here on it is known
 *
 * Nothing is put into columns here, and the arena gets nothing new: named constants are numbers (PASSED_CONSTANT), and
 * a handle that was never seen is "-" until the call returns. Only the slots of the record are written, over those of
 * the call before.
 */
#ifndef SPOOR_ARGUMENTS_H
#define SPOOR_ARGUMENTS_H

#include "preload/handle.h"
#include "preload/request.h"

static inline struct record_passed *arguments_begin(const struct call *c)
{
	return &call_record(c)->passed;
}

int64_t arguments_named_peer(int64_t v);
int64_t arguments_named_tag(int64_t v);
int64_t arguments_lock(int64_t v);

/* base: the caller's rank in the communicator. */
static inline int64_t arguments_peer(int64_t v, int base)
{
	return __builtin_expect(v >= 0, 1) ? v - base : arguments_named_peer(v);
}

static inline int64_t arguments_tag(int64_t v)
{
	return __builtin_expect(v >= 0, 1) ? v : arguments_named_tag(v);
}

/* A root is a rank as it is. */
static inline int64_t arguments_root(int64_t v)
{
	return arguments_peer(v, 0);
}

/* n: of handle_number() */
static inline int64_t arguments_handle(int32_t n)
{
	return __builtin_expect(n >= 0, 1) ? n : PASSED_CONSTANT + (n == HANDLE_ABSENT ? (int32_t)CONST_ABSENT : ~n);
}

/* number: of a struct request_ref */
static inline int64_t arguments_request(int64_t number)
{
	if (__builtin_expect(number >= 0, 1))
		return number;
	return PASSED_CONSTANT + (number == REQUEST_NONE ? CONST_MPI_REQUEST_NULL : CONST_ABSENT);
}

/* An array of requests that is in the arena already. */
static inline void arguments_known_requests(struct record_passed *passed, const int64_t *numbers, size_t n)
{
	passed->count = (uint32_t)n;
	passed->array = (int64_t)((intptr_t)numbers - (intptr_t)passed);
}

/* Any other one. Returns whether it is known. */
bool arguments_requests(struct record_passed *passed, const struct request_ref *refs, size_t n);

/* mask: the columns that were written. */
static inline void arguments_end(const struct call *c, struct record_passed *passed, uint32_t mask)
{
	passed->mask = mask;
	arena_barrier();
	passed->stamp = record_passed_stamp(c->site->self, call_record(c)->events);
}

#endif
