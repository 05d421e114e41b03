/* SPDX-License-Identifier: BSD-3-Clause
 * rule - whether a rule is for a job
 */
#include "policy/rule.h"

enum verdict rule_verdict(const struct policy *p, const struct rule *r, const struct subject *s, struct error *why)
{
	enum verdict all = HOLDS;

	for (uint32_t i = 0; i < r->conditions; i++) {
		enum verdict one = condition_holds(p, &p->conditions[r->condition + i], s, why);
		if (one == HOLDS_NOT)
			return HOLDS_NOT;
		if (one == UNKNOWN)
			all = UNKNOWN;
	}
	return all;
}

bool rule_covers(const struct policy *p, const struct rule *a, const struct rule *b)
{
	/* Both have their conditions in the order of the table. */
	for (uint32_t i = 0, j = 0; i < a->conditions; i++, j++) {
		const struct condition *of_a = &p->conditions[a->condition + i];
		while (j < b->conditions && p->conditions[b->condition + j].what < of_a->what)
			j++;
		if (j == b->conditions || p->conditions[b->condition + j].what != of_a->what ||
		    !condition_covers(p, of_a, &p->conditions[b->condition + j]))
			return false;
	}
	return true;
}

const struct value *rule_value(const struct policy *p, const struct rule *r, size_t setting)
{
	for (uint32_t i = 0; i < r->values; i++) {
		if (p->values[r->value + i].setting == setting)
			return &p->values[r->value + i];
	}
	return NULL;
}
