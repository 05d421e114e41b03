/* SPDX-License-Identifier: BSD-3-Clause
 * prelude - what a generated program has of functions of its own, as far as it uses them
 */
#ifndef SPOOR_PROXY_PRELUDE_H
#define SPOOR_PROXY_PRELUDE_H

#include "proxy/print.h"

/* Writes the first lines of a program. title: what it is of. */
void prelude_begin(FILE *out, const char *title);
/* Writes the functions that a program calls, by what was printed of it, and those that they call. */
void prelude_write(FILE *out, const struct printed *program);

#endif
