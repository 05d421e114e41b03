/* SPDX-License-Identifier: BSD-3-Clause
 * hook_state - for which traces hooks were run: files that are none, lines that are torn, and what is forgotten
 */
#include "cmd/hook_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"

static char file[4096];

static void write_file(const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a file of %zu bytes", strlen(text));
	close(fd);
}

static bool opens(struct hook_state *s, const char *expected)
{
	struct error error = {""};
	int rv = hook_state_open(s, file, &error);
	return expected ? rv != 0 && strstr(error.text, expected) : rv == 0;
}

static void test_bad(void)
{
	static const char *const bad[] = {
		"x", "root:x:0:0:root:/root:/bin/bash\n",
		"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"};
	struct hook_state s;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_file(bad[i]);
		ok(opens(&s, "is none of hooks"), "another file is refused");
		hook_state_close(&s);
	}
	write_file("");
	chmod(file, 0666);
	ok(opens(&s, "others cannot write"), "one that others can write is refused");
	hook_state_close(&s);
	unlink(file);
}

static void test_entries(void)
{
	struct error error = {""};
	struct hook_state s, other;
	ok(opens(&s, NULL) && s.since > 0 && s.count == 0, "a new one begins now");
	ok(opens(&other, "another `spoor hooks` has it"), "one process at a time");
	hook_state_close(&other);
	int64_t t = s.since;
	for (uint64_t i = 0; i < 5; i++)
		hook_state_put(&s, &(struct hook_entry){t + (int64_t)i, i % 2, 100 + i, 3}, &error);
	hook_state_put(&s, &(struct hook_entry){t + 1, 1, 101, 0}, &error);
	ok(s.count == 5 && hook_state_count(&s, 0, 0) == 3 && hook_state_count(&s, 1, 0) == 2, "entries of users");
	hook_state_close(&s);
	ok(opens(&s, NULL) && s.since == t && s.count == 5, "they are there the next time");
	const struct hook_entry *e = hook_state_find(&s, 1, 101);
	ok(e && e->left == 0 && e->arrived == t + 1 && !hook_state_find(&s, 0, 101), "a changed one; of nobody else");
	ok(hook_state_advance(&s, t + 3, &error) == 0 && !hook_state_find(&s, 0, 102) &&
	           hook_state_count(&s, 0, 0) == 1,
	   "what arrived before is forgotten");
	hook_state_put(&s, &(struct hook_entry){t + 9, 7, 109, 1}, &error);
	ok(s.count == 5, "and its place is taken");
	hook_state_close(&s);
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	ok(fd >= 0 && pwrite(fd, "\0\0\0", 3, 4 * 51 + 20) == 3 && ftruncate(fd, 6 * 51 - 7) == 0, "a torn file");
	close(fd);
	ok(opens(&s, NULL) && s.since == t + 3 && hook_state_find(&s, 7, 109) && !hook_state_find(&s, 1, 103),
	   "a torn line is free, the others stay");
	hook_state_close(&s);
}

static void test_full(void)
{
	struct error error = {""};
	struct hook_state s;
	unlink(file);
	ok(opens(&s, NULL), "another one");
	for (s.count = 0; s.count < HOOK_ENTRIES; s.count++)
		s.entries[s.count] = (struct hook_entry){s.since, 1, s.count, 1};
	ok(hook_state_put(&s, &(struct hook_entry){s.since, 1, UINT64_MAX, 1}, &error) != 0 && *error.text,
	   "full: says so");
	ok(hook_state_put(&s, &(struct hook_entry){s.since, 1, 5, 0}, &error) == 0,
	   "full: what is there can be changed");
	hook_state_close(&s);
}

int main(void)
{
	const char *temporary = getenv("TMPDIR");
	char folder[2048];
	snprintf(folder, sizeof folder, "%s/hook_state.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof file, "%s/state", folder);
	test_bad();
	test_entries();
	test_full();
	unlink(file);
	rmdir(folder);
	return tap_end();
}
