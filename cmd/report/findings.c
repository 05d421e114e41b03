/* SPDX-License-Identifier: BSD-3-Clause
 * findings - why a job was slow, or did not end, in plain words, each with what to try
 */
#include "cmd/report/findings.h"
#include "cmd/report/findings_inside.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "archive/metadata.h"
#include "cmd/base/reason.h"
#include "cmd/show/seating.h"
#include "trace/model/host.h"
#include "trace/model/stream.h"

#define TRACING 0.02 /* of the ranks' time */

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
	[FINDING_ERROR] =
		{"mpi-error", "An MPI call failed",
                 "Look at what that call was given: the rank and tag, the count and room for it, the handle."},
	[FINDING_ABORTED] = {"aborted", "A rank called MPI_Abort",
                             "Look at what that rank wrote last, and why the program ends itself there."},
	[FINDING_CRASHED] = {"crashed", "A rank crashed",
                             "Look at what that rank wrote last, and for a core file. The others only waited for it."},
	[FINDING_LEFT] = {"left", "A rank left",
                          "Look at what that rank wrote last, and where the program calls exit. The others only waited "
                          "for it."},
	[FINDING_OOM] = {"memory", "Memory ran out",
                         "Ask for more memory (--mem, --mem-per-cpu), or run fewer ranks on a node."},
	[FINDING_NODE] = {"node-failed", "A node was lost",
                          "Run it again, without that node (--exclude), and tell the site."},
	[FINDING_KILLED] =
		{"killed", "A signal ended it",
                 "Look for who sent it: a script, a launcher, the kernel; and at what the ranks wrote last."},
	[FINDING_TIME_LIMIT] = {"time-limit", "Time limit",
                                "If it was not stuck, ask for more time (--time), or write checkpoints."},
	[FINDING_PREEMPTED] = {"preempted", "Preempted", "Write checkpoints, and have it requeued (--requeue)."},
	[FINDING_CANCELLED] = {"cancelled", "Cancelled", NULL},
	[FINDING_UNENDED] = {"unended", "Calls that never ended",
                             "spoor show --last prints where every rank was; spoor where does so while a job runs."},
	[FINDING_ENDING] = {"ending", "The end", NULL},
	[FINDING_SITE] = {"site", "The most expensive call",
                          "Call it less often, with more data at once, or let computation go on meanwhile (nonblocking "
                          "calls)."},
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
	[FINDING_SMALL] = {"small-messages", "Small messages", "Put several into one message."},
	[FINDING_TRANSFER] = {"transfer", "Communication",
                              "Send less, or let it go on while ranks compute (nonblocking calls)."},
	[FINDING_BARRIERS] = {"synchronisation", "Ranks meet often",
                              "Leave out barriers that nothing needs, and reduce several values at once."},
	[FINDING_FILES] = {"io", "Files", "Write and read more at once, by collective calls (MPI_File_write_all)."},
	[FINDING_OTHER] = {"other-calls", "Other MPI calls",
                           "Make communicators, types and windows once, not in each step."},
	[FINDING_BUSY] = {"busy-cores", "Busy cores",
                          "One core for each rank, which nobody else uses: --cpu-bind=cores, --exclusive, no more "
                          "ranks than cores."},
	[FINDING_SHARED] = {"shared-cores", "Ranks share cores",
                            "One core for each rank: --cpu-bind=cores, --cpus-per-task, and no more ranks than cores."},
	[FINDING_START] = {"start", "A slow start",
                           "Run several steps in one job, or longer ones; tell the site if it is often so."},
	[FINDING_TRACING] = {"tracing", "Tracing costs time", "SPOOR_TRACE=off runs it without."},
	[FINDING_COUNTED] = {"counted", "Missing in the figures",
                             "More memory for the tracer: SPOOR_TRACE, or the site's policy (memory)."},
	[FINDING_UNPLACED] = {"unplaced", "Missing in the figures", NULL},
};

