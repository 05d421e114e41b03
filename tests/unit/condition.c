/* SPDX-License-Identifier: BSD-3-Clause
 * condition - facts that are missing, late or no values; whom rules are for, and why not; which rule covers another
 */
#include "policy/condition.h"

#include "policy/rule.h"
#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

/* A job: names and values in turn. */
static void facts_of(struct facts *f, const char *const *list)
{
	*f = (struct facts){.count = 0};
	for (; *list; list += 2)
		facts_set(f, list[0], list[1]);
}
#define JOB(...)                  \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static enum verdict ask(const struct rule *r, const char *const *job, struct error *why)
{
	struct facts f;
	struct subject *s = malloc(sizeof *s);
	facts_of(&f, job);
	if (!s || subject_read(s, &f) != 0)
		abort();
	enum verdict v = rule_verdict(r, s, why);
	subject_free(s);
	free(s);
	facts_clear(&f);
	return v;
}

static struct rule *rule_with(enum condition_name what, const char *glob)
{
	struct rule *r = rule_create("file");
	r->has[what] = true;
	if (glob && condition_add_glob(&r->conditions[what], glob) != 0)
		abort();
	return r;
}

static void holds_not(const struct rule *r, const char *const *job, const char *words)
{
	struct error why = {""};
	ok(ask(r, job, &why) == HOLDS_NOT && strstr(why.text, words), "does not hold: %s", why.text);
}

static void test_texts(void)
{
	struct rule *r = rule_with(IF_USER, "al*");
	holds_not(r, JOB("job", "1"), "user is not known");
	holds_not(r, JOB("user", "bob"), "user is \"bob\", not \"al*\"");
	ok(ask(r, JOB("user", "alice"), NULL) == HOLDS, "a user");
	ok(ask(r, JOB("user", "bob,alice"), NULL) == HOLDS_NOT, "a user's name is no list");
	condition_add_glob(&r->conditions[IF_USER], "bob");
	holds_not(r, JOB("user", "carol"), "or another of the list");
	ok(ask(r, JOB("user", "bob"), NULL) == HOLDS, "the second pattern");
	rule_destroy(r);
	r = rule_with(IF_GROUP, "hpc");
	ok(ask(r, JOB("groups", "users,hpc"), NULL) == HOLDS && ask(r, JOB("groups", "hpc2,xhpc"), NULL) == HOLDS_NOT &&
	           ask(r, JOB("groups", ""), NULL) == HOLDS_NOT,
	   "one of a list");
	rule_destroy(r);
	r = rule_with(IF_EXECUTABLE, "solve");
	ok(ask(r, JOB("job", "1"), NULL) == UNKNOWN, "an executable that is known only later");
	ok(ask(r, JOB("executable", "/opt/x/solve"), NULL) == HOLDS &&
	           ask(r, JOB("executable", "solve"), NULL) == HOLDS &&
	           ask(r, JOB("executable", "/solve/x"), NULL) == HOLDS_NOT,
	   "an executable by its path, and by its name");
	r->has[IF_USER] = true;
	condition_add_glob(&r->conditions[IF_USER], "alice");
	ok(ask(r, JOB("user", "bob"), NULL) == HOLDS_NOT && ask(r, JOB("user", "alice"), NULL) == UNKNOWN,
	   "what does not hold is not late");
	rule_destroy(r);
}

/* However many groups a user is in: all are looked at, and so is what comes behind them. */
static void test_many(void)
{
	struct rule *r = rule_with(IF_GROUP, "last"), *account = rule_with(IF_ACCOUNT, "a");
	char *groups = malloc(FACT_VALUE_MAX + 1), *p = groups;
	while (p + 10 < groups + FACT_VALUE_MAX)
		p += sprintf(p, "g,");
	strcpy(p, "last");
	ok(ask(r, JOB("groups", groups), NULL) == HOLDS, "the last of thousands of groups");
	ok(ask(account, JOB("groups", groups, "account", "a"), NULL) == HOLDS, "a fact behind them");
	free(groups);
	rule_destroy(r);
	rule_destroy(account);
}

