/* SPDX-License-Identifier: BSD-3-Clause
 * caller - who made a call of MPI: the program, the MPI library itself, or another tool
 */
#ifndef SPOOR_CALLER_H
#define SPOOR_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/callpath.h"

/* Is this return address inside the MPI library or one of its plug-ins? For calls made while another one runs: such a
 * call comes from the library itself, or from the application's callback (error handler, attribute function, user
 * operation). Keeps errno. */
bool caller_is_library(void *return_address);

/* The file that the loader has mapped with this base is a tool's, or a program that has one in it. Not more than 16 are
 * remembered. */
void caller_add_tool(uintptr_t base);
/* A call inside of one that is recorded, with this path: was it made by a tool's function that the library has called?
 * MPICH's functions for Fortran call those for C by their names, which may be a tool's. */
bool caller_passes_on(const struct callpath *path);

#endif
