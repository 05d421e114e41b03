/* SPDX-License-Identifier: BSD-3-Clause
 * nodes - a program in the making: expressions, statements and functions as nodes
 *
 *     if (rank == 0)            NODE_IF
 *             Recv(7, 1);           NODE_EQUAL(NODE_NAME rank, NODE_NUMBER 0)
 *                                   NODE_BLOCK(NODE_STATEMENT(NODE_CALL Recv(NODE_SITE 7, NODE_NUMBER 1)))
 *
 * A node never changes once it is made, but for numbers of queues (queues.h); passes make new ones, and share what
 * stays. They last until the tree is freed. Where there is no memory, what is made is some node, and tree.failed is
 * set: who asks for it at the end needs not ask before. print.h writes C.
 */
#ifndef SPOOR_PROXY_NODES_H
#define SPOOR_PROXY_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/index.h"

enum node_form {
	/* leaves */
	NODE_NUMBER,
	NODE_NAME,     /* of the program; number: of what a function is given, its kind (shape.h) */
	NODE_CONSTANT, /* a name of MPI's; number: of a handle, its kind */
	NODE_LOCAL,    /* a variable that is declared */
	NODE_TEXT,     /* as it is: of a recipe */
	NODE_VISIT,    /* the number of the visit: `v` */
	NODE_OWN_RANK, /* the rank in the communicator of a call, where that cannot be said twice */
	NODE_LOOP,     /* the variable of a loop, by how many are around it in the function */
	NODE_LOOP_END, /* and where that ends */
	NODE_USE,      /* the name of a definition */
	NODE_SITE,     /* the number of a call site, a queue, a counter of visits: of `name` on, if there is one */
	NODE_QUEUE,
	NODE_COUNTER,
	NODE_HOLE, /* in the body of what may become a function: the parameter of this number */
	/* expressions */
	NODE_NEGATED,
	NODE_ADDRESS,
	NODE_DEREFERENCED,
	NODE_CAST, /* (name)a */
	NODE_TIMES,
	NODE_OVER,
	NODE_MODULO,
	NODE_PLUS,
	NODE_MINUS,
	NODE_SHIFTED,
	NODE_LESS,
	NODE_LESS_EQUAL,
	NODE_GREATER,
	NODE_GREATER_EQUAL,
	NODE_EQUAL,
	NODE_UNEQUAL,
	NODE_BITS,
	NODE_XOR,
	NODE_BOTH,
	NODE_EITHER,
	NODE_CHOICE,
	NODE_IN_BRACKETS,
	NODE_AT,       /* a[b] */
	NODE_NEXT,     /* a++ */
	NODE_COMPOUND, /* &(name){a} */
	NODE_CALL,     /* name(a, b, ...) */
	NODE_LIST,     /* {a, b, ...} */
	NODE_SEQUENCE, /* one behind the other */
	NODE_FORMAT,   /* name, with a child for each `$` */
	/* statements */
	NODE_BLOCK,
	NODE_STATEMENT,
	NODE_IF,        /* condition, block */
	NODE_FOR,       /* how many turns, block; number: of the variable, as that of NODE_LOOP */
	NODE_FOR_END,   /* the same with a name for how many they are */
	NODE_FOR_DOWN,  /* the same down to 1 */
	NODE_SWITCH,    /* number, cases */
	NODE_CASE,      /* block */
	NODE_DO,        /* block, condition */
	NODE_DECLARE,   /* type, value; name: of the variable; number 1: it is an array */
	NODE_CALL_SITE, /* until it is known what it is (call_function.h) */
	NODE_FORMS
};

struct definition;

struct tree_node {
	enum node_form form;
	uint32_t count;
	int64_t number;
	const char *name; /* lasts as long as the tree */
	struct definition *of;
	const struct tree_node *at[];
};

/* Zero-initialised is empty. */
struct tree {
	struct tree_room *rooms, *lasting; /* lasting: of names and numbers, which any node may share */
	const char **names;
	uint32_t name_count, name_capacity;
	struct index by_name;
	const struct tree_node **numbers; /* the last ones that were made: most are asked for again and again */
	bool marked;                      /* there may be a mark: names and numbers are lasting */
	bool failed;                      /* there was no memory */
};

