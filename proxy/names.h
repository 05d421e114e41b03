/* SPDX-License-Identifier: BSD-3-Clause
 * names - names of functions for a generated program: as the application calls them, but each once
 */
#ifndef SPOOR_PROXY_NAMES_H
#define SPOOR_PROXY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES_SIZE 64

/* Zero-initialised is empty. */
struct names {
	char (*each)[NAMES_SIZE];
	uint32_t count, capacity;
};

/* Is a text the name of a function, and not an address? */
bool names_is_known(const char *text);
/* A name for a function that is called `text` in its own language: "Foam::PCG::solve" is Foam_PCG_solve, and the second
 * one Foam_PCG_solve_2; "part" if the text is no name. Valid until the next one is made. NULL: no memory. */
const char *names_make(struct names *n, const char *text);
void names_free(struct names *n);

#endif
