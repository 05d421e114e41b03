/* SPDX-License-Identifier: BSD-3-Clause
 * definitions - the functions and tables that a program defines, by their names
 */
#ifndef SPOOR_PROXY_DEFINITIONS_H
#define SPOOR_PROXY_DEFINITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/index.h"

struct text_definition {
	const char *name;  /* in a text that stays */
	size_t size;       /* of the name */
	const char *given; /* of a function: "int site, long count)..."; NULL: a table of one side */
};

/* Zero-initialised is empty. */
struct text_definitions {
	struct text_definition *each;
	uint32_t count, capacity;
	struct index index;
};

/* Adds what begins a line of a text: "static void NAME(" or "static const long NAME[] =". The text must stay until the
 * last question. Returns 0, or -1: no memory. */
int text_definitions_read(struct text_definitions *d, const char *text);
/* The definition of a word of n letters; NULL: there is none. */
const struct text_definition *text_definitions_find(const struct text_definitions *d, const char *word, size_t n);
void text_definitions_free(struct text_definitions *d);

#endif
