/* SPDX-License-Identifier: BSD-3-Clause
 * findings_saved - how much shorter the run would be without what it lost time to
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/report/findings.h"
#include "cmd/report/findings_inside.h"
#include "insight/what_if.h"
#include "trace/base/budget.h"

/* Of a trace with more events, `spoor what-if` has to be asked: it plays it some twenty times. */
#define EVENTS 16384
/* What asking may cost, besides what is read: then nothing is said. */
#define MEMORY (BUDGET_MEMORY / 2)
#define STEPS  (UINT64_C(1) << 28)
/* Where the simulation is farther off than this, of the run, it says nothing of it. */
#define FAR_OFF 0.1
/* Nothing is said of less than this. */
#define WORTH 0.01

static const char *change_of(enum what_if_kind kind)
{
	static const char *const changes[WHAT_IFS] = {[WHAT_IF_EVEN] = "With even work",
	                                              [WHAT_IF_ALIKE] = "With all ranks as fast as most",
	                                              [WHAT_IF_SHARED] = "If each rank did a part of it",
	                                              [WHAT_IF_READY] = "If it came in time",
	                                              [WHAT_IF_STEADY] = "If each step took as long as the mean",
	                                              [WHAT_IF_PACKED] = "With messages packed",
	                                              [WHAT_IF_LEFT_OUT] = "Without these calls",
	                                              [WHAT_IF_CORES] = "With a core for each rank",
	                                              [WHAT_IF_FILES] = "Without it",
	                                              [WHAT_IF_BANDWIDTH] = "With twice the bandwidth"};
	return changes[kind];
}

static void tell_saving(struct finding_text *f, const struct what_ifs *w)
{
	char percent[HTML_NUMBER];
	for (size_t i = 0; i < w->count; i++) {
		const struct what_if *one = &w->list[i];
		const char *change = change_of(one->kind);
		if (one->cause != f->cause || !change || one->saved < WORTH)
			continue;
		size_t n = strlen(f->text);
		f->saved = one->saved;
		snprintf(f->text + n, sizeof f->text - n, " %s, the run would be %s%s shorter.", change,
		         one->kind == WHAT_IF_READY ? "at most " : "", findings_percent(percent, one->saved));
		return; /* those that save most come first */
	}
}

static void tell_savings(struct findings *f, const struct report *r)
{
	struct what_ifs w = {.known = false};
	struct error error = {""};
	if (what_ifs_find(&w, r->trace, &r->causes, NULL, WORTH, &error) == 0 && w.known &&
	    fabs((double)w.base_ns / w.recorded_ns - 1) <= FAR_OFF)
		for (size_t i = 0; i < f->count; i++)
			if (f->list[i].cause)
				tell_saving(&f->list[i], &w);
	what_ifs_free(&w);
}

void findings_saved(struct findings *f, const struct report *r)
{
	struct budget own = {.memory = MEMORY, .steps = STEPS};
	if (!r->causes.played || (uint64_t)rankmap_sum(&r->trace->events) > EVENTS)
		return;
	budget_begin(&own);
	tell_savings(f, r);
	budget_end(&own);
}
