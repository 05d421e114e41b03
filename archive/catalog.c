/* SPDX-License-Identifier: BSD-3-Clause
 * catalog - the index of an archive: where it is, its tables, and its lock
 */
#include "archive/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/digest.h"
#include "archive/figure_row.h"
#include "archive/privileges.h"
#include "archive/query.h"
#include "archive/tables.h"
#include "trace/base/index.h"

#ifndef SQLITE_OPEN_NOFOLLOW
#define SQLITE_OPEN_NOFOLLOW 0 /* before 3.31; open_own has looked */
#endif

#define APPLICATION_ID 0x53504f52 /* "SPOR", in the file's header */

/* --- tables --- */

static int run_sql(struct catalog *c, const char *sql, struct error *error)
{
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : query_failed(c, error);
}

/* Who this index is for: another identity may read other traces. */
static void describe_identity(char *out, size_t size)
{
	gid_t groups[256];
	int n = getgroups(256, groups);
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += hash_mix(1, groups[i]); /* in any order */
	snprintf(out, size, "%lu:%lu:%llx", (unsigned long)geteuid(), (unsigned long)getegid(),
	         (unsigned long long)sum);
}

bool catalog_is_site(const struct catalog *c)
{
	size_t n = strlen(c->archive);
	return !strncmp(c->path, c->archive, n) && !strcmp(c->path + n, "/.index/index.db");
}

static bool is_current(struct catalog *c)
{
	char who[64], mine[64];
	bool same = false;

	if (query_number(c, "PRAGMA application_id", 0) != APPLICATION_ID ||
	    query_number(c, "PRAGMA user_version", 0) != CATALOG_VERSION)
		return false;
	describe_identity(mine, sizeof mine);
	sqlite3_stmt *s = query_statement(c, "SELECT value FROM about WHERE name = 'identity'", NULL);
	if (s && sqlite3_step(s) == SQLITE_ROW) {
		snprintf(who, sizeof who, "%s", (const char *)sqlite3_column_text(s, 0));
		same = catalog_is_site(c) || !strcmp(who, mine); /* of the site's, all who may write it read the same */
	}
	sqlite3_finalize(s);
	return same;
}

static int make_tables(struct catalog *c, struct error *error)
{
	char mine[64], sql[512];

	describe_identity(mine, sizeof mine);
	snprintf(sql, sizeof sql,
	         "PRAGMA application_id = %d; PRAGMA user_version = %d; INSERT INTO about VALUES ('identity', '%s'), "
	         "('digest', %lld)",
	         APPLICATION_ID, CATALOG_VERSION, mine, (long long)digest_version());
	return run_sql(c, "BEGIN IMMEDIATE", error) || run_sql(c, tables_sql, error) ||
	                       run_sql(c, tables_views, error) || run_sql(c, tables_triggers, error) ||
	                       run_sql(c, sql, error) || run_sql(c, "COMMIT", error)
	               ? -1
	               : 0;
}

/* --- opening --- */

/* Opens or makes a file with exactly this mode. */
static int open_own(const char *path, mode_t mode)
{
	mode_t old = umask(0);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
	umask(old);
	return fd;
}

/* Steps of SQLite's machine: an honest question takes some hundreds for each row. */
#define WORK_STEP  1000000
#define WORK_LEAST UINT64_C(100000000)
#define WORK_BYTE  1000 /* for each byte of the database */
#define HEAP_MOST  (INT64_C(512) << 20)

/* A database may have views without an end. Nonzero: SQLite stops ("interrupted"). */
static int is_too_much(void *context)
{
	struct catalog *c = context;
	struct stat st;

	c->work += WORK_STEP;
	return c->work > WORK_LEAST &&
	       (stat(c->path, &st) != 0 || c->work - WORK_LEAST > (uint64_t)st.st_size * WORK_BYTE);
}

