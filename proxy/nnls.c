/* SPDX-License-Identifier: BSD-3-Clause
 * nnls - non-negative least squares
 *
 * x is 0 but in the passive set, where it is the least squares solution of these columns alone. The column whose growth
 * would help most joins the set. If that makes others negative, x goes towards the new solution as far as it can, and
 * who is 0 then leaves the set. The error is smaller after each turn, so that no set comes twice.
 *
 *     columns (1,0) (1,1), b = (1,2)    without the limit x = (-1, 2)
 *     set {2}: x = (0, 1.5); the first column would make the error larger: this is it
 */
#include "proxy/nnls.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is smaller than this part of the whole is 0: rounding of sums of products. */
#define SMALL 1e-12

struct nnls {
	size_t n;
	double *products;   /* n x n: a'a of columns of length 1 */
	double *target;     /* a'b */
	double *length;     /* of the columns; 0: it is 0 */
	double *factor;     /* n x n: Cholesky's of the passive set */
	double *wanted, *x; /* the set's solution; what it is so far */
	size_t *passive;    /* the columns of the set */
	size_t passive_count;
	bool *refused; /* columns that did not help since x changed last */
};

static void nnls_end(struct nnls *s)
{
	free(s->products);
	free(s->passive);
	free(s->refused);
}

static int nnls_begin(struct nnls *s, size_t n)
{
	*s = (struct nnls){.n = n};
	s->products = calloc(2 * n * n + 4 * n, sizeof *s->products);
	s->passive = calloc(n, sizeof *s->passive);
	s->refused = calloc(n, sizeof *s->refused);
	if (!s->products || !s->passive || !s->refused)
		return -1;
	s->factor = s->products + n * n;
	s->target = s->factor + n * n;
	s->length = s->target + n;
	s->wanted = s->length + n;
	s->x = s->wanted + n;
	return 0;
}

static double dot_columns(const double *a, size_t rows, size_t columns, size_t i, size_t k)
{
	double sum = 0;
	for (size_t r = 0; r < rows; r++)
		sum += a[r * columns + i] * a[r * columns + k];
	return sum;
}

static bool make_products(struct nnls *s, const double *a, size_t rows, const double *b)
{
	for (size_t i = 0; i < s->n; i++)
		s->length[i] = sqrt(dot_columns(a, rows, s->n, i, i));
	for (size_t i = 0; i < s->n; i++) {
		double own = s->length[i] > 0 ? s->length[i] : 1;
		for (size_t k = 0; k < s->n; k++)
			s->products[i * s->n + k] =
				dot_columns(a, rows, s->n, i, k) / own / (s->length[k] > 0 ? s->length[k] : 1);
		for (size_t r = 0; r < rows; r++)
			s->target[i] += a[r * s->n + i] * b[r] / own;
		if (!isfinite(s->length[i]) || !isfinite(s->target[i]))
			return false;
	}
	return true;
}

/* The solution of the passive set, into `wanted`. False: a column of it is made up of others. */
static bool solve_passive(struct nnls *s)
{
	size_t m = s->passive_count;
	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k <= i; k++) {
			double sum = s->products[s->passive[i] * s->n + s->passive[k]];
			for (size_t j = 0; j < k; j++)
				sum -= s->factor[i * s->n + j] * s->factor[k * s->n + j];
			if (i == k && !(sum > SMALL))
				return false;
			s->factor[i * s->n + k] = i == k ? sqrt(sum) : sum / s->factor[k * s->n + k];
		}
	}
	for (size_t i = 0; i < m; i++) {
		double sum = s->target[s->passive[i]];
		for (size_t k = 0; k < i; k++)
			sum -= s->factor[i * s->n + k] * s->wanted[k];
		s->wanted[i] = sum / s->factor[i * s->n + i];
	}
	for (size_t i = m; i-- > 0;) {
		double sum = s->wanted[i];
		for (size_t k = i + 1; k < m; k++)
			sum -= s->factor[k * s->n + i] * s->wanted[k];
		s->wanted[i] = sum / s->factor[i * s->n + i];
	}
	return true;
}

static bool is_passive(const struct nnls *s, size_t column)
{
	for (size_t i = 0; i < s->passive_count; i++)
		if (s->passive[i] == column)
			return true;
	return false;
}

/* The column whose growth makes the error smaller fastest; n: there is none. */
static size_t steepest_column(const struct nnls *s)
{
	double most = 0;
	size_t best = s->n;
	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, fabs(s->target[i]));
	most *= SMALL;
	for (size_t i = 0; i < s->n; i++) {
		double slope = s->target[i];
		for (size_t k = 0; k < s->n; k++)
			slope -= s->products[i * s->n + k] * s->x[k];
		if (s->length[i] > 0 && !s->refused[i] && slope > most && !is_passive(s, i)) {
			best = i;
			most = slope;
		}
	}
	return best;
}

/* x goes towards the solution of the set until one of its columns is 0; who is 0 leaves. */
static void go_towards(struct nnls *s)
{
	double part = 1;
	size_t kept = 0;
	for (size_t i = 0; i < s->passive_count; i++) {
		double x = s->x[s->passive[i]];
		if (s->wanted[i] <= 0)
			part = fmin(part, x > 0 ? x / (x - s->wanted[i]) : 0);
	}
	for (size_t i = 0; i < s->passive_count; i++) {
		size_t column = s->passive[i];
		bool leaves = s->wanted[i] <= 0 && s->x[column] / (s->x[column] - s->wanted[i]) <= part;
		s->x[column] = leaves ? 0 : s->x[column] + part * (s->wanted[i] - s->x[column]);
		if (!leaves)
			s->passive[kept++] = column;
	}
	assert(kept < s->passive_count);
	s->passive_count = kept;
}

static bool has_negative(const struct nnls *s)
{
	for (size_t i = 0; i < s->passive_count; i++)
		if (s->wanted[i] <= 0)
			return true;
	return false;
}

/* The column joins the set; false: that does not help. */
static bool join_column(struct nnls *s, size_t column)
{
	s->passive[s->passive_count++] = column;
	if (!solve_passive(s) || s->wanted[s->passive_count - 1] <= 0) {
		s->passive_count--;
		return false;
	}
	while (has_negative(s)) {
		go_towards(s);
		if (!solve_passive(s))
			return true; /* a part of a set that had a solution: rounding; x is a good one */
	}
	for (size_t i = 0; i < s->passive_count; i++)
		s->x[s->passive[i]] = s->wanted[i];
	return true;
}

int nnls_solve(const double *a, size_t rows, size_t columns, const double *b, double *x)
{
	struct nnls s;
	int rv = -1;
	memset(x, 0, columns * sizeof *x);
	if (rows == 0 || columns == 0 || columns > SIZE_MAX / columns / 64)
		return -1;
	if (nnls_begin(&s, columns) == 0 && make_products(&s, a, rows, b)) {
		size_t column, turns = 30 * columns; /* ends by itself but for rounding */
		while (turns-- > 0 && (column = steepest_column(&s)) < columns) {
			if (join_column(&s, column))
				memset(s.refused, 0, columns * sizeof *s.refused);
			else
				s.refused[column] = true;
		}
		for (size_t i = 0; i < columns; i++)
			x[i] = s.length[i] > 0 ? s.x[i] / s.length[i] : 0;
		rv = 0;
	}
	nnls_end(&s);
	return rv;
}
