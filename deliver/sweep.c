/* SPDX-License-Identifier: BSD-3-Clause
 * sweep - delivers what steps of a node left in its spool
 */
#include "deliver/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deliver/attempt.h"
#include "deliver/claims.h"
#include "deliver/controller.h"
#include "deliver/day_folder.h"
#include "deliver/spool.h"
#include "deliver/helper.h"
#include "deliver/node_log.h"
#include "deliver/queue.h"
#include "trace/base/number.h"
#include "trace/base/repeated.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define GROUPS_MAX  1024
#define SAID_MAX    8 /* lines of a helper that are worth a line in the log each */

/* How a folder that cannot be delivered is tried again: after 1, 2, 4, ... minutes, and from then on every six hours,
 * until it is given up. */
#define AGAIN_FIRST   60
#define AGAIN_MOST    (6 * 3600)
#define GIVE_UP_AGE   (3 * 86400)
#define GIVE_UP_TRIES 8
#define FAILURES_MOST 3   /* of one user's folders, and the others of theirs wait */
#define OWN_TRIES     300 /* a fifth of a second each */

void sweep_tell(struct sweep *s, const char *format, ...)
{
	char text[2048];
	va_list ap;

	if (!repeated_next(&s->told) || !s->tell)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	s->tell(text);
}

/* However many other lines there are: of this somebody must know. FAILURES_MOST bounds it. */
static void tell_given_up(const struct sweep *s, const char *name)
{
	char text[2048];
	snprintf(text, sizeof text, "%s/%s: given up: it is in %s/" QUEUE_GIVEN_UP, s->spool, name, s->spool);
	if (s->tell)
		s->tell(text);
}

/* The lines that begin now are another user's. */
static void tell_more(struct sweep *s, const char *whose)
{
	char text[200];
	if (repeated_more(s->told) && s->tell) {
		snprintf(text, sizeof text, "%s: and %zu more lines like these", whose, repeated_more(s->told));
		s->tell(text);
	}
	s->told = 0;
}

void sweep_note(const struct facts *facts, const char *what, const char *why)
{
	static const char *const names[] = {"job", "step", "node", "uid"};
	struct facts note = {0};

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		facts_set(&note, names[i], facts_get(facts, names[i]));
	facts_set(&note, "what", what);
	facts_set(&note, "why", why && why[0] ? why : NULL);
	node_log_write(NODE_LOG_FOLDER, &note);
	facts_clear(&note);
}

/* --- the helper --- */

/* What it is told: the facts but those that are for us. */
static char *encode_told(const struct sweep *s, const char *what, const struct facts *facts)
{
	struct facts told = {0};

	for (size_t i = 0; i < facts->count; i++) {
		if (strncmp(facts->items[i].name, QUEUE_PREFIX, strlen(QUEUE_PREFIX)))
			facts_set(&told, facts->items[i].name, facts->items[i].value);
	}
	facts_set(&told, "day", s->day[0] ? s->day : NULL);
	if (!strcmp(what, "discard"))
		facts_format(&told, "limit", "%" PRIu64,
		             facts_number(facts, QUEUE_DENIED, 0) > 0 ? 0
		             : s->user_limit                          ? s->user_limit
		                                                      : spool_room(s->spool_fd));
	char *text = told.failed ? NULL : facts_encode(&told);
	facts_clear(&told);
	return text;
}

static void read_identity(const struct facts *facts, const struct stat *st, struct identity *who,
                          gid_t groups[GROUPS_MAX])
{
	const char *p = facts_get(facts, "gids");
	uint64_t group;

	*who = (struct identity){
		.uid = st->st_uid, .gid = (gid_t)facts_number(facts, "gid", st->st_gid), .groups = groups};
	for (; p && who->group_count < GROUPS_MAX && number_read(&p, UINT32_MAX, &group) == 0; p += *p != 0)
		groups[who->group_count++] = (gid_t)group;
}

/* Does it as the folder's owner. Returns its exit status; -1 with why set. why gets the first thing that it said in any
 * case. */
