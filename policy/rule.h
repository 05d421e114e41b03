/* SPDX-License-Identifier: BSD-3-Clause
 * rule - one rule of a policy, and whether it is for a job; inside of policy/ only
 */
#ifndef SPOOR_RULE_H
#define SPOOR_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/decision.h"
#include "policy/facts.h"

/* What users may choose for themselves. */
enum user_choice { USER_ANY, USER_OFF, USER_NONE };

struct globs {
	char **items;
	size_t count;
};

enum rule_text { RULE_USER, RULE_GROUP, RULE_ACCOUNT, RULE_PARTITION, RULE_QOS, RULE_JOB_NAME, RULE_TEXTS };
enum rule_number { RULE_NODES, RULE_TASKS, RULE_NUMBERS };

struct rule {
	char *name;
	size_t line; /* in the policy file */
	struct mode mode;
	bool has_user;
	enum user_choice user;
	bool has[setting_count]; /* which of set the rule says; the others are the policy's */
	struct settings set;
	struct globs texts[RULE_TEXTS];
	struct {
		bool has_min, has_max;
		uint32_t min, max;
	} numbers[RULE_NUMBERS];
};

struct policy {
	char *path;
	struct decision defaults; /* mode, archive, spool, admin_group, settings */
	size_t mode_line;         /* where "mode" stands; 1 if it is not there */
	enum user_choice user;
	struct rule *rules;
	size_t rule_count;
};

/* Names of the facts that rule->texts and rule->numbers look at. */
extern const char *const rule_text_facts[RULE_TEXTS];
extern const char *const rule_number_facts[RULE_NUMBERS];

void rule_clear(struct rule *r);
/* True if the rule is for a job with these facts. If not, why (if not NULL) gets the first reason. */
bool rule_matches(const struct rule *r, const struct facts *facts, struct error *why);

#endif
