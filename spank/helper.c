/* SPDX-License-Identifier: BSD-3-Clause
 * helper - spoor-helper, which the plugin runs for what needs more than libc
 *
 * Nothing but the plugin calls it; run by hand it can do no more than whoever runs it.
 */
#include "deliver/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process/process.h"

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

/* What a job's user's own process may not do: be looked into or steered by that user, who could make it say anything,
 * and start others. The executable cannot be read by users, which has the kernel see to the first from the beginning.
 * */
static void seclude(void)
{
	struct rlimit none = {0, 0};

	if (prctl(PR_SET_DUMPABLE, 0) || setrlimit(RLIMIT_NPROC, &none)) {
		/* then it is not so */
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*work)(struct facts *facts);
		bool secluded;
	} verbs[] = {{"end", helper_end, false},
	             {"collect", helper_collect, true},
	             {"keep", helper_keep, true},
	             {"discard", helper_discard, true},
	             {"day", helper_day, false}};
	const size_t count = sizeof verbs / sizeof verbs[0];
	struct facts facts = {0};
	int rv = -1;
	size_t k = 0;

	signal(SIGPIPE, SIG_IGN); /* whoever started it may have stopped listening */
	while (k < count && (argc != 2 || strcmp(argv[1], verbs[k].name)))
		k++;
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "decide")) {
		if (!read_facts(&facts))
			rv = helper_decide(&facts, argv[2], argv[3]);
	} else if (k < count) {
		if (verbs[k].secluded)
			seclude();
		if (!read_facts(&facts))
			rv = verbs[k].work(&facts);
	} else {
		fputs("Usage: spoor-helper decide POLICY [PRELOAD] | end | collect | keep | discard | day\n"
		      "Started by spoor's Slurm plugin, with facts of a job on stdin.\n",
		      stderr);
		return 2;
	}
	facts_clear(&facts);
	return rv < 0 ? 1 : rv;
}
