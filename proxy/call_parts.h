/* SPDX-License-Identifier: BSD-3-Clause
 * call_parts - what the statements of a call site are made of
 */
#ifndef SPOOR_PROXY_CALL_PARTS_H
#define SPOOR_PROXY_CALL_PARTS_H

#include "proxy/call_function.h"
#include "proxy/column_value.h"
#include "proxy/recipe.h"

struct call_place {
	uint32_t number;               /* of the call site in the program */
	const struct tree_node *visit; /* what counts visits; NULL: a counter of its own, if it needs one */
	uint64_t turns;                /* it begins anew behind so many visits; 0: it does not */
	uint32_t *counters;            /* counters so far */
	int indent;
	bool *used; /* set if `visit` is asked for; may be NULL */
	bool alone; /* in a block, so that its variables need no other one */
};

#define CALL_DISTANCE '~'

struct argument {
	bool used;
	const char *name; /* of a variable; NULL: the expression itself */
	struct expression value;
	struct array array;
	bool gathered; /* an array of requests that is made before the call, and taken apart behind it */
	bool first;    /* the variable of which another argument is a function */
	struct definitions tables;
};

struct call_site {
	struct columns *c;
	const struct proxy_site *site;
	const struct schema *schema;
	const struct recipe *recipe;
	struct argument arguments[SCHEMA_MAX];
	const struct tree_node *base;
	struct expression comm; /* base is NODE_OWN_RANK, which is the rank in this; else there is none */
	size_t comm_argument;
	bool distances; /* a function is given how far away peers are, and asks for the rank itself */
	bool visits;
	uint64_t turns;
	/* While the body of a function of the program is written (call_function.h): what it is given. */
	bool in_body;
	struct call_parameter {
		size_t argument;
		char form; /* of the recipe; of a handle `&` if it is asked for its address; of a peer CALL_DISTANCE */
	} parameters[CALL_PARAMETERS];
	size_t parameter_count;
	bool many; /* more than there is room for, or they are not always asked for */
};

/* The name of a column as a variable. */
const char *call_argument_name(const struct call_site *x, const struct schema_column *column);
/* The C type of an array's elements; lasts as long as the tree. */
const char *call_element_type(const struct call_site *x, const struct schema_column *column);
/* Adds the statements of the recipe, with what stands for values; `last` of its own: the last one, as an expression.
 * Returns 0, or -1: a parameter is missing. */
int call_recipe(struct call_site *x, const struct tree_node *visit, struct nodes *out, const struct tree_node **last);
/* Can a function be given how far away the peers of a call are? */
bool call_has_distances(const struct call_site *x);
/* A value; form: that of the recipe, or CALL_DISTANCE: how far a peer is from the own rank. */
const struct tree_node *call_argument(struct call_site *x, size_t i, char form, const struct tree_node *visit);
/* Both forms of a call (call_function.h). counter: that of its visits; NULL: it has none of its own. They return 0, or
 * -1 with columns.error set. */
int call_plain(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out);
int call_short(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out);
bool call_may_be_short(const struct call_site *x);
/* What is in front of the call. Returns whether that, and the call, are to be in a block. */
bool call_begin(struct call_site *x, const struct call_place *at, const uint32_t *counter, struct nodes *out);
/* Are there variables but `v`? */
bool call_has_variables(const struct call_site *x);
/* visit[counter]++ */
const struct tree_node *call_next_visit(struct tree *t, uint32_t counter);
/* Is the rank in the communicator of the call in a node? */
static inline bool call_asks_rank(const struct tree_node *n)
{
	return node_count(n, NODE_OWN_RANK, -1) > 0;
}

#endif
