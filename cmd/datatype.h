/* SPDX-License-Identifier: BSD-3-Clause
 * datatype - sizes in bytes of the datatypes of one rank, from the calls that made them (MPI-4.1 section 5.1)
 */
#ifndef SPOOR_DATATYPE_H
#define SPOOR_DATATYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/walk.h"

struct datatypes;

/* Knows the predefined datatypes. Returns NULL on no memory. */
struct datatypes *datatypes_create(const struct trace *t);
void datatypes_destroy(struct datatypes *d);
/* To be told of every event of the rank, in order. */
void datatypes_event(struct datatypes *d, const struct event *e);
/* True and the size, if the value of a `t` column is known. */
bool datatypes_size(const struct datatypes *d, int64_t datatype, uint64_t *size);

#endif
