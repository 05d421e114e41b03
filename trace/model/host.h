/* SPDX-License-Identifier: BSD-3-Clause
 * host - the hosts of a trace's ranks, by their names
 *
 * A machine's thousands of names are one string: a name that has a number (the last digits of its first label) is kept
 * as the name with a `#` for each digit, and the number as a function of the rank (`host_number` in struct trace).
 */
#ifndef SPOOR_HOST_H
#define SPOOR_HOST_H

#include "trace/model/trace.h"

/* Sets the host of a rank that has none yet; only in a trace of that rank alone. Returns 0 or -1. */
int host_set(struct trace *t, uint32_t rank, const char *name, size_t n);
/* The host of a rank; name gets a terminated text, "" if it is not known, cut if it is longer. */
#define HOST_MAX 512
void host_get(const struct trace *t, uint32_t rank, char name[HOST_MAX]);
/* Calls tell for each host, in the order of their lowest ranks, with the number of its ranks. Returns 0, or -1 on no
 * memory. */
int host_each(const struct trace *t, void (*tell)(void *context, const char *name, uint64_t ranks), void *context);

#endif
