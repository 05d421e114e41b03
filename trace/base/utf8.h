/* SPDX-License-Identifier: BSD-3-Clause
 * utf8 - characters of text that anybody may have written. libc only.
 */
#ifndef SPOOR_UTF8_H
#define SPOOR_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes of the character at text, which has n > 0 bytes; 0: they begin no UTF-8 (too long forms,
 * surrogates, and what is beyond U+10FFFF are none). */
size_t utf8_length(const char *text, size_t n);

/* The same, and 0 also for what does something else than being seen: control characters (C0, DEL, C1), separators of
 * lines, marks of direction. */
size_t utf8_visible(const char *text, size_t n);

#endif
