/* SPDX-License-Identifier: BSD-3-Clause
 * origin - what dladdr says of the MPI library's functions: what it says without us
 *
 * Launchers, bindings of languages and tools ask in which file MPI_Send is, to find their MPI library. What the program
 * has for its address is our wrapper's, and the library's table of symbols is changed (bind.h). So the gate asks here
 * first.
 */
#ifndef SPOOR_ORIGIN_H
#define SPOOR_ORIGIN_H

#include <dlfcn.h>

/* The address is in a wrapper, or in a library that was bound: fills in *info as dladdr does, whose texts are the
 * loader's, and returns 1. MPI_Send begins at the address that the program has. Returns 0 for all other addresses.
 * Takes no lock, and allocates nothing. The number in the name becomes another when the parameters do. */
int spoor_dladdr_1(const void *address, Dl_info *info) __attribute__((visibility("default")));

#endif
