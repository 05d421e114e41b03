/* SPDX-License-Identifier: BSD-3-Clause
 * decide - from facts to a decision
 *
 * Most rules are told by the facts; one that asks for the executable or the number of ranks is decided where the
 * program starts. Such rules that would match otherwise go with the decision as its alternatives, in order, before what
 * holds if none of them does.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/alternative.h"
#include "policy/choice.h"
#include "policy/policy.h"
#include "policy/rule.h"

#define NOTHING (&(struct origins){0})
#define LINE    8192 /* of an explanation, which has a path, names and patterns; what is beyond is cut */

/* --- finding rules --- */

/* Rules that match but for what is known late; then the first that matches without doubt, or NULL. Returns how many
 * there are of the first kind. */
static size_t find_rules(const struct policy *p, const struct subject *s, const struct rule *late[ALTERNATIVES_MAX],
                         bool *too_many, const struct rule **found)
{
	size_t n = 0;

	*found = NULL;
	*too_many = false;
	for (size_t i = 0; i < p->rule_count && !*found; i++) {
		enum verdict verdict = rule_verdict(p->rules[i], s, NULL);
		if (verdict == HOLDS)
			*found = p->rules[i];
		else if (verdict == UNKNOWN && n < ALTERNATIVES_MAX)
			late[n++] = p->rules[i];
		else if (verdict == UNKNOWN)
			*too_many = true;
	}
	return n;
}

/* --- what a rule makes of the defaults --- */

static void apply_rule(const struct rule *rule, struct decision *d, struct origins *o)
{
	struct origin here = {"rule", rule->file, rule->line};

	d->mode = rule->mode;
	o->mode = here;
	if (rule->archive) {
		snprintf(d->archive, sizeof d->archive, "%s", rule->archive);
		o->archive = here;
	}
	for (size_t i = 0; i < setting_count; i++) {
		if (rule->has_set[i]) {
			setting_copy(&setting_table[i], &d->set, &rule->set);
			o->set[i] = here;
		}
	}
	snprintf(d->rule, sizeof d->rule, "%s", rule->name);
	snprintf(d->where, sizeof d->where, "%s:%zu", here.file, here.line);
	snprintf(d->reason, sizeof d->reason, "rule \"%s\" matches", d->rule);
}

static void apply_defaults(const struct policy *p, struct decision *d, struct origins *o)
{
	const char *file = policy_file(p);

	*d = p->defaults;
	o->mode = (struct origin){"policy", file, p->mode_line};
	o->archive = (struct origin){"policy", file, 1};
	for (size_t i = 0; i < setting_count; i++) {
		bool said = p->set_line[i] != 0;
		o->set[i] = (struct origin){said ? "policy" : "default", said ? file : NULL, p->set_line[i]};
	}
	snprintf(d->reason, sizeof d->reason, "%s", p->rule_count ? "no rule matches" : "there are no rules");
	snprintf(d->where, sizeof d->where, "%s:%zu", file, p->mode_line);
}

/* --- what users choose --- */

/* How much a mode captures: nothing, lossy by its threshold, all. */
static uint64_t amount(const struct mode *mode)
{
	return mode->kind == MODE_OFF ? 0 : mode->kind == MODE_LOSSLESS ? UINT64_MAX : 1 + (uint64_t)mode->threshold;
}

static bool may(enum user_choice allowed, int direction)
{
	return allowed == USER_ANY || direction == 0 || (allowed == USER_RAISE && direction > 0) ||
	       (allowed == USER_LOWER && direction < 0);
}

