/* SPDX-License-Identifier: BSD-3-Clause
 * fit_form - a form of a function: its values, and its text
 */
#ifndef SPOOR_PROXY_FIT_FORM_H
#define SPOOR_PROXY_FIT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fit {
	const char *x; /* what the expression is a function of: "rank" */
	int64_t size;  /* of MPI_COMM_WORLD, whose divisors are tried as sides of grids */
	bool plain;    /* values are no numbers: they can only be chosen from */
	bool strict;   /* of such: nothing is written, and fit_write returns -1, if there is no condition for it */
	/* How a value is written; NULL: as a number. is_name: is it none? */
	void (*leaf)(void *context, int64_t y, FILE *out);
	bool (*is_name)(int64_t y);
	void *context;
	FILE *tables;          /* gets definitions of tables */
	uint32_t *table_count; /* so many there are already */
	int failed;            /* out of memory */
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
/* Returns 0: a constant, 1: a sum, 2: another expression. */
int form_write(const struct fit *f, const struct form *form, FILE *out);
void form_write_leaf(const struct fit *f, int64_t y, FILE *out);
/* " + 5", " - 5", or nothing. */
void form_write_sum(FILE *out, int64_t c);

#endif
