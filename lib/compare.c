/* SPDX-License-Identifier: BSD-3-Clause
 * compare - of libspoor: two runs side by side, as `spoor diff` has them
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/diff_reasons.h"
#include "cmd/base/diff_sites.h"
#include "lib/inside.h"

/* Both sides. The traces stay the caller's. */
struct compared {
	struct diff_input a, b;
};

static int open_pair(struct compared *p, const struct spoor_trace *a, const struct spoor_trace *b, struct error *error)
{
	*p = (struct compared){{.name = "a", .trace = a->trace}, {.name = "b", .trace = b->trace}};
	return diff_sites_make(&p->a, true, error) != 0 || diff_sites_make(&p->b, true, error) != 0
	               ? -1
	               : diff_sites_match(&p->a, &p->b, error);
}

static void close_pair(struct compared *p)
{
	diff_sites_free(&p->a);
	diff_sites_free(&p->b);
}

/* --- call sites --- */

/* Those of one side, and those of the other behind them. */
enum {
	FUNCTION,
	NAME,
	MATCH,
	DIFFERS,
	CHANGE,
	SITE,
	CALLS,
	RANKS,
	BYTES,
	NS,
	WAIT,
	COMPUTE,
	SIDE = COMPUTE - SITE + 1,
	COMPARE_COLUMNS = SITE + 2 * SIDE
};

static const struct table_column compare_columns[COMPARE_COLUMNS] = {
	[FUNCTION] = {"function", SPOOR_TEXTS},
	[NAME] = {"name", SPOOR_TEXTS},
	[MATCH] = {"match", SPOOR_TEXTS},
	[DIFFERS] = {"differs", SPOOR_TEXTS},
	[CHANGE] = {"change_ns", SPOOR_NUMBERS},
	[SITE] = {"site_a", SPOOR_INTEGERS},
	[CALLS] = {"calls_a", SPOOR_INTEGERS},
	[RANKS] = {"ranks_a", SPOOR_INTEGERS},
	[BYTES] = {"bytes_a", SPOOR_INTEGERS},
	[NS] = {"ns_a", SPOOR_INTEGERS},
	[WAIT] = {"wait_ns_a", SPOOR_INTEGERS},
	[COMPUTE] = {"compute_ns_a", SPOOR_INTEGERS},
	[SITE + SIDE] = {"site_b", SPOOR_INTEGERS},
	[CALLS + SIDE] = {"calls_b", SPOOR_INTEGERS},
	[RANKS + SIDE] = {"ranks_b", SPOOR_INTEGERS},
	[BYTES + SIDE] = {"bytes_b", SPOOR_INTEGERS},
	[NS + SIDE] = {"ns_b", SPOOR_INTEGERS},
	[WAIT + SIDE] = {"wait_ns_b", SPOOR_INTEGERS},
	[COMPUTE + SIDE] = {"compute_ns_b", SPOOR_INTEGERS},
};

static void put_side(struct spoor_table *out, const struct diff_input *in, const struct diff_side *s, uint32_t first)
{
	if (!s) {
		table_integer(out, first, UINT64_MAX);
		return;
	}
	const uint64_t values[SIDE] = {
		(uint64_t)(s - in->sites), s->calls, s->ranks, s->bytes, s->time, s->wait, s->compute};
	for (uint32_t i = 0; i < SIDE; i++)
		table_integer(out, first + i, values[i]);
}

static void put_row(struct spoor_table *out, const struct compared *p, const struct site_names names[2],
                    const struct diff_row *r)
{
	const struct site_names *of = &names[r->a ? 0 : 1];
	const struct diff_input *in = r->a ? &p->a : &p->b;
	const struct schema *s = trace_schema(&in->trace, &in->trace.sites[r->site]);
	char text[1024];
	table_row(out);
	snprintf(text, sizeof text, "%.*s", (int)s->function_length, s->function);
	table_text(out, FUNCTION, text);
	site_names_text(of, r->site, text, sizeof text);
	table_text(out, NAME, text);
	table_text(out, MATCH, diff_match_names[r->a ? r->a->match : MATCH_NONE]);
	table_text(out, DIFFERS, diff_row_differs(r) ? "calls" : r->times ? "time" : "");
	table_number(out, CHANGE,
	             diff_per_rank(&p->b, r->b ? r->b->time : 0) - diff_per_rank(&p->a, r->a ? r->a->time : 0));
	put_side(out, &p->a, r->a, SITE);
	put_side(out, &p->b, r->b, SITE + SIDE);
}

static int put_rows(struct spoor_table *out, const struct compared *p, struct error *error)
{
	struct site_names names[2] = {{.trace = NULL}, {.trace = NULL}};
	size_t n;
	struct diff_row *rows = diff_rows(&p->a, &p->b, &n);
	int rv = rows && site_names_make(&names[0], &p->a.trace) == 0 && site_names_make(&names[1], &p->b.trace) == 0
	                 ? 0
	                 : error_set(error, "out of memory");
	for (size_t i = 0; rv == 0 && i < n; i++)
		put_row(out, p, names, &rows[i]);
	site_names_free(&names[0]);
	site_names_free(&names[1]);
	free(rows);
	return rv;
}

struct spoor_table *spoor_compare(const struct spoor_trace *a, const struct spoor_trace *b, char *text)
{
	struct budget budget = inside_budget();
	struct error error = {""};
	struct compared p;
	struct spoor_table *out = table_create(compare_columns, COMPARE_COLUMNS);
	budget_begin(&budget);
	int rv = open_pair(&p, a, b, &error);
	if (rv == 0)
		rv = put_rows(out, &p, &error);
	close_pair(&p);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

/* --- causes --- */

static void put_reasons(struct spoor_table *out, const struct diff_reasons *r)
{
	for (int i = 0; r->known && i < DIFF_REASONS; i++) {
		const struct diff_reason *d = &r->list[i];
		table_row(out);
		table_text(out, 0, diff_reason_name(d->reason));
		table_number(out, 1, r->a.ns[d->reason]);
		table_number(out, 2, r->b.ns[d->reason]);
		table_number(out, 3, d->ns);
		table_text(out, 4, d->place);
	}
}

struct spoor_table *spoor_compare_causes(const struct spoor_trace *a, const struct spoor_trace *b, char *text)
{
	static const struct table_column columns[] = {{"cause", SPOOR_TEXTS},
	                                              {"ns_a", SPOOR_NUMBERS},
	                                              {"ns_b", SPOOR_NUMBERS},
	                                              {"change_ns", SPOOR_NUMBERS},
	                                              {"place", SPOOR_TEXTS}};
	struct budget budget = inside_budget();
	struct error error = {""};
	struct compared p;
	struct diff_reasons r = {.known = false};
	struct spoor_table *out = table_create(columns, 5);
	budget_begin(&budget);
	int rv = open_pair(&p, a, b, &error);
	if (rv == 0)
		rv = diff_reasons_find(&r, &p.a, &p.b, &error);
	if (rv == 0)
		put_reasons(out, &r);
	diff_reasons_free(&r);
	close_pair(&p);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}
