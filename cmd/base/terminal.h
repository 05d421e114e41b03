/* SPDX-License-Identifier: BSD-3-Clause
 * terminal - what stdout is, and a pager in front of it
 */
#ifndef SPOOR_TERMINAL_H
#define SPOOR_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* To be called before anything else is printed. With `pages`, and if stdin and stdout are terminals, what is printed
 * goes through SPOOR_PAGER or PAGER, or `less`; "" and "cat" are none. */
void terminal_begin(bool pages);
/* Waits until the pager ends, which may be long after all was printed. */
void terminal_end(void);
/* Is, or was, stdout a terminal? */
bool terminal_is(void);
/* What a text is of, in colour; MARK_END behind it. */
enum mark { MARK_GOOD, MARK_FAIR, MARK_BAD, MARK_END };
/* Makes a terminal show it so; nothing without colours. SPOOR_COLOR is `always`, `never`, or else `auto`: colours where
 * stdout is a terminal, unless NO_COLOR is set, or TERM is `dumb`. */
void terminal_print_mark(FILE *out, enum mark mark);
/* Its columns: COLUMNS, what it says itself, or 80; 0: it is none. */
int terminal_width(void);
/* Is stdout a terminal of fewer columns? */
bool terminal_is_narrow(int columns);

#endif
