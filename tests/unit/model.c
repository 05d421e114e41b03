/* SPDX-License-Identifier: BSD-3-Clause
 * model - laws are found again in what they gave, exactly where there is no noise
 *
 *     model measure DRAWS    prints the errors and the coverage of each law, and is no test
 */
#include "insight/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { RUNS = 5, SIZES = 5, MANY = 400 };

static double constant(double p)
{
	return 100 + 0 * p;
}
static double tree(double p)
{
	return 10 * log2(p);
}
static double side(double p)
{
	return 5 * sqrt(p);
}
static double each(double p)
{
	return 2 * p;
}
static double sorting(double p)
{
	return p * log2(p);
}
static double steep(double p)
{
	return 0.3 * pow(p, 1.5);
}
static double constant_tree(double p)
{
	return 20 + 10 * log2(p);
}
static double constant_each(double p)
{
	return 30 + 2 * p;
}
static double side_each(double p)
{
	return 10 * sqrt(p) + 2 * p;
}
static double constant_sorting(double p)
{
	return 100 + p * log2(p);
}

static double constant_steep(double p)
{
	return 100 + 0.3 * pow(p, 1.5);
}
static double tree_each(double p)
{
	return 20 * log2(p) + p;
}
static double surface(double p)
{
	return 4 * cbrt(p * p);
}
static double square(double p)
{
	return 0.1 * p * p;
}
static double each_steep(double p)
{
	return 2 * p + 0.2 * pow(p, 1.5);
}
static double constant_edge(double p)
{
	return 50 + 20 * cbrt(p);
}

static const struct law {
	const char *name;
	double (*at)(double p);
} laws[] = {
	{"constant", constant},
	{"log p", tree},
	{"p^1/2", side},
	{"p", each},
	{"p log p", sorting},
	{"p^3/2", steep},
	{"1 + log p", constant_tree},
	{"1 + p", constant_each},
	{"p^1/2 + p", side_each},
	{"1 + p log p", constant_sorting},
	/* These were not looked at when penalties were chosen. */
	{"1 + p^3/2", constant_steep},
	{"log p + p", tree_each},
	{"p^2/3", surface},
	{"p^2", square},
	{"p + p^3/2", each_steep},
	{"1 + p^1/3", constant_edge},
};
#define LAWS  (sizeof laws / sizeof *laws)
#define KNOWN 10

static double uniform(void)
{
	return ((double)(random_next() >> 11) + 0.5) * 0x1p-53;
}

