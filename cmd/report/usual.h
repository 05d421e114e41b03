/* SPDX-License-Identifier: BSD-3-Clause
 * usual - how long runs like this one took before, and what takes longer now
 */
#ifndef SPOOR_REPORT_USUAL_H
#define SPOOR_REPORT_USUAL_H

#include "archive/history.h"
#include "cmd/report/report.h"

/* Zero-initialised is: nothing is known. */
struct usual {
	struct history_usual runs;
	struct history_cause cause; /* of what is slower than usual; what "": not known, or it is not slower */
};

/* Of the trace "YYYY/MM/DD/UID", "NAME" of an archive. Finds nothing if the index is busy, or the trace partial. */
void usual_find(struct usual *u, struct catalog *c, const char *folder, const char *name, const struct report *r);
/* The same of a file of an archive, by its path, from the index as it is; not for root, who reads none. */
void usual_find_file(struct usual *u, const char *path, const struct report *r);

/* A sentence. Returns false if no run is like it. */
#define USUAL_TEXT 400
bool usual_text(const struct usual *u, const struct report *r, char text[USUAL_TEXT]);

#endif
