/* SPDX-License-Identifier: BSD-3-Clause
 * columns - what all columns of a program share: its handles, where its tables go
 */
#ifndef SPOOR_PROXY_COLUMNS_H
#define SPOOR_PROXY_COLUMNS_H

#include <stdio.h>

#include "proxy/dense.h"
#include "proxy/structure.h"
#include "trace/model/schema.h"

/* The handles of one kind are an array of the program: first those with numbers, then constants that are mixed with
 * them. */
struct handles_used {
	int64_t count; /* with a number */
	int64_t *constants;
	uint32_t constant_count, constant_capacity;
	bool asked; /* an expression has one by its place in the array, if only a constant */
};

struct call_functions;
struct queues;

/* What all columns of a program share. */
struct columns {
	const struct structure *structure;
	struct tree *tree;
	struct definitions *tables;       /* in front of the functions */
	uint32_t table_count;             /* so many of them, for their names */
	uint32_t call;                    /* the call whose columns they are */
	struct call_functions *functions; /* of a large program: what its calls may be; else NULL */
	struct queues *queues;            /* of a large program: numbers that have no rule; else NULL */
	struct handles_used handles[128]; /* by kind */
	/* Of the loop whose turns are visits: the column of how many they are, and what that is called; NULL: none. */
	uint32_t turns_column;
	const struct tree_node *turns_name;
	struct error *error;
};

/* Tables that are kept aside until it is known whether they are wanted. */
struct aside {
	struct definitions *before, own;
	uint32_t count; /* table_count, with them */
};

/* A value as an expression. */
struct expression {
	const struct tree_node *node; /* NULL: there is none */
	bool visits;                  /* it has the number of the visit */
	bool simple;                  /* it may stand in several places */
	bool known;                   /* it is always `value` */
	int64_t value;
};

/* Looks which handles there are. Returns 0, or -1 with error set. The caller calls columns_end in any case. */
int columns_begin(struct columns *c, const struct structure *s, struct tree *tree, struct definitions *tables,
                  struct error *error);
void columns_end(struct columns *c);
/* Tables go aside until aside_end, which must follow. */
void aside_begin(struct columns *c, struct aside *a);
void aside_end(struct columns *c, struct aside *a);
/* They are wanted, or not. To be called once. */
void aside_keep(struct columns *c, struct aside *a);
void aside_drop(struct aside *a);
/* Letters of the tables. */
static inline size_t aside_size(const struct columns *c, const struct aside *a)
{
	return dense_sizes(c->tree, &a->own);
}

/* The name of the array of a kind of handles, and the type of its elements; NULL: it is none. */
const char *handles_name(char kind);
const char *handles_type(char kind);
const char *handles_null(char kind);
/* The number of a handle in its array: of a constant, that behind those that have numbers. */
int64_t handles_number(struct columns *c, char kind, int64_t v);
/* Writes the arrays of all kinds, and to `start` what is in them when the program begins. */
void handles_write(const struct columns *c, FILE *out, FILE *start);
/* The n-th of the arrays. */
const struct tree_node *handles_at(struct columns *c, char kind, const struct tree_node *number);
/* The name of a constant; kind: of a handle; 0: it is none. */
const struct tree_node *columns_constant(const struct columns *c, char kind, int64_t v);
/* Is a value "-"? */
bool columns_is_absent(const struct structure *s, int64_t v);

#endif
