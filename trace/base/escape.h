/* SPDX-License-Identifier: BSD-3-Clause
 * escape - any bytes as one printable word: `%`, `;`, and bytes outside 0x21..0x7e are written %HH
 *
 * The form of every value that crosses from one of spoor's processes to another as text: in the handoff, in facts, in
 * decisions, and in the FACT chunk of a raw trace. libc only.
 */
#ifndef SPOOR_ESCAPE_H
#define SPOOR_ESCAPE_H

#include <stddef.h>

/* Writes the escaped form of the NUL-terminated value and a NUL. Returns its length, or -1 if it does not fit (out is
 * then ""). */
int escape_write(char *out, size_t size, const char *value);

/* Undoes the escaping of n bytes; writes a NUL behind them. An escaped NUL is read as the byte `nul`. Returns the
 * length, or -1: it does not fit, a byte should have been escaped, a `%` is not followed by two hexadecimal digits, or
 * a byte is 0 and so is nul. out is then "". */
int escape_read(char *out, size_t size, const char *text, size_t n, char nul);

#endif
