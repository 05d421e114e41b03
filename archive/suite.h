/* SPDX-License-Identifier: BSD-3-Clause
 * suite - which few runs stand for all that a site ran? Logic alone: no files, no index
 *
 * A run is a point: what it does with its time, as numbers in which a difference of 1 is as far as runs can be from
 * each other. Those are chosen that all runs are nearest to, each run as important as its node hours (k medoids:
 * Kaufman and Rousseeuw, Finding Groups in Data, 1990):
 *
 *     runs at 0 (10 h), 0.1 (1 h), 0.9 (5 h), 1.0 (4 h); two of them      those at 0 and 0.9, shares 0.55 and 0.45
 */
#ifndef SPOOR_SUITE_H
#define SPOOR_SUITE_H

#include <stddef.h>

#define SUITE_FEATURES 7
#define SUITE_RUNS     2000 /* at most: all pairs are looked at */
#define SUITE_CHOSEN   64

struct suite_run {
	double weight; /* node hours, or anything that they are proportional to; not negative */
	double features[SUITE_FEATURES];
};

/* Chooses at most `wanted` of n runs, that with the largest share first: chosen[k] is its number, shares[k] of all
 * weights that of the runs that it stands for. Those without a share are not chosen. Returns how many; -1: no memory,
 * more runs than SUITE_RUNS, `wanted` is 0 or more than SUITE_CHOSEN, or a number is not finite. */
int suite_choose(const struct suite_run *runs, size_t n, size_t wanted, size_t *chosen, double *shares);

#endif