static int run_helper(struct sweep *s, const char *what, const char *name, const struct facts *facts,
                      const struct stat *st, struct error *why)
{
	char messages[4096], *rest = messages;
	const char *argv[] = {s->helper, what, NULL};
	gid_t groups[GROUPS_MAX];
	struct identity who;
	unsigned said = 0;

	char *input = encode_told(s, what, facts);
	if (!input)
		return error_set(why, "no memory for the facts");
	read_identity(facts, st, &who, groups);
	struct process p = {.argv = argv,
	                    .input = input,
	                    .identity = geteuid() == 0 ? &who : NULL,
	                    .limits = &s->limits,
	                    .seconds = s->seconds,
	                    .messages = messages,
	                    .message_size = sizeof messages};
	struct error error = {""};
	process_run(&p, &error);
	free(input);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		process_clean(line);
		error_set(why, "%s", line); /* the first one counts */
		sweep_tell(s, "%s: %s", name, line);
		if (said++ < SAID_MAX)
			sweep_note(facts, "said", line);
	}
	if (error.text[0] && !said) {
		error_set(why, "%s", error.text);
		sweep_tell(s, "%s: %s", name, error.text);
	}
	return p.status != -1 && WIFEXITED(p.status) ? WEXITSTATUS(p.status) : -1;
}

/* --- one folder --- */

/* It stays. counts: because of what is in it, not because the archive takes nothing. */
static void keep_folder(struct sweep *s, int user, const char *name, struct facts *facts, bool counts, const char *why)
{
	int64_t now = (int64_t)time(NULL), tries = facts_number(facts, QUEUE_TRIES, 0),
		since = facts_number(facts, QUEUE_SINCE, now);
	int64_t pause = counts ? AGAIN_FIRST << (tries < 9 ? tries : 9) : 0;
	bool first = !facts_get(facts, QUEUE_NEXT), denied = facts_number(facts, QUEUE_DENIED, 0) > 0;

	tries += counts;
	facts_format(facts, QUEUE_TRIES, "%" PRId64, tries);
	facts_format(facts, QUEUE_SINCE, "%" PRId64, since);
	facts_format(facts, QUEUE_NEXT, "%" PRId64, now + (pause < AGAIN_MOST ? pause : AGAIN_MOST));
	/* what is not to be delivered never leaves the queue, which knows that, but by being removed */
	if (tries >= GIVE_UP_TRIES && now - since >= GIVE_UP_AGE && !denied && queue_give_up(s->spool_fd, name) == 0) {
		queue_forget(user, name);
		s->given_up++;
		sweep_note(facts, "given-up", why);
		tell_given_up(s, name);
		return;
	}
	queue_save(user, name, facts);
	s->kept++;
	s->failed += counts;
	if (counts || first)
		sweep_note(facts, "kept", why);
	sweep_tell(s, "%s/%s: kept", s->spool, name);
}

/* The archive's folder of today, with the user's; says once that it cannot be made. */
static int need_day(struct sweep *s, uid_t uid, struct error *error)
{
	if (!s->day[0] && !s->away &&
	    day_folder_make(s->archive, time(NULL), s->group, uid, s->day, sizeof s->day, error)) {
		s->day[0] = '\0';
		s->away = true;
	}
	return s->away ? -1 : 0;
}

/* What is too much to wait, so that others have no room. Returns 0 if it is gone. */
static int discard(struct sweep *s, const char *name, struct facts *facts, const struct stat *st)
{
	struct error why = {""};
	int status = run_helper(s, "discard", name, facts, st, &why);
	if (status == 0)
		sweep_note(facts, "discarded", why.text);
	return status;
}

void sweep_settle(const struct sweep *s, struct facts *facts)
{
	struct error said = {""};

	claims_settle(s->helper, facts, &said);
	if (said.text[0])
		sweep_note(facts, "said", said.text);
}

/* What the policy does not want is removed, or waits to be. */
static int remove_denied(struct sweep *s, int user, const char *name, struct facts *facts, const struct stat *st)
{
	struct error said = {""};

	run_helper(s, "discard", name, facts, st, &said);
	if (unlinkat(s->spool_fd, name, AT_REMOVEDIR) == 0)
		queue_forget(user, name);
	else
		keep_folder(s, user, name, facts, true, "the policy does not want it, and it could not be removed");
	return 0;
}

/* A folder that is open and locked. */
static int deliver_folder(struct sweep *s, int user, const char *name, struct facts *facts, const struct stat *st,
                          struct error *error)
{
	struct error why = {""}, silence = {""};