void tree_free(struct tree *t);
/* Room that lasts as long as the tree; NULL: no memory. */
void *tree_room(struct tree *t, size_t size);
/* What has been made from here on can be given back, but for names and numbers: nobody may have it any more. */
struct tree_mark {
	struct tree_room *room;
	size_t used;
};
struct tree_mark tree_mark(struct tree *t);
void tree_release(struct tree *t, struct tree_mark mark);
/* The same name for the same n letters. */
const char *tree_name(struct tree *t, const char *text, size_t n);

/* Nodes that become children: an array, and how many. */
#define NODES(...)                                      \
	(const struct tree_node *const[]){__VA_ARGS__}, \
		sizeof((const struct tree_node *const[]){__VA_ARGS__}) / sizeof(const struct tree_node *)

const struct tree_node *node_of(struct tree *t, enum node_form form, int64_t number);
const struct tree_node *node_named(struct tree *t, enum node_form form, const char *name);
const struct tree_node *node_use(struct tree *t, struct definition *of);
/* With the number and name of `like`, if that is not NULL. */
const struct tree_node *node_new(struct tree *t, enum node_form form, const struct tree_node *like,
                                 const struct tree_node *const *at, size_t count);
const struct tree_node *node_call(struct tree *t, const char *name, const struct tree_node *const *at, size_t count);
/* format: C, with a `$` for each child. */
const struct tree_node *node_format(struct tree *t, const char *format, const struct tree_node *const *at,
                                    size_t count);
const struct tree_node *node_declare(struct tree *t, const char *type, const char *name, bool array,
                                     const struct tree_node *value);

static inline const struct tree_node *node_number(struct tree *t, int64_t number)
{
	return node_of(t, NODE_NUMBER, number);
}

static inline const struct tree_node *node_name(struct tree *t, const char *name)
{
	return node_named(t, NODE_NAME, name);
}

static inline const struct tree_node *node_1(struct tree *t, enum node_form form, const struct tree_node *a)
{
	return node_new(t, form, NULL, &a, 1);
}

static inline const struct tree_node *node_2(struct tree *t, enum node_form form, const struct tree_node *a,
                                             const struct tree_node *b)
{
	return node_new(t, form, NULL, NODES(a, b));
}

static inline const struct tree_node *node_choice(struct tree *t, const struct tree_node *when,
                                                  const struct tree_node *a, const struct tree_node *b)
{
	return node_new(t, NODE_CHOICE, NULL, NODES(when, a, b));
}

/* a + c, a - -c, or a. */
const struct tree_node *node_sum(struct tree *t, const struct tree_node *a, int64_t c);

/* Children in the making. Zero-initialised is empty. */
struct nodes {
	const struct tree_node **each;
	uint32_t count, capacity;
};

void nodes_add(struct tree *t, struct nodes *n, const struct tree_node *one);
/* All of them in a node; they are freed. */
const struct tree_node *nodes_end(struct tree *t, enum node_form form, struct nodes *n);

/* How many of this form, and this number (or any: -1) are in a node, itself included. */
unsigned node_count(const struct tree_node *n, enum node_form form, int64_t number);
/* The same with other children, or itself if they are the same. */
const struct tree_node *node_with(struct tree *t, const struct tree_node *n, const struct tree_node *const *at);
/* A node, with each that `change` makes another one of replaced. change returns NULL where children are to be looked
 * at. */
typedef const struct tree_node *node_change(void *context, struct tree *t, const struct tree_node *n);
const struct tree_node *node_replace(struct tree *t, const struct tree_node *n, node_change *change, void *context);
/* An expression with the number of the visit by another name. turns: it is always less; 0: not known. */
const struct tree_node *node_visit(struct tree *t, const struct tree_node *n, const struct tree_node *visit,
                                   uint64_t turns);
static inline bool node_is_loop(const struct tree_node *n)
{
	return n->form == NODE_FOR || n->form == NODE_FOR_END || n->form == NODE_FOR_DOWN;
}

bool node_is_number(const struct tree_node *n, int64_t v);
/* Is a variable of this name in it? */
bool node_declares(const struct tree_node *n, const char *name);

#endif
