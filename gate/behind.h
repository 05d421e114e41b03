/* SPDX-License-Identifier: BSD-3-Clause
 * behind - what stands behind the gate: the files that the loader has mapped, and libc's own functions and variables
 *
 * A program, its libraries and other preloaded tools may have functions and variables of any name that libc has. So
 * nothing here is called by its name: libc is known by what it is (its name and what it defines; musl: the loader
 * itself), and what is wanted is looked up in its own tables. Nothing here allocates, locks, or calls a function, and
 * all of it works before the first constructor.
 */
#ifndef SPOOR_BEHIND_H
#define SPOOR_BEHIND_H

#include "gate/module.h"

/* libc's own function; NULL: it has none of this name, or libc cannot be found. */
void *behind_libc(const char *name);

/* Is it the GNU libc? Its loader hands arguments and environment to constructors. */
bool behind_is_glibc(void);

/* Where libc itself has the environment that it hands on: maybe in the program. NULL: unknown. */
char ***behind_environ(void);

/* What a call of this name would go to if there were no gate: the first definition behind it in the loader's order, as
 * is fit for the names that the gate itself defines. NULL: there is none. */
void *behind_next(const char *name);

/* Is the list of files whole? Not while the loader is at work, in this thread (below a signal handler) or another. */
bool behind_at_rest(void);

/* The gate's own path, as the loader has it; NULL: unknown. */
const char *behind_own_path(void);

#endif
