/* SPDX-License-Identifier: BSD-3-Clause
 * nnls - bad input; cases worked out by hand; of random ones, nothing near is better
 */
#include "proxy/nnls.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static double error_of(const double *a, size_t rows, size_t columns, const double *b, const double *x)
{
	double squares = 0;
	for (size_t r = 0; r < rows; r++) {
		double off = -b[r];
		for (size_t c = 0; c < columns; c++)
			off += a[r * columns + c] * x[c];
		squares += off * off;
	}
	return squares;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void bad_input(void)
{
	double x[2] = {5, 5};
	ok(nnls_solve((const double[]){0}, 0, 2, (const double[]){0}, x) == -1 && x[0] == 0 && x[1] == 0, "no rows");
	ok(nnls_solve((const double[]){0}, 1, 0, (const double[]){1}, x) == -1, "no columns");
	ok(nnls_solve((const double[]){NAN, 1}, 1, 2, (const double[]){1}, x) == -1 && x[1] == 0, "no number");
	ok(nnls_solve((const double[]){1, 1}, 1, 2, (const double[]){INFINITY}, x) == -1, "infinite");
	ok(nnls_solve((const double[]){1e200, 1}, 1, 2, (const double[]){1e200}, x) == -1, "too large");
}

static void by_hand(void)
{
	double x[3];
	ok(nnls_solve((const double[]){1, 1, 0, 1}, 2, 2, (const double[]){1, 2}, x) == 0 && x[0] == 0 &&
	           is_near(x[1], 1.5),
	   "one would be negative: it is 0, and the other is as good as it can be alone");
	ok(nnls_solve((const double[]){2, 0, 0, 4}, 2, 2, (const double[]){1, 2}, x) == 0 && is_near(x[0], 0.5) &&
	           is_near(x[1], 0.5),
	   "exact");
	ok(nnls_solve((const double[]){1, 1}, 2, 1, (const double[]){-1, -2}, x) == 0 && x[0] == 0, "all negative: 0");
	ok(nnls_solve((const double[]){0, 1, 0, 1}, 2, 2, (const double[]){3, 3}, x) == 0 && x[0] == 0 &&
	           is_near(x[1], 3),
	   "a column of zeros");
	const double twice[] = {1, 2, 1, 2, 4, 0};
	ok(nnls_solve(twice, 2, 3, (const double[]){2, 4}, x) == 0 &&
	           error_of(twice, 2, 3, (const double[]){2, 4}, x) < 1e-18,
	   "a column that is twice another one");
	const double wide[] = {1, 2, 3};
	ok(nnls_solve(wide, 1, 3, (const double[]){6}, x) == 0 && error_of(wide, 1, 3, (const double[]){6}, x) < 1e-18,
	   "more columns than rows");
	ok(nnls_solve((const double[]){1e-9, 0, 0, 1e9}, 2, 2, (const double[]){1, 1}, x) == 0 && is_near(x[0], 1e9) &&
	           is_near(x[1] * 1e9, 1),
	   "columns of very different length");
}

static bool none_is_better(size_t rows, size_t columns)
{
	double a[64], b[8], x[8] = {0}, moved[8];
	for (size_t i = 0; i < rows * columns; i++)
		a[i] = (double)random_below(1000) / 100 - 2;
	for (size_t i = 0; i < rows; i++)
		b[i] = (double)random_below(1000) / 100;
	if (nnls_solve(a, rows, columns, b, x) != 0)
		return false;
	double least = error_of(a, rows, columns, b, x);
	for (size_t i = 0; i < columns; i++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			memcpy(moved, x, sizeof moved);
			moved[i] = fmax(0, moved[i] + sign * 1e-3 * (1 + moved[i]));
			if (x[i] < 0 || error_of(a, rows, columns, b, moved) < least - 1e-9 * (1 + least))
				return false;
		}
	}
	return true;
}

static int solve_some(void *context)
{
	double x[2];
	(void)context;
	int rv = nnls_solve((const double[]){1, 1, 0, 1}, 2, 2, (const double[]){1, 2}, x);
	return rv == 0 && is_near(x[1], 1.5) ? 0 : -1;
}

int main(void)
{
	bool good = true;
	bad_input();
	by_hand();
	for (int i = 0; i < 2000 && good; i++)
		good = none_is_better(1 + random_below(8), 1 + random_below(8));
	ok(good, "2000 random ones: nothing near is better (the problem is convex)");
	ok(fails_well(solve_some, NULL), "without memory");
	return tap_end();
}
