/* SPDX-License-Identifier: BSD-3-Clause
 * columns - what each column of a trace is, and what was given up
 *
 * A column is constant, or a pattern (in order, exact), or lossy: its values are counted, up to 16 different ones each
 * for itself, more of them in bins; or, where memory was used up, it is only known how many there were. Over the ranks
 * it can be more than one of these.
 */
#ifndef SPOOR_COLUMNS_H
#define SPOOR_COLUMNS_H

#include <jansson.h>

#include "trace/model/trace.h"

/* What a mode or a full memory took, of the whole trace: lines that begin with a label of 12 characters, or nothing. */
void columns_print_loss(const struct trace *t);
/* The same, as an object (empty if nothing was given up). */
json_t *columns_loss_json(const struct trace *t);

/* All columns of a site, a line each. */
void columns_print(const struct trace *t, const struct trace_site *s);
/* A line in all, or two: how many are constant and in order, and which are lossy. */
void columns_print_short(const struct trace *t, const struct trace_site *s);
json_t *columns_json(const struct trace *t, const struct trace_site *s);

#endif
