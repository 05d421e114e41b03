/* SPDX-License-Identifier: BSD-3-Clause
 * calls - what replays each MPI function, and the named constants of the library (generated: generate.py)
 */
#ifndef SPOOR_CALLS_H
#define SPOOR_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/mpi.h"

struct args;

struct replay_call {
	const char *buffers; /* names of the buffers that may be recorded, in order, with blanks between */
	/* values: one for each column of mpi_functions[].schema. Returns what MPI returned. NULL: cannot be replayed.
	 */
	int (*call)(struct args *a, const int64_t *values);
};
extern const struct replay_call replay_calls[FN_COUNT];

struct library_constant {
	const char *name;
	int kind; /* enum handle_kind */
	void *handle;
	int64_t value;
};
extern const struct library_constant library_constants[];
extern const size_t library_constant_count;

#endif
