/* SPDX-License-Identifier: BSD-3-Clause
 * jobs - a folder of pages: of the newest jobs, of those that the page of the archive names, and a list of them
 */
#ifndef SPOOR_REPORT_JOBS_H
#define SPOOR_REPORT_JOBS_H

#include "archive/catalog.h"

/* Writes the page of a trace. Returns 0, or -1 after a message. */
typedef int jobs_page(void *context, const char *trace, const char *page);

/* Makes the folder, if it is not there, for the caller alone. In it, a page for each of the newest 100 traces, and for
 * those that the page of the archive names, at most 30 more: where it has none yet, or an older one, by calling `page`
 * in a process of its own. And index.html, which lists them. archive NULL: the site's. Not for root, who
 * reads an archive as somebody else. Returns 0, or -1 with error set. */
int jobs_write(const char *folder, const char *archive, const struct catalog_filter *filter, jobs_page *page,
               void *context, struct error *error);

#endif
