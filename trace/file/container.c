/* SPDX-License-Identifier: BSD-3-Clause
 * container - a .spoor file: header, table of chunks, chunks (doc/trace-format.md, section "Container")
 */
#include "trace/file/container.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/budget.h"
#include "trace/base/crc32.h"
#include "trace/base/regular.h"
#include "trace/file/bundle.h"
#include "trace/file/container_inside.h"

#define MAX_CHUNKS 1024
#define MAX_CHUNK_SIZE \
	(UINT64_C(1)   \
	 << 34) /* decompressed; larger is refused as damaged, as is 2^16 times the stored size (zstd: 2^15) */
/* Chunks whose length depends neither on the ranks nor on the events. META is JSON, which takes up to 60 times as much
 * in memory; doc/metadata.md: hosts are at most 1024, texts are cut. */
#define MAX_TEXT_SIZE (UINT64_C(1) << 20)

struct container {
	char *name;
	uint8_t *bytes; /* the file */
	size_t size;
	struct chunk *chunks;
	void **owned; /* decompressed data, one an entry, NULL where data points into bytes */
	size_t count, entries;
	size_t joined; /* bytes in the file of those that are joined */
	int64_t owner; /* -1: of bytes */
};

/* One entry of the table as it is in the file. */
struct entry {
	char id[CHUNK_ID_SIZE + 1];
	uint32_t crc;
	uint64_t offset, stored, size;
	bool joined; /* it holds others */
};

static uint64_t get(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;
	while (n--)
		v = v << 8 | p[n];
	return v;
}

static int header_check(const uint8_t *h, size_t n, const char *name, size_t *count, struct error *error)
{
	if (n < CONTAINER_HEADER)
		return error_set(error, "%s: not a spoor trace: %zu bytes, a header has %d", name, n, CONTAINER_HEADER);
	if (memcmp(h, CONTAINER_MAGIC, sizeof CONTAINER_MAGIC - 1) != 0)
		return error_set(error, "%s: not a spoor trace: the first 8 bytes are not the magic number", name);
	if (crc32_of(h, 28) != get(h + 28, 4) && crc32_of(h, 28) == __builtin_bswap32((uint32_t)get(h + 28, 4)))
		return error_set(error,
		                 "%s: header at offset 0: its numbers have another byte order: expected the lowest "
		                 "byte first, on whatever machine",
		                 name);
	if (crc32_of(h, 28) != get(h + 28, 4))
		return error_set(error, "%s: header at offset 0: checksum mismatch, the file is damaged", name);
	if (get(h + 8, 2) != CONTAINER_MAJOR)
		return error_set(error,
		                 "%s: trace format version %" PRIu64 ".%" PRIu64
		                 ", this spoor reads version %d: use a newer spoor",
		                 name, get(h + 8, 2), get(h + 10, 2), CONTAINER_MAJOR);
	if (get(h + 16, 4) & ~(uint64_t)(CONTAINER_EDITS | CONTAINER_JOINED))
		return error_set(error,
		                 "%s: needs a feature that this spoor does not know (incompatible flags 0x%" PRIx64
		                 "): use a newer spoor",
		                 name, get(h + 16, 4));
	*count = get(h + 20, 4);
	if (*count > MAX_CHUNKS)
		return error_set(error, "%s: header at offset 20: %zu chunks, at most %d are allowed", name, *count,
		                 MAX_CHUNKS);
	return 0;
}

static int entry_parse(struct entry *e, const uint8_t *p, const char *name, uint64_t file_size, struct error *error)
{
	bundle_name(e->id, p);
	e->crc = (uint32_t)get(p + 4, 4);
	e->offset = get(p + 8, 8);
	e->stored = get(p + 16, 8);
	e->size = get(p + 24, 8);
	e->joined = strcmp(e->id, BUNDLE_ID) == 0;
	if (e->offset > file_size || e->stored > file_size - e->offset)
		return error_set(error,
		                 "%s: chunk %s at offset %" PRIu64 ": its %" PRIu64
		                 " bytes end past the end of the file (%" PRIu64 " bytes): truncated",
		                 name, e->id, e->offset, e->stored, file_size);
	if (e->size > MAX_CHUNK_SIZE || e->size < e->stored || e->size >> 16 > e->stored ||
	    (e->joined && e->size > 2 * BUNDLE_MOST * BUNDLE_MAX_SIZE))
		return error_set(error, "%s: chunk %s at offset %" PRIu64 ": impossible size %" PRIu64, name, e->id,
		                 e->offset, e->size);
	if (e->size > MAX_TEXT_SIZE && (strcmp(e->id, "META") == 0 || strcmp(e->id, "FACT") == 0))
		return error_set(error,
		                 "%s: chunk %s at offset %" PRIu64 ": %" PRIu64 " bytes, at most %" PRIu64
		                 " are allowed there",
		                 name, e->id, e->offset, e->size, MAX_TEXT_SIZE);
	if (!budget_room(e->size)) {
		budget_explain(name, error);
		return -1;
	}
	return 0;
}

