/* SPDX-License-Identifier: BSD-3-Clause
 * routine - a function of the program: what it is given, and its statements
 */
#ifndef SPOOR_PROXY_ROUTINE_H
#define SPOOR_PROXY_ROUTINE_H

#include "proxy/print.h"

/* "MPI_Comm *" and "comm_here"; they last as long as the tree. */
struct parameter {
	const char *type, *name;
};

struct routine {
	const char *name;
	struct parameter *parameters; /* of the tree's room */
	uint32_t parameter_count;
	const struct tree_node *body; /* NODE_BLOCK */
	bool nameless;                /* none of the application's, and its name says nothing */
	bool gone;                    /* it is not there any more */
	uint32_t lines;               /* of the body; 0: not known */
};

/* In the order in which they are written. Zero-initialised is empty. */
struct routines {
	struct routine *each;
	uint32_t count, capacity;
};

/* Adds one; without memory, tree.failed is set. Its parameters are copied. */
void routine_add(struct routines *f, struct tree *t, const char *name, const struct parameter *parameters,
                 uint32_t count, const struct tree_node *body);
uint32_t routine_lines(struct routine *r);
void routine_print(struct printer *p, const struct routine *f);
void routines_print(struct printer *p, const struct routines *f);
void routines_free(struct routines *f);

#endif
