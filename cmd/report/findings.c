/* SPDX-License-Identifier: BSD-3-Clause
 * findings - why a job was slow, or did not end, in plain words, each with what to try
 */
#include "cmd/report/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/reason.h"
#include "cmd/base/site_names.h"
#include "cmd/report/html.h"
#include "cmd/report/lost.h"
#include "cmd/show/seating.h"
#include "trace/model/host.h"
#include "trace/model/stream.h"

/* From these parallel efficiencies on, a job is good, or fair. */
#define GOOD 0.8
#define FAIR 0.6
/* What is lost to something is said from this share of the time on. */
#define WORTH 0.05
/* Messages up to 1 KiB are small: sending one costs more than its bytes do. */
#define SMALL_CLASS 10
#define SMALL_SHARE 0.8
#define SMALL_RATE  500 /* a second and rank */
#define START_SHARE 0.1 /* of the run */
#define START_LEAST 5e9 /* ns of a rank: less is how launchers are */
/* A rank that computes this many times as long as the others has work of its own, not more of the same. */
#define ALONE      3
#define TRACING    0.02
#define PLACE_TEXT 512
#define SMALL_TEXT 256

const struct finding_kind finding_kinds[FINDINGS] = {
	[FINDING_DEADLOCK] = {"deadlock", "Deadlock",
                              "Let one side receive before it sends, or use MPI_Sendrecv or MPI_Isend. "
                              "spoor show --last prints where every rank was."},
	[FINDING_MISMATCH] = {"mismatch", "Calls that do not match",
                              "Compare tag, communicator and root of the two calls, and whether all ranks come to the "
                              "same collective call."},
	[FINDING_GONE] =
		{"gone", "A rank is gone",
                 "Look for what stopped that rank: its output, memory, files, an endless loop. The others only "
                 "wait for it."},
	[FINDING_ENDED] = {"ended", "A rank ended the run",
                           "Look at what that rank wrote last, and for a core file. The others only waited for it."},
	[FINDING_UNENDED] = {"unended", "Calls that never ended",
                             "spoor show --last prints where every rank was; spoor where does so while a job runs."},
	[FINDING_OOM] = {"memory", "Memory ran out",
                         "Ask for more memory (--mem, --mem-per-cpu), or run fewer ranks on a node."},
	[FINDING_TIME_LIMIT] = {"time-limit", "Time limit",
                                "If it was not stuck, ask for more time (--time), or write checkpoints."},
	[FINDING_ENDING] = {"ending", "The end", NULL},
	[FINDING_LATE] = {"late", "A late rank",
                          "Give this rank less work, or let the others do something meanwhile. If it is late in other "
                          "jobs on its node, too, tell the site: spoor trend."},
	[FINDING_SITE] = {"site", "The most expensive call",
                          "Call it less often, with more data at once, or let computation go on meanwhile (nonblocking "
                          "calls)."},
	[FINDING_SENDER] = {"late-sender", "Late senders",
                            "Send earlier, receive later, or post MPI_Irecv and compute before the wait. spoor show "
                            "--waits lists the call sites."},
	[FINDING_IMBALANCE] = {"imbalance", "Uneven work",
                               "Distribute the work anew, by what each rank really needs, or use fewer ranks."},
	[FINDING_SERIAL] = {"serial", "All wait for one rank",
                            "Have all ranks do a part of this work, or let the others go on meanwhile."},
	[FINDING_SERIALISED] = {"serialised", "Ranks work one after the other",
                                "Cut the work into smaller pieces, so that the next rank can begin earlier, or let "
                                "ranks compute something else before they receive."},
	[FINDING_MOVING] = {"imbalance-moving", "Each step waits for its slowest rank",
                            "Let ranks wait for each other less often (fewer or nonblocking collective calls), or move "
                            "work between ranks from step to step."},
	[FINDING_TRANSFER] = {"transfer", "Communication",
                              "Send less, or let it go on while ranks compute (nonblocking calls)."},
	[FINDING_SHARED] = {"shared-cores", "Ranks share cores",
                            "One core for each rank: --cpu-bind=cores, --cpus-per-task, and no more ranks than cores."},
	[FINDING_SMALL] = {"small-messages", "Small messages", "Put several into one message."},
	[FINDING_START] = {"start", "A slow start",
                           "Run several steps in one job, or longer ones; tell the site if it is often so."},
	[FINDING_TRACING] = {"tracing", "Tracing costs time", "SPOOR_TRACE=off runs it without."},
	[FINDING_COUNTED] = {"counted", "Missing in the figures",
                             "More memory for the tracer: SPOOR_TRACE, or the site's policy (memory)."},
	[FINDING_UNPLACED] = {"unplaced", "Missing in the figures", NULL},
};

