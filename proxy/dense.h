/* SPDX-License-Identifier: BSD-3-Clause
 * dense - long tables of a program, as short texts at its end
 *
 *     static const long list_3[] = {17, 20, 18, ...};       becomes
 *     static long list_3[400];                              and, at the end of the program,
 *     unpack(list_3, "aX3...");
 *
 * A number is written as how far it is off a common one, or off the one that stands so many places before it: zeros and
 * a one, and the lowest bits as they are (Elias' gamma code, or Rice's), with six bits in a letter. In front of numbers
 * stands how many they are; behind them come copies (copies.h), with how far back, and how many. In front of all stands
 * how many numbers there are, the common one, how many places before, how many bits, and which code.
 */
#ifndef SPOOR_PROXY_DENSE_H
#define SPOOR_PROXY_DENSE_H

#include <stdio.h>

#include "proxy/print.h"

/* Packs tables, if all becomes shorter or one of them is long: the function unpack_tables goes to `end`, which is to be
 * behind them. What reads letters is there, too, also if there are `queues`, which go behind it; else "". Returns how
 * many tables are packed, or -1: no memory. */
int dense_tables(struct definitions *d, const char *queues, FILE *end);
/* The letters that a definition takes then, with the call that fills it. */
size_t dense_size(struct tree *t, struct definition *d);
size_t dense_sizes(struct tree *t, const struct definitions *d);

#endif
