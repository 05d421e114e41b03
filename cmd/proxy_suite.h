/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_suite - `spoor proxy --suite N`: a folder of proxies that stand for what a site ran
 */
#ifndef SPOOR_PROXY_SUITE_H
#define SPOOR_PROXY_SUITE_H

#include "archive/catalog.h"

struct proxy_suite {
	const char *archive, *output;
	size_t wanted;
	const struct catalog_filter *filter;
	const char *const *passed; /* options for each of the proxies; NULL-terminated */
};

/* Makes the folder, each proxy in a folder of its own, and SUITE, a table of them. A run that no proxy can be written
 * of is named there, too. Returns the command's status. */
int proxy_suite(const struct proxy_suite *s);

#endif
