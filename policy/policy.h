/* SPDX-License-Identifier: BSD-3-Clause
 * policy - what a site wants traced: a JSON file with defaults and an ordered list of rules (doc/policy.md)
 */
#ifndef SPOOR_POLICY_H
#define SPOOR_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/decision.h"
#include "policy/facts.h"

/* A policy file may have at most this many bytes: far more than people write, little enough that reading it takes no time. */
#define POLICY_SIZE_MAX (256 * 1024)

struct policy;

/* What is wrong with a policy file: lines "FILE:LINE:COLUMN: PATH: what", at most PROBLEMS_MAX of them. Zero-initialised is empty. */
#define PROBLEMS_MAX 50
struct problems {
	char *text; /* each line ends with a newline; NULL if there is none */
	size_t size;
	size_t count; /* of all, also of those that text no longer has */
};

void problems_clear(struct problems *p);

/* Reads the policy file. With trusted set, the file must be root's and nobody else may be able to write it: to be asked by whoever
 * acts on it as root. Returns NULL with problems if there is any; the caller destroys the policy and clears the problems. */
struct policy *policy_load(const char *path, bool trusted, struct problems *problems);
void policy_destroy(struct policy *p);

/* Facts that matter: user, groups (a comma-separated list), account, partition, qos, job_name, nodes, tasks; trace_option (what --trace
 * said) and trace_environment (what SPOOR_TRACE said), both only if they were given. */
extern const char *const policy_fact_names[];
extern const size_t policy_fact_count;

/* Decides. Command line before environment before rules (the first that matches) before defaults; the first two only as far as "user"
 * lets users choose. */
void policy_decide(const struct policy *p, const struct facts *facts, struct decision *d);

/* Prints to out, rule by rule, why each did or did not match. */
void policy_explain(const struct policy *p, const struct facts *facts, FILE *out);

/* The number of rules, for messages. */
size_t policy_rule_count(const struct policy *p);
/* What holds where a policy file says nothing, and without one: capture is off. */
void policy_default_decision(struct decision *d);

#endif