const char *findings_mark(double efficiency)
{
	return efficiency < 0 ? "" : efficiency >= GOOD ? "good" : efficiency >= FAIR ? "fair" : "bad";
}

static void __attribute__((format(printf, 4, 5)))
add_finding(struct findings *f, enum finding kind, double share, const char *format, ...)
{
	va_list ap;
	f->list[f->count].kind = kind;
	f->list[f->count].share = share;
	va_start(ap, format);
	vsnprintf(f->list[f->count].text, sizeof f->list[0].text, format, ap);
	va_end(ap);
	f->count++;
}

/* "7.5 %", "23 %". Returns out. */
static const char *percent_text(char out[HTML_NUMBER], double share)
{
	snprintf(out, HTML_NUMBER, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
	return out;
}

static double share_of_all(const struct report *r, uint64_t ns)
{
	return r->sum.all_ns ? (double)ns / (double)r->sum.all_ns : 0;
}

/* --- how it ended --- */

/* What killed ranks waited for. */
static void finding_hang(struct findings *f, const struct report *r)
{
	const char *verdict = json_string_value(json_object_get(r->json, "verdict")),
		   *kind = json_string_value(json_object_get(json_object_get(r->json, "hang"), "verdict"));
	const char *at = json_string_value(
		json_object_get(json_array_get(json_object_get(json_object_get(r->json, "hang"), "steps"), 0), "at"));
	enum finding found = FINDING_UNENDED;
	char share[HTML_NUMBER];
	if (!verdict)
		return;
	for (enum finding i = FINDING_DEADLOCK; kind && i < FINDING_UNENDED; i++)
		found = strcmp(finding_kinds[i].name, kind) == 0 ? i : found;
	if (found != FINDING_UNENDED && strstr(verdict, ": ")) /* the title says what comes before */
		verdict = strstr(verdict, ": ") + 2;
	if (found == FINDING_ENDED) {
		add_finding(f, found, share_of_all(r, r->sum.unended_ns), "%c%s%s%s", toupper((unsigned char)*verdict),
		            verdict + (*verdict != '\0'), at && *at ? " That was at " : "", at && *at ? at : "");
		return;
	}
	add_finding(f, found, share_of_all(r, r->sum.unended_ns),
	            "%c%s (%s of all time was in calls that never ended.)", toupper((unsigned char)*verdict),
	            verdict + (*verdict != '\0'), percent_text(share, share_of_all(r, r->sum.unended_ns)));
}

/* Where most ranks of a partial trace were. */
static void finding_ending(struct findings *f, const struct report *r)
{
	const json_t *place = json_array_get(json_object_get(r->json, "last"), 0),
		     *function = json_object_get(place, "function");
	const char *reason = report_meta(r, "reason"), *where = json_string_value(json_object_get(place, "where")),
		   *at = json_string_value(json_array_get(json_object_get(place, "path"), 0));
	char a[HTML_NUMBER], b[HTML_NUMBER];
	if (reason && strcmp(reason, "oom") == 0)
		add_finding(f, FINDING_OOM, 0, "The kernel or Slurm ended the job because it used too much.");
	if (reason && strcmp(reason, "time-limit") == 0)
		add_finding(f, FINDING_TIME_LIMIT, 0, "Slurm ended it when its time was over.");
	if (json_is_string(function))
		add_finding(f, FINDING_ENDING, 0, "%s of %s ranks were %s %s in %s.",
		            text_count(a, json_array_size(json_object_get(place, "ranks"))),
		            text_count(b, r->trace->size), where ? where : "in", json_string_value(function),
		            at ? at : "-");
}

/* --- what costs time --- */

/* The site that takes most time, and the rank that the others wait for there. */
static void finding_site(struct findings *f, const struct report *r)
{
	const json_t *site = json_array_get(json_object_get(r->json, "balance"), 0),
		     *late = json_object_get(site, "late_rank");
	const char *at = json_string_value(json_object_get(site, "at")),
		   *function = json_string_value(json_object_get(site, "function"));
	double share = json_number_value(json_object_get(site, "share"));
	char of[STREAM_NAME], host[HOST_MAX] = "", a[HTML_NUMBER], b[HTML_NUMBER];
	if (!site || share < WORTH)
		return;
	percent_text(a, share);
	text_ns(b, (double)json_integer_value(json_object_get(site, "time_ns")));
	if (!late) {
		add_finding(f, FINDING_SITE, share, "%s in %s takes %s of all time (%s over all ranks).", function,
		            at && *at ? at : "-", a, b);
		return;
	}
	uint64_t rank = (uint64_t)json_integer_value(late);
	host_get(r->trace, stream_rank(r->trace, rank), host);
	add_finding(f, FINDING_LATE, share,
	            "%s in %s takes %s of all time (%s over all ranks). The others wait there for rank %s%s%s, which "
	            "comes last.",
	            function, at && *at ? at : "-", a, b, stream_name(r->trace, rank, of), *host ? " on " : "", host);
}

static void finding_senders(struct findings *f, const struct report *r)
{
	const json_t *waits = json_object_get(r->json, "waits"), *site, *most = NULL;
	size_t i;
	json_int_t ns = 0;
	double share = share_of_all(r, (uint64_t)json_integer_value(json_object_get(waits, "late_sender_ns")));
	char a[HTML_NUMBER], b[HTML_NUMBER];
	json_array_foreach(json_object_get(waits, "sites"), i, site)
	{
		json_int_t here = json_integer_value(json_object_get(site, "late_sender_ns"));
		most = here > ns ? site : most;
		ns = here > ns ? here : ns;
	}
	const char *at = json_string_value(json_object_get(most, "at"));
	if (share >= WORTH && most)
		add_finding(f, FINDING_SENDER, share,
		            "Ranks waited for messages that were not sent yet: %s of all time, %s of it in %s in %s.",
		            percent_text(a, share), text_ns(b, (double)ns),
		            json_string_value(json_object_get(most, "function")), at && *at ? at : "-");
}

static void finding_imbalance(struct findings *f, const struct report *r)
{
	const struct summary *s = &r->sum;
	uint64_t counted = r->trace->total[TOTAL_COMPUTE].count; /* threads, where ranks have several */
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], d[HTML_NUMBER], e[HTML_NUMBER], least[STREAM_NAME],
		most[STREAM_NAME];
	if (f->imbalance < WORTH || !counted || s->unended_ns + s->unended_compute_ns >= s->compute_ns)
		return;
	double mean = (double)s->compute_ns / (double)counted;
	add_finding(
		f, FINDING_IMBALANCE, f->imbalance,
		"Rank %s computes for %s, the mean of the ranks is %s, rank %s only %s: sharing the work evenly would "
		"save up to %s of %s.",
		stream_name(r->trace, s->compute_max_rank, most), text_ns(a, (double)s->compute_max_ns),
		text_ns(b, mean), stream_name(r->trace, s->compute_min_rank, least),
		text_ns(c, (double)s->compute_min_ns), text_ns(d, (double)s->compute_max_ns - mean),
		text_ns(e, (double)s->run_ns));
}

