/* SPDX-License-Identifier: BSD-3-Clause
 * definition - a table or a function that stands in front of what uses it
 *
 *     static const long list_3[] = {17, 20, 18};
 *     static long pick_4(long v) ...
 */
#ifndef SPOOR_PROXY_DEFINITION_H
#define SPOOR_PROXY_DEFINITION_H

#include <stdio.h>

#include "proxy/nodes.h"

#define DEFINITION_SIDES   3
#define DEFINITION_ALONE   UINT32_MAX /* its name has no number */
#define DEFINITION_NOWHERE UINT32_MAX /* the call: none */

struct definition {
	const char *kind; /* "list"; lasts as long as the tree */
	uint32_t number;  /* list_3 */
	/* Of a table: the first side is as long as it needs to be. */
	int64_t side[DEFINITION_SIDES];
	int sides;
	int64_t *values;
	const struct tree_node **names; /* of values that are none; NULL: of none */
	uint32_t count, capacity;
	int wrap;  /* numbers, or rows, in a line; 0: all of them */
	bool open; /* the first one is in a line of its own */
	bool hexadecimal;
	const struct tree_node *note; /* behind a table */
	/* Of what is no table: all of it. */
	const struct tree_node *text;
	bool state;     /* it is another one at each call */
	bool lengths;   /* it goes with the array of its number */
	uint32_t call;  /* of an array, the call that has it; DEFINITION_NOWHERE: it is none */
	size_t queued;  /* of a queue that is none of these, and takes so many letters elsewhere */
	size_t size;    /* letters, as dense.h packs it; 0: it is not known */
	bool is_packed; /* it is filled when the program begins */
	bool gone;      /* another one stands for it */
	struct definition *same, *next;
};

/* Definitions in order. Zero-initialised is empty. */
struct definitions {
	struct definition *first, *last;
};

/* Makes one behind all others. Never NULL: without memory it is one that nobody writes. */
struct definition *definition_add(struct definitions *d, struct tree *t, const char *kind, uint32_t number);
struct definition *definition_table(struct definitions *d, struct tree *t, const char *kind, uint32_t number);
/* The next value; name: what it is, or NULL: a number. */
void definition_value(struct tree *t, struct definition *of, int64_t value, const struct tree_node *name);
/* A function, or what else has its name in it. */
struct definition *definition_text(struct definitions *d, struct tree *t, const char *kind, uint32_t number);
/* Puts all of `more` behind those that are there. */
void definitions_join(struct definitions *d, struct definitions *more);
/* Frees the values of tables. */
void definitions_free(struct definitions *d);

/* That which stands for it. */
static inline struct definition *definition_shared(struct definition *of)
{
	while (of->same)
		of = of->same;
	return of;
}

#endif
