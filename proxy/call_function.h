/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a large program that differ in their values only, as calls of a function
 *
 *     compute(47);                                              becomes    Bcast(47, 1, MPI_INT, 0);
 *     MPI_Bcast(buffer(OUT, 1, MPI_INT), 1, MPI_INT, 0, comm[3]);
 *
 * A call is a NODE_CALL_SITE until all are known. What all calls of a function are given is in it.
 */
#ifndef SPOOR_PROXY_CALL_FUNCTION_H
#define SPOOR_PROXY_CALL_FUNCTION_H

#include "proxy/routine.h"
#include "proxy/names.h"

#define CALL_PARAMETERS 20

/* A call in both forms. */
struct call_made {
	uint32_t number; /* of the call site */
	int indent;
	const struct tree_node *plain;  /* its statements */
	const struct tree_node *before; /* statements in front of the call of a function */
	bool block;                     /* these, and the call, are in a block of their own */
	const struct tree_node *values[CALL_PARAMETERS];
	uint32_t function;
};

/* What a call of a function may be: its body, which has the number of the call site as `site`, and holes for what it is
 * given. */
struct call_body {
	char mpi[NAMES_SIZE]; /* the name of the MPI function */
	const struct tree_node *node;
	size_t parameters;
	struct parameter types[CALL_PARAMETERS];
};

/* Zero-initialised is empty. */
struct call_functions {
	struct call_function *each;
	uint32_t count, capacity;
	struct index index;
	struct call_made *calls;
	uint32_t call_count, call_capacity;
};

/* Adds a call, and its node to `out`. Returns 0, or -1: no memory. */
int call_functions_add(struct call_functions *f, struct tree *t, const struct call_body *body,
                       const struct call_made *call, struct nodes *out);
/* Chooses, for each function, whether the program becomes shorter by it; adds those that are to `out`. Returns 0, or
 * -1: no memory. */
int call_functions_choose(struct call_functions *f, struct tree *t, struct names *names, struct routines *out);
/* A node with statements in place of calls. */
const struct tree_node *call_functions_expand(const struct call_functions *f, struct tree *t,
                                              const struct tree_node *n);
void call_functions_free(struct call_functions *f);

#endif