const char *findings_mark(double efficiency)
{
	return efficiency < 0 ? "" : efficiency >= OUTCOME_GOOD ? "good" : efficiency >= OUTCOME_FAIR ? "fair" : "bad";
}

static void __attribute__((format(printf, 4, 5)))
add_finding(struct findings *f, enum finding kind, double share, const char *format, ...)
{
	va_list ap;
	f->list[f->count] = (struct finding_text){.kind = kind, .share = share};
	va_start(ap, format);
	vsnprintf(f->list[f->count].text, sizeof f->list[0].text, format, ap);
	va_end(ap);
	f->count++;
}

/* "7.5 %", "23 %". Returns out. */
const char *findings_percent(char out[HTML_NUMBER], double share)
{
	snprintf(out, HTML_NUMBER, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
	return out;
}

static double share_of_all(const struct report *r, uint64_t ns)
{
	return r->sum.all_ns ? (double)ns / (double)r->sum.all_ns : 0;
}

/* --- how it ended --- */

/* What is said of those that Slurm's reason names. */
static const char *ending_text(enum outcome o)
{
	switch (o) {
	case OUTCOME_MEMORY:
		return "The kernel or Slurm ended the job because it used too much.";
	case OUTCOME_NODE:
		return "It was lost while ranks ran on it.";
	case OUTCOME_TIME_LIMIT:
		return "Slurm ended it when its time was over.";
	case OUTCOME_PREEMPTED:
		return "Slurm ended it to make room for other jobs.";
	case OUTCOME_CANCELLED:
		return "Its user or the site ended it.";
	case OUTCOME_ABORTED:
		return "Which one is not known.";
	case OUTCOME_KILLED:
		return "Ranks were ended by a signal.";
	case OUTCOME_LEFT:
		return "Ranks ended without MPI_Finalize.";
	default:
		return "";
	}
}

static const char *hang_member(const struct report *r, const char *name)
{
	return json_string_value(json_object_get(json_object_get(r->json, "hang"), name));
}

/* As outcome_proved says it of the verdict. */
static enum outcome proved(const struct report *r)
{
	const char *kind = hang_member(r, "verdict"), *way = hang_member(r, "way");
	if (!json_object_get(r->json, "verdict"))
		return OUTCOME_UNKNOWN;
	enum outcome o = kind ? outcome_named(way ? way : kind) : OUTCOME_UNENDED;
	return o >= OUTCOME_DEADLOCK && o <= OUTCOME_LEFT ? o : OUTCOME_UNENDED;
}

enum finding finding_of_outcome(enum outcome o)
{
	int i = 0;
	while (i < FINDINGS && strcmp(finding_kinds[i].name, outcome_name(o)) != 0)
		i++;
	return (enum finding)i;
}

/* The verdict as a sentence that stands behind the title of what it proves. */
static void verdict_text(char *out, size_t size, const struct report *r, enum outcome found)
{
	const char *verdict = json_string_value(json_object_get(r->json, "verdict"));
	const char *at = json_string_value(
		json_object_get(json_array_get(json_object_get(json_object_get(r->json, "hang"), "steps"), 0), "at"));
	char share[HTML_NUMBER];
	*out = '\0';
	if (verdict && found != OUTCOME_UNENDED && strstr(verdict, ": ")) /* the title says what comes before */
		verdict = strstr(verdict, ": ") + 2;
	if (verdict && found >= OUTCOME_ERROR && found <= OUTCOME_LEFT)
		snprintf(out, size, "%c%s%s%s", toupper((unsigned char)*verdict), verdict + (*verdict != '\0'),
		         at && *at ? " That was at " : "", at && *at ? at : "");
	else if (verdict)
		snprintf(out, size, "%c%s (%s of all time was in calls that never ended.)",
		         toupper((unsigned char)*verdict), verdict + (*verdict != '\0'),
		         findings_percent(share, share_of_all(r, r->sum.unended_ns)));
}

/* What ended the run, and what its ranks waited for then: each thing that is known once. */
static void finding_end(struct findings *f, const struct report *r)
{
	struct run_end end;
	const bool known = metadata_run_end(r->show->meta, &end);
	const enum outcome found = proved(r);
	struct finding_text error;
	const struct outcome_endings e =
		outcome_endings(found, outcome_has_errors(r->trace, known ? &end : NULL), known ? &end : NULL);
	char verdict[sizeof f->list[0].text];
	bool told = false;
	verdict_text(verdict, sizeof verdict, r, found);
	for (uint32_t i = 0; i < e.count; i++) {
		const enum outcome o = e.list[i];
		const double share = told ? 0 : share_of_all(r, r->sum.unended_ns);
		if (o == OUTCOME_ERROR && findings_error(&error, r)) {
			f->list[f->count++] = error;
			told = told || found == OUTCOME_ERROR;
		} else if (o == found && !told) {
			add_finding(f, finding_of_outcome(o), share, "%s", verdict);
			told = true;
		} else {
			const char *text = ending_text(o);
			add_finding(f, finding_of_outcome(o), share, "%s%s%s", text,
			            *text && *verdict && !told ? " " : "", told ? "" : verdict);
			told = true;
		}
	}
}

/* Where most ranks of a partial trace were. */
static void finding_ending(struct findings *f, const struct report *r)
{
	const json_t *place = json_array_get(json_object_get(r->json, "last"), 0),
		     *function = json_object_get(place, "function");
	const char *where = json_string_value(json_object_get(place, "where")),
		   *at = json_string_value(json_array_get(json_object_get(place, "path"), 0));
	char a[HTML_NUMBER], b[HTML_NUMBER];
	if (json_is_string(function))
		add_finding(f, FINDING_ENDING, 0, "%s of %s ranks were %s %s in %s.",
		            text_count(a, json_array_size(json_object_get(place, "ranks"))),
		            text_count(b, r->trace->size), where ? where : "in", json_string_value(function),
		            at ? at : "-");
}

/* --- what costs time --- */

/* The site that takes most time. */
static void finding_site(struct findings *f, const struct report *r, double worth)
{
	const json_t *site = json_array_get(json_object_get(r->json, "balance"), 0);
	const char *at = json_string_value(json_object_get(site, "at")),
		   *function = json_string_value(json_object_get(site, "function"));
	double share = json_number_value(json_object_get(site, "share"));
	char a[HTML_NUMBER], b[HTML_NUMBER];
	if (site && share >= worth)
		add_finding(f, FINDING_SITE, share, "%s in %s takes %s of all time (%s over all ranks).", function,
		            at && *at ? at : "-", findings_percent(a, share),
		            text_ns(b, (double)json_integer_value(json_object_get(site, "time_ns"))));
}

static void finding_shared(struct findings *f, const struct report *r)
{
	char text[SEATING_TEXT], effect[SEATING_TEXT];
	struct finding_text *told = NULL;
	seating_effect_text(&r->seats, effect);
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].kind == FINDING_BUSY)
			told = &f->list[i];
	if (r->seats.shared_count == 0 || (!told && f->compute >= OUTCOME_GOOD && !*effect))
		return;
	seating_shared_text(&r->seats, r->trace, 0, text);
	if (told) {
		snprintf(told->text + strlen(told->text), sizeof told->text - strlen(told->text),
		         " Of the ranks, %s%s%s.", text, *effect ? "; " : "", effect);
		return;
	}
	add_finding(f, FINDING_SHARED, 0, "%u ranks have fewer cores than they are: %s%s%s.", r->seats.sharing, text,
	            *effect ? "; " : "", effect);
}

