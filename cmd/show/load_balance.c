/* SPDX-License-Identifier: BSD-3-Clause
 * load_balance - of `spoor show`: how evenly ranks share the time
 */
#include "cmd/show/load_balance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show/counter_lines.h"
#include "cmd/show/site_ranks.h"
#include "cmd/base/site_names.h"
#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "cmd/base/terminal.h"
#include "trace/model/away.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"
#include "trace/read/late.h"

/* Sites from this share of the time in calls and computations on are shown, at most so many: also in a job that was
 * short beside MPI_Init, and not what is nothing beside a call that did not end. */
#define WIDE        120 /* columns of a terminal that has room for all of a table */
#define SHOWN_SHARE 0.01
#define SHOWN_SITES 12

static json_t *real_or_null(double v)
{
	return v < 0 ? json_null() : json_real(v);
}

/* Calls that return when it is done say how fast: bytes a second of a rank that is in such a call. */
static json_t *file_json(const struct summary_file *f)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "calls", (json_int_t)f->calls, "bytes", (json_int_t)f->bytes,
	                 "unsized", (json_int_t)f->unsized, "timed_bytes", (json_int_t)f->timed_bytes, "ns",
	                 (json_int_t)f->ns);
}

void summary_json(const struct summary *s, json_t *json)
{
	json_t *sum = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "events",
		(json_int_t)s->events, "messages", (json_int_t)s->messages, "bytes", (json_int_t)s->bytes,
		"messages_unsized", (json_int_t)s->unsized, "mpi_ns", (json_int_t)s->mpi_ns, "compute_ns",
		(json_int_t)s->compute_ns, "run_ns", (json_int_t)s->run_ns, "compute_min_ns",
		(json_int_t)s->compute_min_ns, "compute_min_rank", (json_int_t)s->compute_min_rank, "compute_max_ns",
		(json_int_t)s->compute_max_ns, "compute_max_rank", (json_int_t)s->compute_max_rank, "overhead_ns",
		(json_int_t)s->overhead_ns, "overhead_min_ns", (json_int_t)s->overhead_min_ns, "overhead_min_rank",
		(json_int_t)s->overhead_min_rank, "overhead_max_ns", (json_int_t)s->overhead_max_ns,
		"overhead_max_rank", (json_int_t)s->overhead_max_rank, "ranks", (json_int_t)s->ranks);
	json_object_set_new(sum, "load_balance", real_or_null(s->load_balance));
	json_object_set_new(sum, "communication_efficiency", real_or_null(s->communication_efficiency));
	json_object_set_new(sum, "parallel_efficiency", real_or_null(s->parallel_efficiency));
	json_object_set_new(sum, "elapsed_ns", json_integer((json_int_t)s->elapsed_ns));
	json_object_set_new(sum, "init_ns", json_integer((json_int_t)s->init_ns));
	json_object_set_new(sum, "before_ns", json_integer((json_int_t)s->before_ns));
	json_object_set_new(sum, "before_max_ns", json_integer((json_int_t)s->before_max_ns));
	json_object_set_new(sum, "before_max_rank", json_integer((json_int_t)s->before_max_rank));
	json_object_set_new(sum, "away_ns", json_integer((json_int_t)s->away_ns));
	json_object_set_new(sum, "unended_ns", json_integer((json_int_t)s->unended_ns));
	json_object_set_new(sum, "unended_compute_ns", json_integer((json_int_t)s->unended_compute_ns));
	json_object_set_new(sum, "wall_ns", json_integer((json_int_t)s->wall_ns));
	json_object_set_new(sum, "streams", json_integer((json_int_t)s->streams));
	json_object_set_new(sum, "all_ns", json_integer((json_int_t)s->all_ns));
	json_object_set_new(sum, "unplaced_ns", json_integer((json_int_t)s->unplaced_ns));
	json_object_set_new(sum, "events_lost", json_integer((json_int_t)s->lost));
	json_object_set_new(sum, "one_sided",
	                    json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)s->one_sided, "bytes",
	                              (json_int_t)s->one_sided_bytes, "unsized", (json_int_t)s->one_sided_unsized));
	json_object_set_new(sum, "read", file_json(&s->read));
	json_object_set_new(sum, "written", file_json(&s->written));
	json_object_set_new(json, "summary", sum);
}

