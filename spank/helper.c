/* SPDX-License-Identifier: BSD-3-Clause
 * helper - spoor-helper, which the plugin runs for what needs more than libc
 *
 * Nothing but the plugin calls it; run by hand it can do no more than whoever runs it.
 */
#include "spank/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/join.h"
#include "spank/process.h"
#include "spank/sweep.h"

/* Facts from stdin. Returns 0, or -1 having said why. */
static int read_facts(struct facts *facts)
{
	char *text = malloc(PROCESS_INPUT_MAX + 1);
	struct error error = {""};
	size_t n = 0;
	ssize_t got = -1;

	while (text && n <= PROCESS_INPUT_MAX && (got = read(STDIN_FILENO, text + n, PROCESS_INPUT_MAX + 1 - n)) > 0)
		n += (size_t)got;
	int rv = -1;
	if (!text)
		fputs("out of memory\n", stderr);
	else if (got < 0)
		fprintf(stderr, "stdin: %s\n", strerror(errno));
	else if (n > PROCESS_INPUT_MAX)
		fprintf(stderr, "stdin: more than %d bytes\n", PROCESS_INPUT_MAX);
	else if (facts_decode(facts, text, n, "stdin", &error))
		fprintf(stderr, "%s\n", error.text);
	else
		rv = 0;
	free(text);
	return rv;
}

static void tell(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

int helper_sweep(struct facts *facts)
{
	struct error error = {""};
	struct sweep s = {.spool = facts_get(facts, "spool"), .archive = facts_get(facts, "archive"),
	                  .helper = facts_get(facts, "helper"), .group = (gid_t)facts_number(facts, "group", 0),
	                  .seconds = (unsigned)facts_number(facts, "deadline", 10), .settled = facts_number(facts, "settled", SWEEP_SETTLED), .tell = tell};

	if (!s.spool || s.spool[0] != '/' || !s.archive || s.archive[0] != '/' || !s.helper || s.helper[0] != '/') {
		fputs("stdin: spool, archive or helper is missing\n", stderr);
		return -1;
	}
	if (sweep_spool(&s, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	if (s.delivered > 0) {
		struct join_search joining = {.archive = s.archive, .since = (int64_t)time(NULL) - JOIN_AGE, .job = -1, .tell = tell};
		if (join_archive(&joining, &error))
			fprintf(stderr, "%s\n", error.text);
	}
	return fputs(PROCESS_DONE, stdout) < 0 || fflush(stdout) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct facts facts = {0};
	int rv = -1;

	signal(SIGPIPE, SIG_IGN); /* the plugin may have stopped listening */
	if (argc == 4 && !strcmp(argv[1], "decide")) {
		if (!read_facts(&facts))
			rv = helper_decide(&facts, argv[2], argv[3]);
	} else if (argc == 2 && !strcmp(argv[1], "collect")) {
		if (!read_facts(&facts))
			rv = helper_collect(&facts);
	} else if (argc == 2 && !strcmp(argv[1], "day")) {
		if (!read_facts(&facts))
			rv = helper_day(&facts);
	} else if (argc == 2 && !strcmp(argv[1], "keep")) {
		if (!read_facts(&facts))
			rv = helper_keep(&facts);
	} else if (argc == 2 && !strcmp(argv[1], "sweep")) {
		if (!read_facts(&facts))
			rv = helper_sweep(&facts);
	} else {
		fputs("Usage: spoor-helper decide POLICY PRELOAD | collect | keep | sweep\n"
		      "Started by spoor's Slurm plugin, with facts of a job on stdin.\n", stderr);
		return 2;
	}
	facts_clear(&facts);
	return rv ? 1 : 0;
}