static void finding_start(struct findings *f, const struct report *r)
{
	const struct summary *s = &r->sum;
	const double share = outcome_start(s), late = outcome_late_start(s);
	char a[HTML_NUMBER], b[HTML_NUMBER], rank[STREAM_NAME];
	if (late > 0)
		add_finding(
			f, FINDING_START, share,
			"Rank %s came to MPI_Init %s after its process began, %s later than the others in the mean, "
			"which wait for it there.",
			stream_name(r->trace, s->before_max_rank, rank), text_ns(a, (double)s->before_max_ns),
			text_ns(b, late));
	else if (share > 0)
		add_finding(f, FINDING_START, share, "MPI_Init took %s a rank, before the %s that followed it.",
		            text_ns(a, (double)s->init_ns / s->ranks),
		            text_ns(b, (double)s->run_ns + (double)(s->unended_ns + s->unended_compute_ns) / s->ranks));
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
		            text_count(a, s->lost), findings_percent(b, summary_lost_share(s)));
	if (s->unplaced_ns && s->compute_ns)
		add_finding(
			f, FINDING_UNPLACED, 0,
			"Between which calls %s of the computation was (%s of %s), because memory was used up. Sums "
			"have it.",
			findings_percent(a, (double)s->unplaced_ns / (double)s->compute_ns),
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

static void put_headline(struct findings *f, const struct report *r)
{
	char *out = f->headline, share[HTML_NUMBER];
	size_t size = sizeof f->headline;
	const char *why = reason_text(report_meta(r, "reason"));
	const struct finding_text *first = f->count ? &f->list[0] : NULL;
	if (report_partial(r) && first && first->kind <= FINDING_LEFT)
		snprintf(out, size, "%s: it did not come to its end%s%s%s", finding_kinds[first->kind].title,
		         why ? " (" : "", why ? why : "", why ? ")" : "");
	else if (report_partial(r))
		snprintf(out, size, "It did not come to its end%s%s", why ? ": " : "", why ? why : "");
	else if (f->compute < 0)
		snprintf(out, size, "How efficient it was is not known");
	else if (first && first->kind == FINDING_START)
		snprintf(out, size, "%s: %s of the ranks’ time is lost before the program begins",
		         finding_kinds[first->kind].title, findings_percent(share, first->share));
	else if (f->compute >= OUTCOME_GOOD)
		snprintf(out, size, "Efficient: %s of the ranks’ time was computation",
		         findings_percent(share, f->compute));
	else if (first && first->cause)
		snprintf(out, size, "%s: %s of the time is lost", finding_kinds[first->kind].title,
		         findings_percent(share, first->share));
	else if (f->imbalance >= f->communication)
		snprintf(out, size, "Ranks wait for those with more work: %s of the time is lost to imbalance",
		         findings_percent(share, f->imbalance));
	else
		snprintf(out, size, "Communication takes %s of the time, most of it in %s",
		         findings_percent(share, f->communication), report_class_name(costliest_class(r)));
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

/* By what they cost. */
static void sort_findings(struct findings *f)
{
	for (size_t i = 1; i < f->count; i++)
		for (size_t k = i;
		     k > 0 && f->list[k - 1].kind >= FINDING_SITE && f->list[k].share > f->list[k - 1].share; k--) {
			struct finding_text other = f->list[k];
			f->list[k] = f->list[k - 1];
			f->list[k - 1] = other;
		}
}

const char *finding_advice(const struct finding_text *f)
{
	return *f->advice ? f->advice : finding_kinds[f->kind].advice;
}

/* Of a job that something ended, what cost time before is not why it ended; at a limit it may be. */
static bool is_ended(const struct findings *f)
{
	return f->count && f->list[0].kind <= FINDING_NODE;
}

void findings_make(struct findings *f, const struct report *r, double worth)
{
	*f = (struct findings){.count = 0};
	put_shares(f, r);
	f->mark = report_partial(r) ? "bad" : findings_mark(f->compute);
	if (worth < 0)
		worth = outcome_worth(&r->sum, report_partial(r));
	finding_end(f, r);
	if (report_partial(r))
		finding_ending(f, r);
	if (is_ended(f))
		worth = 2; /* nothing costs that */
	if (r->causes.known)
		findings_cost(f, r, worth);
	else
		finding_site(f, r, worth);
	finding_start(f, r);
	sort_findings(f);
	finding_shared(f, r);
	put_headline(f, r);
	finding_missing(f, r);
}
