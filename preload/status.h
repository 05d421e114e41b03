/* SPDX-License-Identifier: BSD-3-Clause
 * status - what a status says about a message
 */
#ifndef SPOOR_STATUS_H
#define SPOOR_STATUS_H

#include "preload/handle.h"

/* Does the status describe a message? Not an empty one (an inactive request's: its source is MPI_ANY_SOURCE, which no
 * message has) nor a cancelled receive's. Only that of a request can be cancelled: MPICH's probes do not write whether
 * it was. */
static inline bool status_has_message(const MPI_Status *s, bool of_request)
{
	return s && s->MPI_SOURCE != MPI_ANY_SOURCE && !(of_request && abi_cancelled(s));
}

/* May a rank be called so? What nobody has written is mostly something else. */
static inline bool status_may_be_rank(int source)
{
	return source > -(1 << 20) && source < 1 << 24;
}

/* As MPI_Get_count, but not limited to an int: MPI_UNDEFINED if it is not a whole number of type. */
static inline int64_t status_count(const MPI_Status *s, MPI_Datatype type)
{
	int64_t bytes = abi_bytes(s), size;

	if (!bytes)
		return 0;
	size = handle_type_size(type);
	if (size == 1)
		return bytes; /* division takes its time */
	return size > 0 && bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
}

#endif
