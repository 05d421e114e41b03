/* SPDX-License-Identifier: BSD-3-Clause
 * call_parts - what the statements of a call site are made of
 */
#ifndef SPOOR_PROXY_CALL_PARTS_H
#define SPOOR_PROXY_CALL_PARTS_H

#include "proxy/call_function.h"
#include "proxy/call_text.h"
#include "proxy/column_value.h"
#include "proxy/recipe.h"

struct call_place {
	uint32_t number;    /* of the call site in the program */
	const char *visit;  /* the variable that counts visits; NULL: a counter of its own, if it needs one */
	uint64_t turns;     /* it begins anew behind so many visits; 0: it does not */
	uint32_t *counters; /* counters so far */
	int indent;
	bool *used; /* set if `visit` is asked for; may be NULL */
	bool alone; /* in a block, so that its variables need no other one */
};

#define CALL_DISTANCE '~'

struct argument {
	bool used;
	char name[80]; /* of a variable; empty: the expression itself */
	struct expression value;
	struct array array;
	bool gathered; /* an array of requests that is made before the call, and taken apart behind it */
	bool first;    /* the variable of which another argument is a function */
	char *tables;
	size_t tables_size;
};

struct call_site {
	struct columns *c;
	const struct proxy_site *site;
	const struct schema *schema;
	const struct recipe *recipe;
	struct argument arguments[SCHEMA_MAX];
	char base[200];
	struct expression comm; /* base is OWN_RANK, which is the rank in this; else text is NULL */
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
void call_argument_name(const struct schema_column *column, char out[80]);
/* The C type of an array's elements. room: 32 bytes. */
const char *call_element_type(const struct call_site *x, const struct schema_column *column, char *room);
/* Writes the recipe, with what stands for values. Returns 0, or -1: a parameter is missing. */
int call_write_recipe(struct call_site *x, int indent, const char *visit, FILE *out);
/* Can a function be given how far away the peers of a call are? */
bool call_has_distances(const struct call_site *x);
/* Writes a value; form: that of the recipe, or CALL_DISTANCE: how far a peer is from OWN_RANK. */
void call_write_argument(struct call_site *x, size_t i, char form, const char *visit, FILE *out);
/* Both forms of a call (call_function.h). counter: that of its visits; NULL: it has none of its own. They return 0, or
 * -1 with columns.error set. */
int call_write_plain(struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out);
int call_write_short(struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out);
bool call_may_be_short(const struct call_site *x);
/* What is around the call. */
bool call_write_begin(const struct call_site *x, const struct call_place *at, const uint32_t *counter, FILE *out);
/* Are there variables but `v`? */
bool call_has_variables(const struct call_site *x);
void call_write_end(const struct call_place *at, bool block, FILE *out);

#endif
