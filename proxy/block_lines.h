/* SPDX-License-Identifier: BSD-3-Clause
 * block_lines - the lines and functions of a program, for joined_blocks.c
 */
#ifndef SPOOR_PROXY_BLOCK_LINES_H
#define SPOOR_PROXY_BLOCK_LINES_H

#include "proxy/block_scan.h"

/* Adds a constant that is a handle. Returns 0, or -1: no memory. */
int blocks_add_constant(struct blocks *b, char kind, const char *name);
/* Adds functions, or lines if there are no functions in the text. Returns 0, or -1: no memory. */
int blocks_add(struct blocks *b, const char *text, bool made);
/* A line takes another text, which is malloc'ed and taken over. Returns 0, or -1: no memory. */
int blocks_set_line(struct blocks *b, struct block_body *body, struct block_line *line, char *text);
/* Statements of a body, after its lines have changed. */
void blocks_find_statements(struct block_body *body);
void blocks_free_line(struct block_line *line);
void blocks_free(struct blocks *b);

#endif
