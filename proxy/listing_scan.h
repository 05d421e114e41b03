/* SPDX-License-Identifier: BSD-3-Clause
 * listing_scan - lines of a program that differ in a few places only
 *
 *     for (long i = (rank == 0 ? 2 : 0); i > 0; i--)      for (long . = (.); . > .; .--)
 *             Recv(10, 1, MPI_INT, next(0));                      Recv(., ., ., next(.));
 *
 * A hole is a number, an expression of the rank, a handle or a table. The rest of a line is its shape.
 */
#ifndef SPOOR_PROXY_LISTING_SCAN_H
#define SPOOR_PROXY_LISTING_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proxy/definitions.h"
#include "trace/base/index.h"

/* Holes of handles have a lower-case letter each. */
enum {
	HOLE_NUMBER = 'L',
	HOLE_SITE = 'S',
	HOLE_QUEUE = 'Q',
	HOLE_VISIT = 'V',
	HOLE_TABLE = 'T',
};

#define LOOPS_MOST  24 /* around a line */
#define LOCALS_MOST 64 /* names of variables; lines with more of them stay as they are */

/* A name that goes into a hole of its kind: a constant, or a parameter. */
struct hole_name {
	char *name, kind;
};

/* What a handle is in C. */
struct hole_type {
	char kind;
	const char *type;
};

struct hole {
	char kind;
	uint32_t at, size; /* in the text */
	uint32_t base;     /* of sites, queues and visits: letters of "site" in "site + 3" */
	int64_t number;    /* of these: 3 */
	char hint[24];     /* for the name of a parameter */
};

struct listing_line {
	char *text;  /* without its tabs and its end; malloc'ed */
	size_t size; /* letters in it */
	int indent;
	uint32_t shape;
	uint32_t span;           /* lines of the statement that begins here; 0: none does */
	uint32_t loops;          /* around it */
	uint32_t loops_used;     /* a bit for each loop whose variable it has */
	uint64_t used, declared; /* a bit for each variable */
	bool fixed;              /* what it is, is not known: it stays */
	struct hole *holes;
	uint32_t hole_count, hole_capacity;
	char callee[40]; /* the first function of the program or of MPI in it; empty: none */
};

/* A function of the program, or the body of its main function. */
struct listing_body {
	char *name, *head; /* malloc'ed; "static void part_3(void)\n{\n"; name: empty if there is none */
	struct listing_line *lines;
	uint32_t count, capacity;
	struct hole_name *parameters;
	uint32_t parameter_count, parameter_capacity;
	bool made; /* of lines that were joined */
	bool gone;
};

/* Zero-initialised but for its first member. */
struct listing {
	const struct hole_type *types;       /* ends with one without a type */
	struct text_definitions definitions; /* tables, and functions of the program that are called */
	struct hole_name *constants;
	uint32_t constant_count, constant_capacity;
	struct listing_body *bodies;
	uint32_t count, capacity;
	struct index by_name; /* bodies */
	char **shapes;
	uint32_t shape_count, shape_capacity;
	struct index by_shape;
	char *locals[LOCALS_MOST];
	uint32_t local_count;
};

/* Finds the holes of a line of a body, and what variables it has. *shape: gets its shape, which the caller frees in any
 * case. Returns 0, or -1: no memory. */
int listing_scan(struct listing *b, const struct listing_body *body, struct listing_line *line, char **shape);
/* What is counted, by the name of its parameter. */
char listing_counted(const char *name);

/* The number of a variable; -1: it is none. */
int listing_local(const struct listing *b, const char *name, size_t size);
/* The variable of a loop, with so many around it. */
const char *listing_loop_name(uint32_t loops, char out[16]);
/* The number of the loop whose variable a word is, or whose end: "i_end"; -1: none. *end: behind the variable. */
int listing_loop_of(const char *word, size_t size, size_t *end);
/* May it be in a word? */
bool listing_letter(char c);
/* Is a word, of n letters, a text? */
bool listing_is(const char *word, size_t n, const char *text);
bool listing_begins(const char *text, const char *with);
/* The length of the word that begins here; 0: none does. */
size_t listing_word(const char *at);

#endif
