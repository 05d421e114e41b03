/* SPDX-License-Identifier: BSD-3-Clause
 * host - names of hosts: with a number, without one, impossible ones
 */
#include "trace/model/host.h"

#include "merge/merge.h"
#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static const char *const names[] = {"node0001",    "node0002", "node0002", "a1b22.site7.org",
                                    "login",       "42",       "n#3",      "",
                                    "n0123456789", "n1",       "n01",      ".x1"};
enum { RANKS = sizeof names / sizeof *names };

struct seen {
	char text[400];
};

static void see(void *context, const char *name, uint64_t ranks)
{
	struct seen *s = context;
	size_t n = strlen(s->text);
	snprintf(s->text + n, sizeof s->text - n, "%s=%llu ", name, (unsigned long long)ranks);
}

/* The trace of all ranks. Returns 0 or -1; to be freed in any case. */
static int make(struct trace *all)
{
	int rv = trace_init(all);
	all->size = RANKS;
	for (uint32_t i = 0; i < RANKS && rv == 0; i++) {
		struct trace one;
		rv = trace_init(&one);
		one.size = RANKS;
		rv = rv || host_set(&one, i, names[i], strlen(names[i])) || rankmap_single(&one.events, i, 0, false) ||
		     merge_into(all, &one, NULL);
		trace_free(&one);
	}
	return rv ? -1 : 0;
}

static int make_and_look(void *context)
{
	struct trace t;
	struct seen seen = {""};
	(void)context;
	int rv = make(&t) || host_each(&t, see, &seen);
	if (rv != 0 && seen.text[0]) /* all or nothing */
		abort();
	trace_free(&t);
	return rv ? -1 : 0;
}

int main(void)
{
	struct trace t, one;
	struct seen seen = {""};
	char name[HOST_MAX], long_name[HOST_MAX + 100];
	size_t wrong = 0;
	if (make(&t) != 0)
		return 1;
	host_get(&t, RANKS + 5, name);
	ok(name[0] == '\0', "a rank that is not there has no host");
	for (uint32_t i = 0; i < RANKS; i++) {
		host_get(&t, i, name);
		wrong += strcmp(name, names[i]) != 0;
	}
	ok(wrong == 0, "%d names come back", RANKS);
	ok(t.strings.count < RANKS, "names that differ in their number are one string: %u strings", t.strings.count);
	ok(host_each(&t, see, &seen) == 0 && strcmp(seen.text, "node0001=1 node0002=2 a1b22.site7.org=1 login=1 42=1 "
	                                                       "n#3=1 =1 n0123456789=1 n1=1 n01=1 .x1=1 ") == 0,
	   "each host once, with its ranks: %s", seen.text);
	trace_free(&t);
	memset(long_name, 'h', sizeof long_name);
	long_name[sizeof long_name - 1] = '7';
	ok(trace_init(&one) == 0 && host_set(&one, 0, long_name, sizeof long_name) == 0, "a name that is too long");
	host_get(&one, 0, name);
	ok(strlen(name) == HOST_MAX - 1 && name[HOST_MAX - 2] == 'h', "is cut");
	trace_free(&one);
	ok(fails_well(make_and_look, NULL), "no memory");
	return tap_end();
}
