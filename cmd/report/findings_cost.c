/* SPDX-License-Identifier: BSD-3-Clause
 * findings_cost - what costs time, in plain words: the causes that insight/cause.h finds, with their places
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cmd/base/cause_place.h"
#include "cmd/base/diff_reasons.h"
#include "cmd/base/site_names.h"
#include "cmd/report/findings.h"
#include "cmd/report/findings_inside.h"
#include "cmd/report/html.h"
#include "trace/model/host.h"
#include "trace/model/stream.h"

#define AWAY  0.2 /* of a computation off the processor: less is not told */
#define ALONE 0.9 /* ranks that compute at a time: fewer are less than one */

static void put_words(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put_words(char *out, size_t size, const char *format, ...)
{
	size_t n = strlen(out);
	va_list ap;
	va_start(ap, format);
	if (n < size)
		vsnprintf(out + n, size - n, format, ap);
	va_end(ap);
}

/* That a computation was none. What the kernel says of cores is of the whole run: it may explain that, or not. */
static void put_away(struct finding_text *f, const struct cause *c)
{
	char a[HTML_NUMBER], b[HTML_NUMBER], share[HTML_NUMBER];
	const double away = c->away * c->ranks_ns;
	const char *one = c->rank_count == 1 ? "it" : "they";
	if (c->away < AWAY)
		return;
	if (!c->rank_count)
		put_words(f->text, sizeof f->text,
		          " For %s of the time there ranks were off the processor: they slept, waited for files or "
		          "other processes, or had no core.",
		          findings_percent(share, c->away));
	else if (c->queued_ns >= away / 2)
		put_words(f->text, sizeof f->text,
		          " For %s of that %s had no processor. In the whole run, %s %s ready to run for %s without a "
		          "core.",
		          text_ns(a, away), one, one, c->rank_count == 1 ? "was" : "were", text_ns(b, c->queued_ns));
	else
		put_words(f->text, sizeof f->text,
		          " For %s of that %s did not compute: %s slept, or waited for files or other processes.",
		          text_ns(a, away), one, one);
}

/* What some ranks compute, and the others do not, or for less long. */
static void cause_of_ranks(struct finding_text *f, const struct report *r, const struct cause *c,
                           const struct site_names *names, const char *share)
{
	char ranks[CAUSE_RANKS_TEXT], a[HTML_NUMBER], b[HTML_NUMBER], place[CAUSE_PLACE_TEXT], behind[CAUSE_PLACE_TEXT];
	bool several = c->rank_count > 1;
	cause_ranks_text(r->trace, c, ranks);
	put_words(f->text, sizeof f->text, "%s compute%s%s for %s", ranks, several ? "" : "s", several ? " each" : "",
	          text_ns(a, c->ranks_ns));
	cause_site_text(names, r->trace, c->site, place);
	if (c->behind != CAUSE_NOWHERE && c->behind != c->site)
		put_words(f->text, sizeof f->text, " between %s and %s",
		          cause_site_text(names, r->trace, c->behind, behind), place);
	else if (c->site != CAUSE_NOWHERE)
		put_words(f->text, sizeof f->text, " before %s", place);
	if (c->kind == CAUSE_SERIAL && c->others_ns <= 0)
		put_words(f->text, sizeof f->text, ", and the others wait for it: %s of the time is lost to that.",
		          share);
	else
		put_words(f->text, sizeof f->text,
		          ", the others for %s in the mean, and wait for %s: %s of the time is lost to that.",
		          text_ns(b, c->others_ns), several ? "them" : "it", share);
	put_away(f, c);
	if (c->place_ns < 0.8 * c->ns)
		put_words(f->text, sizeof f->text, " It is so before other calls, too.");
	if (c->wait_site != CAUSE_NOWHERE && c->wait_site != c->site)
		put_words(f->text, sizeof f->text, " Most of the waits are in %s.",
		          cause_site_text(names, r->trace, c->wait_site, place));
	if (c->kind == CAUSE_SERIAL && c->site != CAUSE_NOWHERE) {
		const struct schema *s = trace_schema(r->trace, &r->trace->sites[c->site]);
		snprintf(f->advice, sizeof f->advice,
		         "Have all ranks do a part of what rank %" PRIu32
		         " does before that %.*s (files: MPI-IO), or let "
		         "the others go on meanwhile.",
		         c->ranks[0], (int)s->function_length, s->function);
	}
}

/* How many ranks compute at a time. Where it is less than one, for a part of the run none does: at least that part. */
static void put_busy(struct finding_text *f, const struct cause *c, uint32_t size)
{
	char none[HTML_NUMBER];
	if (c->busy >= ALONE)
		put_words(f->text, sizeof f->text,
		          "On average %.1f of %" PRIu32
		          " ranks compute at a time; the others wait for what those compute first.",
		          c->busy, size);
	else
		put_words(f->text, sizeof f->text,
		          "Ranks compute one after the other: what one computes, the others wait for, and for %s of "
		          "the run none of the %" PRIu32 " computes.",
		          findings_percent(none, 1 - c->busy), size);
}

/* What ranks wait for in turn, or in each step. */
static void cause_of_order(struct finding_text *f, const struct report *r, const struct cause *c,
                           const struct site_names *names, const char *share)
{
	char place[CAUSE_PLACE_TEXT], waits[CAUSE_PLACE_TEXT];
	cause_site_text(names, r->trace, c->site, place);
	if (c->kind == CAUSE_MOVING) {
		put_words(
			f->text, sizeof f->text,
			"It is another rank each time: over the run ranks compute about alike there, but each time all "
			"wait "
			"for the slowest. %s of the time is lost to that, most of it before %s.",
			share, place);
	} else {
		put_busy(f, c, r->trace->size);
		put_words(f->text, sizeof f->text, " %s of the time is lost to that, most of it for what is before %s.",
		          share, place);
	}
	put_away(f, c);
	if (c->wait_site != CAUSE_NOWHERE && c->wait_site != c->site)
		put_words(f->text, sizeof f->text, " Most of the waits are in %s.",
		          cause_site_text(names, r->trace, c->wait_site, waits));
}

/* What calls of a site take themselves. */
static void cause_of_site(struct finding_text *f, const struct report *r, const struct cause *c,
                          const struct site_names *names, const char *share)
{
	char place[CAUSE_PLACE_TEXT], a[HTML_NUMBER], b[HTML_NUMBER], d[HTML_NUMBER];
	double seconds = (double)r->sum.run_ns * 1e-9, site_s = (double)c->site_ns * 1e-9;
	double rate = seconds > 0 && r->sum.ranks ? (double)c->calls / r->sum.ranks / seconds : 0;
	cause_site_text(names, r->trace, c->site, place);
	put_words(f->text, sizeof f->text, "%s of the time passes in ", share);
	if (c->kind == CAUSE_SMALL)
		put_words(f->text, sizeof f->text,
		          "messages that are smaller than 1 KiB in the mean: fewer, larger ones would cost less. ");
	else if (c->kind == CAUSE_TRANSFER)
		put_words(f->text, sizeof f->text, "MPI without waiting for what others compute. ");
	else if (c->kind == CAUSE_SYNCHRONISATION)
		put_words(f->text, sizeof f->text,
		          "collective calls that move hardly anything, beyond waiting for what others "
		          "compute. ");
	else if (c->kind == CAUSE_CORES)
		put_words(f->text, sizeof f->text,
		          "calls that take much longer than what they move explains, as where ranks have no "
		          "core of their own. ");
	else
		put_words(f->text, sizeof f->text, "%s. ",
		          c->kind == CAUSE_IO ? "MPI's calls for files" : "other MPI calls");
	put_words(f->text, sizeof f->text, "Most of it is in %s: %s calls, %s a second and rank", place,
	          text_count(a, c->calls), text_count(b, (uint64_t)rate));
	if (c->bytes && site_s > 0)
		put_words(f->text, sizeof f->text, ", %s a call and %s a second",
		          text_bytes(d, (double)c->bytes / (double)(c->calls ? c->calls : 1)),
		          text_bytes(a, (double)c->bytes / site_s));
	put_words(f->text, sizeof f->text, ".");
}

void findings_cost(struct findings *f, const struct report *r, double worth)
{
	struct site_names names = {.trace = NULL};
	char share[HTML_NUMBER];
	if (site_names_make(&names, r->trace) != 0) {
		site_names_free(&names);
		return;
	}
	for (size_t i = 0; i < r->causes.count && f->count < FINDINGS_MOST / 2; i++) {
		const struct cause *c = &r->causes.list[i];
		struct finding_text *to = &f->list[f->count];
		if (c->share < worth)
			break;
		const enum outcome o = (enum outcome)(OUTCOME_CAUSE + c->kind);
		*to = (struct finding_text){.kind = finding_of_outcome(o), .share = c->share, .cause = c};
		findings_percent(share, c->share);
		f->count++;
		if (c->kind == CAUSE_IMBALANCE || c->kind == CAUSE_SERIAL)
			cause_of_ranks(to, r, c, &names, share);
		else if (c->kind == CAUSE_SERIALISED || c->kind == CAUSE_MOVING)
			cause_of_order(to, r, c, &names, share);
		else
			cause_of_site(to, r, c, &names, share);
		if (!r->causes.played && i == 0)
			put_words(to->text, sizeof to->text, " (Estimated from sums: this trace cannot be played.)");
	}
	site_names_free(&names);
}

const char *findings_reason_title(int reason)
{
	const enum outcome o = (enum outcome)(OUTCOME_CAUSE + reason);
	return reason == DIFF_COMPUTATION ? "Computation" : finding_kinds[finding_of_outcome(o)].title;
}
