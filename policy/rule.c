/* SPDX-License-Identifier: BSD-3-Clause
 * rule - one rule of a policy, and whether it is for a job
 */
#include "policy/rule.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const rule_text_facts[RULE_TEXTS] = {
	[RULE_USER] = "user",           [RULE_GROUP] = "groups", [RULE_ACCOUNT] = "account",
	[RULE_PARTITION] = "partition", [RULE_QOS] = "qos",      [RULE_JOB_NAME] = "job_name",
};

const char *const rule_number_facts[RULE_NUMBERS] = {[RULE_NODES] = "nodes", [RULE_TASKS] = "tasks"};

void rule_clear(struct rule *r)
{
	free(r->name);
	for (size_t t = 0; t < RULE_TEXTS; t++) {
		for (size_t i = 0; i < r->texts[t].count; i++)
			free(r->texts[t].items[i]);
		free(r->texts[t].items);
	}
	*r = (struct rule){0};
}

static bool globs_match(const struct globs *globs, const char *value)
{
	for (size_t i = 0; i < globs->count; i++) {
		if (!fnmatch(globs->items[i], value, 0))
			return true;
	}
	return false;
}

/* A job's partition and groups may be several, separated by commas: one that matches is enough. */
static bool globs_match_any(const struct globs *globs, const char *values)
{
	char one[256];

	for (const char *p = values;; p++) {
		size_t n = strcspn(p, ",");
		if (n < sizeof one) {
			memcpy(one, p, n);
			one[n] = '\0';
			if (globs_match(globs, one))
				return true;
		}
		p += n;
		if (!*p)
			return false;
	}
}

bool rule_matches(const struct rule *r, const struct facts *facts, struct error *why)
{
	for (size_t t = 0; t < RULE_TEXTS; t++) {
		const char *name = rule_text_facts[t], *value = facts_get(facts, name);
		bool several = t == RULE_GROUP || t == RULE_PARTITION;
		if (r->texts[t].count == 0)
			continue;
		if (!value) {
			error_set(why, "%s is not known", name);
			return false;
		}
		if (!(several ? globs_match_any : globs_match)(&r->texts[t], value)) {
			error_set(why, "%s is \"%s\", not \"%s\"%s", name, value,
			          r->texts[t].items[0], r->texts[t].count > 1 ? " or another of the list" : "");
			return false;
		}
	}
	for (size_t i = 0; i < RULE_NUMBERS; i++) {
		const char *name = rule_number_facts[i];
		int64_t value = facts_number(facts, name, -1);
		if (!r->numbers[i].has_min && !r->numbers[i].has_max)
			continue;
		if (value < 0) {
			error_set(why, "%s is not known", name);
			return false;
		}
		if (r->numbers[i].has_min && value < r->numbers[i].min) {
			error_set(why, "%s is %" PRId64 ", less than %" PRIu32, name, value, r->numbers[i].min);
			return false;
		}
		if (r->numbers[i].has_max && value > r->numbers[i].max) {
			error_set(why, "%s is %" PRId64 ", more than %" PRIu32, name, value, r->numbers[i].max);
			return false;
		}
	}
	return true;
}
