/* SPDX-License-Identifier: BSD-3-Clause
 * print - nodes of a program (nodes.h) as C
 */
#ifndef SPOOR_PROXY_PRINT_H
#define SPOOR_PROXY_PRINT_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
void printed_free(struct printed *p);

/* Is it in a text, as a word of its own? */
static inline bool print_has_word(const char *text, const char *word)
{
	size_t n = strlen(word), length;
	for (; *text; text += length ? length : 1) {
		length = 0;
		while (isalnum((unsigned char)text[length]) || text[length] == '_')
			length++;
		if (length == n && memcmp(text, word, n) == 0)
			return true;
	}
	return false;
}

/* Is a word in what was printed? */
static inline bool printed_has(const struct printed *p, const char *word)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (print_has_word(p->each[i], word))
			return true;
	return false;
}

#endif