	if (facts_number(facts, QUEUE_DENIED, 0) > 0)
		return remove_denied(s, user, name, facts, st);
	if (need_day(s, st->st_uid, error)) {
		/* what ranks left becomes smaller, and waits */
		if (!facts_get(facts, QUEUE_NEXT))
			run_helper(s, "keep", name, facts, st, &why);
		keep_folder(s, user, name, facts, false, error->text);
		return -1;
	}
	if (facts_number(facts, HELPER_ASK, 0) > 0 && !facts_get(facts, QUEUE_NEXT))
		facts_set(facts, "ending", controller_ending(facts, &silence));
	if (silence.text[0])
		sweep_note(facts, "said", silence.text);
	int status = run_helper(s, "collect", name, facts, st, &why);
	if (status == 0 || status == HELPER_EMPTY) {
		queue_forget(user, name); /* before the folder goes: its name may then be another step's */
		if (unlinkat(s->spool_fd, name, AT_REMOVEDIR) == 0) {
			s->delivered += status == 0;
			sweep_note(facts, status == 0 ? "delivered" : "empty",
			           status == 0 ? NULL : "there is no trace");
			sweep_tell(s, "%s/%s: %s", s->spool, name,
			           status == 0 ? "delivered" : "there was no trace in it");
			return 0;
		}
		error_set(&why, "something is left in its folder");
	}
	s->away = status == HELPER_ARCHIVE;
	if (!s->away && discard(s, name, facts, st) == 0) {
		queue_forget(user, name);
		unlinkat(s->spool_fd, name, AT_REMOVEDIR);
		return 0;
	}
	keep_folder(s, user, name, facts, !s->away, why.text);
	return 0;
}

/* Is there nothing in it that could be delivered? Of a step that failed, how its tasks ended may have to be told. */
static bool is_nothing(const struct facts *facts)
{
	bool failed = facts_number(facts, "exit_code", 0) != 0 || facts_number(facts, "signal", 0) != 0;
	return !failed || facts_number(facts, QUEUE_PREFIX "worked", 0) == 0 || facts_get(facts, QUEUE_NEXT);
}

static int sweep_ended(struct sweep *s, int user, const char *name, struct facts *facts, int fd, const struct stat *st,
                       struct error *error)
{
	bool locked = queue_lock(fd);

	if (locked && is_nothing(facts) && unlinkat(s->spool_fd, name, AT_REMOVEDIR) == 0) {
		queue_forget(user, name);
		sweep_note(facts, "empty", NULL);
		return 0;
	}
	sweep_settle(s, facts);
	if (locked)
		return deliver_folder(s, user, name, facts, st, error);
	keep_folder(s, user, name, facts, true, "somebody has locked its folder");
	return 0;
}

static int sweep_one(struct sweep *s, int user, uid_t uid, const char *name, struct facts *facts, struct error *error)
{
	struct stat st;
	int rv = 0;

	if (!s->all && facts_number(facts, QUEUE_NEXT, 0) > (int64_t)time(NULL)) {
		s->kept++;
		return 0;
	}
	int fd = openat(s->spool_fd, name, OPEN_FOLDER);
	if (fd < 0 || fstat(fd, &st) || st.st_uid != uid)
		queue_forget(user, name);
	else if (orphan_runs(s, user, name, facts, fd, &st))
		s->running++;
	else
		rv = sweep_ended(s, user, name, facts, fd, &st, error);
	if (fd >= 0)
		close(fd);
	return rv;
}

/* --- one user --- */

struct pass {
	struct sweep *s;
	int user;
	uid_t uid;
	struct error *error;
	bool failed;
};

static bool is_enough(const struct sweep *s)
{
	return s->away || (!s->all && s->failed >= FAILURES_MOST);
}

static int each_waiting(void *context, const char *name)
{
	struct pass *p = context;
	struct facts facts = {0};
	int rv = 0;

	if (is_enough(p->s))
		return 1;
	if (queue_load(p->user, name, &facts) == 0)
		rv = sweep_one(p->s, p->user, p->uid, name, &facts, p->error);
	facts_clear(&facts);
	return rv;
}

static int each_fresh(void *context, const char *name)
{
	struct pass *p = context;
	struct facts facts = {0};

	if (queue_load(p->user, name, &facts) == 0 && !facts_get(&facts, QUEUE_NEXT) &&
	    facts_number(&facts, QUEUE_BEGUN, 0) == 0)
		p->s->fresh = true;
	facts_clear(&facts);
	return p->s->fresh;
}

