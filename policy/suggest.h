/* SPDX-License-Identifier: BSD-3-Clause
 * suggest - the word that somebody probably meant
 */
#ifndef SPOOR_SUGGEST_H
#define SPOOR_SUGGEST_H

#include <stddef.h>

/* The one of n choices that is nearest to word, or NULL if none is near enough to be worth naming. */
const char *suggest(const char *word, const char *const *choices, size_t n);

#endif
