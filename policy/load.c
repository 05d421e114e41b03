/* SPDX-License-Identifier: BSD-3-Clause
 * policy - what a site wants traced: reading it
 */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "policy/choice.h"
#include "policy/parse.h"
#include "policy/rule.h"
#include "policy/source.h"

const char *const policy_fact_names[POLICY_FACTS] = {
	"user",     "groups",     "account",      "partition",         "qos",
	"job_name", "executable", "reservation",  "container",         "weekday",
	"nodes",    "tasks",      "ranks",        "time_limit",        "time",
	"job",      "het_job_id", "trace_option", "trace_environment", "state",
	"reason",   "cause",      "elapsed",
#define CONDITION_NEVER

#define CONDITION_IF(ID, name) #name,

#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, ...) CONDITION_##condition
#include "insight/figures.def"
};
const size_t policy_fact_count = POLICY_FACTS;

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

static void read_files(struct policy *policy, const struct source *source, struct problems *problems)
{
	struct parser *parser = parser_create(policy, problems);
	const char *main = source->files[source->count - 1].path;

	for (size_t i = 0; i < source->count && parser; i++) {
		const struct source_file *f = &source->files[i];
		size_t size;
		char *text = f->fd >= 0 ? source_read(f, &size, problems) : NULL;
		if (text)
			parser_read(parser, f->path, i + 1 < source->count ? main : NULL, text, size);
		free(text);
	}
	if (!parser)
		problems_add(problems, main, 1, 1, "out of memory");
	parser_destroy(parser);
}

struct policy *policy_load(const char *path, bool trusted, struct problems *problems)
{
	struct source source;
	struct policy *policy = calloc(1, sizeof *policy);
	size_t before = problems->count;

	if (source_open(&source, path, trusted, problems) || !policy) {
		problems_add(problems, path, 1, 1, "out of memory");
	} else if (!source.too_large && (problems->count == before || !trusted)) {
		/* what else is wrong is said too, but nothing is read that somebody else may have written */
		policy_default_decision(&policy->defaults);
		settings_default(&policy->cap);
		policy->mode_line = 1;
		read_files(policy, &source, problems);
	}
	source_close(&source);
	if (problems->count == before)
		return policy;
	policy_destroy(policy);
	return NULL;
}

void policy_destroy(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->rule_count; i++)
		rule_destroy(p->rules[i]);
	for (size_t i = 0; i < p->hook_count; i++)
		rule_destroy(p->hooks[i]);
	free(p->hooks);
	for (size_t i = 0; i < p->file_count; i++)
		free(p->files[i]);
	free(p->rules);
	free(p->files);
	free(p);
}

size_t policy_rule_count(const struct policy *p)
{
	return p->rule_count;
}

size_t policy_hook_count(const struct policy *p)
{
	return p->hook_count;
}

struct policy_hook policy_hook(const struct policy *p, size_t i)
{
	return (struct policy_hook){p->hooks[i]->name, p->hooks[i]->run};
}

bool policy_hook_holds(const struct policy *p, size_t i, const struct facts *facts)
{
	struct subject *s = malloc(sizeof *s);
	bool read = s && subject_read(s, facts) == 0, holds = read && rule_verdict(p->hooks[i], s, NULL) == HOLDS;

	if (read)
		subject_free(s);
	free(s);
	return holds;
}

/* --- what is asked of it --- */

bool policy_uses(const struct policy *p, const char *fact)
{
	for (size_t what = 0; what < CONDITIONS; what++) {
		for (size_t i = 0; i < p->rule_count && !strcmp(condition_table[what].fact, fact); i++) {
			if (p->rules[i]->has[what])
				return true;
		}
	}
	return false;
}

bool policy_uses_claims(const struct policy *p, const struct facts *facts)
{
	for (size_t what = 0; what < CONDITIONS; what++) {
		/* only a component of a heterogeneous job says of itself which job it is of */
		bool claimed = condition_table[what].from == FROM_CLAIM &&
		               (what != IF_SAMPLE || facts_get(facts, "het_job_id"));
		if (claimed && policy_uses(p, condition_table[what].fact))
			return true;
	}
	return false;
}

const char *policy_fact_problem(const char *name, const char *value)
{
	static char text[700];
	struct facts one = {0};
	struct choice choice;
	struct error error = {""};

	if (!strncmp(name, "trace_", 6)) {
		if (!choice_parse(&choice, value, &error))
			return NULL;
		snprintf(text, sizeof text, "%s", error.text);
		return text;
	}
	if (!strcmp(name, "time"))
		return condition_minutes(value, strlen(value)) < 0 ? "expected a time of the day such as 14:30" : NULL;
	if (!strcmp(name, "time_limit"))
		return condition_time_limit(value) < 0
		               ? "expected minutes, or a time as Slurm writes it, such as 1-12:00:00"
		               : NULL;
	bool number = !strcmp(name, "job") || !strcmp(name, "het_job_id");
	for (size_t i = 0; i < CONDITIONS; i++)
		number = number ||
		         (condition_table[i].kind == CONDITION_RANGE && !strcmp(name, condition_table[i].fact));
	facts_set(&one, name, value);
	bool good = !number || facts_number(&one, name, -1) >= 0;
	facts_clear(&one);
	return good ? NULL : "expected a number";
}

/* --- what nobody can reach --- */

void policy_find_unreachable(const struct policy *p, struct problems *problems)
{
	for (size_t i = 0; i < p->rule_count; i++) {
		const struct rule *rule = p->rules[i], *before = NULL;
		for (size_t j = 0; j < i && !before; j++)
			before = rule_covers(p->rules[j], rule) ? p->rules[j] : NULL;
		if (before)
			problems_add(problems, rule->file, rule->line, 1,
			             "rule \"%s\" is never reached: rule \"%s\" in line %zu%s%s matches all that it "
			             "would",
			             rule->name, before->name, before->line, before->file == rule->file ? "" : " of ",
			             before->file == rule->file ? "" : before->file);
	}
}

/* --- what a user can get around --- */

static void find_evadable(const struct rule *rule, enum condition_name what, const struct policy *p,
                          struct problems *problems)
{
	enum condition_from from = condition_table[what].from;

	if (rule->mode.kind == MODE_OFF && from != FROM_SLURM && from != FROM_CLAIM)
		problems_add(problems, rule->file, rule->line, 1,
		             "rule \"%s\" switches the tracer off by \"%s\", which the job's user can change: user, "
		             "group, account and partition are Slurm's word",
		             rule->name, condition_table[what].name);
	else if (rule->mode.kind != MODE_OFF && rule->user != USER_UNSAID && rule->user > p->user && from != FROM_SLURM)
		problems_add(problems, rule->file, rule->line, 1,
		             "rule \"%s\" has \"user\": \"%s\" by \"%s\", which the job's user can change%s",
		             rule->name, user_choice_names[rule->user], condition_table[what].name,
		             from == FROM_CLAIM ? " until the step ends: only then Slurm is asked" : "");
}

void policy_find_evadable(const struct policy *p, struct problems *problems)
{
	for (size_t i = 0; i < p->rule_count; i++)
		for (size_t what = 0; what < CONDITIONS; what++)
			if (p->rules[i]->has[what])
				find_evadable(p->rules[i], what, p, problems);
}