#define LISTED_MOST (1 << 17) /* ranks: a small file may say that there are 2^31 */

void rank_totals_json(const struct trace *t, json_t *json)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED],
				 *overhead = &t->total[TOTAL_OVERHEAD];
	json_t *list = json_array();
	uint64_t computes, passed, own;
	int64_t unused;
	bool known =
		trace_total_known(compute) && trace_total_known(elapsed) && rankmap_size(&t->events) <= LISTED_MOST;
	for (uint64_t rank = 0; known && rankmap_next(&t->events, &rank, &unused); rank++) {
		if (!trace_total_get(compute, (uint32_t)rank, &computes) ||
		    !trace_total_get(elapsed, (uint32_t)rank, &passed))
			continue;
		json_t *one = json_pack("{s:I, s:I, s:I}", "rank", (json_int_t)rank, "compute_ns", (json_int_t)computes,
		                        "elapsed_ns", (json_int_t)passed);
		if (trace_total_get(overhead, (uint32_t)rank, &own))
			json_object_set_new(one, "overhead_ns", json_integer((json_int_t)own));
		json_array_append_new(list, one);
	}
	json_object_set_new(json, "rank_totals", list);
}

void away_json(const struct trace *t, json_t *json)
{
	json_t *list = json_array(), *before = json_object(), *queued = json_object();
	char rank[24];
	int64_t ms;
	for (uint32_t i = 0; i < t->away_count && i < LISTED_MOST; i++)
		json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:I}", "site", (json_int_t)t->away[i].from,
		                                      "next", (json_int_t)t->away[i].to, "rank",
		                                      (json_int_t)t->away[i].rank, "us", (json_int_t)t->away[i].us));
	for (uint64_t r = 0; r < LISTED_MOST && rankmap_next(&t->before, &r, &ms); r++) {
		snprintf(rank, sizeof rank, "%" PRIu64, r);
		json_object_set_new(before, rank, json_integer(ms));
	}
	for (uint64_t r = 0; r < LISTED_MOST && rankmap_next(&t->queued, &r, &ms); r++) {
		snprintf(rank, sizeof rank, "%" PRIu64, r);
		json_object_set_new(queued, rank, json_integer(ms));
	}
	json_object_set_new(json, "away",
	                    json_pack("{s:o, s:o, s:o}", "edges", list, "before_ms", before, "queued_ms", queued));
}

void summary_print_missing(const struct trace *t, const struct summary *s)
{
	if (s->lost)
		say("%-12s %" PRIu64 " calls (%.1f %%), in %" PRIu64
		    " ranks, are no events: they were only counted, with their time\n",
		    "Counted", s->lost, 100 * summary_lost_share(s), stream_ranks_any(t, &t->lost));
	if (s->unplaced_ns)
		say("%-12s %.3f s of %.3f s of computation (%.1f %%) are in the totals of ranks, but at no site\n",
		    "Unplaced", (double)s->unplaced_ns * 1e-9, (double)s->compute_ns * 1e-9,
		    100.0 * (double)s->unplaced_ns / (double)s->compute_ns);
}

static void print_file(const char *label, const struct summary_file *f)
{
	if (!f->calls)
		return;
	say("%-12s %" PRIu64 " bytes of files%s, in %" PRIu64 " calls", label, f->bytes,
	    f->unsized ? " at least (some sizes are not known)" : "", f->calls);
	if (f->timed_bytes && f->ns)
		say("; %.1f MB/s of each rank that is in one", (double)f->timed_bytes * 1e3 / (double)f->ns);
	say("\n");
}

/* The trace is written before the library's own MPI_Finalize, so that what that takes is in no trace. */
static void print_finalize(const json_t *meta)
{
	const char *ns = json_string_value(json_object_get(meta, "finalize_ns"));
	if (ns)
		say("MPI_Finalize %.3f s on rank 0 until the trace was put together; the library's own is not in "
		    "it\n",
		    strtod(ns, NULL) * 1e-9);
}