/* Checks stored bytes against the entry and decompresses them. *owned is NULL if the chunk is stored as it is. */
static int entry_load(const struct entry *e, const uint8_t *stored, const char *name, const struct codec *codec,
                      void **owned, struct error *error)
{
	*owned = NULL;
	if (crc32_of(stored, e->stored) != e->crc)
		return error_set(error, "%s: chunk %s at offset %" PRIu64 ": checksum mismatch, the file is damaged",
		                 name, e->id, e->offset);
	if (e->stored == e->size)
		return 0;
	if (!codec)
		return error_set(error,
		                 "%s: chunk %s at offset %" PRIu64 ": is compressed, which this program cannot read",
		                 name, e->id, e->offset);
	*owned = budget_malloc(e->size ? e->size : 1);
	if (!*owned && budget_explain(name, error))
		return -1;
	if (!*owned)
		return error_set(error, "%s: chunk %s at offset %" PRIu64 ": no memory for %" PRIu64 " bytes", name,
		                 e->id, e->offset, e->size);
	if (codec->decompress(*owned, e->size, stored, e->stored, e->joined) != 0) {
		budget_free(*owned);
		*owned = NULL;
		return error_set(error, "%s: chunk %s at offset %" PRIu64 ": does not decompress, the file is damaged",
		                 name, e->id, e->offset);
	}
	return 0;
}

/* Takes over the chunk of an entry, or those that are joined in it. */
static int add(struct container *c, const struct entry *e, const uint8_t *data, struct error *error)
{
	struct chunk *chunk = &c->chunks[c->count];
	int n = 1;
	if (e->joined) {
		n = c->joined ? -1 : bundle_get(chunk, data, e->size);
		c->joined = e->stored;
	} else {
		memcpy(chunk->id, e->id, sizeof chunk->id);
		chunk->data = data;
		chunk->size = e->size;
		chunk->stored_size = e->stored;
	}
	if (n < 0)
		return error_set(error,
		                 "%s: chunk %s at offset %" PRIu64 ": is not made of chunks, the file is damaged",
		                 c->name, e->id, e->offset);
	for (int i = 0; i < n; i++)
		chunk[i].offset = e->offset;
	c->count += (size_t)n;
	return 0;
}

int container_parse_take(struct container **out, const char *name, uint8_t *bytes, size_t n, const struct codec *codec,
                         struct error *error)
{
	int rv = -1;
	struct container *c = budget_calloc(1, sizeof *c);
	if (!c || !(c->name = strdup(name))) {
		budget_free(bytes);
		error_set(error, "%s: no memory", name);
		goto done;
	}
	c->bytes = bytes;
	c->size = n;
	c->owner = -1;
	size_t count;
	if (header_check(bytes, n, name, &count, error) != 0)
		goto done;
	if (count * CONTAINER_ENTRY > n - CONTAINER_HEADER) {
		error_set(error, "%s: chunk table at offset %d: %zu entries end past the end of the file: truncated",
		          name, CONTAINER_HEADER, count);
		goto done;
	}
	if (crc32_of(bytes + CONTAINER_HEADER, count * CONTAINER_ENTRY) != get(bytes + 24, 4)) {
		error_set(error, "%s: chunk table at offset %d: checksum mismatch, the file is damaged", name,
		          CONTAINER_HEADER);
		goto done;
	}
	c->chunks = budget_calloc(count + BUNDLE_MOST + 1, sizeof *c->chunks);
	c->owned = budget_calloc(count + 1, sizeof *c->owned);
	if (!c->chunks || !c->owned) {
		error_set(error, "%s: no memory", name);
		goto done;
	}
	for (size_t i = 0, total = 0; i < count; i++) {
		struct entry e;
		if (entry_parse(&e, bytes + CONTAINER_HEADER + i * CONTAINER_ENTRY, name, n, error) != 0)
			goto done;
		total +=
			e.stored; /* a thousand chunks may not be the same bytes, to be decompressed a thousand times */
		if (total > n) {
			error_set(error, "%s: chunk %s at offset %" PRIu64 ": overlaps another chunk", name, e.id,
			          e.offset);
			goto done;
		}
		if (entry_load(&e, bytes + e.offset, name, codec, &c->owned[i], error) != 0)
			goto done;
		c->entries++;
		if (add(c, &e, c->owned[i] ? c->owned[i] : bytes + e.offset, error) != 0)
			goto done;
	}
	rv = 0;
done:
	if (rv != 0) {
		container_destroy(c);
		c = NULL;
	}
	*out = c;
	return rv;
}

