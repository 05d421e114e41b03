/* SPDX-License-Identifier: BSD-3-Clause
 * condition_text - the text of a number that is 0 or 1, as a condition
 */
#ifndef SPOOR_PROXY_CONDITION_TEXT_H
#define SPOOR_PROXY_CONDITION_TEXT_H

#include <stdbool.h>

/* "(rank < 3 ? 1 : 0)" is "rank < 3". Returns NULL (no memory) or what the caller frees. */
char *condition_text(const char *text);
/* Does `v`, the number of the visit, stand at one place? Then it may be counted there. */
bool condition_counts_once(const char *text);

#endif