void summary_print(const struct show *show, const struct summary *s)
{
	const struct trace *t = show->trace;
	char least[STREAM_NAME], most[STREAM_NAME];
	double all = (double)s->all_ns, percent = all > 0 ? 100 / all : 0;
	if (s->messages)
		say("%-12s %" PRIu64 " messages, %" PRIu64 " bytes%s\n", "Sent", s->messages, s->bytes,
		    s->unsized ? " at least (some sizes are not known)" : "");
	if (s->one_sided)
		say("%-12s %" PRIu64 " calls, %" PRIu64 " bytes%s\n", "One-sided", s->one_sided, s->one_sided_bytes,
		    s->one_sided_unsized ? " at least (some sizes are not known)" : "");
	print_file("Read", &s->read);
	print_file("Written", &s->written);
	say("%-12s %.3f s of %.3f s, all ranks (%.1f %%)", "In MPI", (double)s->mpi_ns * 1e-9, all * 1e-9,
	    (double)s->mpi_ns * percent);
	if (s->unended_ns)
		say("; %.3f s of it in calls that never ended", (double)s->unended_ns * 1e-9);
	say("\n");
	say("MPI_Init     %.3f s, all ranks (%.1f %%)\n", (double)s->init_ns * 1e-9, (double)s->init_ns * percent);
	if (s->before_max_ns)
		say("%-12s up to %.3f s a rank from the start of its process, on rank %s\n", "Before",
		    (double)s->before_max_ns * 1e-9, stream_name(t, s->before_max_rank, most));
	print_finalize(show->meta);
	if (s->parallel_efficiency >= 0) {
		say("%-12s parallel %.1f %% = load balance %.1f %% x communication %.1f %%, over %.3f s\n",
		    "Efficiency", 100 * s->parallel_efficiency, 100 * s->load_balance,
		    100 * s->communication_efficiency, (double)s->run_ns * 1e-9);
		say("%-12s %.3f s on rank %s to %.3f s on rank %s\n", "Compute", (double)s->compute_min_ns * 1e-9,
		    stream_name(t, s->compute_min_rank, least), (double)s->compute_max_ns * 1e-9,
		    stream_name(t, s->compute_max_rank, most));
	}
	if (s->away_ns)
		say("%-12s %.3f s of that, all ranks: asleep, waiting for files or other processes, or without a "
		    "core\n",
		    "No processor", (double)s->away_ns * 1e-9);
	if (t->total[TOTAL_OVERHEAD].count)
		say("%-12s %.6f s, all ranks (%.2f %%), left out of all other times\n"
		    "%-12s %.6f s on rank %s, %.6f s in the mean, %.6f s on rank %s\n",
		    "Overhead", (double)s->overhead_ns * 1e-9, (double)s->overhead_ns * percent, "",
		    (double)s->overhead_min_ns * 1e-9, stream_name(t, s->overhead_min_rank, least),
		    (double)s->overhead_ns * 1e-9 / (double)t->total[TOTAL_OVERHEAD].count,
		    (double)s->overhead_max_ns * 1e-9, stream_name(t, s->overhead_max_rank, most));
	say("\n");
}

static const struct trace *sorted;

