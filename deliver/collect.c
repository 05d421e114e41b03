/* SPDX-License-Identifier: BSD-3-Clause
 * collect - spoor-helper collect: what a step left in its spool folder goes to the archive
 *
 * Whatever cannot be delivered stays in the spool folder, and is said. Runs as the job's user: it can do no more than
 * they.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/day.h"
#include "archive/join.h"
#include "archive/metadata.h"
#include "archive/unfinished.h"
#include "deliver/attempt.h"
#include "deliver/helper.h"
#include "deliver/seal.h"
#include "deliver/step_files.h"
#include "deliver/usage.h"
#include "deliver/salvage.h"
#include "trace/base/publish.h"

#define WORLDS_MAX 100000 /* numbers that are tried for the traces of one step */

/* Another node's helper of the same step may be writing; it does not take so long between two writes. */
#define AGAIN_AGE 300

/* Where the traces of a folder go. */
struct target {
	const struct facts *facts;
	const char *folder; /* the user's, in a day's */
	bool again;         /* there was an earlier attempt */
	unsigned next;      /* the number that is tried first */
	unsigned parts;     /* likewise, of a part */
	bool delivered_part;
	bool refused; /* the archive did not take one */
};

/* Publishes as FOLDER/JOB.STEP.N.spoor with the first N that is free, from t->next on; a part as JOB.STEP.N.NODE.spoor:
 * what it is joined to takes the shorter name. */
