/* SPDX-License-Identifier: BSD-3-Clause
 * findings_inside - what the files of findings.h share
 */
#ifndef SPOOR_REPORT_FINDINGS_INSIDE_H
#define SPOOR_REPORT_FINDINGS_INSIDE_H

#include <stdbool.h>

#include "cmd/report/html.h"

struct findings;
struct finding_text;
struct report;

/* Adds the causes that cost at least this share of the time, most first. r: gathered. */
void findings_cost(struct findings *f, const struct report *r, double worth);
/* A call that returned an error in a run that failed: on the rank that ended it, if it is known. False: none did. */
bool findings_error(struct finding_text *out, const struct report *r);
/* "7.5 %", "23 %". Returns out. */
const char *findings_percent(char out[HTML_NUMBER], double share);

#endif
