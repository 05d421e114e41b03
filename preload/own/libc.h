/* SPDX-License-Identifier: BSD-3-Clause
 * libc - what the tracer takes from the process' libc, and how
 *
 * A name that libc has may be the program's, too, or a tool's. So the tracer imports no name at all: it has its own
 * functions (memory, bytes, text, format, sort, system; each has the name that libc's has, and is found first because
 * it is hidden). What only libc can do is looked up in libc itself, when the tracer is loaded. The list is LIBC_NAMES,
 * which says for each why.
 */
#ifndef SPOOR_OWN_LIBC_H
#define SPOOR_OWN_LIBC_H

#include <stdbool.h>

/* Was libc found, with all that must be there? Else the tracer must keep out. */
bool libc_begun(void);

#endif
