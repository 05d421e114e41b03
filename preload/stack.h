/* SPDX-License-Identifier: BSD-3-Clause
 * stack - what of the stack that a thread is on may be read
 *
 * The stack that the kernel made for the process is there for ever, and so is, as long as a thread lives, the one that
 * it was started on: these are its own. All other stacks (of a signal handler, of a coroutine) may have been unmapped
 * since, or end where nobody knows; of them each page is asked of the kernel before it is read (readable.h).
 *
 * The stack that a thread was started on ends at what the C library keeps of the thread, and has no holes. It is known
 * as far down as the thread was seen on it.
 */
#ifndef SPOOR_STACK_H
#define SPOOR_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* What the calling thread may read now. Ends when it goes on to another function of the program. */
struct stack_view {
	uintptr_t low[3], high[3]; /* the process's; the thread's; pages that the kernel was asked for just now */
};

/* cfa: of a frame that the thread is in. */
void stack_look(struct stack_view *v, const void *cfa);
/* The word at an address. False: it must not be read. */
bool stack_read(struct stack_view *v, uintptr_t at, uintptr_t *value);
/* Is the calling thread the one that the process began with? Keeps errno. */
bool stack_is_first_thread(void);
/* Are both addresses on one stack of the thread's own? */
bool stack_has_both(const struct stack_view *v, uintptr_t a, uintptr_t b);

#endif
