/* SPDX-License-Identifier: BSD-3-Clause
 * policy - patterns, times, samples; the first rule that matches counts, also of very many
 */
#include "policy/policy.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/condition.h"
#include "policy/glob.h"
#include "policy/rule.h"
#include "tests/unit/tap.h"

static char folder[PATH_MAX];

static uint32_t chance(uint32_t n)
{
	return (uint32_t)random_below(n);
}

/* --- patterns --- */

static void test_globs(void)
{
	static const char *const bad[] = {"[", "a[b", "[]", "[!]", "[a-", "a\\", "[z-a]", "[[:alpha:]", "x[9-0]"};
	static const char *const good[] = {"",    "a",   "[a]",          "[]]",     "[!]]",    "[a-z]",
	                                   "\\[", "[[]", "[[:alpha:]]x", "*?[^a]*", "[a\\]b]", "[a-]"};
	unsigned wrong = 0, covers = 0, false_covers = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(glob_problem(bad[i]) != NULL, "bad pattern: %s", bad[i]);
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		ok(glob_problem(good[i]) == NULL, "good pattern: %s", good[i]);
	for (int i = 0; i < 300000; i++) {
		char pattern[9] = "", other[9] = "", value[9] = "";
		const char *letters = i % 2 ? "ab*?" : "ab*?[]!\\";
		for (uint32_t n = chance(8), k = 0; k < n; k++)
			pattern[k] = letters[chance((uint32_t)strlen(letters))];
		for (uint32_t n = chance(5), k = 0; k < n; k++)
			other[k] = letters[chance(4)];
		for (uint32_t n = chance(8), k = 0; k < n; k++)
			value[k] = "ab"[chance(2)];
		if (glob_problem(pattern))
			continue;
		bool matches = glob_matches(pattern, value);
		wrong += matches != (fnmatch(pattern, value, 0) == 0);
		if (glob_covers(pattern, other)) {
			covers++;
			false_covers += fnmatch(other, value, 0) == 0 && !matches;
		}
	}
	ok(wrong == 0, "random patterns match as fnmatch says (%u do not)", wrong);
	ok(covers > 1000 && false_covers == 0,
	   "a pattern that covers another matches all that it does (%u of %u do not)", false_covers, covers);
}

static void test_values(void)
{
	static const struct {
		const char *text;
		int64_t minutes;
	} limits[] = {{"90", 90},
	              {"1:30", 2},
	              {"2:00", 2},
	              {"2:30:00", 150},
	              {"1-12:00:00", 2160},
	              {"1-0", 1440},
	              {"3-1:30", 4410},
	              {"UNLIMITED", INT64_MAX},
	              {"", -1},
	              {"x", -1},
	              {"1-", -1},
	              {"1:2:3:4", -1},
	              {"-5", -1},
	              {"1 ", -1},
	              {"1-2-3", -1}};
	unsigned inside = 0;

	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		ok(condition_time_limit(limits[i].text) == limits[i].minutes, "time limit \"%s\": %" PRId64,
		   limits[i].text, condition_time_limit(limits[i].text));
	ok(condition_minutes("00:00", 5) == 0 && condition_minutes("23:59", 5) == 1439 &&
	           condition_minutes("24:00", 5) == 1440,
	   "times of day");
	ok(condition_minutes("24:01", 5) < 0 && condition_minutes("12:60", 5) < 0 && condition_minutes("1:00", 4) < 0 &&
	           condition_minutes("1a:00", 5) < 0,
	   "no times of day");
	/* These may never change: which jobs of a sample are captured would. */
	ok(condition_hash(0) == 0xe220a839 && condition_hash(1) == 0x910a2dec && condition_hash(123456) == 0x39e65b81,
	   "places of jobs: %08x %08x %08x", condition_hash(0), condition_hash(1), condition_hash(123456));
	for (uint64_t job = 1000000; job < 1100000; job++)
		inside += condition_hash(job) < 429496729;
	ok(inside > 9700 && inside < 10300, "a sample of 0.1 has %u of 100000 jobs", inside);
}

/* --- random policies --- */

static const char *const users[] = {"alice", "alibi", "bob", "bo", "carol", "a*", "al?ce", "*o*", "[a-b]*", "zoe"};
static const char *const names[] = {"run", "run1", "prod_7", "run*", "*_7", "prod*", "x\\\\[y"};

static void write_match(FILE *f)
{
	const char *comma = "";
	if (chance(2)) {
		fprintf(f, "\"user\": [\"%s\", \"%s\"]", users[chance(10)], users[chance(10)]);
		comma = ", ";
	}
	if (chance(2)) {
		fprintf(f, "%s\"job_name\": \"%s\"", comma, names[chance(7)]);
		comma = ", ";
	}
	if (chance(3) == 0) {
		fprintf(f, "%s\"group\": \"g%u\"", comma, chance(5));
		comma = ", ";
	}
	if (chance(3) == 0) {
		fprintf(f, "%s\"nodes_min\": %u, \"nodes_max\": %u", comma, chance(4), 4 + chance(4));
		comma = ", ";
	}
	if (chance(4) == 0)
		fprintf(f, "%s\"sample\": 0.%u", comma, 1 + chance(9));
}