static int sweep_own(struct pass *p)
{
	struct sweep *s = p->s;
	const char *name = s->own;
	struct facts facts = {0};
	char *text = s->own_facts ? facts_encode(s->own_facts) : NULL;
	int rv = 0;

	s->own = NULL;
	if (!s->own_facts)
		rv = each_waiting(p, name);
	else if (text && !facts_decode(&facts, text, strlen(text), name, NULL))
		rv = sweep_one(s, p->user, p->uid, name, &facts, p->error);
	facts_clear(&facts);
	free(text);
	return rv;
}

int sweep_user(struct sweep *s, uid_t uid, struct error *error)
{
	struct pass p = {s, queue_open_user(s->queue, uid), uid, error, false};
	int rv = 0;

	s->day[0] = '\0';
	s->away = false;
	s->failed = 0;
	if (p.user < 0)
		return error_set(error, "%s/" QUEUE_FOLDER "/%lu: %s", s->spool, (unsigned long)uid, strerror(errno));
	/* Who ends while this runs leaves theirs to this: so look once more when the lock is given back. */
	do {
		s->fresh = false;
		bool locked = queue_lock(p.user);
		for (int i = 0; !locked && s->own && s->own_facts && i < OWN_TRIES; i++)
			locked = queue_lock(p.user); /* nobody else can do it */
		if (!locked)
			break;
		if (s->own)
			rv = sweep_own(&p);
		if (rv == 0)
			rv = queue_each(p.user, each_waiting, &p);
		queue_unlock(p.user);
		if (rv == 0 && !is_enough(s))
			queue_each(p.user, each_fresh, &p);
	} while (s->fresh);
	close(p.user);
	return rv < 0 ? -1 : 0;
}

/* --- all users --- */

static int each_given_up(void *context, const char *name)
{
	struct sweep *s = context;
	struct stat st;
	int fd = openat(s->spool_fd, QUEUE_GIVEN_UP, OPEN_FOLDER);

	if (fd >= 0 && fstatat(s->spool_fd, name, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		renameat(fd, name, s->spool_fd, name);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int each_user(void *context, const char *name)
{
	struct pass *p = context;
	uint64_t uid;
	char whose[40];
	if (number_parse(name, UINT32_MAX - 1, &uid) == 0) {
		p->failed |= sweep_user(p->s, (uid_t)uid, p->error) != 0;
		snprintf(whose, sizeof whose, "user %" PRIu64, uid);
		tell_more(p->s, whose);
	}
	return 0; /* what is wrong with one user's folders is nothing to the others' */
}

int sweep_all(struct sweep *s, struct error *error)
{
	struct pass pass = {.s = s, .error = error};

	int given_up = s->all ? openat(s->spool_fd, QUEUE_GIVEN_UP, OPEN_FOLDER) : -1;
	if (given_up >= 0) {
		queue_each(given_up, each_given_up, s);
		close(given_up);
	}
	orphans_adopt(s);
	tell_more(s, s->spool);
	return queue_each(s->queue, each_user, &pass) < 0 || pass.failed ? -1 : 0;
}

int sweep_open(struct sweep *s, struct error *error)
{
	struct stat st;

	s->delivered = s->kept = s->running = s->given_up = 0;
	s->queue = -1;
	s->spool_fd = open(s->spool, OPEN_FOLDER);
	if (s->spool_fd < 0)
		return errno == ENOENT ? 1
		                       : error_set(error, "%s: the spool cannot be opened as a folder: %s", s->spool,
		                                   strerror(errno));
	if (fstat(s->spool_fd, &st) || (geteuid() == 0 && (st.st_uid != 0 || st.st_mode & 022)))
		error_set(error, "%s: the spool must be root's and nobody else may write it", s->spool);
	else if ((s->queue = queue_open(s->spool_fd)) < 0)
		error_set(error, "%s/" QUEUE_FOLDER ": cannot be used: %s", s->spool, strerror(errno));
	else
		return 0;
	sweep_close(s);
	return -1;
}

void sweep_close(struct sweep *s)
{
	if (s->queue >= 0)
		close(s->queue);
	if (s->spool_fd >= 0)
		close(s->spool_fd);
	s->queue = s->spool_fd = -1;
}
