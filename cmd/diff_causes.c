/* SPDX-License-Identifier: BSD-3-Clause
 * diff_causes - of `spoor diff`: how much longer one run took than the other, and why
 */
#include "cmd/diff_causes.h"

#include <inttypes.h>
#include <math.h>

#include "cmd/base/diff_reasons.h"
#include "cmd/base/sink.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "trace/model/host.h"

/* Runs that differ by less take the same time; what makes less of the time is not told. */
#define SAME 0.02
#define TOLD 0.01
#define MOST 5

static void count_host(void *context, const char *name, uint64_t ranks)
{
	(void)name;
	(void)ranks;
	++*(uint64_t *)context;
}

static uint64_t hosts_of(const struct trace *t)
{
	uint64_t n = 0;
	return host_each(t, count_host, &n) == 0 ? n : 0;
}

static void say_change(const char *before, const char *what, uint64_t a, uint64_t b)
{
	say("%s %" PRIu64 " %s%s", before, b, what, b == 1 ? "" : "s");
	if (a != b)
		say(" instead of %" PRIu64, a);
}

int diff_causes(const struct diff_input *a, const struct diff_input *b, struct error *error)
{
	struct diff_reasons c = {.known = false};
	char x[HTML_NUMBER], y[HTML_NUMBER];
	int rv = diff_reasons_find(&c, a, b, error);
	if (rv == 0 && c.known) {
		double all = c.b.run_ns - c.a.run_ns, part = all / c.a.run_ns;
		text_ns(x, c.a.run_ns);
		text_ns(y, c.b.run_ns);
		if (fabs(part) < SAME)
			say("Both took about as long: %s and %s.\n", x, y);
		else
			say("%s took %.0f %% %s than %s: %s, not %s.\n", b->name, 100 * fabs(part),
			    part > 0 ? "longer" : "less", a->name, y, x);
		for (int i = 0; i < MOST && fabs(c.list[i].ns) >= TOLD * c.a.run_ns; i++) {
			const struct diff_reason *d = &c.list[i];
			bool with = d->ns * all > 0 && fabs(part) >= SAME;
			say("  %.0f%s %s%s%s%s\n", 100 * fabs(d->ns) / c.a.run_ns,
			    with        ? " of it from:"
			    : d->ns > 0 ? " % more:"
			                : " % less:",
			    findings_reason_title(d->reason), d->place[0] ? " (" : "", d->place,
			    d->place[0] ? ")" : "");
		}
		say_change("  With", "rank", a->trace.size, b->trace.size);
		say_change(",", "node", hosts_of(&a->trace), hosts_of(&b->trace));
		say_change(",", "event", a->events, b->events);
		say(".\n\n");
	}
	diff_reasons_free(&c);
	return rv;
}

json_t *diff_causes_json(const struct diff_input *a, const struct diff_input *b, struct error *error)
{
	struct diff_reasons c = {.known = false};
	json_t *all = diff_reasons_find(&c, a, b, error) != 0 ? NULL : c.known ? json_object() : json_null(), *list;
	if (all && c.known) {
		json_object_set_new(all, "run_ns", json_pack("[II]", (json_int_t)c.a.run_ns, (json_int_t)c.b.run_ns));
		json_object_set_new(all, "reasons", list = json_array());
		for (int i = 0; i < DIFF_REASONS; i++)
			json_array_append_new(list,
			                      json_pack("{ss sI ss}", "cause", diff_reason_name(c.list[i].reason), "ns",
			                                (json_int_t)c.list[i].ns, "place", c.list[i].place));
	}
	diff_reasons_free(&c);
	return all;
}