/* Are most messages small, and many? Then writes how many. */
static bool small_text(const struct report *r, char out[SMALL_TEXT])
{
	uint64_t small = 0, known = 0, run = r->sum.run_ns;
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER];
	for (unsigned i = 0; r->has_traffic && i < TRAFFIC_CLASSES; i++) {
		known += r->traffic.sizes[i].messages;
		small += i <= SMALL_CLASS ? r->traffic.sizes[i].messages : 0;
	}
	double rate = run && r->sum.ranks ? (double)known / r->sum.ranks / ((double)run * 1e-9) : 0;
	if (!known || (double)small < SMALL_SHARE * (double)known || rate < SMALL_RATE)
		return false;
	snprintf(out, SMALL_TEXT,
	         "%s of %s messages are smaller than 1 KiB, %s a second and rank: fewer, larger ones would cost less.",
	         percent_text(a, (double)small / (double)known), text_count(b, known), text_count(c, (uint64_t)rate));
	return true;
}

static void finding_small(struct findings *f, const struct report *r)
{
	char text[SMALL_TEXT];
	if (r->sum.parallel_efficiency >= 0 && r->sum.parallel_efficiency < GOOD && small_text(r, text))
		add_finding(f, FINDING_SMALL, 0, "%s", text);
}

/* --- by what an ideal network leaves --- */

