/* SPDX-License-Identifier: BSD-3-Clause
 * rule - what a policy holds once it is read: rules in their order, and what is for all jobs; inside of policy/ only
 */
#ifndef SPOOR_RULE_H
#define SPOOR_RULE_H

#include "policy/condition.h"
#include "policy/decision.h"

/* What users may choose for themselves. */
enum user_choice { USER_ANY, USER_RAISE, USER_LOWER, USER_OFF, USER_NONE, USER_CHOICES };
#define USER_UNSAID USER_CHOICES /* of a rule: the policy's */
extern const char *const user_choice_names[USER_CHOICES];

struct rule {
	char *name;
	const char *file; /* where it stands */
	size_t line;
	struct condition conditions[CONDITIONS];
	bool has[CONDITIONS]; /* which of conditions it has: all of them must hold */
	struct mode mode;
	int64_t threshold; /* the key of that name; -1: it is not there */
	enum user_choice user;
	char *archive;               /* NULL: the policy's */
	struct settings set;         /* what the rule says of settings */
	bool has_set[setting_count]; /* which of set it says */
	bool hook;                   /* it is none that decides, but one of the hooks: */
	char *run;
};

struct policy {
	char **files; /* those of fragments, then the policy's own */
	size_t file_count;
	struct rule **rules; /* the first that matches counts */
	size_t rule_count, rule_room;
	struct rule **hooks; /* each that matches is run */
	size_t hook_count;
	struct decision defaults;       /* mode, archive, spool, admin_group, settings */
	size_t mode_line;               /* where "mode" stands; 1 if it is not there */
	size_t set_line[setting_count]; /* where a setting stands; 0: it is not there */
	enum user_choice user;
	size_t cap_line; /* 0: there is no cap */
	struct mode cap_mode;
	bool cap_has[setting_count];
	struct settings cap;
};

/* The policy's own file, for messages. */
static inline const char *policy_file(const struct policy *p)
{
	return p->files[p->file_count - 1];
}

/* The file stays the caller's. NULL without memory. */
struct rule *rule_create(const char *file);
void rule_destroy(struct rule *r);

/* UNKNOWN: all hold that are known, and others are known only where the program starts. If the rule does not hold, why
 * (if not NULL) gets the first reason. */
enum verdict rule_verdict(const struct rule *r, const struct subject *s, struct error *why);
/* True if whatever b matches is matched by a. False does not say that it is not: some of that is hard to see. */
bool rule_covers(const struct rule *a, const struct rule *b);

#endif