static void write_policy(const char *path, uint32_t rules)
{
	FILE *f = fopen(path, "w");
	fprintf(f, "{\"version\": 1, \"rules\": [");
	for (uint32_t i = 0; i < rules; i++) {
		fprintf(f, "%s\n{\"name\": \"r%u\", \"mode\": \"lossy:%u\", \"match\": {", i ? "," : "", i, i);
		write_match(f);
		fprintf(f, "}}");
	}
	fprintf(f, "\n]}\n");
	fclose(f);
}

static void make_facts(struct facts *f)
{
	facts_set(f, "user", users[chance(5)]);
	facts_set(f, "job_name", names[chance(3)]);
	facts_format(f, "groups", "g%u,g%u,users", chance(7), chance(7));
	facts_format(f, "nodes", "%u", chance(9));
	facts_format(f, "job", "%u", chance(1000));
}

static const struct rule *first_match(const struct policy *p, const struct facts *facts)
{
	static struct subject s;
	const struct rule *found = NULL;
	subject_read(&s, facts);
	for (size_t i = 0; i < p->rule_count && !found; i++)
		found = rule_verdict(p->rules[i], &s, NULL) == HOLDS ? p->rules[i] : NULL;
	subject_free(&s);
	return found;
}

static void test_random(void)
{
	char path[PATH_MAX + 32];
	unsigned wrong = 0, matched = 0, reached = 0;

	snprintf(path, sizeof path, "%s/random.json", folder);
	for (int i = 0; i < 60; i++) {
		struct problems problems = {0}, unreachable = {0};
		write_policy(path, 1 + chance(60));
		struct policy *p = policy_load(path, false, &problems);
		if (!p) {
			ok(false, "a random policy is good: %s", problems.text);
			return;
		}
		policy_find_unreachable(p, &unreachable);
		for (int k = 0; k < 100; k++) {
			struct facts f = {0};
			struct decision d;
			char dead[200];
			make_facts(&f);
			policy_decide(p, &f, &d);
			const struct rule *rule = first_match(p, &f);
			wrong += strcmp(d.rule, rule ? rule->name : "default") != 0;
			matched += rule != NULL;
			snprintf(dead, sizeof dead, "rule \"%s\" is never", d.rule);
			reached += unreachable.text && strstr(unreachable.text, dead);
			facts_clear(&f);
		}
		problems_clear(&unreachable);
		policy_destroy(p);
	}
	ok(wrong == 0 && matched > 1000, "the first rule that matches counts (%u of 6000 wrong, %u matched)", wrong,
	   matched);
	ok(reached == 0, "a rule that is never reached is never reached (%u times)", reached);
}

/* --- many rules --- */

/* 10,000 rules of a kind in 10 MB. */
static void write_large(const char *path, int kind)
{
	FILE *f = fopen(path, "w");
	fprintf(f, "{\"version\": 1, \"rules\": [");
	for (int i = 0; i < 10000; i++) {
		fprintf(f, "%s\n{\"name\": \"r%d\", \"mode\": \"lossless\", \"comment\": \"%0800d\", \"match\": {",
		        i ? "," : "", i, i);
		if (kind == 0)
			fprintf(f, "\"user\": [\"user%d\", \"other%d\"], \"account\": \"a%d*\"", i, i, i);
		else if (kind == 1)
			fprintf(f, "\"job_name\": [\"*%dx\", \"*_prod_%d*\"], \"nodes_min\": %d", i, i, i % 7);
		else
			fprintf(f, "\"nodes_min\": %d, \"tasks_max\": %d", 10 + i, 20000 - i);
		fprintf(f, "}}");
	}
	fprintf(f, "\n]}\n");
	fclose(f);
}

static void test_large(void)
{
	static const char *const kinds[] = {"users and accounts", "patterns that begin with *", "numbers"};
	static const char *const rules[] = {"r9999", "default", "default"};
	char path[PATH_MAX + 32];
	struct problems problems = {0};
	struct facts f = {0};
	struct decision d;

	facts_set(&f, "user", "other9999");
	facts_set(&f, "account", "a9999");
	facts_set(&f, "job_name", "a job with a name of some length 9999");
	facts_set(&f, "nodes", "9");
	facts_set(&f, "tasks", "144");
	snprintf(path, sizeof path, "%s/large.json", folder);
	for (int kind = 0; kind < 3; kind++) {
		write_large(path, kind);
		struct policy *p = policy_load(path, false, &problems);
		ok(p != NULL, "10,000 rules on %s: read: %s", kinds[kind], problems.text ? problems.text : "");
		if (!p)
			return;
		policy_decide(p, &f, &d);
		ok(!strcmp(d.rule, rules[kind]), "and decided: %s", d.rule);
		policy_destroy(p);
	}
	facts_clear(&f);
	problems_clear(&problems);
}

int main(void)
{
	const char *temporary = getenv("TMPDIR");
	char command[PATH_MAX + 32];

	snprintf(folder, sizeof folder - 64, "%s/policy.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	test_globs();
	test_values();
	test_random();
	test_large();
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command))
		return 1;
	return tap_end();
}