/* "MPI_Send in serial at planted.c:65 (planted)". Returns out. */
static const char *place_text(const struct report *r, uint32_t site, char out[PLACE_TEXT])
{
	const struct schema *s = trace_schema(r->trace, &r->trace->sites[site]);
	struct site_names names = {.trace = NULL};
	char at[PLACE_TEXT / 2] = "";
	if (site_names_make(&names, r->trace) == 0)
		site_names_text(&names, site, at, sizeof at);
	site_names_free(&names);
	snprintf(out, PLACE_TEXT, "%.*s%s%s", (int)s->function_length, s->function, *at ? " in " : "", at);
	return out;
}

/* What the longest rank computes, and before which calls most of it decides how long the job takes. */
static void finding_uneven(struct findings *f, const struct report *r, const struct lost *l)
{
	const struct summary *s = &r->sum;
	const struct ideal_part *part = NULL;
	uint64_t counted = r->trace->total[TOTAL_COMPUTE].count;
	char most[STREAM_NAME], host[HOST_MAX] = "", a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], d[HTML_NUMBER],
				place[PLACE_TEXT], before[PLACE_TEXT + 100] = "";
	for (size_t i = 0; !part && i < r->ideal.part_count; i++)
		if (r->ideal.parts[i].rank == s->compute_max_rank)
			part = &r->ideal.parts[i];
	if (part)
		snprintf(before, sizeof before, " %s of it is before %s.", text_ns(d, (double)part->ns),
		         place_text(r, part->site, place));
	double others = counted > 1 ? ((double)s->compute_ns - (double)s->compute_max_ns) / (double)(counted - 1) : 0;
	host_get(r->trace, stream_rank(r->trace, s->compute_max_rank), host);
	bool alone = ALONE * others < (double)s->compute_max_ns;
	add_finding(f, alone ? FINDING_SERIAL : FINDING_IMBALANCE, l->imbalance,
	            "Rank %s%s%s computes for %s, the others for %s in the mean: %s of the time is lost to that.%s%s",
	            stream_name(r->trace, s->compute_max_rank, most), *host ? " on " : "", host,
	            text_ns(a, (double)s->compute_max_ns), text_ns(b, others), percent_text(c, l->imbalance), before,
	            alone ? " The others wait for it." : "");
}

static void finding_turns(struct findings *f, const struct report *r, const struct lost *l)
{
	const struct ideal *i = &r->ideal;
	const struct summary *s = &r->sum;
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], place[PLACE_TEXT];
	percent_text(a, l->serialisation);
	if (i->collective_ns > i->message_ns)
		add_finding(
			f, FINDING_MOVING, l->serialisation,
			"It is another rank each time: over the run ranks compute for %s to %s, but in each step all "
			"wait for the slowest. %s of the time is lost to that, most of it in %s.",
			text_ns(b, (double)s->compute_min_ns), text_ns(c, (double)s->compute_max_ns), a,
			place_text(r, i->collective_site, place));
	else
		add_finding(f, FINDING_SERIALISED, l->serialisation,
		            "On average %.1f of %u ranks compute at a time; the others wait for messages of those that "
		            "do. %s of the time is lost to that, most of it in %s.",
		            (double)s->compute_ns / (double)(i->run_ns < s->run_ns ? i->run_ns : s->run_ns), s->ranks,
		            a, place_text(r, i->message_site, place));
}