/* Reads up to n bytes at offset. Returns how many there were, or -1. */
static ssize_t read_at(int fd, void *buffer, size_t n, uint64_t offset)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = pread(fd, (char *)buffer + done, n - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* The table of chunks, checked; `head` has the room for it, or *more gets it, malloc'ed. Returns NULL with error set.
 * */
static uint8_t *read_table(int fd, const char *path, uint8_t head[CONTAINER_HEADER + 32 * CONTAINER_ENTRY],
                           uint8_t **more, size_t *count, struct error *error)
{
	uint8_t *table = head + CONTAINER_HEADER;
	ssize_t got = read_at(fd, head, CONTAINER_HEADER + 32 * CONTAINER_ENTRY, 0);
	if (got < 0) {
		error_set(error, "%s: cannot read: %s", path, strerror(errno));
		return NULL;
	}
	if (header_check(head, (size_t)got, path, count, error) != 0)
		return NULL;
	if (CONTAINER_HEADER + *count * CONTAINER_ENTRY > (size_t)got) {
		*more = budget_malloc(*count * CONTAINER_ENTRY);
		if (!*more || read_at(fd, *more, *count * CONTAINER_ENTRY, CONTAINER_HEADER) !=
		                      (ssize_t)(*count * CONTAINER_ENTRY)) {
			error_set(error, "%s: chunk table at offset %d: truncated", path, CONTAINER_HEADER);
			return NULL;
		}
		table = *more;
	}
	if (crc32_of(table, *count * CONTAINER_ENTRY) == get(head + 24, 4))
		return table;
	error_set(error, "%s: chunk table at offset %d: checksum mismatch, the file is damaged", path,
	          CONTAINER_HEADER);
	return NULL;
}

/* Are all sizes in the table possible, and inside the budget? */
static int check_sizes(int fd, const char *path, uint64_t file_size, struct error *error)
{
	uint8_t head[CONTAINER_HEADER + 32 * CONTAINER_ENTRY], *more = NULL;
	size_t count;
	const uint8_t *table = read_table(fd, path, head, &more, &count, error);
	int rv = table ? 0 : -1;
	for (size_t i = 0; rv == 0 && i < count; i++) {
		struct entry e;
		rv = entry_parse(&e, table + i * CONTAINER_ENTRY, path, file_size, error);
	}
	budget_free(more);
	return rv;
}

int container_take(struct container **out, int fd, const char *name, const struct codec *codec, struct error *error)
{
	struct stat st;
	*out = NULL;
	bool known = fstat(fd, &st) == 0;
	if (!known)
		st.st_size = st.st_blocks = 0;
	int64_t owner = known ? (int64_t)st.st_uid : -1;
	size_t size = (size_t)st.st_size;
	/* what is only holes costs nobody anything to make */
	budget_file(size < (uint64_t)st.st_blocks * 512 ? size : (uint64_t)st.st_blocks * 512);
	if (check_sizes(fd, name, size, error) != 0) {
		close(fd);
		return -1;
	}
	uint8_t *bytes = budget_malloc(size ? size : 1);
	ssize_t got = bytes ? read_at(fd, bytes, size, 0) : -1;
	int failure = bytes ? errno : ENOMEM;
	close(fd);
	if (got < 0) {
		budget_free(bytes);
		return budget_explain(name, error) ? -1
		                                   : error_set(error, "%s: cannot read: %s", name, strerror(failure));
	}
	int rv = container_parse_take(out, name, bytes, (size_t)got, codec, error);
	if (rv == 0)
		(*out)->owner = owner;
	return rv;
}

int container_open(struct container **out, const char *path, const struct codec *codec, struct error *error)
{
	*out = NULL;
	int fd = regular_open_named(path, NULL, error);
	return fd < 0 ? -1 : container_take(out, fd, path, codec, error);
}

int container_parse(struct container **out, const char *name, const void *bytes, size_t n, const struct codec *codec,
                    struct error *error)
{
	*out = NULL;
	uint8_t *copy = budget_malloc(n ? n : 1);
	if (!copy)
		return error_set(error, "%s: no memory", name);
	memcpy(copy, bytes, n);
	return container_parse_take(out, name, copy, n, codec, error);
}

void container_destroy(struct container *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->owned && i < c->entries; i++)
		budget_free(c->owned[i]);
	budget_free(c->owned);
	budget_free(c->chunks);
	budget_free(c->bytes);
	budget_free(c->name);
	budget_free(c);
}

