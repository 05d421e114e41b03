/* SPDX-License-Identifier: BSD-3-Clause
 * number - a whole number that somebody typed: digits and nothing else, up to a limit; or a size
 */
#ifndef SPOOR_NUMBER_H
#define SPOOR_NUMBER_H

#include <stdint.h>

/* Returns 0, or -1: text is no such number, or more than max; *out is then as it was. (strtoul takes blanks and signs,
 * and wraps round.) */
int number_parse(const char *text, uint64_t max, uint64_t *out);

/* A variable of the environment that is a number; otherwise `none`. */
int number_variable(const char *name, int none);

/* The digits that *text begins with; it is behind them then. Returns 0, or -1: there are none, or they are more than
 * max; both are then as they were. */
int number_read(const char **text, uint64_t max, uint64_t *out);

/* A whole text in bytes: a number, and KiB, MiB, GiB, TiB or PiB behind it, or K, M, G, T or P, which mean the same; a
 * blank may be between them. */
int number_parse_bytes(const char *text, uint64_t max, uint64_t *out);

#endif
