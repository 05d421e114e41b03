/* SPDX-License-Identifier: BSD-3-Clause
 * names - names of functions for a generated program: as the application calls them, but each once
 */
#ifndef SPOOR_PROXY_NAMES_H
#define SPOOR_PROXY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/index.h"

#define NAMES_SIZE 64

/* A name that is taken, by the program or by others. */
struct name {
	char text[NAMES_SIZE];
	unsigned last; /* names up to that with this number behind it are taken, too */
};

/* Zero-initialised is empty. */
struct names {
	struct name *each;
	uint32_t count, capacity;
	struct index index;
};

/* Is a text the name of a function, and not an address? */
bool names_is_known(const char *text);
/* A name for a function that is called `text` in its own language: "Foam::PCG::solve" is Foam_PCG_solve, and the second
 * one Foam_PCG_solve_2; "part" if the text is no name. Valid until the next one is made. NULL: no memory. */
const char *names_make(struct names *n, const char *text);
/* The name of a function of MPI's without "MPI_" in front of it. */
const char *names_without_mpi(const char *name);
/* The letters of one without a number behind it, or what else follows: of "part_3" and "part(", those of "part". */
size_t names_plain_length(const char *name);
/* Is it one of a function about a datatype, an operation, or who there is: "Type_free"? */
bool names_is_of_objects(const char *name);
void names_free(struct names *n);

#endif
