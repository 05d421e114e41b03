/* SPDX-License-Identifier: BSD-3-Clause
 * join_archive - joins the parts that are in the archive (join.h: join_archive)
 *
 *     which jobs of whom have parts       by the names of files alone
 *     each job                            as its owner, under a lock in the folders of its days that are the owner's
 *         each world of it                remove what is left over; join the rest; publish; remove the parts
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/join.h"
#include "archive/metadata.h"
#include "archive/privileges.h"
#include "process/process.h"
#include "trace/base/number.h"
#include "trace/base/publish.h"
#include "trace/base/regular.h"

#define FOLDERS_MAX 64   /* over which the parts of a job may be spread */
#define JOBS_MOST   1000 /* of one user, in one search: each may be a process. The others wait for the next one */
#define NAMES_MAX   1000 /* numbers that are tried for the whole */

/* A job that has parts. */
struct parted_job {
	uid_t uid;
	int64_t job;
	char *folders[FOLDERS_MAX];
	int locks[FOLDERS_MAX];
	size_t folder_count;
};

/* A part, or what was joined of some. */
struct part {
	char *path;
	const char *folder;
	json_t *metadata;
	bool gone;
};

struct job_list {
	struct join_search *search;
	struct error *error;
	struct parted_job *works;
	size_t count;
};

static void tell_joined(const struct join_search *s, const char *format, const char *a, const char *b)
{
	char text[2 * PATH_MAX];
	snprintf(text, sizeof text, "%s%s%s", a, format, b);
	if (s->tell)
		s->tell(text);
}

/* --- which jobs --- */

/* JOB.STEP.N.NODE.spoor: a part has one component more than a whole. */
static bool is_part_name(const char *name, int64_t *job)
{
	size_t n = strlen(name), dots = 0;
	const char *end = name;
	uint64_t number;

	if (number_read(&end, INT64_MAX, &number) != 0 || n < 6 || strcmp(name + n - 6, ".spoor"))
		return false;
	for (size_t i = 0; i < n - 6; i++)
		dots += name[i] == '.';
	*job = (int64_t)number;
	return *end == '.' && dots >= 3;
}

static struct parted_job *parted_job_of(struct job_list *y, const struct stat *st, int64_t job)
{
	size_t jobs = 0;
	for (size_t i = 0; i < y->count; i++) {
		if (y->works[i].uid == st->st_uid && y->works[i].job == job)
			return &y->works[i];
		jobs += y->works[i].uid == st->st_uid;
	}
	if (jobs == JOBS_MOST)
		return NULL;
	struct parted_job *more = realloc(y->works, (y->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	y->works = more;
	y->works[y->count] = (struct parted_job){.uid = st->st_uid, .job = job};
	return &y->works[y->count++];
}

/* Looks at the names in one user's folder of a day. What is not the user's is not looked at. */
static int see_folder(void *context, const char *path, const char *name)
{
	struct job_list *y = context;
	struct stat own;
	(void)name;

	DIR *dir = regular_open_folder(AT_FDCWD, path);
	if (dir && fstat(dirfd(dir), &own)) {
		closedir(dir);
		dir = NULL;
	}
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;
		int64_t job;
		if (!is_part_name(e->d_name, &job) || (y->search->job >= 0 && job != y->search->job) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    st.st_uid != own.st_uid || (geteuid() != 0 && st.st_uid != geteuid()))
			continue;
		struct parted_job *w = parted_job_of(y, &st, job);
		if (!w)
			continue;
		if (w->folder_count == 0 ||
		    (w->folder_count < FOLDERS_MAX && strcmp(w->folders[w->folder_count - 1], path))) {
			if ((w->folders[w->folder_count] = strdup(path)))
				w->folder_count++;
		}
	}
	if (dir)
		closedir(dir);
	return 0;
}

/* --- one job --- */

/* Returns 0, 1 if another process joins, -1. A file system without locks is no reason not to join: what two processes
 * make of the same parts at once is found by whoever looks next to be the same (is_left_over). */
static int lock_folder(const struct parted_job *w, size_t i, struct error *error)
{
	char path[PATH_MAX];
	struct stat st, now;

	snprintf(path, sizeof path, "%s/.%lld.join.tmp", w->folders[i], (long long)w->job);
	for (int attempt = 0; attempt < 10; attempt++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0)
			return error_set(error, "%s: cannot be locked: %s", path, strerror(errno));
		if (flock(fd, LOCK_EX | LOCK_NB) && errno != ENOSYS && errno != EOPNOTSUPP && errno != ENOLCK) {
			int failure = errno;
			close(fd);
			return failure == EWOULDBLOCK
			               ? 1
			               : error_set(error, "%s: cannot be locked: %s", path, strerror(failure));
		}
		if (!fstat(fd, &st) && !lstat(path, &now) && st.st_ino == now.st_ino && st.st_dev == now.st_dev)
			return ((struct parted_job *)w)->locks[i] = fd, 0;
		close(fd); /* who had it has removed it */
	}
	return 1;
}

