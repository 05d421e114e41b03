/* SPDX-License-Identifier: BSD-3-Clause
 * print - nodes of a program (nodes.h) as C
 */
#ifndef SPOOR_PROXY_PRINT_H
#define SPOOR_PROXY_PRINT_H

#include <stdio.h>

#include "proxy/definition.h"

/* Which pieces of C were printed: names of functions that are called, and texts that may have some. */
struct printed {
	const char **each;
	uint32_t count, capacity;
	struct index index;
	bool failed;
};

/* out: NULL, if it is to be known only how long it is. printed: gets the pieces; may be NULL. */
struct printer {
	FILE *out;
	size_t size;
	struct printed *printed;
	uint32_t lines;
};

void print_text(struct printer *p, const char *text);
void print_node(struct printer *p, const struct tree_node *n);
/* indent: of statements. */
void print_statement(struct printer *p, const struct tree_node *n, int indent);
void print_definition(struct printer *p, const struct definition *d);
/* Letters of an expression. */
size_t print_size(const struct tree_node *n);
void print_loop_name(int64_t number, char out[16]);
/* A piece that was printed, and lasts as long as this. */
void printed_add(struct printed *p, const char *piece);
/* Is a word in what was printed? */
bool printed_has(const struct printed *p, const char *word);
/* Is it in a text, as a word of its own? */
bool print_has_word(const char *text, const char *word);
void printed_free(struct printed *p);

#endif
