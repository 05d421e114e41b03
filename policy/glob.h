/* SPDX-License-Identifier: BSD-3-Clause
 * glob - patterns as in file names (`*`, `?`, `[...]`, `\`)
 *
 * In a pattern, `*` and `?` match a slash and a leading dot, too. libc only.
 */
#ifndef SPOOR_GLOB_H
#define SPOOR_GLOB_H

#include <stdbool.h>

/* What is wrong with a pattern, or NULL. */
const char *glob_problem(const char *pattern);
/* The pattern must have no problem. */
bool glob_matches(const char *pattern, const char *value);
/* True if all that b matches is matched by a, as far as that is easy to see. */
bool glob_covers(const char *a, const char *b);

#endif