static void unlock_folders(struct parted_job *w)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < w->folder_count; i++) {
		if (w->locks[i] < 0)
			continue;
		snprintf(path, sizeof path, "%s/.%lld.join.tmp", w->folders[i], (long long)w->job);
		unlink(path);
		close(w->locks[i]);
	}
}

static bool is_ours(const json_t *m)
{
	return *metadata_text(m, "world", "") &&
	       (json_is_string(json_object_get(m, "part")) || json_array_size(json_object_get(m, "parts")) > 0);
}

/* All files of the job that are parts or joined. */
static int read_parts(const struct parted_job *w, struct part **parts, size_t *count, struct error *error)
{
	int rv = 0;
	char prefix[32];
	size_t n = (size_t)snprintf(prefix, sizeof prefix, "%lld.", (long long)w->job);

	for (size_t i = 0; i < w->folder_count; i++) {
		DIR *dir = opendir(w->folders[i]);
		for (struct dirent *e; dir && (e = readdir(dir));) {
			struct stat st;
			size_t length = strlen(e->d_name);
			char *path = NULL;
			if (strncmp(e->d_name, prefix, n) || length < 6 || strcmp(e->d_name + length - 6, ".spoor") ||
			    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
			    st.st_uid != w->uid || asprintf(&path, "%s/%s", w->folders[i], e->d_name) < 0)
				continue;
			json_t *m = metadata_read(path, e->d_name, (unsigned long)st.st_uid, error);
			struct part *more = m && is_ours(m) ? realloc(*parts, (*count + 1) * sizeof *more) : NULL;
			if (more) {
				*parts = more;
				more[(*count)++] = (struct part){path, w->folders[i], m, false};
				continue;
			}
			rv = m ? rv : -1;
			json_decref(m);
			free(path);
		}
		if (dir)
			closedir(dir);
	}
	return rv;
}

static bool same_world(const struct part *a, const struct part *b)
{
	return !strcmp(metadata_text(a->metadata, "world", ""), metadata_text(b->metadata, "world", "")) &&
	       metadata_number(a->metadata, "restart", 0) == metadata_number(b->metadata, "restart", 0);
}

static size_t part_count(const json_t *m)
{
	const json_t *parts = json_object_get(m, "parts");
	return json_is_array(parts) ? json_array_size(parts) : 1;
}

static const char *part_at(const json_t *m, size_t i)
{
	const json_t *parts = json_object_get(m, "parts");
	const char *text =
		json_string_value(json_is_array(parts) ? json_array_get(parts, i) : json_object_get(m, "part"));
	return text ? text : "";
}

static bool has_part(const json_t *m, const char *name)
{
	for (size_t i = 0; i < part_count(m); i++)
		if (!strcmp(part_at(m, i), name))
			return true;
	return false;
}

static bool is_inside(const struct part *a, const struct part *b)
{
	for (size_t i = 0; i < part_count(a->metadata); i++)
		if (!has_part(b->metadata, part_at(a->metadata, i)))
			return false;
	return true;
}

/* Left over: all of it is in another one. Of two that are the same, that with the longer or later name goes. */
static bool is_left_over(const struct part *a, const struct part *b)
{
	if (a == b || b->gone || !same_world(a, b) || !is_inside(a, b))
		return false;
	if (!is_inside(b, a))
		return true;
	size_t x = strlen(a->path), y = strlen(b->path);
	return x != y ? x > y : strcmp(a->path, b->path) > 0;
}

static void remove_left_over(struct join_search *s, struct part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && !parts[i].gone; k++)
			if (is_left_over(&parts[i], &parts[k])) {
				parts[i].gone = true;
				if (unlink(parts[i].path) == 0) {
					s->removed++;
					tell_joined(s, ": removed: it is in ", parts[i].path, parts[k].path);
				}
			}
}

/* The node in the name of a part, JOB.STEP.NODE. */
static const char *node_of_part(const char *part)
{
	const char *dot = strchr(part, '.');
	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? dot + 1 : part;
}

/* Are all ranks there, or do all nodes of the step have delivered what there was? */
static bool is_complete(struct part *const *group, size_t n)
{
	int64_t there = 0;
	size_t nodes = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *m = group[i]->metadata;
		there += metadata_number(m, "ranks", 0) - metadata_number(m, "ranks_missing", 0);
		for (size_t k = 0; k < part_count(m); k++, nodes++) {
			for (size_t other = 0; other < i; other++)
				for (size_t x = 0; x < part_count(group[other]->metadata); x++)
					if (!strcmp(node_of_part(part_at(group[other]->metadata, x)),
					            node_of_part(part_at(m, k))))
						nodes--;
		}
	}
	return there >= metadata_number(group[0]->metadata, "ranks", INT64_MAX) ||
	       (int64_t)nodes >= metadata_number(group[0]->metadata, "nodes", INT64_MAX);
}

static int publish_whole(const struct part *first, const json_t *base, const uint8_t *bytes, size_t size,
                         char path[PATH_MAX], struct error *error)
{
	for (int i = 0; i < NAMES_MAX; i++) {
		snprintf(path, PATH_MAX, "%s/%lld.%s.%d.spoor", first->folder,
		         (long long)metadata_number(base, "job", -1), metadata_text(base, "step", "0"), i);
		if (strchr(metadata_text(base, "step", "0"), '/'))
			break;
		if (publish_file(path, 0440, bytes, size) == 0)
			return 0;
		if (errno != EEXIST)
			return error_set(error, "%s: %s", path, strerror(errno));
	}
	return error_set(error, "%s: there is no name for the whole", first->path);
}

