/* SPDX-License-Identifier: BSD-3-Clause
 * error - a human text in a buffer that the caller owns; the first error wins
 *
 * Functions that can fail take a `struct error *` as their last argument. It may be NULL when the caller does not want
 * the text. The text says what was wrong, where, and what was expected, without a trailing newline or full stop. It is
 * one line: control characters in it become `?`.
 */
#ifndef SPOOR_ERROR_H
#define SPOOR_ERROR_H

struct error {
	char text[512]; /* longer texts are cut */
};

/* Sets the text unless one is set already. Returns -1 always, so that `return error_set(...)` ends a function. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
