/* SPDX-License-Identifier: BSD-3-Clause
 * unwind - from the frame that a call was made in outwards to main
 *
 * On any stack, at any instant: it takes no lock, allocates nothing, and reads nothing but the unwind information of
 * files that are mapped (loaded.h) and what of the stack is known to be there (stack.h). Where that ends, the path
 * ends.
 * What was found of a place in the program is kept, so that a frame mostly costs a look-up and three loads.
 */
#ifndef SPOOR_UNWIND_H
#define SPOOR_UNWIND_H

#include <stddef.h>

#include "preload/callpath.h"
#include "preload/module.h"
#include "trace/base/arena.h"

/* Belongs to one thread at a time. */
struct unwinder;

/* To be called before any thread records, outside of the loader. NULL: no memory. */
struct unwinder *unwinder_create(void);
void unwinder_free(struct unwinder *u);
struct module_list *unwinder_modules(struct unwinder *u);
/* Room for the mind of an arena, in memory that is all zero in a child process, whoever makes that and however. */
struct arena_mind *unwinder_mind(struct unwinder *u);

/* Unwinds the stack of the calling thread, from the frame that return_address returns to, whose callee's frame ends at
 * cfa. A path of more than `most` frames (1 .. CALLPATH_MAX) is cut: its gap is GAP_CUT, or with CALLPATH_MAX
 * GAP_TOO_DEEP. Keeps errno. */
void unwind_path(struct unwinder *u, struct callpath *path, void *return_address, void *cfa, size_t most);

#endif
