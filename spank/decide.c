/* SPDX-License-Identifier: BSD-3-Clause
 * decide - spoor-helper decide: the facts of a step in, a decision out
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"
#include "spank/helper.h"

#define GROUPS_MAX 1024

static size_t user_groups(const char *user, gid_t gid, gid_t groups[GROUPS_MAX])
{
	int n = GROUPS_MAX;
	if (user && getgrouplist(user, gid, groups, &n) >= 0)
		return (size_t)n;
	groups[0] = gid;
	return 1;
}

/* The names behind the numbers. Sites may have users that only the nodes' directory service knows, or not at all. */
static size_t name_user(struct facts *facts, uid_t uid, gid_t gid, gid_t groups[GROUPS_MAX])
{
	const struct passwd *pw = getpwuid(uid);
	char names[FACT_VALUE_MAX] = "";
	size_t used = 0;

	if (pw)
		facts_set(facts, "user", pw->pw_name);
	else
		facts_format(facts, "user", "%lu", (unsigned long)uid);
	size_t n = user_groups(pw ? facts_get(facts, "user") : NULL, gid, groups);
	for (size_t i = 0; i < n; i++) {
		const struct group *gr = getgrgid(groups[i]);
		if (gr && used + strlen(gr->gr_name) + 2 < sizeof names)
			used += (size_t)sprintf(names + used, "%s%s", used ? "," : "", gr->gr_name);
	}
	if (used)
		facts_set(facts, "groups", names);
	return n;
}

/* As the user, for good. Returns 0, or -1 having said why. */
static int check_preload(const char *preload, uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	if (geteuid() == 0 && (setgroups(n, groups) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))) {
		fprintf(stderr, "could not become user %lu: %s\n", (unsigned long)uid, strerror(errno));
		return -1;
	}
	if (access(preload, R_OK)) {
		fprintf(stderr, "%s: user %lu cannot read the tracer: %s\n", preload, (unsigned long)uid, strerror(errno));
		return -1;
	}
	return 0;
}

int helper_decide(struct facts *facts, const char *path, const char *preload)
{
	static gid_t groups[GROUPS_MAX];
	struct problems problems = {0};
	struct decision decision;
	int rv = -1;

	int64_t uid = facts_number(facts, "uid", -1), gid = facts_number(facts, "gid", -1);
	if (uid < 0 || gid < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX) {
		fputs("stdin: uid and gid are missing\n", stderr);
		return -1;
	}
	struct policy *policy = policy_load(path, geteuid() == 0, &problems);
	if (!policy) {
		const char *text = problems.text ? problems.text : "no memory";
		/* The whole list is for `spoor policy check`; a log of every job's every step is no place for it. */
		fprintf(stderr, "%.*s", (int)strcspn(text, "\n"), text);
		if (problems.count > 1)
			fprintf(stderr, " (and %zu more problems)", problems.count - 1);
		fputc('\n', stderr);
		problems_clear(&problems);
		return -1;
	}
	size_t n = name_user(facts, (uid_t)uid, (gid_t)gid, groups);
	policy_decide(policy, facts, &decision);
	policy_destroy(policy);
	char *text = decision_encode(&decision);
	if (!text) {
		fputs("out of memory\n", stderr);
	} else if (decision.mode.kind == MODE_OFF || !check_preload(preload, (uid_t)uid, (gid_t)gid, groups, n)) {
		rv = fputs(text, stdout) < 0 || fflush(stdout) ? -1 : 0;
	}
	free(text);
	return rv;
}
