/* SPDX-License-Identifier: BSD-3-Clause
 * wait_lines - of `spoor show --waits`: where ranks waited, and for whom
 */
#include "cmd/show/view.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/sink.h"
#include "cmd/base/site_names.h"
#include "insight/waits.h"
#include "trace/model/unended.h"

static const char *const keys[WAIT_KINDS] = {"late_sender_ns", "late_receiver_ns", "collective_ns"};

static uint64_t all_of(const uint64_t ns[WAIT_KINDS], uint64_t unended)
{
	return ns[WAIT_LATE_SENDER] + ns[WAIT_LATE_RECEIVER] + ns[WAIT_COLLECTIVE] + unended;
}

struct wait_row {
	uint32_t site;
	uint64_t all, unended;
};

static int by_wait(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;
	return x->all != y->all ? (x->all < y->all ? 1 : -1) : (x->site > y->site) - (x->site < y->site);
}

static void print_wait_row(const struct trace *t, const struct wait_row *row, const struct waits *w, const char *at)
{
	const struct schema *s = trace_schema(t, &t->sites[row->site]);
	const uint64_t *ns = w->sites[row->site];
	say("%-24.*s %12.6f %12.6f %12.6f %12.6f  %s\n", (int)s->function_length, s->function,
	    (double)ns[WAIT_LATE_SENDER] * 1e-9, (double)ns[WAIT_LATE_RECEIVER] * 1e-9,
	    (double)ns[WAIT_COLLECTIVE] * 1e-9, (double)row->unended * 1e-9, *at ? at : "-");
}

static json_t *wait_row_json(const struct trace *t, const struct wait_row *row, const struct waits *w, const char *at)
{
	const struct schema *s = trace_schema(t, &t->sites[row->site]);
	json_t *one = json_pack("{s:I, s:s%, s:s, s:I}", "site", (json_int_t)row->site, "function", s->function,
	                        s->function_length, "at", at, "unended_ns", (json_int_t)row->unended);
	for (int k = 0; k < WAIT_KINDS; k++)
		json_object_set_new(one, keys[k], json_integer((json_int_t)w->sites[row->site][k]));
	return one;
}

/* Sites at which somebody waited, most first. Returns how many; *out is malloc'ed, NULL on no memory. */
static size_t wait_rows(const struct trace *t, const struct waits *w, struct wait_row **out)
{
	struct wait_row *rows = *out = calloc((size_t)t->site_count + 1, sizeof *rows);
	size_t n = 0;
	for (uint32_t i = 0; rows && i < t->unended_count; i++)
		if (t->unended[i].call)
			rows[t->unended[i].site].unended = t->unended[i].sum;
	for (uint32_t i = 0; rows && i < t->site_count; i++) {
		struct wait_row row = {i, all_of(w->sites[i], rows[i].unended), rows[i].unended};
		if (row.all)
			rows[n++] = row;
	}
	if (n > 1)
		qsort(rows, n, sizeof *rows, by_wait);
	return n;
}

static void print_waits(const struct trace *t, const struct waits *w, const struct wait_row *rows, size_t n,
                        const struct site_names *names, json_t *list)
{
	char at[512];
	if (!list)
		say("Waiting for others, all ranks, %s\n%-24s %12s %12s %12s %12s  %s\n",
		    w->exact ? "from the times of all events"
		             : "estimated from histograms (timing: full makes it exact)",
		    "SITE", "LATE SENDER", "LATE RECV", "COLLECTIVE", "NEVER ENDED", "AT");
	for (size_t i = 0; i < n; i++) {
		site_names_text(names, rows[i].site, at, sizeof at);
		if (list)
			json_array_append_new(list, wait_row_json(t, &rows[i], w, at));
		else
			print_wait_row(t, &rows[i], w, at);
	}
}

int show_waits(const struct show *s, json_t *json)
{
	const struct trace *t = s->trace;
	struct error error = {""};
	struct waits w;
	struct wait_row *rows = NULL;
	struct site_names names = {.trace = NULL};
	json_t *list = json ? json_array() : NULL;
	int rv = waits_make(&w, t, &error);
	size_t n = rv == 0 ? wait_rows(t, &w, &rows) : 0;
	if (rv == 0 && (!rows || site_names_make(&names, t) != 0))
		rv = error_set(&error, "no memory");
	if (rv == 0)
		print_waits(t, &w, rows, n, &names, list);
	else
		say_to(stderr, "spoor: %s: %s\n", s->name, error.text);
	if (json && rv == 0) {
		json_t *sum = json_pack("{s:b}", "exact", (int)w.exact);
		for (int k = 0; k < WAIT_KINDS; k++)
			json_object_set_new(sum, keys[k], json_integer((json_int_t)w.sum[k]));
		json_object_set(sum, "sites", list);
		json_object_set_new(json, "waits", sum);
	}
	json_decref(list);
	site_names_free(&names);
	free(rows);
	waits_free(&w);
	return rv;
}