static double gauss(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Runs of a law with a relative noise. */
static size_t run(const struct law *law, double first, double factor, double noise, double *p, double *y)
{
	size_t n = 0;
	for (int s = 0; s < SIZES; s++, first *= factor)
		for (int r = 0; r < RUNS; r++, n++) {
			p[n] = first;
			y[n] = law->at(first) * (1 + noise * gauss());
		}
	return n;
}

struct measured {
	double median, ninth; /* relative errors at four times the largest size: of half, of nine of ten draws */
	double covered;
};

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static struct measured measure(const struct law *law, double factor, int draws, bool ranges)
{
	double p[SIZES * RUNS], y[SIZES * RUNS], error[MANY], at = 4 * 4 * pow(factor, SIZES - 1), low, high;
	int covered = 0;
	for (int i = 0; i < draws; i++) {
		struct model m;
		size_t n = run(law, 4, factor, 0.05, p, y);
		model_fit(&m, p, y, n, false);
		error[i] = fabs(model_at(&m.law, at) / law->at(at) - 1);
		if (!ranges)
			continue;
		model_range(&m, p, y, n, &at, 1, &low, &high);
		covered += low <= law->at(at) && law->at(at) <= high;
	}
	qsort(error, (size_t)draws, sizeof *error, ascending);
	return (struct measured){error[draws / 2], error[draws * 9 / 10], (double)covered / draws};
}

static int print_all(int draws)
{
	for (int factor = 2; factor <= 4; factor += 2)
		for (size_t i = 0; i < LAWS; i++) {
			struct measured m = measure(&laws[i], factor, draws, true);
			printf("# 4 .. %4.0f ranks, %-12s median %5.2f %%, nine of ten %5.2f %%, covered %.2f\n",
			       4 * pow(factor, SIZES - 1), laws[i].name, 100 * m.median, 100 * m.ninth, m.covered);
			fflush(stdout);
		}
	return 0;
}

static void noisy(void)
{
	double covered = 0;
	for (size_t i = 0; i < LAWS; i++) {
		struct measured m = measure(&laws[i], 4, 20, true);
		ok(m.median <= 0.03 && (i >= KNOWN || m.ninth <= 0.10),
		   "%s: errors %.2f %% in the median, %.2f %% in nine of ten", laws[i].name, 100 * m.median,
		   100 * m.ninth);
		covered += m.covered / LAWS;
	}
	ok(covered >= 0.80 && covered <= 0.95, "ranges cover %.0f %%", 100 * covered);
	for (size_t i = 0; i < KNOWN; i++) {
		struct measured m = measure(&laws[i], 2, 100, false);
		ok(m.median <= 0.03 && m.ninth <= 0.10, "%s from 4 to 64 ranks: errors %.2f %%, %.2f %%", laws[i].name,
		   100 * m.median, 100 * m.ninth);
	}
}

static void exact(void)
{
	const double p[] = {4, 16, 64}, faces[] = {16, 96, 448}, flat[] = {7, 7, 7}, none[] = {0, 0, 0};
	const double more[] = {8, 27, 64, 125, 216}, again[] = {4, 16, 64, 64, 4}, cube[] = {8, 8, 8, 8, 8};
	double halo[5];
	char text[MODEL_TEXT];
	struct model m;
	model_fit(&m, p, faces, 3, true);
	ok(m.exact && model_at(&m.law, 256) == 1920, "8 p - 8 p^1/2 is exact: %s", model_text(&m.law, text));
	ok(strcmp(text, "-8 p^1/2 + 8 p") == 0, "and said so");
	model_fit(&m, p, flat, 3, true);
	ok(m.exact && m.law.terms == 1 && model_at(&m.law, 1e6) == 7, "a constant");
	ok(strcmp(model_text(&m.law, text), "7") == 0 && strcmp(model_growth(&m.law.term[0], text), "1") == 0,
	   "as text");
	model_fit(&m, p, none, 3, true);
	ok(m.exact && model_at(&m.law, 1e6) == 0, "nothing at all");
	for (int i = 0; i < 5; i++) { /* messages of a cube with 26 neighbours, at most: three terms and a constant */
		double q = cbrt(more[i]);
		halo[i] = 6 * q * q * (q - 1);
	}
	model_fit(&m, more, halo, 5, true);
	ok(m.exact && fabs(model_at(&m.law, 1000) / 5400 - 1) < 1e-9, "faces of a cube: %s", model_text(&m.law, text));
	model_fit(&m, again, (double[]){16, 96, 448, 448, 16}, 5, true);
	ok(m.exact && m.sizes == 3, "runs of one size that agree");
	model_fit(&m, again, (double[]){16, 96, 448, 448, 17}, 5, true);
	ok(!m.exact, "runs of one size that do not agree are not exact");
	model_fit(&m, more, cube, 1, true);
	ok(m.answer == MODEL_FEW_SIZES && m.law.terms == 0, "one size is not enough");
	model_fit(&m, p, faces, 2, true);
	ok(m.answer == MODEL_FEW_SIZES, "two are not");
	model_fit(&m, p, faces, 0, true);
	ok(m.answer == MODEL_FEW_SIZES && m.sizes == 0, "none is not");
}

static void doubtful(void)
{
	const double p[] = {4, 8, 16, 32, 64};
	double y[] = {28.5, 43.6, 73.0, 119.9, 208.7}, at[] = {256, 1024}, low[2], high[2];
	struct model m;
	char text[MODEL_TEXT], other[MODEL_TEXT];
	model_fit(&m, p, y, 5, false);
	ok(m.answer == MODEL_TWO_LAWS && m.other.terms,
	   "from five single runs of 4 to 64 ranks two laws fit: %s, or %s", model_text(&m.law, text),
	   model_text(&m.other, other));
	model_range(&m, p, y, 5, at, 2, low, high);
	ok(low[0] <= high[0] && low[1] <= high[1] && high[1] / low[1] >= high[0] / low[0],
	   "farther away less is known");
	model_fit(&m, p, (double[]){3, 900, 2, 700, 5}, 5, false);
	ok(m.answer == MODEL_NO_LAW, "where none fits, it is said: error %.2f", m.error);
	double many[200], same[200];
	for (int i = 0; i < 200; i++) {
		many[i] = 2 + i;
		same[i] = 3 * (2.0 + i);
	}
	model_fit(&m, many, same, 200, true);
	ok(m.exact && m.sizes == MODEL_SIZES && m.p_most == 201, "of more sizes than there is room for, the largest");
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return print_all(atoi(argv[2]) < MANY ? atoi(argv[2]) : MANY);
	exact();
	doubtful();
	noisy();
	return tap_end();
}
