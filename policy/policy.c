/* SPDX-License-Identifier: BSD-3-Clause
 * policy - what a site wants traced
 */
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/parse.h"
#include "policy/rule.h"

const char *const policy_fact_names[] = {"user", "groups", "account", "partition", "qos", "job_name", "nodes", "tasks",
                                         "trace_option", "trace_environment"};
const size_t policy_fact_count = sizeof policy_fact_names / sizeof policy_fact_names[0];

void policy_default_decision(struct decision *d)
{
	*d = (struct decision){
		.mode = {MODE_OFF, 0},
		.archive = SPOOR_LOCALSTATEDIR "/lib/spoor/archive",
		.spool = SPOOR_LOCALSTATEDIR "/spool/spoor",
		.rule = "default",
	};
	settings_default(&d->set);
}

/* --- loading --- */

/* The file's bytes with a NUL behind them, malloc'ed; or NULL with a problem. */
static char *read_file(const char *path, bool trusted, size_t *size, struct problems *problems)
{
	struct stat st;
	char *text = NULL;
	size_t n = 0;

	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		problems_add(problems, path, 1, 1, "cannot be opened: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		problems_add(problems, path, 1, 1, "is not a regular file");
	} else if (trusted && (st.st_uid != 0 || st.st_mode & 022)) {
		problems_add(problems, path, 1, 1,
		             "belongs to user %lu with mode %04o; it is only used if it is root's and nobody else may write it",
		             (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	} else if (st.st_size > POLICY_SIZE_MAX) {
		problems_add(problems, path, 1, 1, "has %lld bytes; a policy may have at most %d", (long long)st.st_size,
		             POLICY_SIZE_MAX);
	} else if (!(text = calloc(1, POLICY_SIZE_MAX + 1))) {
		problems_add(problems, path, 1, 1, "out of memory");
	} else {
		ssize_t got;
		while ((got = read(fd, text + n, POLICY_SIZE_MAX - n)) > 0)
			n += (size_t)got;
		if (got < 0)
			problems_add(problems, path, 1, 1, "cannot be read: %s", strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	*size = n;
	return text;
}

struct policy *policy_load(const char *path, bool trusted, struct problems *problems)
{
	size_t size, before = problems->count;
	char *text = read_file(path, trusted, &size, problems);
	struct policy *policy = text ? calloc(1, sizeof *policy) : NULL;

	if (policy && (policy->path = strdup(path)) && problems->count == before) {
		policy_default_decision(&policy->defaults);
		policy->mode_line = 1;
		parse_policy(policy, text, size, problems);
	} else if (problems->count == before) {
		problems_add(problems, path, 1, 1, "out of memory");
	}
	free(text);
	if (problems->count > before) {
		policy_destroy(policy);
		return NULL;
	}
	return policy;
}

void policy_destroy(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->rule_count; i++)
		rule_clear(&p->rules[i]);
	free(p->rules);
	free(p->path);
	free(p);
}

size_t policy_rule_count(const struct policy *p)
{
	return p->rule_count;
}

/* --- deciding --- */

static const struct rule *first_match(const struct policy *p, const struct facts *facts)
{
	for (size_t i = 0; i < p->rule_count; i++) {
		if (rule_matches(&p->rules[i], facts, NULL))
			return &p->rules[i];
	}
	return NULL;
}

/* What a user's word means where the site would do `site`: "on" is the site's own kind of capture. */
static int choice_mode(struct mode *mode, const char *choice, const struct mode *site)
{
	if (!strcmp(choice, "on") || !strcmp(choice, "1") || !*choice) {
		*mode = site->kind != MODE_OFF ? *site : (struct mode){MODE_LOSSLESS, 0};
		return 0;
	}
	return mode_parse(mode, strcmp(choice, "0") ? choice : "off");
}

/* Applies what the user said (on the command line, else in the environment) to a decision of the site. */
static void apply_choice(struct decision *d, enum user_choice allowed, const struct facts *facts)
{
	const char *option = facts_get(facts, "trace_option"), *environment = facts_get(facts, "trace_environment");
	const char *choice = option ? option : environment;
	const char *by = option ? "command line" : "environment";
	const char *said = option ? "--trace" : "SPOOR_TRACE";
	char site_reason[sizeof d->reason], text[MODE_TEXT_SIZE];
	struct mode mode;

	if (!choice)
		return;
	memcpy(site_reason, d->reason, sizeof site_reason);
	if (choice_mode(&mode, choice, &d->mode)) {
		snprintf(d->reason, sizeof d->reason, "%.300s; %s=%.40s is none of " MODE_CHOICES " and was ignored",
		         site_reason, said, choice);
	} else if (allowed == USER_NONE || (allowed == USER_OFF && mode.kind != MODE_OFF)) {
		snprintf(d->reason, sizeof d->reason, "%.300s; %s=%.40s was ignored: the policy has \"user\": \"%s\"",
		         site_reason, said, choice, allowed == USER_NONE ? "none" : "off");
	} else {
		d->mode = mode;
		snprintf(d->rule, sizeof d->rule, "%s", by);
		d->where[0] = '\0';
		snprintf(d->reason, sizeof d->reason, "%s=%.40s says %s", said, choice, mode_format(&mode, text));
	}
}

void policy_decide(const struct policy *p, const struct facts *facts, struct decision *d)
{
	const struct rule *rule = first_match(p, facts);

	*d = p->defaults;
	if (rule) {
		d->mode = rule->mode;
		for (size_t i = 0; i < setting_count; i++) {
			if (rule->has[i])
				setting_copy(&setting_table[i], &d->set, &rule->set);
		}
		snprintf(d->rule, sizeof d->rule, "%s", rule->name);
		snprintf(d->reason, sizeof d->reason, "rule \"%s\" matches", rule->name);
	} else {
		snprintf(d->reason, sizeof d->reason, "%s", p->rule_count ? "no rule matches" : "there are no rules");
	}
	snprintf(d->where, sizeof d->where, "%s:%zu", p->path, rule ? rule->line : p->mode_line);
	apply_choice(d, rule && rule->has_user ? rule->user : p->user, facts);
}

void policy_explain(const struct policy *p, const struct facts *facts, FILE *out)
{
	for (size_t i = 0; i < p->rule_count; i++) {
		struct error why = {""};
		bool matches = rule_matches(&p->rules[i], facts, &why);
		fprintf(out, "%s:%zu: rule \"%s\" %s%s\n", p->path, p->rules[i].line, p->rules[i].name,
		        matches ? "matches" : "does not match: ", why.text);
		if (matches)
			return;
	}
	fprintf(out, "%s:%zu: the default applies\n", p->path, p->mode_line);
}
