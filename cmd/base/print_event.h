/* SPDX-License-Identifier: BSD-3-Clause
 * print_event - events and values as text, in the form of doc/events.md
 */
#ifndef SPOOR_PRINT_EVENT_H
#define SPOOR_PRINT_EVENT_H

#include <stdio.h>

#include "trace/read/walk.h"

/* One line: "17 MPI_Isend count=2048 ...". */
void print_event(FILE *out, const struct trace *t, const struct event *e);
/* The same without the end of the line. */
void print_event_open(FILE *out, const struct trace *t, const struct event *e);
/* A value that is no array, of a parameter of this kind (doc/events.md); base: what a rank is relative to. */
void print_scalar(FILE *out, const struct trace *t, int64_t value, char kind, int64_t base);
/* A function's name. */
void print_function(FILE *out, const struct schema *s);
/* A string in double quotes, escaped. */
void print_quoted(FILE *out, const struct pool_item *string);

#endif
