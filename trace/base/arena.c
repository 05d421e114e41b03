/* SPDX-License-Identifier: BSD-3-Clause
 * arena - the memory of one rank's recorder
 */
#include "trace/base/arena.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/arena_file.h"
#include "trace/base/limits.h"
#include "trace/base/quiet.h"
#include "trace/base/snapshot.h"

#define PAGE UINT64_C(4096)

static const char magic[8] = "spoorar";

static struct arena_mind nobodys; /* of arenas whose owner asks for nothing */

static int map(struct arena *a, int fd, uint64_t size, int flags)
{
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (base == MAP_FAILED)
		return -1;
	a->base = base;
	a->header = base;
	a->size = size;
	return 0;
}

int arena_create(struct arena *a, const char *path, uint64_t size, struct error *error)
{
	return arena_create_shared(a, path, size, NULL, error);
}

/* Makes the file, with its first pages, and maps it. Returns 0, or -1 with error set and no file. */
static int create(struct arena *a, const char *path, uint64_t size, const struct limits *limits, struct error *error)
{
	struct stat st;
	int fd = arena_file_create(path, ARENA_FIRST, limits, error), rv = 0;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || map(a, fd, size, MAP_SHARED) != 0)
		rv = error_set(error, "%s: cannot map %llu bytes: %s", path, (unsigned long long)size, strerror(errno));
	if (close(fd) != 0 && rv == 0) /* some file systems only tell now that there is no room */
		rv = error_set(error, "%s: cannot allocate %llu bytes: %s", path, (unsigned long long)ARENA_FIRST,
		               strerror(errno));
	if (rv != 0) {
		unlink(path);
		return rv;
	}
	a->device = st.st_dev;
	a->inode = st.st_ino;
	return 0;
}

int arena_create_shared(struct arena *a, const char *path, uint64_t size, uint64_t *shared, struct error *error)
{
	struct limits limits = {.memory = UINT64_MAX};
	*a = (struct arena){.shared = shared, .mind = &nobodys};
	size = size < ARENA_MIN_SIZE ? ARENA_MIN_SIZE : size > ARENA_MAX_SIZE ? ARENA_MAX_SIZE : size;
	if (path) {
		limits_read(&limits);
		if (limits.memory / ARENA_LEFT < ARENA_MIN_SIZE)
			return error_set(error,
			                 "%s: no arena: the process may only map %llu more bytes (ulimit -v, -d, -l), "
			                 "of which it would be more than a %dth",
			                 path, (unsigned long long)limits.memory, ARENA_LEFT);
		if (limits.memory / ARENA_LEFT < size)
			size = limits.memory / ARENA_LEFT;
		a->path = strdup(path);
		if (!a->path)
			return error_set(error, "%s: no memory", path);
	}
	size &= ~(PAGE - 1);
	if (!path && map(a, -1, size, MAP_PRIVATE | MAP_ANONYMOUS) != 0)
		return error_set(error, "private arena: cannot map %llu bytes: %s", (unsigned long long)size,
		                 strerror(errno));
	if (path && create(a, path, size, &limits, error) != 0) {
		arena_close(a);
		return -1;
	}
	struct arena_header *h = a->header;
	h->layout = arena_layout();
	h->size = path ? ARENA_FIRST : size;
	h->used = (sizeof *h + 63) & ~UINT64_C(63);
	arena_barrier();
	memcpy(h->magic, magic, sizeof magic);
	return 0;
}

int arena_rename(struct arena *a, const char *path)
{
	char *copy = strdup(path);
	if (!copy || rename(a->path, path) != 0) {
		free(copy);
		return -1;
	}
	free(a->path);
	a->path = copy;
	return 0;
}

