/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_suite - `spoor proxy --suite N`
 *
 * Each proxy is written by a process of its own, with this very command: what one trace needs, or lacks, is no matter
 * of the others.
 */
#include "cmd/proxy_suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/history.h"
#include "archive/suite_index.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "cmd/base/status.h"
#include "process/process.h"

#define PASSED_MOST 16

struct suite {
	struct suite_group groups[SUITE_RUNS];
	struct suite_run runs[SUITE_RUNS];
	size_t chosen[SUITE_CHOSEN];
	double shares[SUITE_CHOSEN];
	char paths[SUITE_CHOSEN][PATH_MAX];
	int count; /* chosen */
	double hours, all;
	char why[sizeof((struct error *)0)->text]; /* it could not be read */
};

static int read_suite(struct suite *s, const struct proxy_suite *o, struct error *error)
{
	struct catalog *c = NULL;
	char file[PATH_MAX / 2];
	int n = -1;
	if (fresh_index(&c, o->archive, true, false, error) == 0 && fresh_index_read(c, false, error) == 0 &&
	    catalog_lock(c, CATALOG_SHARE, 10000, error) == 0)
		n = suite_index_read(c, o->filter, s->groups, s->runs, &s->all, error);
	for (int i = 0; i < n; i++)
		s->hours += s->runs[i].weight;
	s->count = n < 0 ? -1 : suite_choose(s->runs, (size_t)n, o->wanted, s->chosen, s->shares);
	for (int k = 0; k < s->count; k++) {
		if (history_path(c, s->groups[s->chosen[k]].id, file, sizeof file) != 0 ||
		    (size_t)snprintf(s->paths[k], sizeof s->paths[k], "%s/%s", c->archive, file) >= sizeof s->paths[k])
			s->count = error_set(error, "a trace of the index has no file");
	}
	catalog_close(c);
	if (n >= 0 && s->count < 0)
		error_set(error, "out of memory");
	return s->count < 0 ? -1 : 0;
}

/* Letters and digits, so that it is a folder's name anywhere. */
static void name_proxy(char *out, size_t size, const char *application, int64_t ranks)
{
	size_t n = 0;
	for (; *application && n < 40 && n + 1 < size; application++)
		out[n++] = (*application >= 'a' && *application <= 'z') ||
		                           (*application >= 'A' && *application <= 'Z') ||
		                           (*application >= '0' && *application <= '9') || *application == '_'
		                   ? *application
		                   : '_';
	snprintf(out + n, size - n, "-%" PRId64, ranks);
}

/* Returns the status of the command. */
static int write_proxy(const struct proxy_suite *o, const char *trace, const char *folder)
{
	const char *words[PASSED_MOST + 8] = {"/proc/self/exe", "proxy", "-o", folder};
	int n = 4, status = -1;
	for (int i = 0; i < PASSED_MOST && o->passed[i]; i++)
		words[n++] = o->passed[i];
	words[n] = trace; /* a path from the root: no option */
	pid_t pid = process_own("spoor proxy", (char *const *)(uintptr_t)words, NULL, NULL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int write_suite(const struct suite *s, const struct proxy_suite *o)
{
	char path[PATH_MAX], name[80];
	int written = 0;
	snprintf(path, sizeof path, "%s/SUITE", o->output);
	FILE *f = mkdir(o->output, 0777) == 0 ? fopen(path, "wx") : NULL;
	if (!f) {
		say_to(stderr, "spoor proxy: %s: %s\n", o->output, strerror(errno));
		return CMD_FAILED;
	}
	say_to(f, "# %d programs stand for %.6g node hours; share: of these\n", s->count, s->hours);
	if (s->all > s->hours)
		say_to(f, "# %.6g node hours of others were not looked at\n", s->all - s->hours);
	say_to(f, "#share\tranks\tnodes\truns\tfolder\tapplication\n");
	for (int k = 0; k < s->count; k++) {
		const struct suite_group *g = &s->groups[s->chosen[k]];
		int n = snprintf(name, sizeof name, "%02d-", k + 1);
		name_proxy(name + n, sizeof name - (size_t)n, g->application, g->ranks);
		bool fits = (size_t)snprintf(path, sizeof path, "%s/%s", o->output, name) < sizeof path;
		bool good = fits && write_proxy(o, s->paths[k], path) == 0;
		written += good;
		say_to(f, "%.4f\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", s->shares[k], g->ranks, g->nodes,
		       g->runs, good ? name : "(no program can be written)", g->application);
	}
	if (fclose(f) != 0) {
		say_to(stderr, "spoor proxy: %s/SUITE: %s\n", o->output, strerror(errno));
		return CMD_FAILED;
	}
	return written == s->count ? CMD_OK : CMD_FAILED;
}

/* Root becomes somebody else to read the index (archive/catalog.h), and would start nothing any more: a child does.
 * What it says is looked at before it is used. */
static int read_apart(struct suite *s, const struct proxy_suite *o, struct error *error)
{
	int status = -1;
	if (geteuid() != 0)
		return read_suite(s, o, error);
	pid_t pid = process_child();
	if (pid == 0) {
		if (read_suite(s, o, error) != 0)
			snprintf(s->why, sizeof s->why, "%s", error->text);
		_exit(s->why[0] != '\0');
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	s->why[sizeof s->why - 1] = '\0';
	bool good = status == 0 && s->count >= 0 && s->count <= SUITE_CHOSEN;
	for (int k = 0; good && k < s->count; k++)
		good = s->chosen[k] < SUITE_RUNS && memchr(s->paths[k], '\0', sizeof s->paths[k]) &&
		       s->paths[k][0] == '/' &&
		       memchr(s->groups[s->chosen[k]].application, '\0', sizeof s->groups->application);
	return good ? 0 : error_set(error, "%s", s->why[0] ? s->why : "the index could not be read");
}

int proxy_suite(const struct proxy_suite *o)
{
	struct suite *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct error error = {""};
	int rv = CMD_FAILED;
	if (s == MAP_FAILED || stage_allowed(o->output, &error) != 0 || read_apart(s, o, &error) != 0)
		say_to(stderr, "spoor proxy: %s\n", s == MAP_FAILED ? "out of memory" : error.text);
	else if (s->count == 0)
		say_to(stderr, "spoor proxy: the archive has no traces of runs that came to their end\n");
	else
		rv = write_suite(s, o);
	if (s != MAP_FAILED)
		munmap(s, sizeof *s);
	return rv;
}