static int join_group(struct join_search *s, struct part **group, size_t n, struct error *error)
{
	int rv = -1;
	struct join j;
	uint8_t *bytes = NULL;
	size_t size;
	uint64_t missing;
	char path[PATH_MAX];

	if (join_init(&j) != 0) {
		error_set(error, "no memory");
		goto done;
	}
	for (size_t i = 0; i < n; i++)
		if (join_add_file(&j, group[i]->path, geteuid(), error) != 0)
			goto done;
	if (join_encode(&j, &bytes, &size, &missing, error) != 0 ||
	    publish_whole(group[0], j.base, bytes, size, path, error) != 0)
		goto done;
	s->joined++;
	rv = 0;
	for (size_t i = 0; i < n; i++) {
		tell_joined(s, ": joined into ", group[i]->path, path);
		if (unlink(group[i]->path) && errno != ENOENT)
			rv = error_set(error, "%s: is joined, and cannot be removed: %s", group[i]->path,
			               strerror(errno));
	}
done:
	free(bytes);
	join_free(&j);
	return rv;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->path, ((const struct part *)b)->path);
}

static int join_worlds(struct join_search *s, struct part *parts, size_t n, struct error *error)
{
	int rv = 0;
	struct part **group = calloc(n + 1, sizeof *group);

	if (!group)
		return error_set(error, "no memory");
	remove_left_over(s, parts, n);
	for (size_t i = 0; i < n; i++) {
		size_t members = 0;
		for (size_t k = i; k < n && !parts[i].gone; k++)
			if (!parts[k].gone && same_world(&parts[i], &parts[k]))
				group[members++] = &parts[k];
		if (members > 1 && (!s->whole || is_complete(group, members)) &&
		    join_group(s, group, members, error) != 0)
			rv = -1;
		for (size_t k = 0; k < members; k++)
			group[k]->gone = true;
	}
	free(group);
	return rv;
}

/* As the owner. */
static int join_job(struct join_search *s, struct parted_job *w, struct error *error)
{
	int rv = 0;
	struct part *parts = NULL;
	size_t count = 0;

	for (size_t i = 0; i < w->folder_count; i++)
		w->locks[i] = -1;
	for (size_t i = 0; i < w->folder_count && rv == 0; i++)
		rv = lock_folder(w, i, error);
	if (rv == 0) {
		rv = read_parts(w, &parts, &count, error);
		if (count)
			qsort(parts, count, sizeof *parts, by_path);
		if (join_worlds(s, parts, count, error) != 0)
			rv = -1;
	}
	unlock_folders(w);
	for (size_t i = 0; i < count; i++) {
		free(parts[i].path);
		json_decref(parts[i].metadata);
	}
	free(parts);
	return rv < 0 ? -1 : 0;
}

/* Root does not parse what users wrote. */
static int join_as_owner(struct join_search *s, struct parted_job *w, struct error *error)
{
	int results[2], status;
	size_t counts[2] = {0, 0};

	if (pipe(results))
		return error_set(error, "no pipe: %s", strerror(errno));
	pid_t pid = process_child();
	if (pid == 0) {
		struct error why = {""};
		close(results[0]);
		s->joined = s->removed = 0;
		/* not the file's group: that reads everybody's traces */
		const struct passwd *pw = getpwuid(w->uid);
		int rv = privileges_drop(w->uid, pw ? pw->pw_gid : (gid_t)w->uid, &why) || join_job(s, w, &why);
		counts[0] = s->joined;
		counts[1] = s->removed;
		if (rv && s->tell)
			fprintf(stderr, "spoor: %s\n", why.text);
		if (write(results[1], counts, sizeof counts) != sizeof counts)
			rv = 1;
		_exit(rv ? 1 : 0);
	}
	close(results[1]);
	if (pid > 0 && read(results[0], counts, sizeof counts) == sizeof counts) {
		s->joined += counts[0];
		s->removed += counts[1];
	}
	close(results[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(error, "the parts of job %lld of user %lu were not joined", (long long)w->job,
		                 (unsigned long)w->uid);
	return 0;
}

int join_archive(struct join_search *s, struct error *error)
{
	struct job_list y = {.search = s, .error = error};

	s->joined = s->removed = 0;
	int rv = s->archive ? archive_folders(s->archive, s->since, see_folder, &y, error)
	                    : see_folder(&y, s->folder, "");
	for (size_t i = 0; i < y.count; i++) {
		struct parted_job *w = &y.works[i];
		if ((geteuid() == 0 && w->uid != 0 ? join_as_owner : join_job)(s, w, error) != 0)
			rv = -1;
		for (size_t k = 0; k < w->folder_count; k++)
			free(w->folders[k]);
		if (s->progress)
			s->progress(s->context, i + 1, y.count);
	}
	free(y.works);
	return rv;
}
