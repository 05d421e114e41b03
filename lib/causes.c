/* SPDX-License-Identifier: BSD-3-Clause
 * causes - of libspoor: why a run took longer than its computation, as tables
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/digest.h"
#include "archive/metadata.h"
#include "cmd/base/cause_place.h"
#include "cmd/base/site_names.h"
#include "insight/critical.h"
#include "insight/phrase.h"
#include "insight/waits.h"
#include "insight/what_if.h"
#include "lib/inside.h"
#include "trace/model/unended.h"

#define RANKS_TEXT 4096

static int name_sites(struct site_names *names, const struct trace *t, struct error *error)
{
	return site_names_make(names, t) == 0 ? 0 : error_set(error, "out of memory");
}

static uint64_t site_or_none(uint32_t site)
{
	return site == CAUSE_NOWHERE ? UINT64_MAX : site;
}

/* --- the whole run --- */

enum { OUTCOME, VERDICT, PLAYED, RUN, LOST, IDEAL, COMPUTATION, IMBALANCE, SERIALISATION, TRANSFER, OUTCOME_COLUMNS };

static const struct table_column outcome_columns[OUTCOME_COLUMNS] = {
	[OUTCOME] = {"outcome", SPOOR_TEXTS},
	[VERDICT] = {"verdict", SPOOR_TEXTS},
	[PLAYED] = {"played", SPOOR_INTEGERS},
	[RUN] = {"run_ns", SPOOR_NUMBERS},
	[LOST] = {"lost_ns", SPOOR_NUMBERS},
	[IDEAL] = {"ideal_ns", SPOOR_NUMBERS},
	[COMPUTATION] = {"computation", SPOOR_NUMBERS},
	[IMBALANCE] = {"imbalance", SPOOR_NUMBERS},
	[SERIALISATION] = {"serialisation", SPOOR_NUMBERS},
	[TRANSFER] = {"transfer", SPOOR_NUMBERS},
};

static void put_split(struct spoor_table *out, const struct causes *c, const struct trace *t)
{
	if (!c->known)
		return;
	table_number(out, RUN, (double)t->total[TOTAL_ELAPSED].max);
	table_number(out, LOST, c->lost_ns);
	if (!c->played)
		return;
	const struct cause_split s = causes_split(c, t);
	table_integer(out, PLAYED, 1);
	table_number(out, IDEAL, c->ideal_ns);
	table_number(out, COMPUTATION, s.computation);
	table_number(out, IMBALANCE, s.imbalance);
	table_number(out, SERIALISATION, s.serialisation);
	table_number(out, TRANSFER, s.transfer);
}

