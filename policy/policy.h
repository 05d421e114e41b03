/* SPDX-License-Identifier: BSD-3-Clause
 * policy - what a site wants traced: JSON files with defaults and an ordered list of rules (doc/policy.md)
 */
#ifndef SPOOR_POLICY_H
#define SPOOR_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/decision.h"
#include "trace/base/facts.h"

/* A policy may have at most this many bytes in all its files: far more than people write, and what a program writes
 * that makes a rule for each of some ten thousand projects. */
#define POLICY_SIZE_MAX (16 * 1024 * 1024)

struct policy;

/* What is wrong with a policy: lines "FILE:LINE:COLUMN: PATH: what", at most PROBLEMS_MAX of them. Zero-initialised is
 * empty. */
#define PROBLEMS_MAX 50
struct problems {
	char *text; /* each line ends with a newline; NULL if there is none */
	size_t size;
	size_t count; /* of all, also of those that text no longer has */
};

void problems_clear(struct problems *p);

/* Reads the policy: the rules of the files *.json of PATH.d in the order of their names (where PATH is without a .json
 * at its end), then PATH. With trusted set, all must be root's and nobody else may be able to write them: to be asked
 * by whoever acts on it as root. Returns NULL with problems if there is any; the caller destroys the policy and clears
 * the problems. */
struct policy *policy_load(const char *path, bool trusted, struct problems *problems);
void policy_destroy(struct policy *p);

/* Adds rules that no job can reach, because a rule before them matches all that they would. */
void policy_find_unreachable(const struct policy *p, struct problems *problems);

/* Adds the rules that switch the tracer off, or that leave users less choice than the policy does, and rest on what the
 * job's user can make up (condition_from). */
void policy_find_evadable(const struct policy *p, struct problems *problems);

/* The facts that matter: those that conditions look at (user, groups, account, ...), trace_option (what --trace said)
 * and trace_environment (what SPOOR_TRACE said), these two only if they were given. Those behind them are known of
 * traces, and only hooks ask for them. doc/policy.md describes them. */
enum {
	POLICY_FACTS = 23
#define CONDITION_NEVER

#define CONDITION_IF(...) +1

#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, ...) CONDITION_##condition
#include "insight/figures.def"
#undef CONDITION_NEVER
#undef CONDITION_IF
};
extern const char *const policy_fact_names[POLICY_FACTS];
extern const size_t policy_fact_count;
/* What is wrong with a fact's value, as people give it; NULL if nothing is. */
const char *policy_fact_problem(const char *name, const char *value);
/* True if some rule looks at this fact. */
bool policy_uses(const struct policy *p, const char *fact);
/* True if some rule looks at what is only claimed of this job, and slurmctld knows (FROM_CLAIM). */
bool policy_uses_claims(const struct policy *p, const struct facts *facts);

/* Decides: command line before environment before rules (the first that matches) before defaults; the first two only as
 * far as "user" lets users choose; and nothing exceeds the cap. */
void policy_decide(const struct policy *p, const struct facts *facts, struct decision *d);

/* Where a value of a decision is from. */
struct origin {
	const char *by;   /* "default", "policy", "rule", "environment", "command line", "cap" */
	const char *file; /* NULL: it stands in no file */
	size_t line;
};
struct origins {
	struct origin mode, archive, set[setting_count];
};
/* The same, and says of each value where it is from. The files live as long as the policy. */
void policy_decide_origins(const struct policy *p, const struct facts *facts, struct decision *d,
                           struct origins *origins);

/* Tells, rule by rule, a line each, why it did or did not match; at most `most` of those that do not. */
typedef void policy_tell(const char *line);
void policy_explain(const struct policy *p, const struct facts *facts, size_t most, policy_tell *tell);

/* The number of rules, for messages. */
size_t policy_rule_count(const struct policy *p);

/* Programs that are run for traces, in their order. Texts live as long as the policy. */
struct policy_hook {
	const char *name, *run; /* run: an absolute path */
};
size_t policy_hook_count(const struct policy *p);
struct policy_hook policy_hook(const struct policy *p, size_t i);
/* Is it for a trace with these facts? false, too, without memory. */
bool policy_hook_holds(const struct policy *p, size_t i, const struct facts *facts);
/* What holds where a policy file says nothing, and without one: capture is off. */
void policy_default_decision(struct decision *d);

#endif
