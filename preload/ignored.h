/* SPDX-License-Identifier: BSD-3-Clause
 * ignored - frames that count as one where they follow each other (the setting site_ignore)
 *
 *     site_ignore   libpetsc.so,*wrap*
 *     call path     main  solve  KSPSolve  KSPSolve_CG  VecNorm  MPI_Allreduce
 *     the site's    main  solve  KSPSolve
 *
 * A name with ".so" in it is a module's: its file's name, which may have a version behind it. Any other one is a
 * function's, as far as its module exports it. Both are as in the shell: * and ? stand for anything. The one frame that
 * is left is the function by which the run was entered, without the place in it.
 *
 * Only new call paths are looked at. What is known of an address is kept, so that a symbol is looked for once.
 */
#ifndef SPOOR_IGNORED_H
#define SPOOR_IGNORED_H

#include <stdbool.h>

#include "preload/module.h"

struct ignored;

/* names: separated by commas; copied. NULL: there are none, or no memory. Lives as long as the process. */
struct ignored *ignored_create(const char *names);
/* The names that it was made of. */
const char *ignored_names(const struct ignored *g);
/* Is a return address one of these? Then *entry is where its function begins, as an offset in the file, and 1: a return
 * address, too, is behind what it belongs to. 1 alone: not known. */
bool ignored_frame(struct ignored *g, const struct module *m, uintptr_t address, uint64_t *entry);
/* A file was unloaded: addresses may mean something else now. */
void ignored_forget(struct ignored *g);

#endif
