/* SPDX-License-Identifier: BSD-3-Clause
 * listing - the lines and functions of a program, for joined_statements.c
 */
#ifndef SPOOR_PROXY_LISTING_H
#define SPOOR_PROXY_LISTING_H

#include "proxy/listing_scan.h"

/* Adds a constant that is a handle. Returns 0, or -1: no memory. */
int listing_add_constant(struct listing *b, char kind, const char *name);
/* Adds functions, or lines if there are no functions in the text. Returns 0, or -1: no memory. */
int listing_add(struct listing *b, const char *text, bool made);
/* A line takes another text, which is malloc'ed and taken over. Returns 0, or -1: no memory. */
int listing_set_line(struct listing *b, struct listing_body *body, struct listing_line *line, char *text);
/* The function with a name; NULL: there is none, or it has no name. */
struct listing_body *listing_body_of(const struct listing *b, const char *name);
/* The length of a name without a number behind it: of "part_3", that of "part". */
size_t listing_plain_length(const char *name);
/* Statements of a body, after its lines have changed. */
void listing_find_statements(struct listing_body *body);
void listing_free_line(struct listing_line *line);
void listing_free(struct listing *b);

#endif
