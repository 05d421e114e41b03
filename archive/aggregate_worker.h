/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_worker - adds traces of the index to aggregates; for those who make them
 */
#ifndef SPOOR_AGGREGATE_WORKER_H
#define SPOOR_AGGREGATE_WORKER_H

#include <pthread.h>

#include "archive/aggregate_group.h"

#define AGGREGATE_EVERY_DAY INT64_MIN

struct aggregate_worker {
	struct catalog *c;
	const struct catalog_filter *filter;
	uint64_t thread, threads; /* threads >= 1 */
	int64_t day;              /* only of this day, without its rest (day_sums.h) */
	bool rest;                /* only what no sum has that was taken (day_sums_ask_rest) */
	struct aggregate *const *a;
	size_t count;                        /* of a; more than one: none by job; functions and sites last */
	const struct aggregate_asked *asked; /* of the first worker: whom to tell how far it is; else NULL */
	struct error error;
	/* its own: */
	uint64_t rows, seen, all;        /* traces: in the first pass, so far in both, expected */
	struct aggregate *calls;         /* that of a to which calls are added */
	struct aggregate_group **groups; /* its groups by the number of a place, or of a function's name */
	size_t numbered;
	struct sqlite3_stmt *key, *example; /* the key of such a number; what is told of a trace */
	int rv;
	pthread_t id;
};

/* Adds the traces that it asks for to each of its aggregates. Returns 0, or -1 with its error set. */
int aggregate_work(struct aggregate_worker *w);

/* "2026-11", local time; "unknown". Returns out. */
#define AGGREGATE_MONTH_SIZE 32
const char *aggregate_month(int64_t seconds, char out[AGGREGATE_MONTH_SIZE]);

#endif
