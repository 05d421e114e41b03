/* SPDX-License-Identifier: BSD-3-Clause
 * policy - `spoor policy check FILE` and `spoor policy explain [FACT=VALUE...]`
 */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "archive/archive.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "policy/suggest.h"

#define EXPLAIN_MOST 50 /* rules that are told though they do not match */

static void print_problems(const char *path, struct problems *problems)
{
	if (problems->text)
		say_lines(stderr, problems->text);
	if (problems->count > PROBLEMS_MAX)
		say_to(stderr, "%s: and %zu more problems\n", path, problems->count - PROBLEMS_MAX);
	problems_clear(problems);
}

static struct policy *load_policy(const char *path)
{
	struct problems problems = {0};
	struct policy *policy = policy_load(path, false, &problems);

	print_problems(path, &problems);
	return policy;
}

static int policy_check(const char *path)
{
	struct policy *policy = load_policy(path);
	struct problems problems = {0};
	struct facts none = {0};
	char mode[MODE_TEXT_SIZE];
	struct decision d;

	if (!policy)
		return CMD_FAILED;
	policy_find_unreachable(policy, &problems);
	bool good = problems.count == 0;
	print_problems(path, &problems);
	if (good)
		policy_find_evadable(policy, &problems); /* no error: rules are for sorting, too */
	print_problems(path, &problems);
	policy_decide(policy, &none, &d);
	if (good)
		say("%s: good: %zu rules%s; a job that no rule matches: %s\n", path, policy_rule_count(policy),
		    policy_hook_count(policy) ? ", with hooks" : "", mode_format(&d.mode, mode));
	policy_destroy(policy);
	return good ? CMD_OK : CMD_FAILED;
}

static int read_fact_arguments(struct facts *facts, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		if (!equals)
			return options_wrong("spoor policy", "expected FACT=VALUE, found \"%s\"", argv[i]);
		*equals = '\0';
		size_t k = 0;
		while (k < policy_fact_count && strcmp(policy_fact_names[k], argv[i]))
			k++;
		if (k == policy_fact_count) {
			const char *near = suggest(argv[i], policy_fact_names, policy_fact_count);
			say_to(stderr, "spoor policy: unknown fact \"%s\"%s%s%s\n", argv[i],
			       near ? "; did you mean \"" : "", near ? near : "; see spoor policy --help",
			       near ? "\"?" : "");
			return CMD_USAGE;
		}
		const char *problem = policy_fact_problem(argv[i], equals + 1);
		if (problem) {
			say_to(stderr, "spoor policy: %s=%s: %s\n", argv[i], equals + 1, problem);
			return CMD_USAGE;
		}
		facts_set(facts, argv[i], equals + 1);
	}
	return CMD_OK;
}

static void print_origin(const struct origin *o)
{
	if (o->file)
		say("   (%s, %s:%zu)\n", o->by, o->file, o->line);
	else
		say("   (%s)\n", o->by);
}

static void print_setting(const struct setting *s, const struct settings *set, const struct origin *o)
{
	char value[SETTING_TEXT_SIZE];
	bool unit = s->kind == SETTING_COUNT || s->kind == SETTING_BYTES;

	say("%-13s %s%s%s", s->name, *setting_format(s, set, value) ? value : "-", unit ? " " : "",
	    unit ? s->words : "");
	print_origin(o);
}

static void print_decision(const struct decision *d, const struct origins *o)
{
	char mode[MODE_TEXT_SIZE];

	say("mode          %s", mode_format(&d->mode, mode));
	print_origin(&o->mode);
	say("because       %s\nrule          %s%s%s%s\n", d->reason, d->rule, d->where[0] ? " (" : "", d->where,
	    d->where[0] ? ")" : "");
	say("archive       %s\nspool         %s\nadmin_group   %s\n", d->archive, d->spool,
	    d->admin_group[0] ? d->admin_group : "-");
	for (size_t i = 0; i < setting_count; i++)
		print_setting(&setting_table[i], &d->set, &o->set[i]);
	if (d->alternatives[0])
		say("This is so unless the program is one that a rule above asks for: say executable=PATH, ranks=N.\n");
}

static void say_rule(const char *line)
{
	say("%s\n", line);
}

static int policy_explain_job(const char *path, int argc, char **argv)
{
	struct facts facts = {0};
	struct decision d;
	struct origins origins;
	int status = read_fact_arguments(&facts, argc, argv);

	if (status == CMD_OK) {
		struct policy *policy = load_policy(path);
		status = policy ? CMD_OK : CMD_FAILED;
		if (policy) {
			policy_explain(policy, &facts, EXPLAIN_MOST, say_rule);
			policy_decide_origins(policy, &facts, &d, &origins);
			print_decision(&d, &origins);
		}
		policy_destroy(policy);
	}
	facts_clear(&facts);
	return status;
}

int cmd_policy(int argc, char **argv)
{
	const char *path = archive_policy();
	const struct option_line lines[] = {OPTION_POLICY(&path), OPTION_END};
	const struct options options = {
		"spoor policy",
		"check [FILE] | explain [FACT=VALUE...]",
		"Checks or explains a policy. With check: prints all errors of a policy and its fragments; the exit "
		"status is 1 if there are any. With explain: prints what would happen to a job with these facts, and "
		"which rule decides.",
		"Facts: user, groups, account, partition, qos, job_name, executable, reservation,\n"
		"container, weekday (mon), time (14:30), nodes, tasks, ranks, time_limit (minutes\n"
		"or D-HH:MM:SS), job (its number), trace_option (what --trace says),\n"
		"trace_environment (what SPOOR_TRACE says). For hooks: state, reason, elapsed\n"
		"(minutes), and figures, shares in percent"
#define CONDITION_NEVER

#define CONDITION_IF(ID, name) ", " #name

#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, ...) CONDITION_##condition
#include "insight/figures.def"
		".",
		lines,
		1,
		-1,
		false};
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	const char *what = argv[optind++];
	if (!strcmp(what, "explain"))
		return policy_explain_job(path, argc - optind, argv + optind);
	if (strcmp(what, "check"))
		return options_wrong("spoor policy", "expected check or explain, found \"%s\"", what);
	if (argc - optind > 1)
		return options_wrong("spoor policy", "check: unexpected argument %s", argv[optind + 1]);
	return policy_check(optind < argc ? argv[optind] : path);
}
