/* SPDX-License-Identifier: BSD-3-Clause
 * catalog - the index of an archive (SQLite): what `spoor list` and analyses over many traces ask instead of opening
 * every file
 *
 * It is derived from the files and can be made anew at any time (doc/index.md has the tables). There are two places:
 *
 *     ARCHIVE/.index/index.db    the site's: of everybody's traces, for those who may read them all. `.index` is
 *                                root's, 2770, with the admin group, which may read and update it.
 *     CACHE/spoor/HASH.db        of whoever may not enter that: only of the traces that they may read; 0600. CACHE is
 *                                XDG_CACHE_HOME or ~/.cache.
 *
 * Where neither can be written it is made in memory, for one command. Root neither reads nor writes one, nor any trace:
 * see catalog_open.
 *
 * Any number of processes may use it at once, also on several nodes: a file beside it, FILE.lock, is locked (flock)
 * exclusively by whoever changes it, for some hundred files at a time and never while one of them is read, and shared
 * by those who read. The database is then never in use when it is replaced, which SQLite's own locks cannot do.
 */
#ifndef SPOOR_CATALOG_H
#define SPOOR_CATALOG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "archive/job_id.h"
#include "insight/figure.h"
#include "trace/base/error.h"

/* Of the tables. An index of another version is made anew. */
#define CATALOG_VERSION 12

struct sqlite3;

#define CATALOG_KEPT 32

struct catalog {
	struct sqlite3 *db;
	struct sqlite3_stmt *kept[CATALOG_KEPT]; /* query_kept */
	unsigned kept_count;
	uint64_t work; /* steps of its machine so far */
	char archive[PATH_MAX];
	char path[PATH_MAX]; /* ":memory:" if it is nowhere */
	int lock;            /* of FILE.lock; -1 in memory */
	bool writable;
	unsigned anew; /* how often catalog_lock found another database than before, or began one */
};

/* Opens the index of an archive, making it if need be. As root, the process first becomes somebody else, for good: the
 * archive's owner; or, if that is root, user nobody with the group of ARCHIVE/.index, which is made with the group
 * `group` if it is not there. What users put into the archive is then never parsed with root's rights. Returns 0, or -1
 * with error set. The caller closes it. */
int catalog_open(struct catalog **out, const char *archive, gid_t group, struct error *error);
void catalog_close(struct catalog *c);
/* The same index once more, for another thread to read while the lock of c is held. Returns 0, or -1 with error set: it
 * is in memory, and cannot be shared. The caller closes it. */
int catalog_again(struct catalog **out, const struct catalog *c, struct error *error);
/* Is it the site's? */
bool catalog_is_site(const struct catalog *c);
/* Empties it. Returns 0, or -1 with error set. */
int catalog_clear(struct catalog *c, struct error *error);

enum catalog_lock { CATALOG_UNLOCK, CATALOG_SHARE, CATALOG_CHANGE };
/* Waits at most so many milliseconds (negative: for ever). Returns 0, or -1 with error set. A database that is damaged
 * is found here, and begun anew by CATALOG_CHANGE. */
int catalog_lock(struct catalog *c, enum catalog_lock how, int wait, struct error *error);

/* What a trace must be to be listed; NULL, 0 for times and lower limits, and -1 for upper ones are no condition. Texts
 * are lists of globs, separated by commas, of which one must match; exe is matched with the path of the executable and
 * with its last component; node with each node on which ranks ran; user with the name, and a number with that of the
 * user. States are those of job_state.h. */
struct catalog_filter {
	const char *user, *state, *exe, *account, *partition, *qos, *job_name, *cluster, *node, *mode, *rule;
	int64_t since, until;                   /* start of the trace, seconds since 1970 */
	struct job_ids jobs;                    /* none: any */
	int64_t ranks[2], nodes[2], elapsed[2]; /* from, to; -1: without end. elapsed: seconds */
	bool partial, whole;                    /* only partial traces; only the others */
	const char *sort;                       /* one of catalog_sorts; NULL: start, the newest first */
	bool reverse;
	int64_t limit; /* 0: none */
};
#define CATALOG_FILTER_ALL                                               \
	{                                                                \
		.ranks = {0, -1}, .nodes = {0, -1}, .elapsed = { 0, -1 } \
	}
extern const char *const catalog_sorts[]; /* NULL-terminated */

/* One trace. Valid during the call. Numbers are 0 where nothing is known, texts "". */
struct catalog_row {
	const char *folder, *name, *user, *state, *exe, *job_name;
	const char *application;               /* the last component of exe, or the script of an interpreter */
	const char *account, *partition, *qos; /* as Slurm says (slurm_jobs.h) */
	const char *note; /* the JSON of the worst exit note of its step, if that was asked for and there is one */
	double figures[FIGURE_COLUMNS]; /* each in its unit; negative: not known, as all of them are until the index has
	                                   read the trace */
	const char *reason, *unended;   /* why it is partial; the call that never ended; may be empty */
	const char *cause; /* what is said first of it (insight/outcome.h); empty until the index has read it */
	uint64_t size;
	int64_t job, uid, start_ns, end_ns, ranks, nodes;
	int64_t array_job, array_task, het_job;
};

/* In a query: the exit note of trace t (JSON) that counts for it, or NULL. */
#define CATALOG_NOTE                                                                                                \
	"(SELECT n.json FROM note n WHERE n.job = t.job AND n.step = t.step AND n.uid = t.uid ORDER BY n.severity " \
	"DESC, n.id LIMIT 1)"

/* Calls row for each trace that passes, in order; notes: with its exit note. What row returns, if it is not 0, ends the
 * list. Returns that, or 0, or -1 with error set. The catalog must be locked. */
int catalog_list(struct catalog *c, const struct catalog_filter *filter, bool notes,
                 int (*row)(void *, const struct catalog_row *), void *context, struct error *error);

/* Calls tell with the text for damaged files, `most` at most: the first one of each user comes before the second one of
 * any. Returns how many there are; *unreadable gets the number of those that are not for us to read. */
size_t catalog_troubles(struct catalog *c, size_t most, void (*tell)(void *context, const char *text), void *context,
                        size_t *unreadable);

#endif
