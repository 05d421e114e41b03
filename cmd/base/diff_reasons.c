/* SPDX-License-Identifier: BSD-3-Clause
 * diff_reasons - how much longer one run took than another, and why
 */
#include "cmd/base/diff_reasons.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/base/cause_place.h"

static int find_reasons(struct diff_run *r, const struct diff_input *in, struct error *error)
{
	const struct trace_total *elapsed = &in->trace.total[TOTAL_ELAPSED];
	r->in = in;
	if (causes_find(&r->causes, &in->trace, error) != 0 || site_names_make(&r->names, &in->trace) != 0)
		return error->text[0] ? -1 : error_set(error, "no memory");
	if (!r->causes.known || !elapsed->count)
		return 0;
	r->run_ns = (double)elapsed->max;
	r->ns[DIFF_COMPUTATION] = r->run_ns;
	for (size_t i = 0; i < r->causes.count; i++) {
		double ns = r->causes.list[i].ns / (double)elapsed->count;
		r->ns[r->causes.list[i].kind] += ns;
		r->ns[DIFF_COMPUTATION] -= ns;
	}
	return 0;
}

static const struct cause *most_of(const struct diff_run *r, int kind)
{
	for (size_t i = 0; i < r->causes.count; i++)
		if ((int)r->causes.list[i].kind == kind)
			return &r->causes.list[i];
	return NULL;
}

/* Before which call do ranks compute so much more, or less, in the sum? */
static void computation_place(const struct diff_reasons *c, double sign, char *out)
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
		cause_place_text(out, DIFF_PLACE, &b->trace, &c->b.names, &place);
}

static int by_size(const void *x, const void *y)
{
	const struct diff_reason *p = x, *q = y;
	return fabs(p->ns) != fabs(q->ns) ? (fabs(p->ns) < fabs(q->ns) ? 1 : -1) : p->reason - q->reason;
}

int diff_reasons_find(struct diff_reasons *c, const struct diff_input *a, const struct diff_input *b,
                      struct error *error)
{
	if (find_reasons(&c->a, a, error) != 0 || find_reasons(&c->b, b, error) != 0)
		return -1;
	c->known = c->a.run_ns > 0 && c->b.run_ns > 0;
	for (int i = 0; c->known && i < DIFF_REASONS; i++) {
		struct diff_reason *d = &c->list[i];
		*d = (struct diff_reason){i, c->b.ns[i] - c->a.ns[i], ""};
		/* where it is worse */
		const struct diff_run *worse = d->ns > 0 ? &c->b : &c->a;
		const struct cause *most = most_of(worse, i);
		if (i == DIFF_COMPUTATION)
			computation_place(c, d->ns > 0 ? 1 : -1, d->place);
		else if (most)
			cause_place_text(d->place, DIFF_PLACE, &worse->in->trace, &worse->names, most);
	}
	if (c->known)
		qsort(c->list, DIFF_REASONS, sizeof *c->list, by_size);
	return 0;
}

void diff_reasons_free(struct diff_reasons *c)
{
	causes_free(&c->a.causes);
	causes_free(&c->b.causes);
	site_names_free(&c->a.names);
	site_names_free(&c->b.names);
}

const char *diff_reason_name(int reason)
{
	return reason == DIFF_COMPUTATION ? "computation" : cause_name((enum cause_kind)reason);
}