struct spoor_table *spoor_outcome(const struct spoor_trace *of, char *text)
{
	const struct trace *t = &of->trace;
	struct budget budget = inside_budget();
	struct error error = {""};
	struct digest d = {.late_rank = -1};
	struct causes causes = {.known = false};
	struct spoor_table *out = table_create(outcome_columns, OUTCOME_COLUMNS);
	json_t *facts = metadata_parse("the trace", of->metadata, strlen(of->metadata), &error);
	budget_begin(&budget);
	int rv = digest_whole(&d, t, facts, &error);
	if (rv == 0)
		rv = causes_find(&causes, t, &error);
	if (rv == 0) {
		table_row(out);
		table_text(out, OUTCOME, outcome_name(d.cause));
		table_text(out, VERDICT, d.verdict);
		put_split(out, &causes, t);
	}
	causes_free(&causes);
	digest_free(&d);
	json_decref(facts);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

/* --- causes --- */

enum {
	CAUSE,
	SHARE,
	NS,
	PLACE,
	RANKS,
	BEHIND,
	SITE,
	WAIT_SITE,
	PLACE_NS,
	RANKS_NS,
	OTHERS_NS,
	BUSY,
	CALLS,
	BYTES,
	CAUSE_COLUMNS
};

static const struct table_column cause_columns[CAUSE_COLUMNS] = {
	[CAUSE] = {"cause", SPOOR_TEXTS},
	[SHARE] = {"share", SPOOR_NUMBERS},
	[NS] = {"ns", SPOOR_NUMBERS},
	[PLACE] = {"place", SPOOR_TEXTS},
	[RANKS] = {"ranks", SPOOR_TEXTS},
	[BEHIND] = {"behind", SPOOR_INTEGERS},
	[SITE] = {"site", SPOOR_INTEGERS},
	[WAIT_SITE] = {"wait_site", SPOOR_INTEGERS},
	[PLACE_NS] = {"place_ns", SPOOR_NUMBERS},
	[RANKS_NS] = {"ranks_ns", SPOOR_NUMBERS},
	[OTHERS_NS] = {"others_ns", SPOOR_NUMBERS},
	[BUSY] = {"busy", SPOOR_NUMBERS},
	[CALLS] = {"calls", SPOOR_INTEGERS},
	[BYTES] = {"bytes", SPOOR_INTEGERS},
};

/* "2,5-7" */
static void put_rank_ranges(struct spoor_table *out, const struct cause *c)
{
	char text[RANKS_TEXT] = "";
	struct phrase x = phrase_behind(text, sizeof text);
	for (uint32_t i = 0, end; i < c->rank_count && x.left > 32; i = end) {
		for (end = i + 1; end < c->rank_count && c->ranks[end] == c->ranks[end - 1] + 1; end++)
			;
		phrase_put(&x, "%s%u", i ? "," : "", c->ranks[i]);
		if (end - i > 1)
			phrase_put(&x, "-%u", c->ranks[end - 1]);
	}
	table_text(out, RANKS, text);
}

static void put_cause(struct spoor_table *out, const struct trace *t, const struct site_names *names,
                      const struct cause *c)
{
	char place[2 * CAUSE_PLACE_TEXT];
	table_row(out);
	table_text(out, CAUSE, cause_name(c->kind));
	table_number(out, SHARE, c->share);
	table_number(out, NS, c->ns);
	cause_place_text(place, sizeof place, t, names, c);
	table_text(out, PLACE, place);
	put_rank_ranges(out, c);
	table_integer(out, BEHIND, site_or_none(c->behind));
	table_integer(out, SITE, site_or_none(c->site));
	table_integer(out, WAIT_SITE, site_or_none(c->wait_site));
	table_number(out, PLACE_NS, c->place_ns);
	if (c->rank_count) {
		table_number(out, RANKS_NS, c->ranks_ns);
		table_number(out, OTHERS_NS, c->others_ns);
	}
	if (c->kind == CAUSE_SERIALISED)
		table_number(out, BUSY, c->busy);
	table_integer(out, CALLS, c->calls);
	table_integer(out, BYTES, c->bytes);
}

struct spoor_table *spoor_causes(const struct spoor_trace *of, char *text)
{
	const struct trace *t = &of->trace;
	struct budget budget = inside_budget();
	struct error error = {""};
	struct causes causes = {.known = false};
	struct site_names names = {.trace = NULL};
	struct spoor_table *out = table_create(cause_columns, CAUSE_COLUMNS);
	budget_begin(&budget);
	int rv = name_sites(&names, t, &error);
	if (rv == 0)
		rv = causes_find(&causes, t, &error);
	for (size_t i = 0; rv == 0 && i < causes.count; i++)
		put_cause(out, t, &names, &causes.list[i]);
	causes_free(&causes);
	site_names_free(&names);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

/* --- what if --- */

/* Causes that cost less of the time are not looked at. */
#define WORTH 0.005

static int put_what_ifs(struct spoor_table *out, const struct trace *t, const struct what_ifs *w, struct error *error)
{
	struct site_names names;
	char place[2 * CAUSE_PLACE_TEXT];
	int rv = name_sites(&names, t, error);
	for (size_t i = 0; rv == 0 && i < w->count; i++) {
		const struct what_if *one = &w->list[i];
		table_row(out);
		table_text(out, 0, what_if_name(one->kind));
		table_number(out, 1, one->saved);
		table_number(out, 2, (double)one->run_ns);
		table_number(out, 3, (double)w->base_ns);
		table_text(out, 4, one->cause ? cause_name(one->cause->kind) : "");
		if (one->cause)
			cause_place_text(place, sizeof place, t, &names, one->cause);
		table_text(out, 5, one->cause ? place : "");
	}
	site_names_free(&names);
	return rv;
}

struct spoor_table *spoor_what_if(const struct spoor_trace *of, char *text)
{
	static const struct table_column columns[] = {{"change", SPOOR_TEXTS},   {"saved", SPOOR_NUMBERS},
	                                              {"run_ns", SPOOR_NUMBERS}, {"base_ns", SPOOR_NUMBERS},
	                                              {"cause", SPOOR_TEXTS},    {"place", SPOOR_TEXTS}};
	const struct trace *t = &of->trace;
	struct budget budget = inside_budget();
	struct error error = {""};
	struct causes causes = {.known = false};
	struct what_ifs w = {.known = false};
	struct spoor_table *out = table_create(columns, sizeof columns / sizeof *columns);
	budget_begin(&budget);
	int rv = causes_find(&causes, t, &error);
	if (rv == 0)
		rv = what_ifs_find(&w, t, &causes, NULL, WORTH, &error);
	if (rv == 0 && w.known)
		rv = put_what_ifs(out, t, &w, &error);
	what_ifs_free(&w);
	causes_free(&causes);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

/* --- waits --- */

enum { LATE_SENDER = 3, EXACT = LATE_SENDER + WAIT_KINDS + 1 };

static void put_waits(struct spoor_table *out, const struct spoor_trace *of, const struct waits *w, uint32_t site,
                      uint64_t unended, const struct site_names *names)
{
	char name[1024];
	table_row(out);
	table_integer(out, 0, site);
	table_text(out, 1, spoor_site_function(of, site));
	site_names_text(names, site, name, sizeof name);
	table_text(out, 2, name);
	for (uint32_t k = 0; k < WAIT_KINDS; k++)
		table_integer(out, LATE_SENDER + k, w->sites[site][k]);
	table_integer(out, EXACT - 1, unended);
	table_integer(out, EXACT, w->exact);
}

static bool has_waited(const struct waits *w, uint32_t site, uint64_t unended)
{
	bool some = unended > 0;
	for (int k = 0; k < WAIT_KINDS; k++)
		some |= w->sites[site][k] > 0;
	return some;
}

struct spoor_table *spoor_waits(const struct spoor_trace *of, char *text)
{
	static const struct table_column columns[] = {{"site", SPOOR_INTEGERS},
	                                              {"function", SPOOR_TEXTS},
	                                              {"name", SPOOR_TEXTS},
	                                              {"late_sender_ns", SPOOR_INTEGERS},
	                                              {"late_receiver_ns", SPOOR_INTEGERS},
	                                              {"collective_ns", SPOOR_INTEGERS},
	                                              {"unended_ns", SPOOR_INTEGERS},
	                                              {"exact", SPOOR_INTEGERS}};
	const struct trace *t = &of->trace;
	struct budget budget = inside_budget();
	struct error error = {""};
	struct waits w = {.sites = NULL};
	struct site_names names = {.trace = NULL};
	struct spoor_table *out = table_create(columns, sizeof columns / sizeof *columns);
	budget_begin(&budget);
	int rv = name_sites(&names, t, &error);
	if (rv == 0)
		rv = waits_make(&w, t, &error);
	for (uint32_t i = 0; rv == 0 && i < t->site_count; i++) {
		const uint64_t unended = inside_unended(t, i);
		if (has_waited(&w, i, unended))
			put_waits(out, of, &w, i, unended, &names);
	}
	waits_free(&w);
	site_names_free(&names);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

/* --- the critical path, and who waits for whom --- */

static void put_pieces(struct spoor_table *out, const struct critical *c)
{
	for (uint32_t i = 0; i < c->path_count; i++) {
		const struct critical_piece *p = &c->path[i];
		table_row(out);
		table_integer(out, 0, p->rank);
		table_integer(out, 1, p->begin);
		table_integer(out, 2, p->ns);
		table_integer(out, 3, site_or_none(p->behind));
		table_integer(out, 4, site_or_none(p->site));
	}
}

static void put_pairs(struct spoor_table *out, const struct critical *c)
{
	for (uint32_t i = 0; i < c->wait_count; i++) {
		const struct critical_wait *p = &c->waits[i];
		table_row(out);
		table_integer(out, 0, p->rank);
		table_integer(out, 1, p->from);
		table_integer(out, 2, p->site);
		table_integer(out, 3, p->waits);
		table_integer(out, 4, p->ns);
	}
}

static struct spoor_table *find_critical(const struct spoor_trace *of, const struct table_column columns[5],
                                         void (*put)(struct spoor_table *, const struct critical *), char *text)
{
	struct budget budget = inside_budget();
	struct error error = {""};
	struct critical c = {.known = false};
	struct spoor_table *out = table_create(columns, 5);
	budget_begin(&budget);
	int rv = critical_find(&c, &of->trace, &error);
	if (rv == 0 && !c.known)
		rv = error_set(&error,
		               "the trace cannot be played: that needs a whole lossless trace with one thread a "
		               "rank, and not too many events");
	if (rv == 0)
		put(out, &c);
	critical_free(&c);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}

struct spoor_table *spoor_critical_path(const struct spoor_trace *of, char *error)
{
	static const struct table_column columns[] = {{"rank", SPOOR_INTEGERS},
	                                              {"begin_ns", SPOOR_INTEGERS},
	                                              {"ns", SPOOR_INTEGERS},
	                                              {"behind", SPOOR_INTEGERS},
	                                              {"site", SPOOR_INTEGERS}};
	return find_critical(of, columns, put_pieces, error);
}

struct spoor_table *spoor_waits_for(const struct spoor_trace *of, char *error)
{
	static const struct table_column columns[] = {{"waiter", SPOOR_INTEGERS},
	                                              {"late", SPOOR_INTEGERS},
	                                              {"site", SPOOR_INTEGERS},
	                                              {"waits", SPOOR_INTEGERS},
	                                              {"ns", SPOOR_INTEGERS}};
	return find_critical(of, columns, put_pairs, error);
}