static int site_by_sum(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = sorted->sites[x].communicate.sum, q = sorted->sites[y].communicate.sum;
	return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

/* late: the rank that the others wait for; NULL: there is none. at: where the program calls. */
static void print_site_heading(void)
{
	if (terminal_is_narrow(WIDE))
		say("\n%-24s %6s %10s  %s\n", "SITE", "SHARE", "TIME s", "AT");
	else
		say("\n%-24s %6s %10s %9s %12s %12s  %s\n", "SITE", "SHARE", "TIME s", "IMBALANCE", "LEAST/RANK",
		    "MOST/RANK", "AT");
}

/* On a narrow terminal without what `--json` and wider ones have. */
static void print_site(const struct trace *t, const struct trace_site *s, double share, double imbalance,
                       const uint32_t *late, const char *at)
{
	const struct schema *schema = trace_schema(t, s);
	char least[64], most[64], of[STREAM_NAME];
	snprintf(least, sizeof least, "%.3f/%s", (double)s->least * 1e-9, stream_name(t, s->least_rank, of));
	snprintf(most, sizeof most, "%.3f/%s", (double)s->most * 1e-9, stream_name(t, s->most_rank, of));
	if (terminal_is_narrow(WIDE)) {
		int room = terminal_width() - 44 > 20 ? terminal_width() - 44 : 20;
		say("%-24.*s %5.1f%% %10.3f  %.*s\n", (int)schema->function_length, schema->function, 100 * share,
		    (double)s->communicate.sum * 1e-9, room, *at ? at : "-");
		if (late)
			say("    rank %s comes late\n", stream_name(t, *late, of));
		return;
	}
	say("%-24.*s %5.1f%% %10.3f %9.2f %12s %12s  %s", (int)schema->function_length, schema->function, 100 * share,
	    (double)s->communicate.sum * 1e-9, imbalance, least, most, *at ? at : "-");
	if (late)
		say(" (rank %s comes late)", stream_name(t, *late, of));
	say("\n");
}

int show_balance(const struct show *show, const struct summary *sum, json_t *json)
{
	int rv = -1;
	const struct trace *t = show->trace;
	uint64_t unused;
	uint32_t *order = malloc(((size_t)t->site_count + 1) * sizeof *order), n = 0;
	struct site_names names;
	json_t *list = json ? json_array() : NULL;
	double least = SHOWN_SHARE * (double)(sum->mpi_ns + sum->compute_ns + sum->unended_compute_ns);
	if (site_names_make(&names, t) != 0 || !order || (json && !list))
		goto done;
	for (uint32_t i = 0; i < t->site_count; i++) {
		if (!trace_initializes(trace_schema(t, &t->sites[i])))
			order[n++] = i;
	}
	sorted = t;
	qsort(order, n, sizeof *order, site_by_sum);
	for (uint32_t i = 0; i < n && i < SHOWN_SITES; i++) {
		const struct trace_site *s = &t->sites[order[i]];
		double share = sum->all_ns ? (double)s->communicate.sum / (double)sum->all_ns : 0,
		       imbalance = summary_imbalance(s, &unused);
		const struct schema *schema = trace_schema(t, s);
		uint32_t late = 0;
		bool is_late = late_at_site(t, s, &late);
		char text[512];
		if ((double)s->communicate.sum < least)
			break;
		site_names_text(&names, order[i], text, sizeof text);
		if (json) {
			json_t *site = json_pack(
				"{s:I, s:s%, s:s, s:I, s:f, s:f, s:I, s:I, s:I, s:I}", "site", (json_int_t)order[i],
				"function", schema->function, schema->function_length, "at", text, "time_ns",
				(json_int_t)s->communicate.sum, "share", share, "imbalance", imbalance, "least_ns",
				(json_int_t)s->least, "least_rank", (json_int_t)s->least_rank, "most_ns",
				(json_int_t)s->most, "most_rank", (json_int_t)s->most_rank);
			if (is_late)
				json_object_set_new(site, "late_rank", json_integer(late));
			json_array_append_new(list, site);
			continue;
		}
		if (i == 0)
			print_site_heading();
		print_site(t, s, share, imbalance, is_late ? &late : NULL, text);
	}
	if (json)
		json_object_set(json, "balance", list);
	rv = 0;
done:
	if (rv != 0)
		say_to(stderr, "spoor: no memory\n");
	json_decref(list);
	free(order);
	site_names_free(&names);
	return rv;
}

static void print_bins(FILE *out, const struct trace *trace, const char *what, const struct histogram *t)
{
	char least[STREAM_NAME], most[STREAM_NAME];
	say_to(out,
	       "    %s: mean %.3f us, deviation %.3f, %.3f (rank %s, visit %" PRIu64
	       ") to %.3f (rank %s, visit %" PRIu64 ")\n",
	       what, histogram_mean(t) * 1e-3, histogram_deviation(t) * 1e-3, (double)t->min * 1e-3,
	       stream_name(trace, t->min_rank, least), t->min_visit, (double)t->max * 1e-3,
	       stream_name(trace, t->max_rank, most), t->max_visit);
	for (uint32_t i = 0; t->bin_count > 1 && i < t->bin_count; i++) {
		const struct histogram_bin *b = &t->bins[i];
		say_to(out, "      %12.3f to %12.3f us: %" PRIu64 " times, mean %.3f, deviation %.3f\n",
		       (double)b->min * 1e-3, (double)b->max * 1e-3, b->count, histogram_bin_mean(b) * 1e-3,
		       histogram_bin_deviation(b) * 1e-3);
	}
}

void balance_site(FILE *out, const struct trace *t, const struct trace_site *site)
{
	char least[STREAM_NAME], most[STREAM_NAME];
	uint64_t ranks;
	double imbalance = summary_imbalance(site, &ranks);
	if (site->communicate.count == 0)
		return;
	print_bins(out, t, "in the call", &site->communicate);
	counters_line(out, t, "      counted ", site->counts);
	if (ranks > 1 && imbalance > 0)
		say_to(out, "    of ranks: %.6f s (rank %s) to %.6f s (rank %s), imbalance %.2f\n",
		       (double)site->least * 1e-9, stream_name(t, site->least_rank, least), (double)site->most * 1e-9,
		       stream_name(t, site->most_rank, most), imbalance);
	site_ranks_print(out, t, site);
	for (uint32_t k = 0; k < site->edge_count; k++) {
		char what[64];
		snprintf(what, sizeof what, "then, before site %u, %" PRIu64 " times", site->edges[k].to,
		         site->edges[k].compute.count);
		if (site->edges[k].compute.count)
			print_bins(out, t, what, &site->edges[k].compute);
		counters_line(out, t, "      counted ", site->edges[k].counts);
	}
}

static json_t *time_json(const struct histogram *t)
{
	json_t *bins = json_array();
	for (uint32_t i = 0; i < t->bin_count; i++)
		json_array_append_new(bins,
		                      json_pack("{s:I, s:I, s:I, s:f, s:f}", "count", (json_int_t)t->bins[i].count,
		                                "min_ns", (json_int_t)t->bins[i].min, "max_ns",
		                                (json_int_t)t->bins[i].max, "mean_ns", histogram_bin_mean(&t->bins[i]),
		                                "deviation_ns", histogram_bin_deviation(&t->bins[i])));
	return json_pack("{s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)t->count,
	                 "sum_ns", (json_int_t)t->sum, "mean_ns", histogram_mean(t), "deviation_ns",
	                 histogram_deviation(t), "min_ns", (json_int_t)t->min, "min_rank", (json_int_t)t->min_rank,
	                 "min_visit", (json_int_t)t->min_visit, "max_ns", (json_int_t)t->max, "max_rank",
	                 (json_int_t)t->max_rank, "max_visit", (json_int_t)t->max_visit, "bins", bins);
}

json_t *balance_json(const struct trace *t, uint32_t number, json_t *frames)
{
	const struct trace_site *s = &t->sites[number];
	const struct schema *schema = trace_schema(t, s);
	uint64_t ranks;
	double imbalance = summary_imbalance(s, &ranks);
	json_t *edges = json_array();
	for (uint32_t k = 0; k < s->edge_count; k++) {
		json_t *edge = json_pack("{s:I, s:o}", "to", (json_int_t)s->edges[k].to, "compute",
		                         time_json(&s->edges[k].compute));
		if (edge && s->edges[k].counts)
			json_object_set_new(edge, "counters", counters_object(t, s->edges[k].counts));
		json_array_append_new(edges, edge);
	}
	json_t *site = json_pack(
		"{s:I, s:s%, s:I, s:I, s:I, s:I, s:I, s:o}", "site", (json_int_t)number, "function", schema->function,
		schema->function_length, "calls", (json_int_t)rankmap_sum(&s->visits), "ranks",
		(json_int_t)stream_ranks_any(t, &s->visits), "time_ns", (json_int_t)s->communicate.sum, "max_ns",
		(json_int_t)s->communicate.max, "max_rank", (json_int_t)s->communicate.max_rank, "path", frames);
	json_object_set_new(site, "communicate", time_json(&s->communicate));
	json_object_set_new(site, "edges", edges);
	json_t *groups = site_ranks_json(t, s);
	if (groups)
		json_object_set_new(site, "rank_means", groups);
	if (s->counts)
		json_object_set_new(site, "counters", counters_object(t, s->counts));
	if (imbalance > 0) {
		json_object_set_new(site, "imbalance", json_real(imbalance));
		json_object_set_new(site, "least_ns", json_integer((json_int_t)s->least));
		json_object_set_new(site, "least_rank", json_integer(s->least_rank));
		json_object_set_new(site, "most_ns", json_integer((json_int_t)s->most));
		json_object_set_new(site, "most_rank", json_integer(s->most_rank));
	}
	return site;
}
