/* SPDX-License-Identifier: BSD-3-Clause
 * short_functions - functions of a large program that are short, where they are called
 *
 * Libraries have functions around single MPI calls, which are called in hundreds of places: each would be one.
 */
#ifndef SPOOR_PROXY_SHORT_FUNCTIONS_H
#define SPOOR_PROXY_SHORT_FUNCTIONS_H

#include "proxy/routine.h"

/* Puts those that nobody named, and those of a single line, that are called once in place of their calls; they are gone
 * then. made: other functions that may call them. *steps: lines that were looked at are added. Returns 0, or -1: no
 * memory, or the trace's budget has run out. */
int short_functions_take_in(struct tree *t, struct routines *functions, struct routines *made, uint64_t *steps);

#endif
