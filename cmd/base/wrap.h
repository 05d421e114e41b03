/* SPDX-License-Identifier: BSD-3-Clause
 * wrap - text in as many lines as its words need
 */
#ifndef SPOOR_WRAP_H
#define SPOOR_WRAP_H

#include <stddef.h>

/* Prints a text and a line's end. What is in the line before it has `indent` columns, and so many blanks begin all
 * further lines. width: columns of a line, which only a longer word exceeds; 0: one line. Characters that terminals may
 * take for commands are printed as '?'. */
void wrap_print(const char *text, size_t indent, size_t width);

#endif
