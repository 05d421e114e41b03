/* SPDX-License-Identifier: BSD-3-Clause
 * why_sum - of `spoor why JOB`: which step of a job cost most, and what its steps lost together
 */
#include "cmd/why_sum.h"

#include <math.h>
#include <stdio.h>

#include "cmd/base/cell.h"
#include "cmd/report/findings.h"

#define SMALL 0.01 /* parts of the time that are not named */

void why_sum_add(struct why_sum *sum, const struct report *r, const char *step)
{
	const struct causes *c = &r->causes;
	sum->steps++;
	sum->all_ns += c->known ? c->all_ns : (double)r->sum.all_ns;
	for (size_t i = 0; c->known && i < c->count; i++) {
		const struct cause *one = &c->list[i];
		sum->lost_ns += one->ns;
		sum->kind_ns[one->kind] += one->ns;
		if (one->ns > sum->most_ns[one->kind]) {
			sum->most_ns[one->kind] = one->ns;
			sum->most[one->kind] = step;
		}
	}
}

/* The kind that cost most of those that cost less than `below`; CAUSES: there is none. */
static int next_kind(const struct why_sum *sum, double below)
{
	int most = CAUSES;
	for (int i = 0; i < CAUSES; i++)
		if (sum->kind_ns[i] > 0 && sum->kind_ns[i] < below &&
		    (most == CAUSES || sum->kind_ns[i] > sum->kind_ns[most]))
			most = i;
	return most;
}

static const char *kind_title(int kind)
{
	return finding_kinds[finding_of_outcome((enum outcome)(OUTCOME_CAUSE + kind))].title;
}

const char *why_sum_text(const struct why_sum *sum, size_t steps, char out[WHY_SUM_TEXT])
{
	char name[64];
	bool first = true;
	size_t n = (size_t)snprintf(out, WHY_SUM_TEXT, "%.0f %% of the ranks’ time was in %s.", 100 * sum->part,
	                            cell_text(name, sum->dearest ? sum->dearest : "-"));
	if (sum->all_ns <= 0)
		return out;
	n += (size_t)snprintf(out + n, WHY_SUM_TEXT - n, " Of %s, %.0f %% is lost",
	                      sum->steps < steps ? "those that cost most" : "all steps together",
	                      100 * sum->lost_ns / sum->all_ns);
	for (int k = next_kind(sum, INFINITY); k < CAUSES && n < WHY_SUM_TEXT / 2;
	     k = next_kind(sum, sum->kind_ns[k])) {
		if (sum->kind_ns[k] < SMALL * sum->all_ns)
			break;
		n += (size_t)snprintf(out + n, WHY_SUM_TEXT - n, "%s %s %.0f %% (most in %s)", first ? ":" : ",",
		                      kind_title(k), 100 * sum->kind_ns[k] / sum->all_ns,
		                      cell_text(name, sum->most[k]));
		first = false;
	}
	snprintf(out + n, WHY_SUM_TEXT - n, ".");
	return out;
}

json_t *why_sum_json(const struct why_sum *sum)
{
	json_t *lost = json_object();
	for (int i = 0; i < CAUSES; i++)
		if (sum->kind_ns[i] > 0)
			json_object_set_new(
				lost, cause_name((enum cause_kind)i),
				json_pack("{s:I, s:s}", "ns", (json_int_t)sum->kind_ns[i], "most_in", sum->most[i]));
	return json_pack("{s:s, s:f, s:I, s:I, s:I, s:o}", "dearest", sum->dearest ? sum->dearest : "", "part",
	                 sum->part, "steps", (json_int_t)sum->steps, "all_ns", (json_int_t)sum->all_ns, "lost_ns",
	                 (json_int_t)sum->lost_ns, "lost", lost);
}
