/* SPDX-License-Identifier: BSD-3-Clause
 * site - the page of an archive: where the node hours of a site go, and what could be gained
 */
#ifndef SPOOR_REPORT_SITE_H
#define SPOOR_REPORT_SITE_H

#include <stdio.h>

#include "archive/aggregate.h"
#include "archive/catalog.h"
#include "cmd/base/trends.h"

/* What is written: the page; or if metrics is set, figures for Prometheus; or if mail is not NULL, a mail to this
 * address with a short text and the page. */
struct site_form {
	bool metrics;
	const char *mail;
	char month[16]; /* of which month it is: "2026-03"; "": of what the filter says */
	int beside;     /* the folder of the page, opened: it links pages of jobs that are there; negative: none */
};
/* Writes it; archive NULL: the site's. It comes from the index alone, which is brought up to date first. As root, the
 * process is somebody else afterwards (catalog_open). Returns 0, or -1 with error set. */
int report_site(FILE *out, const char *archive, const struct catalog_filter *filter, const struct site_form *form,
                struct error *error);

/* The traces behind the call sites and jobs that the page names, JOB.STEP.N, at most 2 * SITE_TOP; some may come twice.
 * The catalog is up to date and locked. Returns 0, -1 with error set, or what `each` returned. */
#define SITE_TOP 15
int site_each_trace(struct catalog *c, const struct catalog_filter *filter,
                    int (*each)(void *context, const char *name), void *context, struct error *error);

/* site_causes.c: what cost time, or ended runs, and why traces are partial. */
void site_causes(FILE *out, const struct aggregate *a);
/* site_trends.c: nothing, if no application ran twice. */
void site_trends(FILE *out, const struct trends *t);
/* The parts; the catalog is up to date and locked. Each returns 0, or -1 with error set. metrics.c: */
int metrics_write(FILE *out, struct catalog *c, const struct catalog_filter *filter, struct error *error);
/* mail.c: */
int mail_write(FILE *out, const char *to, struct catalog *c, const struct catalog_filter *filter, const char *page,
               size_t size, struct error *error);

#endif