static void add_reason(struct decision *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_reason(struct decision *d, const char *format, ...)
{
	size_t n = strlen(d->reason);
	va_list ap;

	va_start(ap, format);
	vsnprintf(d->reason + n, sizeof d->reason - n, format, ap);
	va_end(ap);
}

/* Applies what the user said at one place. Returns true if the mode is the user's then. */
static bool apply_choice(struct decision *d, enum user_choice allowed, const char *text, const char *said,
                         const char *by, struct origins *o)
{
	char site[sizeof d->reason], mode_text[MODE_TEXT_SIZE];
	struct error error = {""};
	struct choice choice;
	bool taken = false;

	if (choice_parse(&choice, text, &error)) {
		add_reason(d, "; %s=%.40s was ignored: %.150s", said, text, error.text);
		return false;
	}
	/* "on" is the site's own kind of capture; where it has none, all */
	struct mode mode = !choice.on                 ? choice.mode
	                   : d->mode.kind != MODE_OFF ? d->mode
	                                              : (struct mode){MODE_LOSSLESS, 0};
	uint64_t wanted = amount(&mode), has = amount(&d->mode);
	if (may(allowed, (wanted > has) - (wanted < has)) || (allowed == USER_OFF && wanted == 0)) {
		memcpy(site, d->reason, sizeof site);
		d->mode = mode;
		o->mode = (struct origin){by, NULL, 0};
		snprintf(d->rule, sizeof d->rule, "%s", by);
		d->where[0] = '\0';
		snprintf(d->reason, sizeof d->reason, "%s=%.60s says %s", said, text, mode_format(&mode, mode_text));
		taken = true;
	} else {
		add_reason(d, "; %s=%.40s was ignored: the policy has \"user\": \"%s\"", said, text,
		           user_choice_names[allowed]);
		if (!strcmp(by, "command line"))
			snprintf(d->refused, sizeof d->refused,
			         "--trace=%.60s is ignored: the site's policy has \"user\": \"%s\"", text,
			         user_choice_names[allowed]);
	}
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		if (!choice.has[i])
			continue;
		if (allowed != USER_OFF && allowed != USER_NONE &&
		    may(allowed, setting_compare(s, &choice.set, &d->set))) {
			setting_copy(s, &d->set, &choice.set);
			o->set[i] = (struct origin){by, NULL, 0};
		} else {
			add_reason(d, "; %s of %s was ignored: the policy has \"user\": \"%s\"", s->name, said,
			           user_choice_names[allowed]);
		}
	}
	return taken;
}

static void apply_choices(struct decision *d, enum user_choice allowed, const struct facts *facts, struct origins *o)
{
	const char *option = facts_get(facts, "trace_option"), *environment = facts_get(facts, "trace_environment");

	if (option)
		apply_choice(d, allowed, option, "--trace", "command line", o);
	else if (environment)
		apply_choice(d, allowed, environment, "SPOOR_TRACE", "environment", o);
}

static void apply_cap(const struct policy *p, struct decision *d, struct origins *o)
{
	struct origin here = {"cap", policy_file(p), p->cap_line};
	char text[MODE_TEXT_SIZE];

	if (!p->cap_line)
		return;
	/* A cap without a mode has off there, and means none. */
	if (p->cap_mode.kind != MODE_OFF && amount(&d->mode) > amount(&p->cap_mode)) {
		d->mode = p->cap_mode;
		o->mode = here;
		add_reason(d, "; the cap in line %zu makes it %s", p->cap_line, mode_format(&d->mode, text));
	}
	for (size_t i = 0; i < setting_count; i++) {
		if (p->cap_has[i] && setting_compare(&setting_table[i], &d->set, &p->cap) > 0) {
			setting_copy(&setting_table[i], &d->set, &p->cap);
			o->set[i] = here;
		}
	}
}

/* --- containers --- */

/* The tracer's file is not there in a container's own tree of files, and the dynamic loader would complain to the user.
 * */
static void skip_container(const struct rule *rule, const struct facts *facts, struct decision *d)
{
	const char *container = facts_get(facts, "container");

	if (!container || !*container || d->set.containers || (rule && rule->has[IF_CONTAINER]) ||
	    d->mode.kind == MODE_OFF)
		return;
	d->mode = (struct mode){MODE_OFF, 0};
	add_reason(d, "; but the step runs in a container (%.100s), and \"containers\" is \"skip\"", container);
}

/* --- deciding --- */