/* What is in the file may be anybody's doing: nothing in it is executed. */
static int connect_database(struct catalog *c, struct error *error)
{
	bool memory = c->path[0] == ':';
	int flags = (c->writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
	            SQLITE_OPEN_NOMUTEX | (memory ? 0 : SQLITE_OPEN_NOFOLLOW);

	if (c->writable && !memory) { /* SQLite's own would be 0644; its journal gets the mode of the database */
		int fd = open_own(c->path, catalog_is_site(c) ? 0660 : 0600);
		if (fd < 0)
			return error_set(error, "%s: the index cannot be made: %s", c->path, strerror(errno));
		close(fd);
	}
	if (sqlite3_open_v2(c->path, &c->db, flags, NULL) != SQLITE_OK)
		return error_set(error, "%s: the index cannot be opened: %s", c->path,
		                 c->db ? sqlite3_errmsg(c->db) : "out of memory");
	sqlite3_busy_timeout(c->db, 10000);
	sqlite3_hard_heap_limit64(HEAP_MOST);
	if (!memory)
		sqlite3_progress_handler(c->db, WORK_STEP, is_too_much, c);
	query_add_functions(c);
	sqlite3_exec(c->db,
	             "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;"
	             "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
	             NULL, NULL, NULL);
	return 0;
}

/* A folder and those above it. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void place_in_cache(struct catalog *c)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	unsigned long long name = hash_bytes(c->archive, strlen(c->archive));
	int n = -1;

	if (cache && cache[0] == '/')
		n = snprintf(c->path, sizeof c->path, "%s/spoor/%016llx.db", cache, name);
	else if (home && home[0] == '/')
		n = snprintf(c->path, sizeof c->path, "%s/.cache/spoor/%016llx.db", home, name);
	if (n < 0 || (size_t)n >= sizeof c->path) {
		strcpy(c->path, ":memory:");
		return;
	}
	make_folders(c->path);
}

/* Opens FILE.lock. Returns 0, or -1: the index cannot be here. */
static int open_lock(struct catalog *c, mode_t mode)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof path, "%s.lock", c->path) >= sizeof path)
		return -1;
	c->lock = open_own(path, mode);
	c->writable = c->lock >= 0 && (access(c->path, W_OK) == 0 || errno == ENOENT);
	if (c->lock < 0)
		c->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* nor on a file system that does not know locks, such as Lustre without the option flock */
	if (c->lock >= 0 && flock(c->lock, LOCK_SH | LOCK_NB) &&
	    (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK))
		return -1;
	if (c->lock >= 0)
		flock(c->lock, LOCK_UN);
	return c->lock >= 0 && (c->writable || access(c->path, R_OK) == 0) ? 0 : -1;
}

static void choose_place(struct catalog *c)
{
	char folder[PATH_MAX];

	if ((size_t)snprintf(folder, sizeof folder, "%s/.index", c->archive) < sizeof folder &&
	    access(folder, R_OK | X_OK) == 0) {
		if ((size_t)snprintf(c->path, sizeof c->path, "%s/index.db", folder) < sizeof c->path &&
		    open_lock(c, 0660) == 0)
			return;
		if (c->lock >= 0)
			close(c->lock);
	}
	place_in_cache(c);
	if (c->path[0] != ':' && (open_lock(c, 0600) || !c->writable)) {
		if (c->lock >= 0)
			close(c->lock);
		strcpy(c->path, ":memory:");
	}
	if (c->path[0] == ':') {
		c->lock = -1;
		c->writable = true;
	}
}

