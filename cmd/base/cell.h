/* SPDX-License-Identifier: BSD-3-Clause
 * cell - values as texts in a table; "-" for what is not known
 */
#ifndef SPOOR_CELL_H
#define SPOOR_CELL_H

#include <stdint.h>

#include "insight/figure.h"

/* Each returns out. */
/* A text of the archive on a terminal: no control characters, no blanks, not too long. */
const char *cell_text(char out[64], const char *text);
const char *cell_start(char out[32], int64_t ns);
const char *cell_elapsed(char out[32], int64_t start, int64_t end);
const char *cell_size(char out[32], uint64_t bytes);
const char *cell_count(char out[32], int64_t count);
/* Negative: not known. */
const char *cell_figure(char out[32], double value, enum figure_unit unit);

#endif
