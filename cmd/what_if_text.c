/* SPDX-License-Identifier: BSD-3-Clause
 * what_if_text - what a change would save, in one sentence
 */
#include "cmd/what_if_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/base/cause_place.h"
#include "cmd/base/site_names.h"
#include "cmd/report/findings.h"
#include "cmd/report/findings_inside.h"
#include "cmd/report/html.h"

#define PLACE 600
/* A base that is farther off than this says little of what a change saves. */
#define FAR_OFF 0.15

/* "MPI_Send in exchange at x.c:12". */
static const char *call_text(char out[PLACE], const struct trace *t, const struct site_names *names, uint32_t site)
{
	char at[PLACE / 2] = "";
	if (site == CAUSE_NOWHERE)
		return "calls that are not known";
	const struct schema *s = trace_schema(t, &t->sites[site]);
	site_names_text(names, site, at, sizeof at);
	snprintf(out, PLACE, "%.*s%s%s", (int)s->function_length, s->function, *at ? " in " : "", at);
	return out;
}

const char *what_if_place(char out[WHAT_IF_TEXT], const struct what_if *one, const struct trace *t,
                          const struct site_names *names)
{
	*out = 0;
	if (one->cause)
		cause_place_text(out, WHAT_IF_TEXT, t, names, one->cause);
	return out;
}

static void packing_text(char out[WHAT_IF_TEXT], const struct cause *c, const char *call)
{
	char bytes[HTML_NUMBER];
	if (c->bytes && c->calls)
		snprintf(out, WHAT_IF_TEXT, "Packing small messages, such as those of %s in %s,",
		         text_bytes(bytes, (double)c->bytes / (double)c->calls), call);
	else
		snprintf(out, WHAT_IF_TEXT, "Packing small messages, such as those that %s waits for,", call);
}

/* The change, as the subject of "saves". */
static void change_text(char out[WHAT_IF_TEXT], const struct what_if *one, const struct trace *t,
                        const struct site_names *names)
{
	static const char *const simple[WHAT_IFS] = {[WHAT_IF_EVEN] = "Work spread evenly over the ranks",
	                                             [WHAT_IF_STEADY] =
	                                                     "Computation as long in each step as in the mean",
	                                             [WHAT_IF_CORES] = "A core of its own for each rank",
	                                             [WHAT_IF_FILES] = "Files that take no time",
	                                             [WHAT_IF_LATENCY] = "A network of half the latency",
	                                             [WHAT_IF_BANDWIDTH] = "A network of twice the bandwidth",
	                                             [WHAT_IF_IDEAL] = "An ideal network"};
	const struct cause *c = one->cause;
	char call[PLACE];
	if (simple[one->kind])
		snprintf(out, WHAT_IF_TEXT, "%s", simple[one->kind]);
	else if (one->kind == WHAT_IF_ALIKE)
		snprintf(out, WHAT_IF_TEXT, "%s as fast as the others",
		         c->rank_count == 1 ? "The slow rank" : "The slow ranks");
	else if (one->kind == WHAT_IF_SHARED)
		snprintf(out, WHAT_IF_TEXT, "Sharing among all ranks what one of them computes before %s",
		         call_text(call, t, names, c->site));
	else if (one->kind == WHAT_IF_READY)
		snprintf(out, WHAT_IF_TEXT, "To have in time what %s waits for",
		         call_text(call, t, names, c->wait_site));
	else if (one->kind == WHAT_IF_LEFT_OUT)
		snprintf(out, WHAT_IF_TEXT, "Leaving out %s", call_text(call, t, names, c->site));
	else
		packing_text(out, c, call_text(call, t, names, c->site));
}

const char *what_if_text(char out[WHAT_IF_TEXT], const struct what_ifs *w, const struct what_if *one,
                         const struct trace *t, const struct site_names *names)
{
	char percent[HTML_NUMBER], a[HTML_NUMBER], b[HTML_NUMBER], place[WHAT_IF_TEXT];
	const double run = w->observed ? w->recorded_ns : (double)w->base_ns;
	change_text(out, one, t, names);
	size_t n = strlen(out);
	if (one->saved < 0.0005)
		snprintf(out + n, WHAT_IF_TEXT - n, " saves nothing.");
	else
		snprintf(out + n, WHAT_IF_TEXT - n, " saves%s %s (%s of %s).",
		         one->kind == WHAT_IF_READY ? " at most" : "", findings_percent(percent, one->saved),
		         text_ns(a, one->saved * run), text_ns(b, run));
	if (one->kind == WHAT_IF_EVEN || one->kind == WHAT_IF_ALIKE || one->kind == WHAT_IF_STEADY) {
		n = strlen(out);
		what_if_place(place, one, t, names);
		snprintf(out + n, WHAT_IF_TEXT - n, " Now most is lost %s%.600s.", one->cause->rank_count ? "for " : "",
		         place);
	}
	return out;
}

const char *what_if_base_text(char out[WHAT_IF_TEXT], const struct what_ifs *w, const char *platform)
{
	char a[HTML_NUMBER], b[HTML_NUMBER], percent[HTML_NUMBER], rate[HTML_NUMBER];
	const struct network_level *l = &w->network.levels[NETWORK_LEVELS - 1];
	const double off = (double)w->base_ns / w->recorded_ns - 1;
	size_t n = (size_t)snprintf(out, WHAT_IF_TEXT, "Simulated as it was, the run takes %s",
	                            text_ns(a, (double)w->base_ns));
	if (w->observed)
		n += (size_t)snprintf(out + n, WHAT_IF_TEXT - n, ", %s %s than recorded (%s).%s",
		                      findings_percent(percent, fabs(off)), off < 0 ? "less" : "more",
		                      text_ns(b, w->recorded_ns),
		                      fabs(off) > FAR_OFF ? " What follows is not to be relied on." : "");
	else
		n += (size_t)snprintf(out + n, WHAT_IF_TEXT - n, " on %.60s; recorded are %s.", platform,
		                      text_ns(b, w->recorded_ns));
	n += (size_t)snprintf(out + n, WHAT_IF_TEXT - n, " Network: latency %s, overhead %s a message",
	                      text_ns(a, l->latency), text_ns(b, l->overhead));
	if (l->byte > 0)
		n += (size_t)snprintf(out + n, WHAT_IF_TEXT - n, ", %s a second", text_bytes(rate, 1e9 / l->byte));
	snprintf(out + n, WHAT_IF_TEXT - n, ".%s",
	         w->eager ? " All messages are eager: with others, a rank would have waited for ever." : "");
	return out;
}
