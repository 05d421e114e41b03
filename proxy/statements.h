/* SPDX-License-Identifier: BSD-3-Clause
 * statements - the calls and loops of a trace as statements
 *
 * The children of a loop come in order. Those that were called by the same function of the application, at the
 * same place, and stand side by side, become a function with its name; so does what it calls in turn. A loop stands in
 * the innermost function that all of its calls have in common.
 */
#ifndef SPOOR_PROXY_STATEMENTS_H
#define SPOOR_PROXY_STATEMENTS_H

#include "proxy/call_function.h"
#include "proxy/column_value.h"
#include "proxy/names.h"
#include "proxy/paths.h"
#include "proxy/queues.h"
#include "proxy/structure.h"
#include "proxy/work.h"

struct program; /* what a program is of; for program.c */

/* A program that is written. */
struct program_text {
	const struct program *program;
	void (*function)(void *context, uint32_t node, char *out, size_t size); /* as that of struct program */
	void *context;
	struct work_options work; /* the scale is that of what is left */
	struct structure structure;
	struct columns columns;
	struct error *error;
	struct tree tree;
	struct definitions tables;
	struct routines functions; /* of the application, by their names */
	uint32_t *site_of, sites;  /* call sites of the program */
	uint32_t counters;         /* of visits */
	int dense;                 /* tables at the end */
	struct paths paths;
	uint32_t *loop, *home;         /* of each node: its variable + 1, and the function that has it */
	uint64_t *turns;               /* of each node that is a loop: so many each time; 0: they differ */
	const struct tree_node **ends; /* of each of these: what that is, where ranks make other numbers */
	bool *given;                   /* of each node: its condition is that of a block that it is written in */
	uint32_t *in_visit;            /* of each node: the function whose variable `v` counts its visits, + 1 */
	bool visit_used;               /* by a call in such a block */
	uint32_t home_count;
	struct names names; /* of functions */
	struct call_functions calls;
	struct queues queues;
};

/* Makes the children of the outermost loop, a NODE_BLOCK, and w->functions. Returns 0, or -1 with w->error set. */
int statements_make(struct program_text *w, const struct tree_node **body);

#endif
