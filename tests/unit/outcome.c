/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - names there and back; what ended a run, in order; what cost most
 */
#include "insight/outcome.h"

#include <string.h>

#include "tests/unit/tap.h"

static void test_names(void)
{
	bool back = true, once = true;
	for (int i = 0; i < OUTCOMES; i++) {
		const char *name = outcome_name((enum outcome)i);
		back = back && outcome_named(name) == (enum outcome)i;
		for (int k = 0; k < i; k++)
			once = once && strcmp(name, outcome_name((enum outcome)k)) != 0;
	}
	ok(back && once, "each has a name of its own, by which it is found");
	ok(outcome_named("") == OUTCOME_UNKNOWN && outcome_named("no such") == OUTCOME_UNKNOWN, "others are unknown");
	ok(outcome_of_reason(NULL) == OUTCOME_UNKNOWN && outcome_of_reason("deadline") == OUTCOME_UNKNOWN &&
	           outcome_of_reason("oom") == OUTCOME_MEMORY,
	   "of a reason of the metadata");
	ok(outcome_proved(&(struct verdict){.kind = VERDICT_NONE}) == OUTCOME_UNKNOWN &&
	           outcome_proved(&(struct verdict){.kind = VERDICT_SLOW}) == OUTCOME_UNENDED &&
	           outcome_proved(&(struct verdict){.kind = VERDICT_UNKNOWN}) == OUTCOME_UNENDED &&
	           outcome_proved(&(struct verdict){.kind = VERDICT_GONE}) == OUTCOME_GONE &&
	           outcome_proved(&(struct verdict){.kind = VERDICT_ENDED, .way = VERDICT_FAILED}) == OUTCOME_ERROR,
	   "of a verdict");
}

static const struct row {
	enum outcome proved;
	const char *reason; /* NULL: it is not known how it ended; "": it is no partial trace */
	bool errors;
	enum outcome list[3];
} rows[] = {
	{OUTCOME_UNKNOWN, NULL, false, {0}},
	{OUTCOME_UNKNOWN, "", false, {0}},
	{OUTCOME_UNENDED, NULL, false, {OUTCOME_UNENDED}},
	{OUTCOME_DEADLOCK, NULL, false, {OUTCOME_DEADLOCK}},
	{OUTCOME_UNKNOWN, "time-limit", false, {OUTCOME_TIME_LIMIT}},
	{OUTCOME_UNENDED, "time-limit", false, {OUTCOME_TIME_LIMIT}},
	{OUTCOME_DEADLOCK, "time-limit", false, {OUTCOME_DEADLOCK, OUTCOME_TIME_LIMIT}},
	{OUTCOME_MISMATCH, "signal", false, {OUTCOME_MISMATCH}},
	{OUTCOME_GONE, "cancelled", false, {OUTCOME_GONE, OUTCOME_CANCELLED}},
	{OUTCOME_GONE, "oom", false, {OUTCOME_MEMORY}},
	{OUTCOME_CRASHED, "signal", false, {OUTCOME_CRASHED}},
	{OUTCOME_UNENDED, "exit", false, {OUTCOME_LEFT}},
	{OUTCOME_UNKNOWN, "", true, {OUTCOME_ERROR}},
	{OUTCOME_ABORTED, "abort", true, {OUTCOME_ERROR, OUTCOME_ABORTED}},
	{OUTCOME_ERROR, "exit", true, {OUTCOME_ERROR}},
	{OUTCOME_DEADLOCK, "signal", true, {OUTCOME_DEADLOCK, OUTCOME_ERROR}},
	{OUTCOME_UNENDED, "time-limit", true, {OUTCOME_TIME_LIMIT, OUTCOME_ERROR}},
	{OUTCOME_DEADLOCK, "time-limit", true, {OUTCOME_DEADLOCK, OUTCOME_TIME_LIMIT, OUTCOME_ERROR}},
};

static void test_endings(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		struct run_end end = {.partial = r->reason && *r->reason};
		snprintf(end.reason, sizeof end.reason, "%s", r->reason ? r->reason : "");
		struct outcome_endings e = outcome_endings(r->proved, r->errors, r->reason ? &end : NULL);
		bool same = e.count <= 3;
		for (uint32_t k = 0; same && k < 3; k++)
			same = (k < e.count ? e.list[k] : OUTCOME_UNKNOWN) == r->list[k];
		ok(same, "%s, %s%s: %s first", outcome_name(r->proved), r->reason ? r->reason : "end not known",
		   r->errors ? ", a call failed" : "", e.count ? outcome_name(e.list[0]) : "nothing");
	}
}

static void test_costs(void)
{
	struct cause list[] = {{.kind = CAUSE_SERIAL, .share = 0.07}};
	struct causes c = {.known = true, .list = list, .count = 1}, none = {.known = false};
	struct summary s = {.parallel_efficiency = 0.7, .ranks = 2, .run_ns = 1000, .all_ns = 2000};
	const enum outcome serial = (enum outcome)(OUTCOME_CAUSE + CAUSE_SERIAL);
	ok(outcome_of_costs(&c, &s, false) == serial, "what cost most");
	s.parallel_efficiency = 0.9;
	ok(outcome_of_costs(&c, &s, false) == OUTCOME_EFFICIENT,
	   "not of an efficient run, of which more has to be lost");
	ok(outcome_of_costs(&c, &s, true) == serial, "but of one that did not end");
	s = (struct summary){.parallel_efficiency = -1, .ranks = 2, .run_ns = UINT64_C(20000000000), .all_ns = 1};
	ok(outcome_of_costs(&none, &s, false) == OUTCOME_UNKNOWN && outcome_start(&s) <= 0, "nothing is known");
	s.init_ns = UINT64_C(20000000000);
	s.all_ns = UINT64_C(60000000000);
	ok(outcome_start(&s) > 0.3 && outcome_of_costs(&c, &s, false) == OUTCOME_START, "a slow start");
}

int main(void)
{
	test_names();
	test_endings();
	test_costs();
	return tap_end();
}
