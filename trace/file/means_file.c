/* SPDX-License-Identifier: BSD-3-Clause
 * means_file - the stored form of what each rank spent: the chunk MEAN
 *
 * First the three totals, if there are too many ranks for HIST; then sites. Four ranks spend 3 ms each in site 2, but
 * rank 1 spends 1 ms; the mean is 2.5 ms, and 3/16 more or 10/16 less:
 *
 *     00 00 00           totals: none
 *     01                 one site
 *     02                 two sites further
 *     02 00              relative, step 0; all ranks of the site
 *     01 06 13 06 06     a list: 3 -10 3 3
 *
 * Invariant: what was read is written as it was.
 */
#include "trace/file/means_file.h"

#include "trace/base/budget.h"
#include "trace/file/rankmap_file.h"
#include "trace/model/means.h"
#include "trace/model/packed.h"

/* Those of all sites together take at most this part of the other bytes. But all, and each, may have a few in any case:
 * what every fourth rank does takes 3 bytes for each bit of the rank. A total may have as many as some hundred ranks
 * that have nothing in common take. */
#define BUDGET_PART  20
#define BUDGET_ALL   128
#define BUDGET_LEAST 8
#define BUDGET_TOTAL 256
/* What changes the time of no rank by this part of a rank's time is not worth a value. */
#define WORTH   200
#define NS_MOST 0x1p62 /* what a damaged trace says may be any number */

enum { FORM_NONE, FORM_CODES, FORM_RELATIVE };

/* ---- to a file ---- */

static void put_map(struct writer *w, struct diagram_file *maps, const struct trace_means *m,
                    const struct rankmap *ranks)
{
	writer_uint(w, m->finished ? FORM_RELATIVE + m->step : FORM_CODES);
	rankmap_file_put_ranks(w, maps, &m->map, ranks);
	rankmap_file_put(w, maps, &m->map);
}

/* As fine as `most` bytes allow. m has codes. Returns 0; 1 if all ranks are alike and that need not be said; or -1. */
static int put_fitting(struct writer *w, struct diagram_file *maps, const struct rankmap *m, double mean,
                       const struct rankmap *ranks, size_t most, bool needed)
{
	for (unsigned step = 0; step < MEANS_STEPS; step++) {
		struct trace_means one = {.step = step, .finished = true};
		struct writer bytes = {0};
		const uint32_t before = maps->diagram.count;
		int64_t value;
		if (means_relative(&one.map, m, mean, step) != 0)
			return -1;
		bool alike = rankmap_constant(&one.map, &value) && value == 0, last = step + 1 == MEANS_STEPS;
		if (!alike || needed)
			put_map(&bytes, maps, &one, ranks);
		rankmap_free(&one.map);
		bool fits = last || bytes.size + diagram_file_bytes(maps, before) <= most;
		if (fits)
			writer_bytes(w, bytes.data, bytes.size);
		else
			diagram_rollback(&maps->diagram, before);
		w->failed |= bytes.failed;
		writer_free(&bytes);
		if (fits)
			return alike && !needed;
	}
	return -1;
}

struct means_writer {
	struct writer *w;
	struct diagram_file *maps;
	const struct trace *trace;
	size_t most; /* bytes of a site's map */
	bool final;
	uint32_t count, next; /* sites that have one; the one behind the last of them */
};

static void put_total(struct means_writer *p, const struct trace_total *total)
{
	const struct trace_means *m = &total->means;
	const struct rankmap *ranks = &p->trace->events;
	const size_t most = p->most < BUDGET_TOTAL ? BUDGET_TOTAL : p->most;
	const double mean = total->count ? (double)total->sum / (double)total->count : 0;
	struct rankmap codes = {.level = 0};
	if (total->ranks || rankmap_empty(&m->map))
		writer_uint(p->w, FORM_NONE);
	else if (m->finished || !p->final)
		put_map(p->w, p->maps, m, ranks);
	else if (means_level(&codes, &m->map, mean) != 0 ||
	         put_fitting(p->w, p->maps, &codes, mean, ranks, most, true) < 0)
		p->w->failed = true;
	rankmap_free(&codes);
}

/* What a rank has that is in no map: the mean of these ranks. */
static double mean_of_rest(const struct trace_site *s)
{
	const double mean = histogram_mean(&s->communicate);
	double sum = (double)s->communicate.sum, visits = (double)s->communicate.count, one;
	int64_t n, unused;
	for (uint64_t rank = 0; rankmap_next(&s->means.map, &rank, &unused); rank++)
		if (rankmap_get(&s->visits, (uint32_t)rank, &n) && means_get(&s->means, mean, (uint32_t)rank, &one)) {
			sum -= one * (double)n;
			visits -= (double)n;
		}
	return visits >= 1 && sum > 0 ? sum / visits : 0;
}

