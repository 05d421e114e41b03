/* SPDX-License-Identifier: BSD-3-Clause
 * usual - how long runs like this one took before, and what takes longer now
 */
#include "cmd/report/usual.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report/html.h"

#define DEPTH 5 /* YYYY/MM/DD/UID/NAME.spoor */

void usual_find(struct usual *u, struct catalog *c, const char *folder, const char *name, const struct report *r)
{
	struct error unused = {""};
	double seconds = (double)r->sum.run_ns * 1e-9;
	struct history_usual *runs = &u->runs;

	if (report_partial(r) || catalog_lock(c, CATALOG_SHARE, 2000, &unused) != 0)
		return;
	if (history_usual(c, folder, name, r->sum.events, runs, &unused) == 0 && runs->own.id && runs->count &&
	    seconds > (1 + TREND_EFFECT) * runs->median)
		history_cause(c, runs->runs, runs->count, &runs->own, 1, true, &u->cause, &unused);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
}

void usual_find_file(struct usual *u, const char *path, const struct report *r)
{
	char *archive = geteuid() ? realpath(path, NULL) : NULL, *at = archive ? archive + strlen(archive) : NULL;
	struct catalog *c = NULL;
	struct error unused = {""};
	char *name = NULL, *end = NULL;
	int depth = 0;

	while (depth < DEPTH && at && at > archive)
		if (*--at == '/' && depth++ == 0)
			name = at + 1;
	end = name ? strstr(name, ".spoor") : NULL;
	if (depth == DEPTH && end && at > archive) {
		*at = name[-1] = *end = '\0';
		if (at[1 + strspn(at + 1, "0123456789/")] == '\0' &&
		    catalog_open(&c, archive, (gid_t)-1, &unused) == 0 && c->path[0] != ':')
			usual_find(u, c, at + 1, name, r);
	}
	catalog_close(c);
	free(archive);
}

bool usual_text(const struct usual *u, const struct report *r, char text[USUAL_TEXT])
{
	char took[HTML_NUMBER], usual[HTML_NUMBER], before[HTML_NUMBER], after[HTML_NUMBER], why[200] = "";
	const struct history_usual *runs = &u->runs;
	double seconds = (double)r->sum.run_ns * 1e-9, ratio = runs->median > 0 ? seconds / runs->median : 1;

	if (runs->count == 0)
		return false;
	if (*u->cause.what)
		snprintf(why, sizeof why, "; %s %s instead of %s a rank", u->cause.what,
		         text_ns(after, u->cause.after * 1e9), text_ns(before, u->cause.before * 1e9));
	snprintf(text, USUAL_TEXT, "%s, the last %zu run%s like it %s%s: %s%s.", text_ns(took, seconds * 1e9),
	         runs->count, runs->count == 1 ? "" : "s", text_ns(usual, runs->median * 1e9),
	         runs->count == 1 ? "" : " (median)",
	         ratio > 1 + TREND_EFFECT   ? "slower than usual"
	         : ratio < 1 - TREND_EFFECT ? "faster than usual"
	                                    : "as usual",
	         why);
	return true;
}
