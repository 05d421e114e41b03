/* SPDX-License-Identifier: BSD-3-Clause
 * salvage - makes a trace of the arenas that ranks left behind
 *
 * Arenas are opened one after the other, so that memory is bounded by the largest arena and the trace that grows out of
 * all.
 */
#include "deliver/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/budget.h"
#include "trace/base/number.h"
#include "trace/base/publish.h"
#include "trace/base/regular.h"
#include "trace/file/container.h"
#include "trace/model/stream.h"
#include "trace/read/successors.h"
#include "trace/record/record.h"

#define PATH_SIZE 1400
#define NAMES     100 /* files of one world that a folder may have */

enum fate {
	WAITING,
	MERGED, /* into the world at hand */
	KEPT    /* looked at; stays or is gone */
};

struct left {
	char path[PATH_SIZE];
	uint64_t world;
	uint32_t rank;
	enum fate fate;
};

/* Whoever made the arena: what comes of it is as good as what a reader has found good. */
static int read_arena(struct world *one, struct arena *a, const char *name, struct error *error)
{
	struct trace *t = &one->trace;
	struct budget budget = BUDGET_OF(a->header->used);
	world_add_process(one, a); /* reading the events uses the arena up */
	budget_begin(&budget);
	int rv = trace_extract(t, a, error);
	if (rv == 0)
		rv = trace_check(t, error);
	if (rv == 0)
		rv = successors_check(t, rankmap_first(&t->events), error);
	budget_explain(name, error);
	budget_end(&budget);
	if (rv != 0 && error) {
		struct error inner = *error;
		error->text[0] = 0;
		error_set(error, "%s: %.400s", name, inner.text);
	}
	return rv;
}

int salvage_arena(struct world *w, struct arena *a, const char *name, struct error *error)
{
	struct world one = {.facts_rank = UINT32_MAX};
	uint64_t id = 0;
	uint32_t stream = 0;
	int64_t events;
	int what = world_identify(a, name, &id, &stream, error);
	if (what != 0)
		return what > 0 ? error_set(error, "%s: its process did not initialise MPI", name) : -1;
	if (id != w->id)
		return error_set(error, "%s: is of another MPI_COMM_WORLD (%016" PRIx64 ", not %016" PRIx64 ")", name,
		                 id, w->id);
	if (rankmap_get(&w->trace.events, stream, &events))
		return error_set(error, "%s: rank %" PRIu32 " is there already", name,
		                 w->trace.size ? stream_rank(&w->trace, stream) : stream);
	int rv = read_arena(&one, a, name, error);
	if (rv == 0)
		rv = world_take(w, &one, error);
	world_free(&one);
	return rv;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);
	return n > k && strcmp(name + n - k, end) == 0;
}

static void tell(struct salvage *s, const char *text)
{
	if (s->tell)
		s->tell(s->context, text);
}

bool salvage_is_running(const char *path)
{
	int fd = regular_open(AT_FDCWD, path, geteuid(), NULL, NULL);
	if (fd < 0)
		return false;
	bool running = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return running;
}

size_t salvage_running(const char *folder)
{
	char path[PATH_MAX];
	size_t n = 0;
	DIR *d = opendir(folder);
	for (const struct dirent *e; d && (e = readdir(d));) {
		int length = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		n += ends_in(e->d_name, ".arena") && length > 0 && (size_t)length < sizeof path &&
		     salvage_is_running(path);
	}
	if (d)
		closedir(d);
	return n;
}

/* What cannot be read has nothing in it for anybody, unless another spoor can. */
static int arena_give_up(struct salvage *s, struct left *l, bool version, struct error *why, struct error *error)
{
	s->damaged++;
	l->fate = KEPT;
	if (version || !s->remove_damaged) {
		error_set(error, "%s", why->text);
		return -1;
	}
	tell(s, why->text);
	unlink(l->path);
	return 0;
}

/* Opens an arena and reads what it says of itself. Returns 0 with it open; 1 if it is done with; -1. */
static int open_left(struct salvage *s, struct left *l, struct arena *a, struct error *error)
{
	struct error why = {""};
	if (salvage_is_running(l->path)) {
		s->running++;
		l->fate = KEPT;
		return 1;
	}
	int opened = arena_open(a, l->path, &why);
	int what = opened == 0 ? world_identify(a, l->path, &l->world, &l->rank, &why) : opened;
	if (what == 0)
		return 0;
	if (opened == 0)
		arena_close(a);
	if (what == 1) { /* its process never initialised MPI */
		unlink(l->path);
		l->fate = KEPT;
		return 1;
	}
	return arena_give_up(s, l, opened == ARENA_OTHER_BUILD, &why, error) == 0 ? 1 : -1;
}

static int list(struct salvage *s, const char *folder, struct left **out, size_t *count, struct error *error)
{
	size_t capacity = 0;
	*out = NULL;
	*count = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return error_set(error, "%s: cannot read the folder: %s", folder, strerror(errno));
	int rv = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		struct stat st;
		struct arena a;
		if (!ends_in(e->d_name, ".arena") || strlen(folder) + strlen(e->d_name) + 2 > PATH_SIZE ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (st.st_uid != geteuid() || st.st_nlink > 1) { /* not made by the tracer */
			rv = error_set(error, "%s/%s: is somebody else's, or has a second name; left alone", folder,
			               e->d_name);
			continue;
		}
		if (*count == capacity) {
			capacity = capacity ? capacity * 2 : 16;
			struct left *more = realloc(*out, capacity * sizeof *more);
			if (!more) {
				rv = error_set(error, "no memory");
				break;
			}
			*out = more;
		}
		struct left *l = &(*out)[*count];
		*l = (struct left){.fate = WAITING};
		snprintf(l->path, sizeof l->path, "%s/%s", folder, e->d_name);
		int what = open_left(s, l, &a, error);
		if (what == 0) {
			arena_close(&a);
			++*count;
		} else if (what < 0) {
			rv = -1;
		}
	}
	closedir(dir);
	return rv;
}