/* Codes of all ranks of a site: that of the mean where it makes no difference. */
static int whole_codes(const struct trace *t, const struct trace_site *s, struct rankmap *out)
{
	struct rankmap_builder b = {.references = false};
	const struct trace_total *all = &t->total[TOTAL_ELAPSED];
	const double elapsed = all->count ? (double)all->sum / (double)all->count : 0,
		     mean = histogram_mean(&s->communicate), rest = mean_of_rest(s);
	int64_t visits;
	for (uint64_t rank = 0; rankmap_next(&s->visits, &rank, &visits); rank++) {
		double ns = rest;
		means_get(&s->means, mean, (uint32_t)rank, &ns);
		double off = (ns < mean ? mean - ns : ns - mean) * (double)visits;
		ns = off * WORTH < elapsed || off < MEANS_MATTER_NS ? mean : ns;
		rankmap_add(&b,
		            (struct rank_piece){.first = (uint32_t)rank,
		                                .count = 1,
		                                .step = 1,
		                                .value = means_code((uint64_t)(ns < NS_MOST ? ns + 0.5 : NS_MOST))});
	}
	return rankmap_take(&b, out);
}

/* Returns as put_fitting. */
static int put_site_map(const struct means_writer *p, struct writer *w, const struct trace_site *s)
{
	struct rankmap codes = {.level = 0};
	if (s->means.finished || !p->final) {
		put_map(w, p->maps, &s->means, &s->visits);
		return 0;
	}
	int rv = whole_codes(p->trace, s, &codes);
	if (rv == 0)
		rv = put_fitting(w, p->maps, &codes, histogram_mean(&s->communicate), &s->visits, p->most, false);
	rankmap_free(&codes);
	return rv;
}

static int put_spent(struct means_writer *p, uint32_t i, const struct trace_site *s)
{
	struct writer one = {0};
	int rv = put_site_map(p, &one, s);
	if (rv == 0) {
		writer_uint(p->w, i - p->next);
		writer_bytes(p->w, one.data, one.size);
		p->next = i + 1;
		p->count++;
	}
	p->w->failed |= one.failed || rv < 0;
	writer_free(&one);
	return rv;
}

/* To each site that has a map; p: NULL, to count them only. */
static uint64_t put_all_spent(struct means_writer *p, const struct trace *t)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < t->site_count && !(p && p->w->failed); i++) {
		struct trace_site room;
		if (!packed_has(t, i, PACKED_CLASSES))
			continue;
		const struct trace_site *s = packed_look_times(t, i, &room);
		if (!s && p)
			p->w->failed = true;
		if (!s)
			continue;
		count += !rankmap_empty(&s->means.map);
		if (p && !rankmap_empty(&s->means.map))
			put_spent(p, i, s);
		packed_leave(t, &room);
	}
	return count;
}

void means_put(struct writer *w, struct diagram_file *maps, const struct trace *t, bool final, size_t others)
{
	struct writer sites = {0};
	struct means_writer p = {.w = w, .maps = maps, .trace = t, .final = final};
	uint64_t count = put_all_spent(NULL, t);
	bool any = count > 0;
	for (unsigned i = 0; i < TRACE_TOTALS; i++)
		any |= !rankmap_empty(&t->total[i].means.map);
	if (!any)
		return;
	p.most = others / BUDGET_PART > BUDGET_ALL ? others / BUDGET_PART : BUDGET_ALL;
	p.most = count && p.most / count < BUDGET_LEAST ? BUDGET_LEAST : p.most / (count ? count : 1);
	for (unsigned i = 0; i < TRACE_TOTALS; i++)
		put_total(&p, &t->total[i]);
	const size_t nothing = TRACE_TOTALS;
	p.w = &sites;
	put_all_spent(&p, t);
	w->failed |= sites.failed;
	if (p.count == 0 && w->size == nothing && !w->failed) {
		writer_free(&sites);
		writer_free(w);
		return;
	}
	writer_uint(w, p.count);
	writer_bytes(w, sites.data, sites.size);
	writer_free(&sites);
}

/* ---- from a file ---- */

static int get_map(struct reader *r, const struct diagram_file *maps, const struct rankmap *domain, uint64_t form,
                   struct trace_means *m)
{
	struct rankmap ranks = {.level = 0};
	if (form >= FORM_RELATIVE + MEANS_STEPS)
		return -1;
	m->finished = form >= FORM_RELATIVE;
	m->step = m->finished ? (unsigned)form - FORM_RELATIVE : 0;
	int rv = rankmap_file_get_ranks(r, maps, &ranks, domain);
	if (rv == 0)
		rv = rankmap_file_get(r, maps, &m->map, &ranks, false);
	rankmap_free(&ranks);
	return rv == 0 && !r->bad && !rankmap_empty(&m->map) ? 0 : -1;
}

static int get_site(struct reader *r, const struct diagram_file *maps, struct trace *t, uint32_t i)
{
	struct trace_site room, *s = packed_open_times(t, i, &room);
	if (!s)
		return -1;
	uint64_t form = reader_uint(r);
	int rv = form == FORM_NONE ? -1 : get_map(r, maps, &s->visits, form, &s->means);
	return packed_close_times(t, i, s) != 0 ? -1 : rv;
}

int means_file_get(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	uint64_t site = 0;
	for (unsigned i = 0; i < TRACE_TOTALS; i++) {
		uint64_t form = reader_uint(r);
		if (form != FORM_NONE && (t->total[i].ranks || t->total[i].count == 0 ||
		                          get_map(r, maps, &t->events, form, &t->total[i].means) != 0))
			return -1;
		trace_total_share(&t->total[i]);
	}
	for (size_t n = reader_count(r); n > 0; n--, site++) {
		uint64_t further = reader_uint(r);
		if (r->bad || further >= t->site_count - site)
			return -1;
		site += further;
		if (get_site(r, maps, t, (uint32_t)site) != 0)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}