static void test_numbers(void)
{
	struct rule *r = rule_with(IF_NODES, NULL);
	r->conditions[IF_NODES].least = 2;
	r->conditions[IF_NODES].most = 4;
	holds_not(r, JOB("nodes", "1"), "nodes is 1, less than 2");
	holds_not(r, JOB("nodes", "5"), "nodes is 5, more than 4");
	holds_not(r, JOB("nodes", "x"), "nodes is not known");
	holds_not(r, JOB("nodes", "-3"), "nodes is not known");
	ok(ask(r, JOB("nodes", "2"), NULL) == HOLDS && ask(r, JOB("nodes", "4"), NULL) == HOLDS, "both ends");
	rule_destroy(r);
	r = rule_with(IF_TIME_LIMIT, NULL);
	r->conditions[IF_TIME_LIMIT].least = 60;
	holds_not(r, JOB("time_limit", "59:00"), "less than 60");
	ok(ask(r, JOB("time_limit", "59:01"), NULL) == HOLDS && ask(r, JOB("time_limit", "UNLIMITED"), NULL) == HOLDS,
	   "a time limit");
	r->conditions[IF_TIME_LIMIT].most = 100;
	holds_not(r, JOB("time_limit", "UNLIMITED"), "UNLIMITED, more than 100");
	rule_destroy(r);
	r = rule_with(IF_TIME, NULL);
	condition_add_span(&r->conditions[IF_TIME], 22 * 60, 6 * 60);
	ok(ask(r, JOB("time", "22:00"), NULL) == HOLDS && ask(r, JOB("time", "05:59"), NULL) == HOLDS &&
	           ask(r, JOB("time", "06:00"), NULL) == HOLDS_NOT,
	   "over midnight");
	holds_not(r, JOB("time", "12:00"), "time is 12:00");
	holds_not(r, JOB("time", "noon"), "not known");
	rule_destroy(r);
	r = rule_with(IF_SAMPLE, NULL);
	r->conditions[IF_SAMPLE].share = 1 << 30;
	holds_not(r, JOB("user", "x"), "job is not known");
	holds_not(r, JOB("job", "0"), "job 0 is not in the sample");
	ok(ask(r, JOB("job", "123456"), NULL) == HOLDS &&
	           ask(r, JOB("job", "0", "het_job_id", "123456"), NULL) == HOLDS,
	   "a sample; the components of a job are one");
	r->conditions[IF_SAMPLE].share = UINT32_MAX;
	ok(ask(r, JOB("job", "0"), NULL) == HOLDS, "all jobs");
	rule_destroy(r);
}

static bool covers(enum condition_name what, struct condition a, struct condition b)
{
	return condition_covers(what, &a, &b);
}

static void test_covering(void)
{
	struct rule *all = rule_create("file"), *users = rule_with(IF_USER, "a*"), *alice = rule_with(IF_USER, "alice");
	ok(rule_covers(all, users) && !rule_covers(users, all), "a rule without conditions covers all");
	ok(rule_covers(users, alice) && !rule_covers(alice, users), "patterns");
	condition_add_glob(&alice->conditions[IF_USER], "bob");
	ok(!rule_covers(users, alice), "each of the patterns must be covered");
	struct condition wide = {.least = 2, .most = 9}, narrow = {.least = 3, .most = 9}, night = {0}, noon = {0};
	ok(covers(IF_NODES, wide, narrow) && !covers(IF_NODES, narrow, wide), "ranges");
	condition_add_span(&night, 22 * 60, 6 * 60);
	condition_add_span(&noon, 11 * 60, 13 * 60);
	ok(!covers(IF_TIME, night, noon) && covers(IF_TIME, noon, noon), "times");
	condition_add_span(&night, 10 * 60, 14 * 60);
	ok(covers(IF_TIME, night, noon), "two spans");
	ok(covers(IF_SAMPLE, (struct condition){.share = 2}, (struct condition){.share = 1}) &&
	           !covers(IF_SAMPLE, (struct condition){.share = 1}, (struct condition){.share = 2}),
	   "samples");
	condition_clear(&night);
	condition_clear(&noon);
	rule_destroy(all);
	rule_destroy(users);
	rule_destroy(alice);
}

static struct subject subject;

static int rule_and_subject(void *context)
{
	struct rule *r = rule_create("file");
	int rv = r && condition_add_glob(&r->conditions[IF_USER], "a*") == 0 &&
	                         condition_add_glob(&r->conditions[IF_USER], "b") == 0 &&
	                         condition_add_span(&r->conditions[IF_TIME], 1, 2) == 0 &&
	                         subject_read(&subject, context) == 0
	                 ? 0
	                 : -1;
	rule_destroy(r);
	subject_free(&subject);
	return rv;
}

int main(void)
{
	struct facts f;
	test_texts();
	test_many();
	test_numbers();
	test_covering();
	facts_of(&f, JOB("user", "a", "groups", "x,y"));
	ok(fails_well(rule_and_subject, &f), "no memory");
	facts_clear(&f);
	return tap_end();
}
