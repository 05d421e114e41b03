/* SPDX-License-Identifier: BSD-3-Clause
 * diff_causes - of `spoor diff`: how much longer one run took than the other, and why
 */
#include "cmd/diff_causes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "cmd/base/site_names.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "insight/cause.h"
#include "trace/model/host.h"

/* Runs that differ by less take the same time; what makes less of the time is not told. */
#define SAME 0.02
#define TOLD 0.01
#define MOST 5
#define TEXT 600

enum { COMPUTATION = CAUSES, REASONS };

/* One side. */
struct diff_reasons {
	const struct diff_input *in;
	struct causes causes;
	struct site_names names;
	double run_ns;      /* until the last rank is at its end */
	double ns[REASONS]; /* of a rank, in the mean */
};

/* What differs by a kind of cause. */
struct difference {
	int reason;
	double ns; /* b has more, of a rank */
	char place[TEXT];
};

struct comparison {
	struct diff_reasons a, b;
	bool known;
	struct difference list[REASONS];
};

static int find_reasons(struct diff_reasons *r, const struct diff_input *in, struct error *error)
{
	const struct trace_total *elapsed = &in->trace.total[TOTAL_ELAPSED];
	r->in = in;
	if (causes_find(&r->causes, &in->trace, error) != 0 || site_names_make(&r->names, &in->trace) != 0)
		return error->text[0] ? -1 : error_set(error, "no memory");
	if (!r->causes.known || !elapsed->count)
		return 0;
	r->run_ns = (double)elapsed->max;
	r->ns[COMPUTATION] = r->run_ns;
	for (size_t i = 0; i < r->causes.count; i++) {
		double ns = r->causes.list[i].ns / (double)elapsed->count;
		r->ns[r->causes.list[i].kind] += ns;
		r->ns[COMPUTATION] -= ns;
	}
	return 0;
}

static const struct cause *most_of(const struct diff_reasons *r, int kind)
{
	for (size_t i = 0; i < r->causes.count; i++)
		if ((int)r->causes.list[i].kind == kind)
			return &r->causes.list[i];
	return NULL;
}

/* Before which call do ranks compute so much more, or less, in the sum? */
static void computation_place(const struct comparison *c, double sign, char *out)
{
	const struct diff_input *a = c->a.in, *b = c->b.in;
	double most = 0;
	struct cause place = {.kind = CAUSE_OTHER, .behind = CAUSE_NOWHERE, .site = CAUSE_NOWHERE};
	for (uint32_t i = 0; i < b->trace.site_count; i++) {
		const struct diff_side *y = &b->sites[i];
		double more = (double)y->compute / (double)b->ranks -
		              (y->match ? (double)a->sites[y->other].compute / (double)a->ranks : 0);
		if (sign * more > most) {
			most = sign * more;
			place.site = i;
		}
	}
	if (place.site != CAUSE_NOWHERE)
		findings_place(out, TEXT, &b->trace, &c->b.names, &place);
}

static int by_size(const void *x, const void *y)
{
	const struct difference *p = x, *q = y;
	return fabs(p->ns) != fabs(q->ns) ? (fabs(p->ns) < fabs(q->ns) ? 1 : -1) : p->reason - q->reason;
}

static int compare_reasons(struct comparison *c, const struct diff_input *a, const struct diff_input *b,
                           struct error *error)
{
	if (find_reasons(&c->a, a, error) != 0 || find_reasons(&c->b, b, error) != 0)
		return -1;
	c->known = c->a.run_ns > 0 && c->b.run_ns > 0;
	for (int i = 0; c->known && i < REASONS; i++) {
		struct difference *d = &c->list[i];
		*d = (struct difference){i, c->b.ns[i] - c->a.ns[i], ""};
		/* where it is worse */
		const struct diff_reasons *worse = d->ns > 0 ? &c->b : &c->a;
		const struct cause *most = most_of(worse, i);
		if (i == COMPUTATION)
			computation_place(c, d->ns > 0 ? 1 : -1, d->place);
		else if (most)
			findings_place(d->place, TEXT, &worse->in->trace, &worse->names, most);
	}
	if (c->known)
		qsort(c->list, REASONS, sizeof *c->list, by_size);
	return 0;
}

static void end(struct comparison *c)
{
	causes_free(&c->a.causes);
	causes_free(&c->b.causes);
	site_names_free(&c->a.names);
	site_names_free(&c->b.names);
}

static const char *reason_title(int reason)
{
	enum outcome o = (enum outcome)(OUTCOME_CAUSE + reason);
	return reason == COMPUTATION ? "Computation" : finding_kinds[finding_of_outcome(o)].title;
}

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
	struct comparison c = {.known = false};
	char x[HTML_NUMBER], y[HTML_NUMBER];
	int rv = compare_reasons(&c, a, b, error);
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
			const struct difference *d = &c.list[i];
			bool with = d->ns * all > 0 && fabs(part) >= SAME;
			say("  %.0f%s %s%s%s%s\n", 100 * fabs(d->ns) / c.a.run_ns,
			    with        ? " of it from:"
			    : d->ns > 0 ? " % more:"
			                : " % less:",
			    reason_title(d->reason), d->place[0] ? " (" : "", d->place, d->place[0] ? ")" : "");
		}
		say_change("  With", "rank", a->trace.size, b->trace.size);
		say_change(",", "node", hosts_of(&a->trace), hosts_of(&b->trace));
		say_change(",", "event", a->events, b->events);
		say(".\n\n");
	}
	end(&c);
	return rv;
}

json_t *diff_causes_json(const struct diff_input *a, const struct diff_input *b, struct error *error)
{
	struct comparison c = {.known = false};
	json_t *all = compare_reasons(&c, a, b, error) != 0 ? NULL : c.known ? json_object() : json_null(), *list;
	if (all && c.known) {
		json_object_set_new(all, "run_ns", json_pack("[II]", (json_int_t)c.a.run_ns, (json_int_t)c.b.run_ns));
		json_object_set_new(all, "reasons", list = json_array());
		for (int i = 0; i < REASONS; i++)
			json_array_append_new(list,
			                      json_pack("{ss sI ss}", "cause",
			                                c.list[i].reason == COMPUTATION
			                                        ? "computation"
			                                        : cause_name((enum cause_kind)c.list[i].reason),
			                                "ns", (json_int_t)c.list[i].ns, "place", c.list[i].place));
	}
	end(&c);
	return all;
}
