/* SPDX-License-Identifier: BSD-3-Clause
 * archive - the dated store
 */
#include "archive/archive.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/day.h"
#include "archive/job_id.h"
#include "archive/metadata.h"
#include "archive/plugstack.h"
#include "trace/base/regular.h"

/* Names that are looked at in one folder: of users in a day, of traces of a job. Anybody can make more of them than
 * memory has. */
#define NAMES_MOST 100000

/* --- walking the days --- */

static bool is_digits(const char *name, size_t digits)
{
	return strlen(name) == digits && strspn(name, "0123456789") == digits;
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of a folder that are numbers of so many digits (0: all that begin with the prefix), sorted; of more than
 * can be meant, some. */
static char **folder_names(const char *path, size_t digits, const char *prefix, size_t *count)
{
	char **names = NULL;
	size_t room = 0;
	DIR *dir = opendir(path);

	*count = 0;
	for (struct dirent *e; dir && *count < NAMES_MOST && (e = readdir(dir));) {
		if (e->d_name[0] == '.' ||
		    (digits ? !is_digits(e->d_name, digits) : strncmp(e->d_name, prefix, strlen(prefix)) != 0))
			continue;
		if (*count == room) {
			char **more = realloc(names, (room = room ? 2 * room : 64) * sizeof *names);
			if (!more)
				break;
			names = more;
		}
		if ((names[*count] = strdup(e->d_name)))
			++*count;
	}
	if (dir)
		closedir(dir);
	if (*count)
		qsort(names, *count, sizeof *names, compare_entries);
	return names;
}

/* first_day: "YYYY/MM/DD"; days before it are skipped. level: 0 years, 1 months, 2 days. */
static int walk_days(const char *folder, const char *day, const char *first_day, int level, archive_visit *visit,
                     void *context)
{
	static const size_t digits[] = {4, 2, 2};
	char path[PATH_MAX], here[16];
	size_t count;
	int rv = 0;

	char **names = folder_names(folder, digits[level], "", &count);
	for (size_t i = 0; i < count; i++) {
		snprintf(here, sizeof here, "%s%s%.4s", day, level ? "/" : "", names[i]);
		if (rv || (size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= sizeof path ||
		    strncmp(here, first_day, strlen(here)) < 0)
			; /* over, too long, before */
		else if (level == 2)
			rv = visit(context, path, here);
		else
			rv = walk_days(path, here, first_day, level + 1, visit, context);
		free(names[i]);
	}
	free(names);
	return rv;
}

int archive_days(const char *archive, int64_t since, archive_visit *visit, void *context, struct error *error)
{
	char first_day[DAY_SIZE] = "";

	if (access(archive, R_OK | X_OK))
		return error_set(error, "%s: the archive cannot be read: %s", archive, strerror(errno));
	if (since > 0 && day_of(since, first_day))
		return error_set(error, "%lld is no time of a day", (long long)since);
	return walk_days(archive, "", first_day, 0, visit, context);
}

/* A folder counts if its name is its owner's. Somebody else's is none, whatever its name. */
static int visit_user_folder(const char *day_path, const char *day, const char *name, archive_visit *visit,
                             void *context)
{
	char path[PATH_MAX], here[DAY_SIZE + DAY_FOLDER_SIZE];
	struct stat st;
	uid_t uid;

	if (!day_is_folder(name, &uid) || (size_t)snprintf(path, sizeof path, "%s/%s", day_path, name) >= sizeof path ||
	    lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != uid)
		return 0;
	snprintf(here, sizeof here, "%s/%s", day, name);
	return visit(context, path, here);
}

int archive_day_folders(const char *path, const char *day, archive_visit *visit, void *context)
{
	char name[DAY_FOLDER_SIZE], one[PATH_MAX];
	size_t count;
	struct stat st;
	int rv = 0;

	if (access(path, R_OK)) { /* the others' are not for us to see */
		for (unsigned k = 0; k < DAY_NAMES && !rv; k++) {
			day_folder_name(geteuid(), k, name);
			if ((size_t)snprintf(one, sizeof one, "%s/%s", path, name) >= sizeof one || lstat(one, &st))
				break;
			rv = visit_user_folder(path, day, name, visit, context);
		}
		return rv;
	}
	char **names = folder_names(path, 0, "", &count);
	for (size_t i = 0; i < count; i++) {
		if (!rv)
			rv = visit_user_folder(path, day, names[i], visit, context);
		free(names[i]);
	}
	free(names);
	return rv;
}

struct below {
	archive_visit *visit;
	void *context;
};

static int visit_below(void *context, const char *path, const char *day)
{
	const struct below *b = context;
	return archive_day_folders(path, day, b->visit, b->context);
}

int archive_folders(const char *archive, int64_t since, archive_visit *visit, void *context, struct error *error)
{
	return archive_days(archive, since, visit_below, &(struct below){visit, context}, error);
}

/* --- where it is, and which file is meant --- */

const char *archive_policy(void)
{
	static struct plugstack stack;
	const char *file = getenv("SPOOR_POLICY");

	if (file && *file)
		return file;
	if (!stack.file[0])
		plugstack_read(&stack);
	return stack.policy[0] ? stack.policy : SPOOR_SYSCONFDIR "/policy.json";
}

/* Only one key of the policy: the rest may be wrong, and it is not for us to say. Returns NULL with error set; without
 * an error where a policy is installed nowhere. */
static json_t *policy_read(struct error *error)
{
	const char *path = archive_policy();
	json_error_t wrong;

	if (access(path, F_OK) && errno == ENOENT && !strcmp(path, SPOOR_SYSCONFDIR "/policy.json"))
		return NULL;
	json_t *policy = access(path, R_OK) ? NULL : json_load_file(path, 0, &wrong);
	if (!policy && access(path, R_OK))
		error_set(error, "%s: the policy, which says where the archive is: %s; or set SPOOR_ARCHIVE", path,
		          strerror(errno));
	else if (!policy)
		error_set(error, "%s:%d: the policy, which says where the archive is: %s; or set SPOOR_ARCHIVE", path,
		          wrong.line, wrong.text);
	return policy;
}

int archive_default(char *path, size_t size, struct error *error)
{
	const char *folder = getenv("SPOOR_ARCHIVE");
	json_t *policy = NULL;

	if (!folder || !*folder) {
		struct error unread = {""};
		policy = policy_read(&unread);
		if (!policy && unread.text[0])
			return error_set(error, "%s", unread.text);
		folder = metadata_text(policy, "archive", SPOOR_LOCALSTATEDIR "/lib/spoor/archive");
	}
	int n = snprintf(path, size, "%s", folder);
	json_decref(policy);
	return n < 0 || (size_t)n >= size ? error_set(error, "the archive's path is too long") : 0;
}

gid_t archive_group(void)
{
	struct error unread = {""};
	json_t *policy = policy_read(&unread);
	const char *name = metadata_text(policy, "admin_group", "");
	const struct group *group = *name ? getgrnam(name) : NULL;
	json_decref(policy);
	return group ? group->gr_gid : 0;
}

json_t *archive_applications(void)
{
	struct error unread = {""};
	json_t *policy = policy_read(&unread), *names = json_object_get(policy, "applications");
	json_incref(names);
	json_decref(policy);
	return names;
}

struct trace_lookup {
	const char *wanted;
	char path[PATH_MAX];
	char names[512]; /* of all that were found, for the message */
	uid_t uid;       /* of the one that was found */
	bool users;      /* they are of several */
	size_t count;
};

/* wanted is the name, or a part of it that ends at a dot. */
static bool is_wanted(const struct trace_lookup *s, const char *name)
{
	size_t n = strlen(s->wanted);
	return regular_name_is(name, "", ".spoor") && !strncmp(name, s->wanted, n) && name[n] == '.';
}

/* Own traces are not hidden by what somebody else calls theirs. */
static void search_found(struct trace_lookup *s, const char *path, const char *name, uid_t uid)
{
	if (s->count && uid != s->uid && s->uid == geteuid())
		return;
	if (s->count && uid != s->uid && uid == geteuid()) {
		s->count = 0;
		s->names[0] = '\0';
		s->users = false;
	}
	size_t used = strlen(s->names);
	s->users |= s->count && uid != s->uid;
	s->uid = uid;
	snprintf(s->path, sizeof s->path, "%s", path);
	used += (size_t)snprintf(s->names + used, sizeof s->names - used, "%s%.*s", s->count ? ", " : "",
	                         (int)(strlen(name) - strlen(".spoor")), name);
	if (uid != geteuid() && used < sizeof s->names)
		snprintf(s->names + used, sizeof s->names - used, " of user %lu", (unsigned long)uid);
	s->count++;
}

static int search_folder(void *context, const char *folder, const char *name)
{
	struct trace_lookup *s = context;
	char path[PATH_MAX];
	struct stat own, st;
	size_t count;
	(void)name;

	char **names = lstat(folder, &own) ? NULL : folder_names(folder, 0, s->wanted, &count);
	for (size_t i = 0; names && i < count; i++) {
		if (is_wanted(s, names[i]) &&
		    (size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) < sizeof path && !lstat(path, &st) &&
		    st.st_uid == own.st_uid)
			search_found(s, path, names[i], own.st_uid);
		free(names[i]);
	}
	free(names);
	return 0;
}

static bool is_job(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits > 0 && digits < 12 && (!text[digits] || text[digits] == '.') && !strchr(text, '/') &&
	       !regular_name_is(text, "", ".spoor");
}

int archive_resolve(const char *file_or_job, const char *archive, char *path, size_t size, struct error *error)
{
	struct trace_lookup s = {.wanted = file_or_job};
	char folder[PATH_MAX], component[64];
	struct job_id id;

	if (job_id_parse(&id, file_or_job) == 0 && id.component >= 0 && access(file_or_job, F_OK) != 0) {
		snprintf(component, sizeof component, "%lld%s", (long long)(id.job + id.component),
		         file_or_job + strcspn(file_or_job, "."));
		file_or_job = s.wanted = component;
	} else if (job_id_parse(&id, file_or_job) == 0 && id.task >= 0 && access(file_or_job, F_OK) != 0) {
		return error_set(error, "%s: traces are named by the job's own number: `spoor list --job %s` has it",
		                 file_or_job, file_or_job);
	}
	if (!is_job(file_or_job) || access(file_or_job, F_OK) == 0) {
		if (strlen(file_or_job) >= size)
			return error_set(error, "%.64s...: the path is too long", file_or_job);
		strcpy(path, file_or_job);
		return 0;
	}
	if (archive ? snprintf(folder, sizeof folder, "%s", archive) >= PATH_MAX
	            : archive_default(folder, sizeof folder, error) != 0)
		return error_set(error, "the archive's path is too long");
	if (archive_folders(folder, 0, search_folder, &s, error))
		return -1;
	if (s.count == 0)
		return error_set(
			error,
			"%s: no such file, and no trace of such a job in the archive %s; while it runs, `spoor "
			"where --save FILE %s` writes one",
			file_or_job, folder, file_or_job);
	if (s.count > 1)
		return error_set(error, "%s: there are %zu traces, say which%s: %s%s", file_or_job, s.count,
		                 s.users ? " (`spoor list --json` has their paths)" : "", s.names,
		                 strlen(s.names) + 1 >= sizeof s.names ? "..." : "");
	if (strlen(s.path) >= size)
		return error_set(error, "%s: the path is too long", file_or_job);
	strcpy(path, s.path);
	return 0;
}
