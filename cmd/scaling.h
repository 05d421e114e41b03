/* SPDX-License-Identifier: BSD-3-Clause
 * scaling - the laws of an application's figures, and what they say of more ranks
 */
#ifndef SPOOR_SCALING_H
#define SPOOR_SCALING_H

#include <jansson.h>

#include "cmd/growth.h"
#include "cmd/scale_runs.h"
#include "insight/model.h"

/* How many times the largest size is looked at. */
#define SCALE_AHEAD 3
extern const double scale_ahead[SCALE_AHEAD];

/* One figure: its law, and what that says. */
struct scale_law {
	struct model model;
	double at[SCALE_AHEAD], low[SCALE_AHEAD], high[SCALE_AHEAD]; /* of a site, low and high are the same */
};

struct scale_site {
	const struct growth_site *site;
	struct scale_law laws[GROWTH_FIGURES];
	double share, share_ahead; /* of the ranks' time: at the largest size, at the last of scale_ahead; 0..1 */
};

struct scaling {
	struct growth growth;
	double *ranks; /* of the runs */
	struct scale_law total[GROWTH_FIGURES];
	struct scale_site *sites; /* those that will cost most first; without those that not all runs have */
	size_t site_count, others;
	/* Of computation, MPI and waiting: the laws of call sites that have 1 % of the time, and of all else as one. A
	 * sum of laws is seldom a law of few terms: what is said of larger sizes are sums of these. */
	struct model *parts[GROWTH_FIGURES];
	size_t part_count[GROWTH_FIGURES];
	double largest;       /* ranks */
	double power;         /* computation of all ranks grows as ranks^power, from the smallest size to the largest */
	bool computes;        /* is that known? */
	double message_power; /* the same of the bytes of a call; NAN: not known */
	double half;          /* up to so many ranks half of their time is computation; 0: beyond what is looked at */
	int64_t top;          /* call sites that are told */
	struct scale_runs of; /* how the runs were chosen; alike NULL: they were named */
};

/* Of the runs in s->growth, which are in order: all that follows from them. Returns 0, or -1 with error set, also if
 * there are not enough sizes. */
int scaling_find(struct scaling *s, struct error *error);
void scaling_free(struct scaling *s);

/* The call site whose share grows most; NULL: none grows faster than the whole. */
const struct scale_site *scaling_fastest(const struct scaling *s);

/* At so many ranks, s of all of them: computation, MPI or waiting, by their parts. */
double scaling_value(const struct scaling *s, enum growth_figure figure, double ranks);
/* Both of the first two; part of it that is computation, 0..1. */
double scaling_time(const struct scaling *s, double ranks);
double scaling_efficiency(const struct scaling *s, double ranks);
const char *scaling_kind(const struct scaling *s); /* "weak", "strong", "neither" */

void scaling_print(const struct scaling *s);
/* New; NULL on no memory. */
json_t *scaling_json(const struct scaling *s);
/* What the run would take at each of scale_ahead: a list. */
json_t *scaling_ahead_json(const struct scaling *s);

#endif
