/* SPDX-License-Identifier: BSD-3-Clause
 * rule - whether a rule is for a job
 */
#include "policy/rule.h"

#include <stdlib.h>

const char *const user_choice_names[USER_CHOICES] = {
	[USER_ANY] = "any", [USER_RAISE] = "raise", [USER_LOWER] = "lower", [USER_OFF] = "off", [USER_NONE] = "none"};

struct rule *rule_create(const char *file)
{
	struct rule *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->file = file;
	r->threshold = -1;
	r->user = USER_UNSAID;
	for (size_t i = 0; i < CONDITIONS; i++)
		r->conditions[i].most = UINT64_MAX;
	return r;
}

void rule_destroy(struct rule *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < CONDITIONS; i++)
		condition_clear(&r->conditions[i]);
	free(r->name);
	free(r->archive);
	free(r->run);
	free(r);
}

enum verdict rule_verdict(const struct rule *r, const struct subject *s, struct error *why)
{
	enum verdict all = HOLDS;

	for (enum condition_name i = 0; i < CONDITIONS; i++) {
		enum verdict one = r->has[i] ? condition_holds(i, &r->conditions[i], s, why) : HOLDS;
		if (one == HOLDS_NOT)
			return HOLDS_NOT;
		if (one == UNKNOWN)
			all = UNKNOWN;
	}
	return all;
}

bool rule_covers(const struct rule *a, const struct rule *b)
{
	for (enum condition_name i = 0; i < CONDITIONS; i++) {
		if (a->has[i] && (!b->has[i] || !condition_covers(i, &a->conditions[i], &b->conditions[i])))
			return false;
	}
	return true;
}
