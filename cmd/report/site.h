/* SPDX-License-Identifier: BSD-3-Clause
 * site - the page of an archive: where the node hours of a site go, and what could be gained
 */
#ifndef SPOOR_REPORT_SITE_H
#define SPOOR_REPORT_SITE_H

#include <stdio.h>

#include "archive/catalog.h"

/* Writes the page, or the metrics; archive NULL: the site's. It comes from the index alone, which is brought up to date
 * first. As root, the process is somebody else afterwards (catalog_open). Returns 0, or -1 with error set. */
int report_site(FILE *out, const char *archive, const struct catalog_filter *filter, bool metrics, struct error *error);
/* Writes the same for Prometheus, by partition. The catalog is up to date and locked. Returns 0, or -1 with error set.
 */
int metrics_write(FILE *out, struct catalog *c, const struct catalog_filter *filter, struct error *error);

#endif
