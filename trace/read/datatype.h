/* SPDX-License-Identifier: BSD-3-Clause
 * datatype - sizes in bytes of datatypes, from the calls that made them (MPI-4.1 section 5.1)
 */
#ifndef SPOOR_DATATYPE_H
#define SPOOR_DATATYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/read/walk.h"

/* True if the event makes a datatype: which one (number), and its size, UINT64_MAX if that is not known. size_of: of a
 * value of a `t` column. */
bool datatype_made(const struct trace *t, const struct event *e,
                   bool (*size_of)(void *context, int64_t datatype, uint64_t *size), void *context, uint32_t *number,
                   uint64_t *size);
/* Does the function make datatypes? */
bool datatype_makes(const struct schema *s);

#endif
