/* SPDX-License-Identifier: BSD-3-Clause
 * glob - patterns as in file names (`*`, `?`, `[...]`, `\`), made ready so that most of them are told from a value by
 * their first bytes
 *
 * In a pattern, `*` and `?` match a slash and a leading dot, too. libc only.
 */
#ifndef SPOOR_GLOB_H
#define SPOOR_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum glob_kind {
	GLOB_LITERAL, /* nothing special: equal or not */
	GLOB_PREFIX,  /* text and one `*` at the end */
	GLOB_STARS,   /* text with `*` and `?`, and nothing else that is special */
	GLOB_PATTERN,
};

/* What is known of a pattern beside its text. */
struct glob {
	uint32_t text; /* for whoever keeps the texts */
	uint16_t length;
	uint16_t prefix; /* bytes that a value must begin with */
	uint32_t kind;
};

/* What is wrong with a pattern, or NULL. */
const char *glob_problem(const char *text);
/* text must have no problem, and at most 65535 bytes. */
struct glob glob_make(const char *text);
bool glob_matches(const struct glob *g, const char *text, const char *value, size_t length);
/* True if all that b matches is matched by a, as far as that is easy to see. */
bool glob_covers(const struct glob *a, const char *a_text, const struct glob *b, const char *b_text);

#endif
