/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - what is said first of a run, in one word
 */
#include "insight/outcome.h"

#include <math.h>
#include <string.h>

#define START_SHARE 0.1 /* of the run */
#define START_LEAST 5e9 /* ns of a rank: less is how launchers are */
#define LATE_LEAST  1e9 /* ns that one comes later to MPI_Init than the others */

static const struct {
	const char *name;
	const char *reason; /* of metadata (doc/metadata.md) */
} outcomes[OUTCOME_CAUSE] = {
	[OUTCOME_UNKNOWN] = {"unknown", NULL},
	[OUTCOME_EFFICIENT] = {"efficient", NULL},
	[OUTCOME_DEADLOCK] = {"deadlock", NULL},
	[OUTCOME_MISMATCH] = {"mismatch", NULL},
	[OUTCOME_GONE] = {"gone", NULL},
	[OUTCOME_ERROR] = {"mpi-error", NULL},
	[OUTCOME_ABORTED] = {"aborted", "abort"},
	[OUTCOME_CRASHED] = {"crashed", NULL},
	[OUTCOME_LEFT] = {"left", "exit"},
	[OUTCOME_MEMORY] = {"memory", "oom"},
	[OUTCOME_NODE] = {"node-failed", "node-lost"},
	[OUTCOME_KILLED] = {"killed", "signal"},
	[OUTCOME_TIME_LIMIT] = {"time-limit", "time-limit"},
	[OUTCOME_PREEMPTED] = {"preempted", "preempted"},
	[OUTCOME_CANCELLED] = {"cancelled", "cancelled"},
	[OUTCOME_UNENDED] = {"unended", NULL},
	[OUTCOME_START] = {"start", NULL},
};

const char *outcome_name(enum outcome o)
{
	return o >= OUTCOME_CAUSE ? cause_name((enum cause_kind)(o - OUTCOME_CAUSE)) : outcomes[o].name;
}

enum outcome outcome_named(const char *name)
{
	int o = 0;
	while (o < OUTCOMES && strcmp(outcome_name((enum outcome)o), name) != 0)
		o++;
	return o < OUTCOMES ? (enum outcome)o : OUTCOME_UNKNOWN;
}

enum outcome outcome_of_reason(const char *reason)
{
	for (int o = 0; reason && o < OUTCOME_CAUSE; o++)
		if (outcomes[o].reason && strcmp(outcomes[o].reason, reason) == 0)
			return (enum outcome)o;
	return OUTCOME_UNKNOWN;
}

/* --- how it ended --- */

enum outcome outcome_proved(const struct verdict *v)
{
	if (v->kind == VERDICT_NONE)
		return OUTCOME_UNKNOWN;
	enum outcome o = outcome_named(v->kind == VERDICT_ENDED ? verdict_way_name(v->way) : verdict_name(v->kind));
	return o >= OUTCOME_DEADLOCK && o <= OUTCOME_LEFT ? o : OUTCOME_UNENDED;
}

bool outcome_has_errors(const struct trace *t, const struct run_end *end)
{
	uint64_t first = 0;
	int64_t visits;
	for (uint32_t i = 0; end && (end->signal || end->status) && i < t->site_count; i++, first = 0)
		if (trace_schema(t, &t->sites[i])->at[PARAMETER_ERROR] >= 0 &&
		    rankmap_next(&t->sites[i].visits, &first, &visits))
			return true;
	return false;
}

static void add_ending(struct outcome_endings *e, uint32_t at, enum outcome o)
{
	for (uint32_t i = e->count++; i > at; i--)
		e->list[i] = e->list[i - 1];
	e->list[at] = o;
}

/* An error comes before what the rank did then; but no deadlock comes of one, and no limit. */
static void add_error(struct outcome_endings *e)
{
	bool first = e->count == 0 || (e->list[0] > OUTCOME_ERROR && e->list[0] <= OUTCOME_KILLED);
	if (e->count == 0 || e->list[0] != OUTCOME_ERROR)
		add_ending(e, first ? 0 : e->count, OUTCOME_ERROR);
}

struct outcome_endings outcome_endings(enum outcome proved, bool errors, const struct run_end *end)
{
	struct outcome_endings e = {.count = 0};
	enum outcome said = end && end->partial ? outcome_of_reason(end->reason) : OUTCOME_UNKNOWN;
	bool nothing = proved == OUTCOME_UNKNOWN || proved == OUTCOME_UNENDED;
	/* a rank that is gone is what memory or a node took */
	if (said && (nothing || (proved == OUTCOME_GONE && (said == OUTCOME_MEMORY || said == OUTCOME_NODE)))) {
		add_ending(&e, 0, said);
	} else if (proved) {
		add_ending(&e, 0, proved);
		if (said && proved <= OUTCOME_GONE && said != OUTCOME_KILLED)
			add_ending(&e, 1, said);
	}
	if (errors)
		add_error(&e);
	return e;
}

/* --- what cost time --- */

double outcome_worth(const struct summary *s, bool partial)
{
	return !partial && s->parallel_efficiency >= OUTCOME_GOOD ? 2 * OUTCOME_WORTH : OUTCOME_WORTH;
}

double outcome_late_start(const struct summary *s)
{
	if (s->before_max_ns < LATE_LEAST || s->ranks < 2 || s->before_ns < s->before_max_ns)
		return 0;
	const double late = (double)s->before_max_ns - (double)(s->before_ns - s->before_max_ns) / (s->ranks - 1);
	return late >= LATE_LEAST && late > START_SHARE * (double)s->run_ns ? late : 0;
}

double outcome_start(const struct summary *s)
{
	const double late = outcome_late_start(s);
	if (late > 0 && s->all_ns)
		return fmin(1, late * (s->ranks - 1) / (double)s->all_ns);
	if (!s->init_ns || !s->run_ns || !s->ranks || !s->all_ns)
		return 0;
	double init = (double)s->init_ns / s->ranks,
	       after = (double)s->run_ns + (double)(s->unended_ns + s->unended_compute_ns) / s->ranks;
	return init > START_LEAST && init > START_SHARE * after ? (double)s->init_ns / (double)s->all_ns : 0;
}

enum outcome outcome_of_costs(const struct causes *c, const struct summary *s, bool partial)
{
	double start = outcome_start(s), most = c->known && c->count ? c->list[0].share : 0;
	if (start > most)
		return OUTCOME_START;
	if (most >= outcome_worth(s, partial))
		return (enum outcome)(OUTCOME_CAUSE + c->list[0].kind);
	return s->parallel_efficiency >= OUTCOME_GOOD ? OUTCOME_EFFICIENT
	       : most > 0                             ? (enum outcome)(OUTCOME_CAUSE + c->list[0].kind)
	                                              : OUTCOME_UNKNOWN;
}