/* Reads what is used of the file. It is not mapped: a file that somebody truncates under a mapping kills the reader. */
static void arena_read(struct arena *a, int fd, uint64_t size)
{
	for (uint64_t done = 0; done < size;) {
		/* holes at the end are not worth copying: stop at the bump pointer once the header is there */
		uint64_t want = done < sizeof(struct arena_header) ? sizeof(struct arena_header) : a->header->used;
		if (want > size)
			want = size;
		if (done >= want)
			break;
		ssize_t got = pread(fd, a->base + done, want - done, (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (uint64_t)got;
	}
}

/* Takes back the operation under way. Returns NULL, or what is wrong. */
static const char *arena_undo(struct arena *a, uint64_t size)
{
	struct arena_header *h = a->header;
	if (h->used > size || h->used < sizeof *h)
		return "truncated";
	if (h->journal_count > ARENA_JOURNAL)
		return "damaged journal";
	for (uint64_t i = h->journal_count; i-- > 0;) {
		uint64_t where = h->journal[i].where;
		if (where % 8 || where > size - 8)
			return "damaged journal";
		if (where < offsetof(struct arena_header, journal_count) || where >= sizeof *h)
			*arena_at(a, uint64_t, where) = h->journal[i].old;
	}
	return h->used > size || h->used < sizeof *h ? "damaged journal" : NULL;
}

/* How a file comes to memory. */
enum way { COPIED, RUNNING /* its process may be writing it */, OWN };

/* Its pages come when they are looked at. */
static bool map_own(struct arena *a, int fd, uint64_t size)
{
	a->mapped = size & ~(PAGE - 1);
	return mmap(a->base, a->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) !=
	       MAP_FAILED;
}

/* Returns 0, or as arena_open; then nothing is mapped. */
static int fetch(struct arena *a, const char *path, int fd, uint64_t size, enum way way, struct error *error)
{
	int rv = 0;
	if (map(a, -1, size + ARENA_SLACK, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE) != 0)
		return error_set(error, "%s: no memory for %llu bytes", path, (unsigned long long)size);
	if (way == COPIED) {
		arena_read(a, fd, size);
	} else if (way == OWN && !map_own(a, fd, size)) {
		rv = error_set(error, "%s: cannot map it: %s", path, strerror(errno));
	} else if (way == RUNNING && !snapshot_take(a->base, size, fd)) {
		error_set(error, "%s: its process changes it faster than it can be read", path);
		rv = ARENA_BUSY;
	}
	if (rv != 0)
		arena_close(a);
	return rv;
}

/* What is wrong with it, of which the file has `size` bytes; NULL: nothing, and it is ready to be read and finished. */
static const char *make_ready(struct arena *a, uint64_t size, bool *other)
{
	struct arena_header *h = a->header;
	bool ours = memcmp(h->magic, magic, sizeof magic) == 0;
	*other = ours && h->layout != arena_layout();
	const char *what = !ours    ? "not an arena"
	                   : *other ? "written by another build of spoor: that one can read it"
	                            : arena_undo(a, size);
	if (what)
		return what;
	h->journal_count = 0;
	h->size = a->size;
	memset(h->free, 0, sizeof h->free); /* what was being put together may be half done */
	return NULL;
}

static int arena_fetch(struct arena *a, const char *path, enum way way, struct error *error)
{
	*a = (struct arena){.mind = &nobodys};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return error_set(error, "%s: cannot open the arena: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(error, "%s: not a regular file", path);
	}
	uint64_t size = (uint64_t)st.st_size;
	if (size < sizeof(struct arena_header) || size > ARENA_MAX_SIZE) {
		close(fd);
		if (size == 0) /* it was made, and no more */
			return 1;
		return error_set(error, "%s: not an arena: impossible size %llu", path, (unsigned long long)size);
	}
	int rv = fetch(a, path, fd, size, way, error);
	close(fd);
	if (rv != 0)
		return rv;
	if (memcmp(a->header->magic, (char[8]){0}, sizeof a->header->magic) == 0) {
		arena_close(a);
		return 1;
	}
	bool other;
	const char *what = make_ready(a, a->mapped ? a->mapped : size, &other);
	if (what) {
		arena_close(a);
		error_set(error, "%s: %s", path, what);
		return other ? ARENA_OTHER_BUILD : -1;
	}
	return 0;
}

int arena_open(struct arena *a, const char *path, struct error *error)
{
	return arena_fetch(a, path, COPIED, error);
}

int arena_open_running(struct arena *a, const char *path, struct error *error)
{
	return arena_fetch(a, path, RUNNING, error);
}

int arena_open_own(struct arena *a, const char *path, struct error *error)
{
	return arena_fetch(a, path, OWN, error);
}

int arena_renew(struct arena *a)
{
	bool other;
	assert(a->mapped);
	return madvise(a->base, a->size, MADV_DONTNEED) == 0 && !make_ready(a, a->mapped, &other) ? 0 : -1;
}

void arena_rest(struct arena *a)
{
	assert(a->path); /* private memory would be lost */
	madvise(a->base, a->size, MADV_DONTNEED);
}

void arena_close(struct arena *a)
{
	if (a->base)
		munmap(a->base, a->size);
	free(a->path);
	*a = (struct arena){.size = 0};
}

static unsigned class_of(uint64_t n)
{
	return n <= 32 ? 5 : 64 - (unsigned)__builtin_clzll(n - 1);
}

/* Blocks are aligned like everything else: the space behind the header must be a multiple of 8 only. */
static bool free_valid(const struct arena *a, unsigned k)
{
	return k < ARENA_CLASSES && a->header->free[k] && arena_valid(a, a->header->free[k], UINT64_C(1) << k);
}

/* As much of the step as the allowance that is shared with other arenas still has. */
static uint64_t allowed(struct arena *a, uint64_t step)
{
	uint64_t left = a->shared ? __atomic_load_n(a->shared, __ATOMIC_RELAXED) : 0, take;
	if (!a->shared)
		return step;
	do {
		take = left < step ? left & ~UINT64_C(4095) : step;
	} while (
		!__atomic_compare_exchange_n(a->shared, &left, left - take, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return take;
}

/* Opens the file to make it longer, if it is still the one that it was. */
static int open_file(const struct arena *a)
{
	struct stat st;
	int fd = open(a->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_dev != a->device ||
	                st.st_ino != a->inode || (uint64_t)st.st_size != a->header->size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Storage for the next n bytes, or for some of them: returns for how many. */
static uint64_t grow(struct arena *a, uint64_t n)
{
	struct quiet before = quiet_begin();
	struct limits limits;
	uint64_t done = 0;
	limits_read(&limits);
	int fd = open_file(a);
	if (fd >= 0) {
		done = arena_file_append(fd, a->header->size, n, limits.file);
		if (close(fd) != 0)
			done = 0;
	}
	quiet_end(before);
	return done;
}

void arena_reserve(struct arena *a)
{
	struct limits limits;
	limits_read(&limits);
	if (!a->path || a->full || a->shared || limits.filtered || limits.file < a->size)
		return;
	int fd = open_file(a);
	if (fd < 0)
		return;
	bool reserved = arena_file_reserve(fd, a->size);
	if (close(fd) == 0 && reserved)
		a->header->size = a->size;
}

/* A rank waits for no file longer than for so many bytes at a time. */
#define STEP (UINT64_C(1) << 19)

static bool extend(struct arena *a, uint64_t n)
{
	struct arena_header *h = a->header;
	if (n + a->held > a->size - h->used)
		return false;
	while (h->used + a->held + n > h->size) {
		uint64_t step = h->size < STEP ? h->size : STEP, got;
		if (a->full || !a->path)
			return false;
		if (h->size + step > a->size)
			step = a->size - h->size;
		step = allowed(a, step);
		got = step ? grow(a, step) : 0;
		a->full = got < step || !step; /* not asked again: each time would cost system calls */
		h->size += got;
	}
	return true;
}

bool arena_extend(struct arena *a, uint64_t n)
{
	if (extend(a, n))
		return true;
	for (unsigned k = class_of(n); k < ARENA_CLASSES; k++)
		if (free_valid(a, k))
			return true;
	return false;
}

/* A free block of class k, cut off a larger one if need be; 0: there is none. */
static ref take_free(struct arena *a, unsigned k)
{
	struct arena_header *h = a->header;
	unsigned from = k;
	while (from < ARENA_CLASSES && !free_valid(a, from))
		from++;
	if (from >= ARENA_CLASSES)
		return 0;
	ref r = h->free[from];
	a->free_bytes -= UINT64_C(1) << k;
	arena_set(a, h->free[from], *arena_at(a, ref, r));
	while (from > k) {
		ref half = r + (ref)(UINT64_C(1) << --from);
		arena_set(a, *arena_at(a, ref, half), h->free[from]);
		arena_set(a, h->free[from], half);
	}
	return r;
}

ref arena_alloc(struct arena *a, uint64_t n)
{
	struct arena_header *h = a->header;
	uint64_t at = h->used;
	n = (n + 7) & ~UINT64_C(7);
	if (h->used + a->held + n > h->size && !extend(a, n)) {
		ref r = class_of(n) < ARENA_CLASSES ? take_free(a, class_of(n)) : 0;
		if (r)
			memset(a->base + r, 0, n);
		return r;
	}
	arena_set(a, h->used, at + n);
	if (at + n > a->notice)
		arena_notice(a);
	if (!a->path)
		memset(a->base + at, 0, n); /* a salvaged arena may hold what an undone operation left */
	return (ref)at;
}

ref arena_alloc_block(struct arena *a, uint64_t n, uint64_t *capacity)
{
	unsigned k = class_of(n);
	assert(k >= 5); /* a block has room for its link */
	if (k >= ARENA_CLASSES)
		return 0;
	*capacity = UINT64_C(1) << k;
	ref r = take_free(a, k);
	return r ? r : arena_alloc(a, *capacity);
}

void arena_free_block(struct arena *a, ref r, uint64_t capacity)
{
	if (!r)
		return;
	struct arena_header *h = a->header;
	unsigned k = class_of(capacity);
	a->free_bytes += UINT64_C(1) << k;
	arena_set(a, *arena_at(a, ref, r), h->free[k]);
	arena_set(a, h->free[k], r);
}

/* Cuts a range into blocks, outside of any operation. */
static void carve(struct arena *a, uint64_t at, uint64_t end)
{
	struct arena_header *h = a->header;
	assert(at % 8 == 0 && end % 8 == 0 && at <= end);
	while (end - at >= 32) {
		unsigned k = 63 - (unsigned)__builtin_clzll(end - at);
		if (k >= ARENA_CLASSES)
			k = ARENA_CLASSES - 1;
		*arena_at(a, ref, at) = h->free[k];
		arena_barrier();
		h->free[k] = (ref)at;
		a->free_bytes += UINT64_C(1) << k;
		at += UINT64_C(1) << k;
	}
}

void arena_free_range(struct arena *a, ref r, uint64_t n)
{
	carve(a, r, r + ((n + 7) & ~UINT64_C(7)));
}

struct range {
	uint64_t at, end;
};

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

void arena_compact(struct arena *a)
{
	struct arena_header *h = a->header;
	size_t n = 0, limit = h->used / 32 + 1;
	for (unsigned k = 0; k < ARENA_CLASSES; k++)
		for (ref r = h->free[k]; r && n < limit; r = *arena_at(a, ref, r))
			n++;
	struct range *ranges = n ? malloc(n * sizeof *ranges) : NULL;
	if (!ranges)
		return;
	size_t filled = 0;
	a->free_bytes = 0;
	for (unsigned k = 0; k < ARENA_CLASSES; k++) {
		for (ref r = h->free[k]; r && filled < n; r = *arena_at(a, ref, r))
			ranges[filled++] = (struct range){r, r + (UINT64_C(1) << k)};
		h->free[k] = 0;
	}
	qsort(ranges, filled, sizeof *ranges, by_place);
	for (size_t i = 0; i < filled;) {
		uint64_t end = ranges[i].end;
		size_t next = i + 1;
		while (next < filled && ranges[next].at == end)
			end = ranges[next++].end;
		carve(a, ranges[i].at, end);
		i = next;
	}
	free(ranges);
}