static void decide_by(const struct policy *p, const struct rule *rule, const struct facts *facts, struct decision *d,
                      struct origins *o)
{
	apply_defaults(p, d, o);
	if (rule)
		apply_rule(rule, d, o);
	apply_choices(d, rule && rule->user != USER_UNSAID ? rule->user : p->user, facts, o);
	apply_cap(p, d, o);
	skip_container(rule, facts, d);
}

/* What would be done by each of the rules that are decided late, then what is done if none of them holds. */
static void add_alternatives(const struct policy *p, const struct rule *const *late, size_t n,
                             const struct facts *facts, struct decision *d)
{
	struct decision *one = malloc(sizeof *one);
	bool captures = d->mode.kind != MODE_OFF;
	int rv = one ? 0 : -1;

	for (size_t i = 0; i < n && !rv; i++) {
		decide_by(p, late[i], facts, one, NOTHING);
		captures = captures || one->mode.kind != MODE_OFF;
		rv = alternative_add(d, late[i], one);
	}
	rv = rv ? rv : alternative_add(d, NULL, d);
	if (rv)
		add_reason(d, "; rules that ask for the executable are left out: they are too long");
	if (rv || !captures)
		d->alternatives[0] = '\0';
	free(one);
}

void policy_decide_origins(const struct policy *p, const struct facts *facts, struct decision *d,
                           struct origins *origins)
{
	const struct rule *late[ALTERNATIVES_MAX], *rule = NULL;
	struct subject *s = malloc(sizeof *s);
	size_t n = 0;
	bool too_many = false, read = s && !subject_read(s, facts);

	if (read)
		n = find_rules(p, s, late, &too_many, &rule);
	decide_by(p, rule, facts, d, origins);
	if (!read) {
		d->mode = (struct mode){MODE_OFF, 0};
		snprintf(d->reason, sizeof d->reason, "out of memory");
	}
	if (n > 0)
		add_alternatives(p, late, n, facts, d);
	if (too_many)
		add_reason(d, "; more than %d rules ask for the executable, the rest was not looked at",
		           ALTERNATIVES_MAX);
	if (read)
		subject_free(s);
	free(s);
}

void policy_decide(const struct policy *p, const struct facts *facts, struct decision *d)
{
	policy_decide_origins(p, facts, d, NOTHING);
}

static void __attribute__((format(printf, 2, 3))) tell_line(policy_tell *tell, const char *format, ...)
{
	char line[LINE];
	va_list ap;
	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	tell(line);
}

void policy_explain(const struct policy *p, const struct facts *facts, size_t most, policy_tell *tell)
{
	struct subject *s = malloc(sizeof *s);
	size_t untold = 0;
	bool matched = false;

	if (!s || subject_read(s, facts)) {
		free(s);
		return;
	}
	for (size_t i = 0; i < p->rule_count && !matched; i++) {
		const struct rule *rule = p->rules[i];
		struct error why = {""};
		enum verdict verdict = rule_verdict(rule, s, &why);
		matched = verdict == HOLDS;
		if (verdict == HOLDS_NOT && i >= most) {
			untold++;
			continue;
		}
		if (matched && untold)
			tell_line(tell, "and %zu more rules do not match", untold);
		tell_line(tell, "%s:%zu: rule \"%s\" %s%s", rule->file, rule->line, rule->name,
		          matched              ? "matches"
		          : verdict == UNKNOWN ? "matches if the program does"
		                               : "does not match: ",
		          why.text);
	}
	if (!matched && untold)
		tell_line(tell, "and %zu more rules do not match", untold);
	if (!matched)
		tell_line(tell, "%s:%zu: the default applies", policy_file(p), p->mode_line);
	for (size_t i = 0; i < p->hook_count; i++) {
		const struct rule *hook = p->hooks[i];
		struct error why = {""};
		if (rule_verdict(hook, s, &why) == HOLDS)
			tell_line(tell, "%s:%zu: hook \"%s\" runs %s", hook->file, hook->line, hook->name, hook->run);
		else
			tell_line(tell, "%s:%zu: hook \"%s\" does not run: %s", hook->file, hook->line, hook->name,
			          why.text[0] ? why.text : "the executable or the number of ranks is not known");
	}
	subject_free(s);
	free(s);
}
