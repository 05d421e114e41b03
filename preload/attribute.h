/* SPDX-License-Identifier: BSD-3-Clause
 * attribute - which communicators have attributes that would be copied with them?
 *
 * Whoever duplicates a communicator has the application's copy functions called, and its delete functions when the
 * duplicate is freed. The tracer must not do that: these functions count, allocate, and communicate.
 */
#ifndef SPOOR_ATTRIBUTE_H
#define SPOOR_ATTRIBUTE_H

#include <stdbool.h>

#include "preload/real.h"

/* A keyval for communicators was created, with this copy function. */
void attribute_keyval(int keyval, const void *copy);

/* Has the communicator an attribute whose keyval does not have the MPI library's own function that copies nothing?
 * Errors on it must be returned. */
bool attribute_is_copied(MPI_Comm comm);

#endif
