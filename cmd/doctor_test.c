/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_test - of `spoor doctor --test`: a job of two ranks through Slurm, whose trace is followed into the archive
 *
 * Each task says its node and a checksum of the policy there, and becomes the MPI program.
 */
#include "cmd/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MARK         "SPOOR-DOCTOR"
#define OUTPUT_MOST  (1 << 20)
#define WORDS_MOST   64
#define FOLLOW_TENTH 300 /* of a second: how long a trace is waited for */

static const char task_script[] =
	"policy=$1; shift; "
	"echo \"" MARK
	" $SLURM_JOB_ID $SLURMD_NODENAME $(cat \"$policy\" \"${policy%.json}\".d/*.json 2>/dev/null | cksum)\"; "
	"exec \"$@\" >/dev/null";

/* The program's words; spoor's own otherwise. Returns how many; 0: there is none, which has been said. */
static size_t program_words(const char *program, char *copy, size_t size, char **words)
{
	static const char *const own[] = {SPOOR_LIBEXECDIR "/spoor-replay-openmpi",
	                                  SPOOR_LIBEXECDIR "/spoor-replay-mpich"};
	size_t n = 0;

	for (size_t i = 0; !program && i < 2; i++) {
		if (access(own[i], X_OK) == 0) {
			snprintf(copy, size, "%s --test", own[i]);
			program = copy;
		}
	}
	if (!program) {
		doctor_say(DOUBT, "no MPI program to test with: install spoor-openmpi, or say --program");
		return 0;
	}
	if (program != copy)
		snprintf(copy, size, "%s", program);
	for (char *rest = copy; n < WORDS_MOST && (words[n] = strtok_r(rest, " ", &rest));)
		n++;
	return n;
}

/* What the tasks said. Returns the job's number; 0: nothing was said. */
static uint64_t read_tasks(char *output)
{
	char first_node[256] = "", first_sum[64] = "", node[256], sum[64];
	uint64_t job = 0;
	unsigned tasks = 0, others = 0;

	for (char *rest = output, *line; (line = strsep(&rest, "\n"));) {
		unsigned long size;
		if (sscanf(line, MARK " %" SCNu64 " %255s %63s %lu", &job, node, sum, &size) != 4)
			continue;
		if (tasks++ == 0) {
			snprintf(first_node, sizeof first_node, "%s", node);
			snprintf(first_sum, sizeof first_sum, "%s", sum);
		} else if (strcmp(sum, first_sum) && others++ < 10) {
			doctor_say(WRONG, "the policies of nodes %s and %s differ; give all nodes the same", first_node,
			           node);
		}
	}
	if (tasks > 1 && !others)
		doctor_say(GOOD, "the nodes of the test job have one policy");
	return job;
}

static void follow_trace(uint64_t number, const struct decision *d)
{
	char job[24];
	struct timespec tenth = {.tv_nsec = 100000000};

	snprintf(job, sizeof job, "%" PRIu64, number);
	for (int i = 0; i < FOLLOW_TENTH; i++) {
		if (doctor_find_traces(d->archive, job))
			return;
		nanosleep(&tenth, NULL);
	}
	doctor_say(WRONG,
	           "%s: the test job %s ran, and its trace is not there after %d s; `spoor doctor %s` on its nodes "
	           "says why",
	           d->archive, job, FOLLOW_TENTH / 10, job);
}

void doctor_test(const struct doctor_test *test, const char *policy, const struct decision *d)
{
	char nodes[32], tasks[32], user[128], copy[4096], *words[WORDS_MOST + 1];
	char *argv[WORDS_MOST + 32];
	size_t n = 0, count = program_words(test->program, copy, sizeof copy, words);
	char *output = count ? malloc(OUTPUT_MOST) : NULL;

	if (!output)
		return;
	snprintf(nodes, sizeof nodes, test->nodes ? "--nodes=%lld" : "--nodes=1-2", (long long)test->nodes);
	snprintf(tasks, sizeof tasks, "--ntasks=%lld", test->nodes > 2 ? (long long)test->nodes : 2LL);
	snprintf(user, sizeof user, "--uid=%s", test->user ? test->user : "");
	const char *const fixed[] = {"timeout",
	                             "300",
	                             "srun",
	                             "--quiet",
	                             "--job-name=spoor-doctor",
	                             "--time=2",
	                             "--immediate=60",
	                             "--chdir=/",
	                             "--trace=lossless",
	                             nodes,
	                             tasks};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		argv[n++] = (char *)fixed[i];
	if (test->user)
		argv[n++] = user;
	argv[n++] = (char *)"sh", argv[n++] = (char *)"-c", argv[n++] = (char *)task_script;
	argv[n++] = (char *)"sh", argv[n++] = (char *)policy;
	for (size_t i = 0; i < count; i++)
		argv[n++] = words[i];
	argv[n] = NULL;
	int status = doctor_run(argv, NULL, output, OUTPUT_MOST);
	char first[256];
	snprintf(first, sizeof first, "%.*s", (int)strcspn(output, "\n"), output);
	uint64_t job = read_tasks(output);
	if (status || !job)
		doctor_say(WRONG, "the test job failed: srun: %s", strstr(first, MARK) ? "the program failed" : first);
	if (job)
		follow_trace(job, d);
	free(output);
}