/* Root's part; it opens nothing but the archive's own folder. */
static int drop_privileges(const char *archive, gid_t group, struct error *error)
{
	struct stat st, index;
	int rv = -1;

	int fd = open(archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		error_set(error, "%s: the archive cannot be read: %s", archive, strerror(errno));
	} else if (st.st_uid != 0) {
		rv = privileges_drop(st.st_uid, st.st_gid, error);
	} else if (st.st_mode & 022) {
		error_set(error, "%s: is root's, and others can write it (mode %04o); chmod go-w, or `spoor setup`",
		          archive, (unsigned)st.st_mode & 07777);
	} else {
		bool made = mkdirat(fd, ".index", 0700) == 0;
		if (made && (fchownat(fd, ".index", 0, group, AT_SYMLINK_NOFOLLOW) || fchmodat(fd, ".index", 02770, 0)))
			error_set(error, "%s/.index: %s", archive, strerror(errno));
		else if (fstatat(fd, ".index", &index, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(index.st_mode))
			error_set(error, "%s/.index: is not a folder", archive);
		else /* without one, where root may make none (root_squash), the index is in memory */
			rv = privileges_drop(
				privileges_nobody(),
				fstatat(fd, ".index", &index, AT_SYMLINK_NOFOLLOW) == 0 ? index.st_gid : group, error);
	}
	if (fd >= 0)
		close(fd);
	if (!rv && access(archive, R_OK | X_OK))
		return error_set(error, "%s: root reads an archive as user nobody, who cannot enter this one: %s",
		                 archive, strerror(errno));
	return rv;
}

int catalog_open(struct catalog **out, const char *archive, gid_t group, struct error *error)
{
	struct catalog *c = calloc(1, sizeof *c);

	*out = NULL;
	if (!c)
		return error_set(error, "out of memory");
	c->lock = -1;
	char *real = realpath(archive, NULL);
	if (!real || access(archive, R_OK | X_OK))
		error_set(error, "%s: the archive cannot be read: %s", archive, strerror(errno));
	else if (strlen(real) >= sizeof c->archive)
		error_set(error, "%s: the path is too long", archive);
	else if (strcpy(c->archive, real), geteuid() == 0 && drop_privileges(real, group, error))
		;
	else
		choose_place(c), *out = c;
	free(real);
	if (*out)
		return 0;
	catalog_close(c);
	return -1;
}

int catalog_again(struct catalog **out, const struct catalog *c, struct error *error)
{
	struct catalog *again = c->path[0] == ':' ? NULL : calloc(1, sizeof *again);

	*out = NULL;
	if (!again)
		return error_set(error, "%s", c->path[0] == ':' ? "the index is in memory" : "out of memory");
	strcpy(again->archive, c->archive);
	strcpy(again->path, c->path);
	again->lock = -1;
	if (connect_database(again, error) == 0)
		*out = again;
	else
		catalog_close(again);
	return *out ? 0 : -1;
}

void catalog_close(struct catalog *c)
{
	if (!c)
		return;
	query_close(c);
	if (c->lock >= 0)
		close(c->lock);
	free(c);
}

/* --- the lock --- */

static int take_lock(struct catalog *c, enum catalog_lock how, int wait, struct error *error)
{
	int operation = how == CATALOG_CHANGE ? LOCK_EX : LOCK_SH;

	if (c->lock < 0)
		return 0;
	while (flock(c->lock, wait < 0 ? operation : operation | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(error, "%s.lock: cannot be locked: %s; does its file system know flock?",
			                 c->path, strerror(errno));
		if (wait == 0)
			return error_set(error, "%s: another process is changing the index", c->path);
		if (wait > 0) {
			nanosleep(&(struct timespec){0, 20000000}, NULL);
			wait = wait > 20 ? wait - 20 : 0;
		}
	}
	return 0;
}

/* With the exclusive lock: nobody has the database open in the middle of anything. */
static int begin_anew(struct catalog *c, struct error *error)
{
	char journal[PATH_MAX];

	query_close(c);
	c->db = NULL;
	c->anew++;
	if (c->path[0] != ':') {
		if ((size_t)snprintf(journal, sizeof journal, "%s-journal", c->path) >= sizeof journal)
			return error_set(error, "%s: the path is too long", c->path);
		if ((unlink(journal) && errno != ENOENT) || (unlink(c->path) && errno != ENOENT))
			return error_set(error, "%s: a damaged index cannot be removed: %s", c->path, strerror(errno));
	}
	return connect_database(c, error) || make_tables(c, error) ? -1 : 0;
}

/* The database that is there now: another process may have begun it anew. Only with the lock: whoever opens it without
 * may see the journal of the new one beside the old one, take it for what a killed process left, and put it back. */
static int reconnect(struct catalog *c, struct error *error)
{
	int moved = 0;

	if (c->db && c->path[0] != ':')
		sqlite3_file_control(c->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (c->db && !moved)
		return 0;
	c->anew += c->db != NULL;
	query_close(c);
	c->db = NULL;
	return connect_database(c, error);
}

int catalog_lock(struct catalog *c, enum catalog_lock how, int wait, struct error *error)
{
	if (how == CATALOG_UNLOCK) {
		if (c->lock >= 0)
			flock(c->lock, LOCK_UN);
		return 0;
	}
	if (how == CATALOG_CHANGE && !c->writable)
		return error_set(error, "%s: you may read this index, and not change it", c->path);
	if (take_lock(c, how, wait, error))
		return -1;
	int rv = reconnect(c, error);
	bool current = rv || is_current(c);
	if (!rv && current && how == CATALOG_CHANGE && !figure_row_complete(c))
		rv = figure_row_complete_now(c, error);
	else if (!rv && (!current || !figure_row_complete(c)))
		rv = how == CATALOG_CHANGE ? begin_anew(c, error)
		                           : error_set(error,
		                                       "%s: the index is damaged, or of another version of spoor; "
		                                       "`spoor index` makes it anew",
		                                       c->path);
	if (rv)
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

int catalog_clear(struct catalog *c, struct error *error)
{
	if (catalog_lock(c, CATALOG_CHANGE, -1, error))
		return -1;
	int rv = begin_anew(c, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}
