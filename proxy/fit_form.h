/* SPDX-License-Identifier: BSD-3-Clause
 * fit_form - a form of a function: its values, and the expression
 */
#ifndef SPOOR_PROXY_FIT_FORM_H
#define SPOOR_PROXY_FIT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/definition.h"

struct fit {
	struct tree *tree;
	const struct tree_node *x; /* what the expression is a function of: the rank */
	int64_t size;              /* of MPI_COMM_WORLD, whose divisors are tried as sides of grids */
	bool plain;                /* values are no numbers: they can only be chosen from */
	bool strict;               /* of such: there is no expression if there is no condition for it */
	/* What a value is; NULL: a number. is_name: is it none? */
	const struct tree_node *(*leaf)(void *context, int64_t y);
	bool (*is_name)(int64_t y);
	void *context;
	struct definitions *tables; /* gets tables */
	uint32_t *table_count;      /* so many there are already */
};

enum kind { FORM_CONSTANT, FORM_SHIFT, FORM_WRAP, FORM_MIRROR, FORM_XOR, FORM_LINEAR, FORM_GRID, FORM_TORUS };

struct form {
	enum kind kind;
	int64_t a, b, c, w;
	int64_t down, right, rows; /* FORM_TORUS: a grid that is shifted, and goes on at its other side */
	size_t holds;              /* for so many points */
};

/* So many numbers say which one of its kind it is. */
size_t form_numbers(const struct form *f);
bool form_value(const struct form *f, int64_t x, int64_t *y);
/* *level: 0: a constant, 1: a sum, 2: another expression. */
const struct tree_node *form_make(const struct fit *f, const struct form *form, int *level);
const struct tree_node *form_leaf(const struct fit *f, int64_t y);

#endif
