/* SPDX-License-Identifier: BSD-3-Clause
 * model - a law by which a figure grows with the number of ranks, found from runs of several sizes
 *
 * Laws have the performance model normal form of Extra-P (Calotoiu, Hoefler, Poke and Wolf, "Using automated
 * performance modeling to find scalability bugs in complex codes", SC'13), with few terms:
 *
 *     f(p) = sum of c * p^a * log2(p)^b      a of 0 1/4 1/3 1/2 2/3 3/4 1 3/2 2 3, b of 0 1 2
 *
 *     ranks  4 16 64, messages 16 96 448     8 p - 8 p^1/2: exact
 *
 * A law is chosen by the error that it has at a size when it is fitted to all others, relative to the figure, with a
 * penalty for each term and for exponents that programs seldom have (model_score in model.c). Counts of calls and bytes
 * have no noise: a law with no more terms than sizes but one that meets them all is exact. Figures add up over all
 * ranks: so work that is divided among them is a constant.
 *
 * Five runs of each of five sizes over two decades, with a noise of 5 %, tell laws like those of tests/unit/model.c
 * well: 1 to 2 % at four times the largest size. From 4 to 64 ranks they do so only if the law is a usual one; others
 * are off by 10 to 55 %, and ranges are too narrow.
 */
#ifndef SPOOR_INSIGHT_MODEL_H
#define SPOOR_INSIGHT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define MODEL_TERMS  3   /* of an exact law; of others 2 */
#define MODEL_SIZES  64  /* different numbers of ranks; of more, the largest are taken */
#define MODEL_LEAST  3   /* fewer sizes are not enough */
#define MODEL_ENOUGH 4   /* to say that a law is exact */
#define MODEL_FAR    0.5 /* relative */
#define MODEL_TEXT   160 /* of model_text */

struct model_term {
	double factor;
	unsigned power, logs; /* model_powers[power], log2(p)^logs; 0 and 0: a constant */
};
extern const double model_powers[];

struct model_law {
	unsigned terms;
	struct model_term term[MODEL_TERMS]; /* the one that grows fastest is the last */
};

enum model_answer {
	MODEL_FOUND,
	MODEL_TWO_LAWS, /* `other` says something else of larger sizes, and the data cannot tell */
	MODEL_NO_LAW,   /* none fits: `law` is the nearest one, and its error is more than MODEL_FAR */
	MODEL_FEW_SIZES
};

struct model {
	enum model_answer answer;
	struct model_law law, other; /* of FEW_SIZES: no terms */
	bool exact;                  /* it meets all sizes */
	bool checked;                /* and each of them, too, if found from the others, of MODEL_ENOUGH at least */
	double error;  /* relative: the root of the mean square of the errors at sizes that it was not fitted to */
	size_t sizes;  /* different ones */
	double p_most; /* the largest */
};

/* counts: figures without noise, of which a law may be exact; in others all factors are positive. p: at least 1; y:
 * not negative; n of both, in any order, sizes may come several times. */
void model_fit(struct model *m, const double *p, const double *y, size_t n, bool counts);
double model_at(const struct model_law *law, double p);
/* What is likely at other sizes: nine of ten laws that are found in data that are as noisy as these (a bootstrap with
 * 200 draws) are within low[i] and high[i] at at[i]. Of an exact law both are its value. With fewer than two draws for
 * each size the noise itself is not known well: then it is too narrow. */
void model_range(const struct model *m, const double *p, const double *y, size_t n, const double *at, size_t count,
                 double *low, double *high);
/* "3.2 + 0.5 p log p". */
const char *model_text(const struct model_law *law, char out[MODEL_TEXT]);
/* "p log p", of a term without its factor; "1" of a constant. */
const char *model_growth(const struct model_term *term, char out[MODEL_TEXT]);

#endif
