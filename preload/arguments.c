/* SPDX-License-Identifier: BSD-3-Clause
 * arguments - what a call that can wait for others is passed
 */
#include "preload/arguments.h"

#include <string.h>

#include "preload/request_array.h"

int64_t arguments_named_peer(int64_t v)
{
	return v == MPI_ANY_SOURCE  ? PASSED_CONSTANT + CONST_MPI_ANY_SOURCE
	       : v == MPI_PROC_NULL ? PASSED_CONSTANT + CONST_MPI_PROC_NULL
	       : v == MPI_ROOT      ? PASSED_CONSTANT + CONST_MPI_ROOT
	                            : PASSED_CONSTANT + CONST_ABSENT;
}

int64_t arguments_named_tag(int64_t v)
{
	return PASSED_CONSTANT + (v == MPI_ANY_TAG ? CONST_MPI_ANY_TAG : CONST_ABSENT);
}

int64_t arguments_lock(int64_t v)
{
	return PASSED_CONSTANT + (v == MPI_LOCK_EXCLUSIVE ? CONST_MPI_LOCK_EXCLUSIVE
	                          : v == MPI_LOCK_SHARED  ? CONST_MPI_LOCK_SHARED
	                                                  : CONST_ABSENT);
}

bool arguments_requests(struct record_passed *passed, const struct request_ref *refs, size_t n)
{
	const struct request_array *a = &request_array;
	const uint32_t count = n < RECORD_PASSED_ELEMENTS ? (uint32_t)n : RECORD_PASSED_ELEMENTS;

	passed->count = count;
	passed->array = 0;
	if (refs == a->refs && value_is_constant(a->null)) { /* as their column has them */
		memcpy(passed->elements, a->values, count * sizeof(*a->values));
		return true;
	}
	for (size_t i = 0; refs && i < count; i++)
		passed->elements[i] = arguments_request(refs[i].number);
	return refs != NULL;
}
