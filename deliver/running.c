/* SPDX-License-Identifier: BSD-3-Clause
 * running - traces of what processes that still run have recorded so far
 *
 * Arenas are read one after the other, so that memory is bounded by the largest one and the traces.
 */
#include "deliver/running.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "deliver/salvage.h"
#include "trace/record/record.h"

#define WORLDS 64 /* that one step may have on a node at a time */

struct worlds {
	struct world each[WORLDS];
	size_t count;
};

static int64_t running_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct world *world_of(struct worlds *all, uint64_t id)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->each[i].id == id)
			return &all->each[i];
	if (all->count == WORLDS || world_init(&all->each[all->count], id) != 0)
		return NULL;
	return &all->each[all->count++];
}

/* The call in flight lasts until now, where its process still runs. */
static void set_now(struct arena *a)
{
	ref root = a->header->root;
	if (arena_valid(a, root, sizeof(struct record)))
		arena_at(a, struct record, root)->ended_ns = running_now();
}

enum reading { READ, EARLY, GONE, UNREAD };

/* UNREAD: error is set. The lock is looked at only where something is in the arena: its recorder has it by then. */
static enum reading read_one(struct worlds *all, const char *path, struct error *error)
{
	struct arena a;
	uint64_t id;
	uint32_t stream;
	int rv = arena_open_running(&a, path, error);
	if (rv != 0)
		return rv == 1 ? EARLY : access(path, F_OK) != 0 && errno == ENOENT ? GONE : UNREAD;
	if (salvage_is_running(path))
		set_now(&a);
	rv = world_identify(&a, path, &id, &stream, error);
	struct world *w = rv == 0 ? world_of(all, id) : NULL;
	if (w)
		rv = salvage_arena(w, &a, path, error);
	else if (rv == 0)
		rv = error_set(error, "%s: more than %d MPI_COMM_WORLDs, or no memory", path, WORLDS);
	arena_close(&a);
	return rv == 0 ? READ : rv > 0 ? EARLY : UNREAD;
}

static void read_counted(struct running *r, struct worlds *all, const char *path)
{
	struct error why = {""};
	enum reading found = read_one(all, path, &why);
	r->arenas += found == READ;
	r->early += found == EARLY;
	if (found == UNREAD && r->unread++ == 0)
		r->first = why;
}

static int take_all(struct running *r, struct worlds *all, struct error *error)
{
	int rv = 0;
	for (size_t i = 0; i < all->count && rv == 0; i++) {
		uint8_t *bytes = NULL;
		size_t size;
		if (rankmap_empty(&all->each[i].trace.events))
			continue;
		rv = world_encode(&all->each[i], 0, &bytes, &size, error);
		if (rv == 0)
			rv = r->take(r->context, bytes, size, error);
		free(bytes);
	}
	return rv;
}

static int is_arena(const struct dirent *e)
{
	const char *end = strrchr(e->d_name, '.');
	return end && end != e->d_name && strcmp(end, ".arena") == 0;
}

int running_read(struct running *r, const char *folder, struct error *error)
{
	char path[PATH_MAX];
	struct worlds *all = calloc(1, sizeof *all);
	struct dirent **names = NULL;
	/* in the order of the ranks: then those that are merged are a few intervals at any time */
	int count = all ? scandir(folder, &names, is_arena, versionsort) : -1;
	if (!all || count < 0) {
		free(all);
		return error_set(error, "%s: cannot read the folder: %s", folder, strerror(errno));
	}
	for (int i = 0; i < count; i++) {
		int n = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
		if (n > 0 && (size_t)n < sizeof path)
			read_counted(r, all, path);
		free(names[i]);
	}
	free(names);
	int rv = take_all(r, all, error);
	for (size_t i = 0; i < all->count; i++)
		world_free(&all->each[i]);
	free(all);
	return rv;
}
