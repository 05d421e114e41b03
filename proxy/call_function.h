/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a large program that differ in their values only, as calls of a function
 *
 *     compute(47);                                              becomes    Bcast(47, 1, MPI_INT, 0);
 *     MPI_Bcast(buffer(OUT, 1, MPI_INT), 1, MPI_INT, 0, comm[3]);
 *
 * A call is a mark in the text of the program until all are known. What all calls of a function are given is in it.
 */
#ifndef SPOOR_PROXY_CALL_FUNCTION_H
#define SPOOR_PROXY_CALL_FUNCTION_H

#include <stdint.h>
#include <stdio.h>

#include "proxy/names.h"
#include "trace/base/index.h"

#define CALL_PARAMETERS    20
#define CALL_FUNCTION_MARK 0x80 /* in a body, and so many more: the parameter of this number */

/* A call in both forms. All is malloc'ed, and taken over. */
struct call_made {
	uint32_t number; /* of the call site */
	int indent;
	char *plain;           /* its statements */
	char *before, *behind; /* what is around the call of a function */
	char *values[CALL_PARAMETERS];
	uint32_t function;
};

/* What a call of a function may be: its body, which has the number of the call site as `site`. */
struct call_body {
	char mpi[NAMES_SIZE]; /* the name of the MPI function */
	char *text;
	size_t parameters;
	char *types[CALL_PARAMETERS]; /* "long \\x02count": between the type and the name */
};

/* Zero-initialised is empty. */
struct call_functions {
	struct call_function *each;
	uint32_t count, capacity;
	struct index index;
	struct call_made *calls;
	uint32_t call_count, call_capacity;
};

/* Adds a call, and writes its mark. `body` is malloc'ed, and taken over, as `call` is. Returns 0, or -1: no memory. */
int call_functions_add(struct call_functions *f, struct call_body *body, struct call_made *call, FILE *out);
/* Chooses, for each function, whether the program becomes shorter by it; writes those that are. Returns 0, or -1: no
 * memory. */
int call_functions_choose(struct call_functions *f, struct names *names, FILE *out);
/* Replaces the marks in a malloc'ed text. Returns 0, or -1: no memory. */
int call_functions_expand(const struct call_functions *f, char **text);
void call_functions_free(struct call_functions *f);

#endif