static int publish_sealed(struct target *t, const struct sealed *sealed)
{
	char path[PATH_MAX];
	const struct facts *facts = t->facts;
	const char *node = facts_get(facts, "node"), *dot = "";
	unsigned *next = sealed->part ? &t->parts : &t->next;

	if (sealed->part && node)
		dot = ".";
	else
		node = "";
	for (; *next < WORLDS_MAX; ++*next) {
		int n = snprintf(path, sizeof path, "%s/%s.%s.%u%s%s.spoor", t->folder, facts_get(facts, "job"),
		                 facts_get(facts, "step"), *next, dot, node);
		if (n < 0 || (size_t)n >= sizeof path) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (!publish_file(path, 0440, sealed->bytes, sealed->size))
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Calls see for each folder of the archive that an attempt delivered to, until that is not 0. */
static int each_tried_folder(const struct facts *facts, int (*see)(void *context, const char *folder), void *context)
{
	static const char separator[] = {FACT_SEPARATOR, '\0'};
	const char *list = facts_get(facts, "folders");
	char *copy = list ? strdup(list) : NULL, *rest = copy;
	int rv = 0;

	for (char *folder; !rv && (folder = strsep(&rest, separator));)
		rv = see(context, folder);
	free(copy);
	return rv;
}

struct step_wanted {
	char prefix[256];
	const struct sealed *sealed;
};

static int look_for(void *context, const char *folder)
{
	const struct step_wanted *w = context;
	return attempt_is_delivered(folder, w->prefix, w->sealed->bytes, w->sealed->size);
}

/* An earlier attempt may have come as far as the archive, on whatever day that was. */
static bool is_delivered(const struct facts *facts, const struct sealed *sealed)
{
	struct step_wanted w = {.sealed = sealed};

	snprintf(w.prefix, sizeof w.prefix, "%s.%s.", facts_get(facts, "job"), facts_get(facts, "step"));
	return each_tried_folder(facts, look_for, &w);
}

static int is_that_folder(void *context, const char *folder)
{
	return !strcmp(context, folder);
}

static int remove_unfinished(void *context, const char *folder)
{
	unfinished_remove(folder, context, AGAIN_AGE, 0, NULL);
	return 0;
}

/* raw is only for messages. Returns 0, or -1 having said why. */
static int archive_sealed(struct target *t, const char *raw, const struct sealed *sealed)
{
	if (t->again && is_delivered(t->facts, sealed))
		return 0;
	if (publish_sealed(t, sealed) == 0) {
		t->delivered_part |= sealed->part;
		return 0;
	}
	t->refused = true;
	fprintf(stderr, "%s: not archived in %s: %s\n", raw, t->folder, strerror(errno));
	return -1;
}

/* Returns 0, or -1 having said why; the raw trace is gone only if it was delivered. */
static int deliver_raw(struct target *t, const char *raw)
{
	struct error error = {""};
	struct sealed sealed;
	int rv = -1;

	if (seal_trace(raw, t->facts, &sealed, &error))
		fprintf(stderr, "%s\n", error.text);
	else if (archive_sealed(t, raw, &sealed) == 0 && (rv = unlink(raw)) != 0)
		fprintf(stderr, "%s: archived, and cannot be removed: %s\n", raw, strerror(errno));
	free(sealed.bytes);
	return rv;
}

/* The same of a trace for which the spool has no room. */
static int deliver_bytes(void *context, const uint8_t *bytes, size_t size)
{
	struct target *t = context;
	struct error error = {""};
	struct sealed sealed;
	int rv = -1;

	if (seal_bytes("the spool is full: a trace in memory", bytes, size, t->facts, &sealed, &error))
		fprintf(stderr, "%s\n", error.text);
	else
		rv = archive_sealed(t, facts_get(t->facts, "spool"), &sealed);
	free(sealed.bytes);
	return rv;
}

static void tell_line(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "%s\n", text);
}

/* The trace is with the node of rank 0. How tasks ended elsewhere is told in a note beside it. */
static int leave_exit_note(const struct facts *facts, const char *folder)
{
	char path[PATH_MAX];
	const char *node = facts_get(facts, "node");
	int rv = -1;

	if (facts_number(facts, "exit_code", 0) == 0 && facts_number(facts, "signal", 0) == 0)
		return 0;
	char *note = metadata_encode_note(facts);
	int n = snprintf(path, sizeof path, "%s/%s.%s.%s.exit", folder, facts_get(facts, "job"),
	                 facts_get(facts, "step"), node ? node : "node");
	if (!note || n < 0 || (size_t)n >= sizeof path)
		fputs("no memory for the exit note\n", stderr);
	else if (publish_file(path, 0440, note, strlen(note)) && errno != EEXIST)
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
	return facts_number(facts, "job", -1) >= 0 && step && !strpbrk(step, "/") && (!node || !strpbrk(node, "/")) &&
	       day && day[0] == '/' && spool && spool[0] == '/';
}

static void set_user(struct facts *facts)
{
	const struct passwd *pw = getpwuid(getuid());
	if (pw)
		facts_set(facts, "user", pw->pw_name);
	else
		facts_format(facts, "user", "%lu", (unsigned long)getuid());
}

/* What was recorded becomes raw traces, and what does not belong there goes. Returns 0, or -1 having said why. */
static int tidy(struct step_files *spool, struct salvage *salvage, const char *folder)
{
	struct error error = {""};

	step_files_trim(folder);
	if (access(folder, F_OK) == 0 &&
	    salvage_folder(salvage, folder, &error) < 0) /* gone already where only an exit note is left to write */
		fprintf(stderr, "%s\n", error.text);
	if (salvage->running)
		fprintf(stderr, "%s: %zu processes still record there\n", folder, salvage->running);
	error.text[0] = '\0';
	if (step_files_read(spool, folder, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	step_files_tell_notes(spool);
	for (size_t i = 0; i < spool->rest_count; i++)
		usage_remove(
			AT_FDCWD,
			spool->rest[i]
				.path); /* unfinished files of processes that are gone, and what is not the tracer's */
	return 0;
}

static void say_line(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

/* The last node that delivers a part makes the whole of them. If that is not to be, lists and sweeps do it later:
 * nothing is wrong then. */
static void join_parts(const struct facts *facts, const char *folder)
{
	struct error error = {""};
	struct join_search s = {.folder = folder, .job = facts_number(facts, "job", -1), .whole = true};

	if (join_archive(&s, &error) != 0)
		say_line(error.text);
}

/* How the plugin says when the tasks ended. */
static void know_end(struct salvage *salvage, const struct facts *facts)
{
	salvage->ended_ns = facts_number(facts, "step_end_ns", 0);
	salvage->exits = facts_get(facts, "task_exits");
}

/* Everything in one folder under its lock. again: there are facts of an earlier attempt. */
static int collect_folder(struct facts *facts, const char *own, bool again)
{
	const char *folder = facts_get(facts, "spool");
	struct step_files spool = {0};
	struct target target = {.facts = facts, .folder = own, .again = again};
	struct salvage salvage = {
		.deliver = deliver_bytes, .tell = tell_line, .context = &target, .remove_damaged = true};
	know_end(&salvage, facts);
	int rv = 0;

	set_user(facts);
	if (tidy(&spool, &salvage, folder))
		return -1;
	if (again) {
		char prefix[256];
		snprintf(prefix, sizeof prefix, "%s.%s.", facts_get(facts, "job"), facts_get(facts, "step"));
		each_tried_folder(facts, remove_unfinished, prefix);
	}
	for (size_t i = 0; i < spool.world_count; i++)
		rv |= deliver_raw(&target, spool.worlds[i].path);
	bool empty = spool.world_count == 0 && salvage.made == 0;
	if (empty)
		target.refused |= (rv |= leave_exit_note(facts, own)) != 0;
	if (spool.arena_count)
		fprintf(stderr, "%s: what %zu ranks recorded could not be read, and is kept there\n", folder,
		        spool.arena_count);
	if (!rv && !spool.arena_count)
		attempt_clear(folder);
	step_files_free(&spool);
	if (target.delivered_part)
		join_parts(facts, own);
	if (rv)
		return target.refused ? HELPER_ARCHIVE : rv;
	return empty && !again ? HELPER_EMPTY : 0; /* an earlier attempt may have delivered what there was */
}

/* Takes the folder's lock. Returns it; -1 if there is no folder (there may still be an exit note to write); -2 having
 * said why not. */
static int lock_attempt(const char *folder)
{
	int lock = attempt_lock(folder);

	if (lock >= 0 || errno == ENOENT)
		return lock;
	if (errno == EWOULDBLOCK)
		fprintf(stderr, "%s: another helper is delivering it\n", folder);
	else
		fprintf(stderr, "%s: cannot be locked: %s\n", folder, strerror(errno));
	return -2;
}

static int unlock_attempt(const char *folder, int lock, int rv)
{
	if (lock >= 0)
		attempt_unlock(folder, lock);
	return rv;
}

/* For a later attempt. Returns 0, or -1 having said why not. */
static int keep_raw(struct facts *facts)
{
	const char *folder = facts_get(facts, "spool");
	struct step_files spool = {0};
	struct salvage salvage = {.tell = tell_line};
	struct error error = {""};
	int rv = -1, lock = lock_attempt(folder);

	know_end(&salvage, facts);
	if (lock == -2)
		return -1;
	if (lock >= 0 && attempt_save(folder, facts, &error) < 0)
		fprintf(stderr, "%s\n", error.text);
	else
		rv = tidy(&spool, &salvage, folder);
	step_files_free(&spool);
	return unlock_attempt(folder, lock, rv);
}

/* Without facts kept (the disk is full) it is delivered all the same. Each folder that is tried is among them before
 * anything is delivered to it: so nothing is delivered twice, whichever attempt was killed. Returns true if there was
 * an attempt before. */
static bool keep_facts(const char *folder, struct facts *facts, const char *own)
{
	/* What only whoever started this helper can say; all else the first attempt knew better. */
	static const char *const stay[] = {"job", "step", "uid", "spool", "day", NULL};
	struct error error = {""};
	int kept = attempt_save(folder, facts, &error);

	if (kept >= 0 && attempt_load(folder, facts, stay, &error) >= 0 &&
	    !each_tried_folder(facts, is_that_folder, (void *)(uintptr_t)own)) {
		const char *list = facts_get(facts, "folders");
		facts_format(facts, "folders", "%s%.*s%s", list ? list : "", list ? 1 : 0,
		             (const char[]){FACT_SEPARATOR}, own);
		kept = attempt_replace(folder, facts, &error) ? -1 : kept;
	}
	if (error.text[0])
		fprintf(stderr, "%s\n", error.text);
	return kept > 0;
}

int helper_collect(struct facts *facts)
{
	struct error error = {""};
	char own[PATH_MAX];

	if (!names_are_sound(facts)) {
		fputs("stdin: job, step, day or spool is missing\n", stderr);
		return -1;
	}
	if (day_own_folder(facts_get(facts, "day"), true, own, sizeof own, &error)) {
		fprintf(stderr, "%s: not archived: %s\n", facts_get(facts, "spool"), error.text);
		keep_raw(facts);
		return HELPER_ARCHIVE;
	}
	const char *folder = facts_get(facts, "spool");
	int lock = lock_attempt(folder);
	if (lock == -2)
		return -1;
	/* nobody has said how the step ended: its node, or the slurmstepd of it, went down */
	if (facts_number(facts, "swept", 0) > 0 && !attempt_has_facts(folder))
		facts_set(facts, "ending", "node-lost");
	bool again = lock >= 0 && keep_facts(folder, facts, own);
	return unlock_attempt(folder, lock, collect_folder(facts, own, again));
}

int helper_keep(struct facts *facts)
{
	facts_set(facts, "day", "/");
	if (!names_are_sound(facts)) {
		fputs("stdin: job, step or spool is missing\n", stderr);
		return -1;
	}
	return keep_raw(facts);
}

int helper_discard(struct facts *facts)
{
	const char *folder = facts_get(facts, "spool");
	uint64_t limit = (uint64_t)facts_number(facts, "limit", INT64_MAX);
	struct usage u = {0};

	if (!folder || folder[0] != '/')
		return -1;
	usage_add(&u, AT_FDCWD, folder);
	if (limit && u.bytes <= limit && !u.more)
		return -1;
	fprintf(stderr, "it holds %s%" PRIu64 " bytes in %zu files, and %s: removed\n", u.more ? "more than " : "",
	        u.bytes, u.names,
	        limit ? "could not be delivered" : "by what Slurm says of the job, the policy does not want them");
	return usage_empty(AT_FDCWD, folder);
}