/* The site where communication takes most, above what an ideal network leaves. */
static void finding_transfer(struct findings *f, const struct report *r, const struct lost *l)
{
	const struct trace *t = r->trace;
	uint32_t most = UINT32_MAX;
	char a[HTML_NUMBER], b[HTML_NUMBER], place[PLACE_TEXT], small[SMALL_TEXT];
	for (uint32_t i = 0; i < t->site_count; i++)
		if (!trace_initializes(trace_schema(t, &t->sites[i])) &&
		    (most == UINT32_MAX || t->sites[i].communicate.sum > t->sites[most].communicate.sum))
			most = i;
	if (most == UINT32_MAX)
		return;
	percent_text(a, l->transfer);
	if (small_text(r, small))
		add_finding(f, FINDING_SMALL, l->transfer, "%s %s of the time is lost to that, most of it in %s.",
		            small, a, place_text(r, most, place));
	else
		add_finding(
			f, FINDING_TRANSFER, l->transfer,
			"%s of the time passes in MPI without waiting for what others compute, most of it in %s (%s "
			"over all ranks).",
			a, place_text(r, most, place), text_ns(b, (double)t->sites[most].communicate.sum));
}

/* Each lost second belongs to one of them. */
static void findings_lost(struct findings *f, const struct report *r, const struct lost *l)
{
	if (l->imbalance >= WORTH)
		finding_uneven(f, r, l);
	if (l->serialisation >= WORTH)
		finding_turns(f, r, l);
	if (l->transfer >= WORTH)
		finding_transfer(f, r, l);
}

static void finding_shared(struct findings *f, const struct report *r)
{
	char text[SEATING_TEXT], effect[SEATING_TEXT];
	seating_effect_text(&r->seats, effect);
	if (r->seats.shared_count == 0 || (f->compute >= GOOD && !*effect))
		return;
	seating_shared_text(&r->seats, r->trace, 0, text);
	add_finding(f, FINDING_SHARED, 0, "%u ranks have fewer cores than they are: %s%s%s.", r->seats.sharing, text,
	            *effect ? "; " : "", effect);
}

static void finding_start(struct findings *f, const struct report *r)
{
	const struct summary *s = &r->sum;
	char a[HTML_NUMBER], b[HTML_NUMBER];
	if (!s->init_ns || !s->run_ns || !s->ranks)
		return;
	double init = (double)s->init_ns / s->ranks,
	       after = (double)s->run_ns + (double)(s->unended_ns + s->unended_compute_ns) / s->ranks;
	if (init > START_LEAST && init > START_SHARE * after)
		add_finding(f, FINDING_START, share_of_all(r, s->init_ns),
		            "MPI_Init took %s a rank, before the %s that followed it.", text_ns(a, init),
		            text_ns(b, after));
}

/* --- what the figures lack --- */

static void finding_missing(struct findings *f, const struct report *r)
{
	const struct summary *s = &r->sum;
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], rank[STREAM_NAME];
	if ((double)s->overhead_ns > TRACING * (double)s->all_ns)
		add_finding(f, FINDING_TRACING, share_of_all(r, s->overhead_ns),
		            "It took up to %s of rank %s; that is in no other figure.",
		            text_ns(a, (double)s->overhead_max_ns), stream_name(r->trace, s->overhead_max_rank, rank));
	if (s->lost)
		add_finding(f, FINDING_COUNTED, 0,
		            "%s calls (%s of all) were only counted: " TRACE_LOST
		            ". The time of those without memory is "
		            "in all sums, but they have no site and no parameters.",
		            text_count(a, s->lost), percent_text(b, summary_lost_share(s)));
	if (s->unplaced_ns && s->compute_ns)
		add_finding(
			f, FINDING_UNPLACED, 0,
			"Between which calls %s of the computation was (%s of %s), because memory was used up. Sums "
			"have it.",
			percent_text(a, (double)s->unplaced_ns / (double)s->compute_ns),
			text_ns(b, (double)s->unplaced_ns), text_ns(c, (double)s->compute_ns));
}

