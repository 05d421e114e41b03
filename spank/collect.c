/* SPDX-License-Identifier: BSD-3-Clause
 * collect - spoor-helper collect: what a step left in its spool folder goes to the archive
 *
 * Whatever cannot be delivered stays in the spool folder, and is said. Runs as the job's user: it can do no more than they.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/salvage.h"
#include "spank/helper.h"
#include "spank/metadata.h"
#include "spank/process.h"
#include "spank/seal.h"
#include "trace/container.h"

#define WORLDS_MAX 100000 /* numbers that are tried for the traces of one step */

/* Publishes as DAY/JOB.STEP.N.spoor with the first N that is free, from *next on. */
static int publish(const struct facts *facts, const char *day, unsigned *next, const void *bytes, size_t size)
{
	char path[4096];

	for (; *next < WORLDS_MAX; ++*next) {
		int n = snprintf(path, sizeof path, "%s/%s.%s.%u.spoor", day, facts_get(facts, "job"), facts_get(facts, "step"),
		                 *next);
		if (n < 0 || (size_t)n >= sizeof path) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (!container_publish(path, 0440, bytes, size))
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Returns 0, or -1 having said why; the raw trace is gone only if it was delivered. */
static int deliver(const struct facts *facts, const char *day, unsigned *next, const char *raw)
{
	struct error error = {""};
	uint8_t *bytes;
	size_t size;
	int rv = -1;

	if (seal_trace(raw, facts, &bytes, &size, &error))
		fprintf(stderr, "%s\n", error.text);
	else if (publish(facts, day, next, bytes, size))
		fprintf(stderr, "%s: not archived in %s: %s\n", raw, day, strerror(errno));
	else if (unlink(raw))
		fprintf(stderr, "%s: archived, and cannot be removed: %s\n", raw, strerror(errno));
	else
		rv = 0;
	free(bytes);
	return rv;
}

/* The trace is with the node of rank 0. How tasks ended elsewhere is told in a note beside it. */
static int leave_exit_note(const struct facts *facts, const char *day)
{
	char path[4096];
	const char *node = facts_get(facts, "node");
	int rv = -1;

	if (facts_number(facts, "exit_code", 0) == 0 && facts_number(facts, "signal", 0) == 0)
		return 0;
	char *note = metadata_encode_note(facts);
	int n = snprintf(path, sizeof path, "%s/%s.%s.%s.exit", day, facts_get(facts, "job"), facts_get(facts, "step"),
	                 node ? node : "node");
	if (!note || n < 0 || (size_t)n >= sizeof path)
		fputs("no memory for the exit note\n", stderr);
	else if (container_publish(path, 0440, note, strlen(note)) && errno != EEXIST)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	else
		rv = 0;
	free(note);
	return rv;
}

/* The names of the step become part of file names. */
static bool names_are_sound(const struct facts *facts)
{
	const char *step = facts_get(facts, "step"), *day = facts_get(facts, "day"), *spool = facts_get(facts, "spool");
	const char *node = facts_get(facts, "node");
	return facts_number(facts, "job", -1) >= 0 && step && !strpbrk(step, "/") && (!node || !strpbrk(node, "/")) && day &&
	       day[0] == '/' && spool && spool[0] == '/';
}

static void name_user(struct facts *facts)
{
	const struct passwd *pw = getpwuid(getuid());
	if (pw)
		facts_set(facts, "user", pw->pw_name);
	else
		facts_format(facts, "user", "%lu", (unsigned long)getuid());
}

int helper_collect(struct facts *facts)
{
	struct error error = {""};
	struct spool spool = {0};
	unsigned next = 0;
	int rv = 0;

	if (!names_are_sound(facts)) {
		fputs("stdin: job, step, day or spool is missing\n", stderr);
		return -1;
	}
	const char *day = facts_get(facts, "day"), *folder = facts_get(facts, "spool");
	if (access(folder, F_OK) == 0 && salvage_folder(folder, &error) < 0) /* gone already where only an exit note is left to write */
		fprintf(stderr, "%s\n", error.text);
	error.text[0] = '\0';
	if (spool_read(&spool, folder, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	name_user(facts);
	spool_tell_notes(&spool);
	for (size_t i = 0; i < spool.world_count; i++)
		rv |= deliver(facts, day, &next, spool.worlds[i].path);
	if (spool.world_count == 0)
		rv |= leave_exit_note(facts, day);
	if (spool.arena_count)
		fprintf(stderr, "%s: what %zu ranks recorded could not be read, and is kept there\n", folder, spool.arena_count);
	for (size_t i = 0; i < spool.rest_count; i++)
		unlink(spool.rest[i].path); /* unfinished files of processes that are gone */
	spool_free(&spool);
	return rv || fputs(PROCESS_DONE, stdout) < 0 || fflush(stdout) ? -1 : 0;
}
