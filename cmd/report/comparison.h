/* SPDX-License-Identifier: BSD-3-Clause
 * comparison - the page of two traces: how much longer one run took than the other, why, and at which call sites
 */
#ifndef SPOOR_REPORT_COMPARISON_H
#define SPOOR_REPORT_COMPARISON_H

#include <stdio.h>

#include "trace/base/error.h"

/* Both are files or jobs of the archive (NULL: the site's). Says what `spoor diff AGAINST TRACE` says. Returns 0, or -1
 * with error set or after a message. */
int report_comparison(FILE *out, const char *trace, const char *against, const char *archive, struct error *error);

#endif