/* In the order of ranks: the sites of a world then have the same numbers whatever the folder's order, which makes
 * merging quick. */
static int by_world(const void *a, const void *b)
{
	const struct left *x = a, *y = b;
	return x->world != y->world ? (x->world > y->world ? 1 : -1) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Files of this world that are there already: arenas of ranks that are in one are not needed any more. path gets the
 * first name that is free. */
static int drop_merged(const char *folder, struct left *lefts, size_t n, char path[PATH_SIZE], struct error *error)
{
	for (unsigned i = 0; i < NAMES; i++) {
		struct container *c = NULL;
		struct trace t = {.size = 0};
		int64_t events;
		if (i)
			snprintf(path, PATH_SIZE, "%s/world-%016" PRIx64 ".%u.spoor", folder, lefts[0].world, i);
		else
			snprintf(path, PATH_SIZE, "%s/world-%016" PRIx64 ".spoor", folder, lefts[0].world);
		if (access(path, F_OK) != 0)
			return 0;
		if (trace_open(&t, &c, path, NULL, NULL) == 0)
			for (size_t k = 0; k < n; k++)
				if (lefts[k].fate == WAITING && rankmap_get(&t.events, lefts[k].rank, &events)) {
					unlink(lefts[k].path);
					lefts[k].fate = KEPT;
				}
		trace_free(&t);
		container_destroy(c);
	}
	return error_set(error, "%s: there are too many traces of one world", folder);
}

/* When a rank's process ended. */
static int64_t ended_of(const struct salvage *s, uint32_t rank)
{
	const char *p = s->exits;
	while (p && *p) {
		uint64_t of = UINT64_MAX, ns = 0;
		if (number_read(&p, UINT32_MAX, &of) != 0 || *p++ != ':' || number_read(&p, INT64_MAX, &ns) != 0)
			break;
		if (of == rank)
			return (int64_t)ns;
		p += *p == ',';
	}
	return s->ended_ns;
}

/* The arena is a copy that reading uses up: it learns what its process could not know. Its owner may have changed the
 * file since it was listed: nothing of it is known to be right. */
static void set_end(const struct salvage *s, struct arena *a)
{
	ref root = a->header->root;
	if (!arena_valid(a, root, sizeof(struct record)))
		return;
	struct record *r = arena_at(a, struct record, root);
	if (r->state == RECORD_INITIALIZED && r->size)
		r->ended_ns = ended_of(s, r->rank);
}

static int arena_add(struct salvage *s, struct world *w, struct left *l, struct error *error)
{
	struct arena a;
	struct error why = {""};
	int64_t events;
	int what = open_left(s, l, &a, error);
	if (what != 0)
		return what < 0 ? -1 : 0;
	if (rankmap_get(&w->trace.events, l->rank, &events)) {
		arena_close(&a);
		l->fate = KEPT;
		return error_set(error, "%s: rank %" PRIu32 " has left two arenas", l->path, l->rank);
	}
	set_end(s, &a);
	int rv = salvage_arena(w, &a, l->path, &why);
	arena_close(&a);
	if (rv == 0)
		l->fate = MERGED;
	else
		rv = arena_give_up(s, l, false, &why, error);
	return rv;
}

/* All arenas of one world: lefts[0..n). Returns 0 or -1. */
static int world(struct salvage *s, const char *folder, struct left *lefts, size_t n, struct error *error)
{
	int rv = 0;
	char path[PATH_SIZE];
	struct world w;
	struct timespec now;
	uint8_t *bytes = NULL;
	size_t size, merged = 0;
	if (world_init(&w, lefts[0].world) != 0) {
		rv = error_set(error, "no memory");
		goto done;
	}
	if (drop_merged(folder, lefts, n, path, error) != 0) {
		rv = -1;
		goto done;
	}
	for (size_t i = 0; i < n; i++) {
		if (lefts[i].fate != WAITING)
			continue;
		if (arena_add(s, &w, &lefts[i], error) != 0)
			rv = -1;
		merged += lefts[i].fate == MERGED;
	}
	if (merged == 0)
		goto done;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ended =
		s->ended_ns > 0 ? (uint64_t)s->ended_ns : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (world_encode(&w, ended, &bytes, &size, error) != 0) {
		rv = -1;
		goto done;
	}
	if (publish_file(path, 0600, bytes, size) != 0) {
		int failure = errno;
		if (!s->deliver || s->deliver(s->context, bytes, size) != 0) {
			rv = error_set(error, "%s: cannot write: %s", path, strerror(failure));
			goto done;
		}
	}
	s->made++;
	for (size_t i = 0; i < n; i++)
		if (lefts[i].fate == MERGED)
			unlink(lefts[i].path);
done:
	free(bytes);
	world_free(&w);
	return rv;
}

int salvage_folder(struct salvage *s, const char *folder, struct error *error)
{
	struct left *lefts;
	size_t n;
	s->made = s->running = s->damaged = 0;
	int rv = list(s, folder, &lefts, &n, error);
	if (n > 0)
		qsort(lefts, n, sizeof *lefts, by_world);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && lefts[end].world == lefts[i].world;)
			end++;
		if (world(s, folder, lefts + i, end - i, error) != 0)
			rv = -1;
	}
	free(lefts);
	return rv;
}