/* --- the whole --- */

/* The class of MPI calls that takes most time. */
static enum report_class costliest_class(const struct report *r)
{
	enum report_class c = CLASS_MESSAGES;
	for (enum report_class i = CLASS_MESSAGES; i < CLASSES; i++)
		c = r->class_ns[i] > r->class_ns[c] ? i : c;
	return c;
}

/* Is it one of those that a lost second belongs to? */
static bool is_lost(enum finding kind)
{
	return kind == FINDING_IMBALANCE || (kind >= FINDING_SERIAL && kind <= FINDING_TRANSFER) ||
	       kind == FINDING_SMALL;
}

static void put_headline(struct findings *f, const struct report *r)
{
	char *out = f->headline, share[HTML_NUMBER];
	size_t size = sizeof f->headline;
	const char *why = reason_text(report_meta(r, "reason"));
	const typeof(f->list[0]) *first = f->count ? &f->list[0] : NULL;
	if (report_partial(r))
		snprintf(out, size, "It did not come to its end%s%s", why ? ": " : "", why ? why : "");
	else if (f->compute < 0)
		snprintf(out, size, "How efficient it was is not known");
	else if (f->compute >= GOOD)
		snprintf(out, size, "Efficient: %s of the ranks’ time was computation",
		         percent_text(share, f->compute));
	else if (first && first->share >= WORTH && is_lost(first->kind))
		snprintf(out, size, "%s: %s of the time is lost", finding_kinds[first->kind].title,
		         percent_text(share, first->share));
	else if (f->imbalance >= f->communication)
		snprintf(out, size, "Ranks wait for those with more work: %s of the time is lost to imbalance",
		         percent_text(share, f->imbalance));
	else
		snprintf(out, size, "Communication takes %s of the time, most of it in %s",
		         percent_text(share, f->communication), report_class_name(costliest_class(r)));
}

static void put_shares(struct findings *f, const struct report *r)
{
	const struct summary *s = &r->sum;
	double all = (double)s->compute_ns + (double)s->mpi_ns;
	f->compute = s->parallel_efficiency;
	if (f->compute >= 0) {
		f->imbalance = s->communication_efficiency * (1 - s->load_balance);
		f->communication = 1 - s->communication_efficiency;
	} else if (all > 0) {
		f->compute = (double)s->compute_ns / all;
		f->communication = 1 - f->compute;
	}
}

/* By what they cost, those from FINDING_LATE to FINDING_START. */
static void sort_findings(struct findings *f)
{
	for (size_t i = 1; i < f->count; i++)
		for (size_t k = i; k > 0 && f->list[k - 1].kind >= FINDING_LATE && f->list[k].kind <= FINDING_START &&
		                   f->list[k].share > f->list[k - 1].share;
		     k--) {
			typeof(f->list[0]) other = f->list[k];
			f->list[k] = f->list[k - 1];
			f->list[k - 1] = other;
		}
}

void findings_make(struct findings *f, const struct report *r)
{
	struct lost l;
	*f = (struct findings){.count = 0};
	put_shares(f, r);
	f->mark = report_partial(r) ? "bad" : findings_mark(f->compute);
	finding_hang(f, r);
	if (report_partial(r))
		finding_ending(f, r);
	if (lost_find(&l, r)) {
		findings_lost(f, r, &l);
	} else { /* the same loss may be told as several */
		finding_site(f, r);
		finding_senders(f, r);
		finding_imbalance(f, r);
		finding_small(f, r);
	}
	finding_shared(f, r);
	finding_start(f, r);
	sort_findings(f);
	put_headline(f, r);
	finding_missing(f, r);
}
