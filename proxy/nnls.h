/* SPDX-License-Identifier: BSD-3-Clause
 * nnls - non-negative least squares: by Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23), on the
 * normal equations (Bro and de Jong, J. Chemometrics, 1997)
 */
#ifndef SPOOR_NNLS_H
#define SPOOR_NNLS_H

#include <stddef.h>

/* Sets x, of `columns` numbers that are not negative, such that |a x - b| is least. a: row by row. Columns that others
 * make up may be 0. Returns 0; -1: a number is not finite, there are no rows or columns, or no memory (x is 0 then). */
int nnls_solve(const double *a, size_t rows, size_t columns, const double *b, double *x);

#endif
