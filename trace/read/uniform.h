/* SPDX-License-Identifier: BSD-3-Clause
 * uniform - whether all handles of a column stand for things of one size
 */
#ifndef SPOOR_UNIFORM_H
#define SPOOR_UNIFORM_H

#include "trace/read/handles.h"

/* The size of what a handle stands for in a stream: handles_type_size, handles_comm_size. */
typedef enum handle_answer uniform_of(struct handles *h, uint32_t stream, int64_t value, uint64_t *size);

/* The one size that all have for whom it is significant. */
struct uniform {
	uint64_t size;
	bool some, none; /* are there values that have it; that are not significant? */
};

/* True if it could be seen that all values of a column, or elements of its arrays, have one size. */
bool uniform_size(struct handles *h, struct uniform *u, uniform_of *of, const struct trace_site *site, int column);

#endif