size_t container_count(const struct container *c)
{
	return c->count;
}

const struct chunk *container_at(const struct container *c, size_t i)
{
	return i < c->count ? &c->chunks[i] : NULL;
}

const struct chunk *container_find(const struct container *c, const char *id)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->chunks[i].id, id) == 0)
			return &c->chunks[i];
	return NULL;
}

uint64_t container_bytes(const struct container *c)
{
	uint64_t n = 0;
	for (size_t i = 0; i < c->count; i++)
		n += c->chunks[i].size;
	return n;
}

int64_t container_owner(const struct container *c)
{
	return c->owner;
}

size_t container_file_size(const struct container *c)
{
	return c->size;
}

const char *container_name(const struct container *c)
{
	return c->name;
}

/* The bytes of an entry, decompressed, with a NUL behind them. NULL with error set. */
static uint8_t *read_entry(int fd, const char *path, const uint8_t *at, uint64_t file_size, const struct codec *codec,
                           struct entry *e, struct error *error)
{
	void *owned = NULL;
	if (entry_parse(e, at, path, file_size, error) != 0)
		return NULL;
	uint8_t *stored = budget_malloc(e->stored + 1), *data = NULL;
	if (!stored || read_at(fd, stored, e->stored, e->offset) != (ssize_t)e->stored) {
		error_set(error, "%s: chunk %s at offset %" PRIu64 ": cannot read", path, e->id, e->offset);
	} else if (entry_load(e, stored, path, codec, &owned, error) == 0) {
		data = owned ? budget_realloc(owned, e->size + 1) : stored;
		if (data)
			data[e->size] = 0;
		else
			budget_free(owned), error_set(error, "%s: no memory", path);
	}
	if (data != stored)
		budget_free(stored);
	return data;
}

/* Of the chunks that are joined, moves one to the front, with a NUL behind it. Returns as container_read_chunk. */
static int pick_joined(uint8_t *data, const struct entry *e, const char *path, const char *id, size_t *size,
                       struct error *error)
{
	struct chunk chunks[BUNDLE_MOST];
	int n = bundle_get(chunks, data, e->size);
	if (n < 0)
		return error_set(error,
		                 "%s: chunk %s at offset %" PRIu64 ": is not made of chunks, the file is damaged", path,
		                 e->id, e->offset);
	for (int i = 0; i < n; i++)
		if (memcmp(chunks[i].id, id, CHUNK_ID_SIZE) == 0) {
			*size = chunks[i].size;
			memmove(data, chunks[i].data, *size);
			data[*size] = 0;
			return 0;
		}
	return 1;
}

int container_read_chunk(int fd, const char *path, const char *id, const struct codec *codec, uint8_t **data,
                         size_t *size, struct error *error)
{
	uint8_t head[CONTAINER_HEADER + 32 * CONTAINER_ENTRY], *table, *more = NULL;
	struct stat st;
	size_t count;
	*data = NULL;
	if (fstat(fd, &st) != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	table = read_table(fd, path, head, &more, &count, error);
	int rv = table ? 1 : -1;
	for (size_t i = 0; rv == 1 && i < count; i++) {
		const uint8_t *at = table + i * CONTAINER_ENTRY;
		struct entry e;
		if (memcmp(at, id, CHUNK_ID_SIZE) != 0 && memcmp(at, BUNDLE_ID, CHUNK_ID_SIZE) != 0)
			continue;
		*data = read_entry(fd, path, at, (uint64_t)st.st_size, codec, &e, error);
		*size = *data ? e.size : 0;
		rv = !*data ? -1 : e.joined ? pick_joined(*data, &e, path, id, size, error) : 0;
		if (rv != 0) {
			budget_free(*data);
			*data = NULL;
		}
	}
	budget_free(more);
	return rv;
}

uint32_t container_needs(const struct container *c)
{
	return (uint32_t)get(c->bytes + 16, 4) & ~CONTAINER_JOINED;
}

size_t container_joined_size(const struct container *c)
{
	return c->joined;
}
