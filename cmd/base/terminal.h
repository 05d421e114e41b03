/* SPDX-License-Identifier: BSD-3-Clause
 * terminal - what stdout is, and a pager in front of it
 */
#ifndef SPOOR_TERMINAL_H
#define SPOOR_TERMINAL_H

#include <stdbool.h>

/* To be called before anything else is printed. With `pages`, and if stdin and stdout are terminals, what is printed
 * goes through SPOOR_PAGER or PAGER, or `less`; "" and "cat" are none. */
void terminal_begin(bool pages);
/* Waits until the pager ends, which may be long after all was printed. */
void terminal_end(void);
/* Is, or was, stdout a terminal? */
bool terminal_is(void);
/* Its columns: COLUMNS, what it says itself, or 80; 0: it is none. */
int terminal_width(void);

#endif
