/* SPDX-License-Identifier: BSD-3-Clause
 * container - damaged files, compressed and not; whole, from a descriptor, and one chunk alone
 */
#include "trace/file/container.h"

#include <fcntl.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/crc32.h"

/* Compresses what is one byte again and again: to that byte. */
static size_t compress_run(void *out, const void *in, size_t n)
{
	const char *p = in;
	*(char *)out = *p;
	return n > 1 && memcmp(p, p + 1, n - 1) == 0 ? 1 : 0;
}

static int decompress_run(void *out, size_t n, const void *in, size_t stored)
{
	memset(out, *(const char *)in, n);
	return stored == 1 ? 0 : -1;
}

static const struct codec runs = {compress_run, decompress_run};
static char zeros[1000];
static struct chunk chunks[] = {{.id = "META", .data = (const uint8_t *)"{}", .size = 2},
                                {.id = "ZERO", .data = (uint8_t *)zeros, .size = sizeof zeros},
                                {.id = "NONE", .data = NULL, .size = 0},
                                {.id = "LAST", .data = (const uint8_t *)"\1\2\3", .size = 3}};
enum { CHUNKS = sizeof chunks / sizeof *chunks };

static bool holds_all(const struct container *c)
{
	bool same = container_count(c) == CHUNKS && !container_at(c, CHUNKS) && !container_find(c, "META ");
	for (size_t i = 0; i < CHUNKS && same; i++) {
		const struct chunk *k = container_at(c, i);
		same = container_find(c, chunks[i].id) == k && k->size == chunks[i].size &&
		       (k->size == 0 || memcmp(k->data, chunks[i].data, k->size) == 0);
	}
	return same && container_bytes(c) == 1005;
}

static bool look(void *context, const void *bytes, size_t n)
{
	struct container *c;
	struct error error = {""};
	int rv = container_parse(&c, "x", bytes, n, context, &error);
	if ((rv != 0) != (error.text[0] != '\0') || (rv == 0 && !holds_all(c)) || (rv != 0 && c))
		abort();
	container_destroy(c);
	return rv != 0;
}

/* As the file has it on whatever machine: the lowest byte first. */
static void put(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void refused(const char *words, const uint8_t *bytes, size_t n, size_t at, uint8_t value)
{
	struct container *c;
	struct error error = {""};
	uint8_t *copy = malloc(n);
	memcpy(copy, bytes, n);
	copy[at] = value;
	uint32_t crc = copy[20] == CHUNKS ? crc32_of(copy + 32, 32 * CHUNKS) : 0;
	put(copy + 24, crc);
	crc = crc32_of(copy, 28);
	put(copy + 28, crc);
	ok(container_parse(&c, "x", copy, n, &runs, &error) == -1 && !c && strstr(error.text, words), "%s", error.text);
	free(copy);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
}

struct source {
	const struct codec *codec;
	uint8_t *bytes;
	size_t n;
};

static int encode_and_open(void *context)
{
	struct source *s = context;
	struct container *c = NULL;
	uint8_t *bytes, *data = NULL;
	size_t n, size;
	int fd = open("file", O_RDONLY), rv = container_encode(chunks, CHUNKS, 0, s->codec, &bytes, &n);
	if (rv == 0) {
		rv = n == s->n && memcmp(bytes, s->bytes, n) == 0 ? 0 : -1;
		free(bytes);
	}
	if (rv == 0)
		rv = container_open(&c, "file", s->codec, NULL);
	container_destroy(c);
	if (rv == 0)
		rv = container_read_chunk(fd, "file", "ZERO", s->codec, &data, &size, NULL);
	if (rv == 0 && (size != sizeof zeros || memcmp(data, zeros, size) != 0 || data[size]))
		abort();
	free(data);
	close(fd);
	return rv ? -1 : 0;
}

static void test_codec(const struct codec *codec, const char *how)
{
	struct source s = {.codec = codec};
	struct container *c;
	uint8_t *data;
	size_t cut, size, taken;
	if (container_encode(chunks, CHUNKS, 0, codec, &s.bytes, &s.n) != 0)
		abort();
	ok(container_parse(&c, "x", s.bytes, s.n, codec, NULL) == 0 && holds_all(c) && container_file_size(c) == s.n,
	   "%s: all chunks come back", how);
	container_destroy(c);
	taken = damage_each(look, (void *)(uintptr_t)codec, s.bytes, s.n, &cut);
	ok(cut == 0 && taken == 0, "%s: cut short anywhere, or any bit flipped, it is refused", how);
	write_file("file", s.bytes, s.n);
	int fd = open("file", O_RDONLY);
	ok(container_read_chunk(fd, "file", "LAST", codec, &data, &size, NULL) == 0 && size == 3 && data[3] == 0,
	   "%s: one chunk alone", how);
	free(data);
	ok(container_read_chunk(fd, "file", "NADA", codec, &data, &size, NULL) == 1 && !data,
	   "%s: and one that is not there", how);
	close(fd);
	ok(fails_well(encode_and_open, &s), "%s: no memory", how);
	unlink("file");
	free(s.bytes);
}

int main(void)
{
	struct container *c;
	struct error error = {""};
	uint8_t *bytes;
	size_t n;
	scratch_enter();
	ok(container_open(&c, "nothing", NULL, &error) == -1 && !c && error.text[0], "%s", error.text);
	ok(container_encode(chunks, CHUNKS, 0, &runs, &bytes, &n) == 0 && n < 1000, "compressed where that is smaller");
	ok(container_parse(&c, "x", bytes, n, NULL, NULL) == -1, "without a decompressor it is refused");
	refused("magic number", bytes, n, 0, 'x');
	refused("use a newer spoor", bytes, n, 8, 99);
	refused("incompatible flags", bytes, n, 19, 0x80);
	refused("chunks, at most", bytes, n, 22, 1);
	refused("truncated", bytes, n, 20, 200);
	refused("truncated", bytes, n, 32 + 8 + 4, 1);        /* offset of META */
	refused("impossible size", bytes, n, 32 + 24 + 7, 1); /* its size */
	refused("impossible size", bytes, n, 32 + 24, 1);
	bytes[32 + 32 + 8] = 0; /* offset of ZERO, and how much is stored */
	refused("overlaps", bytes, n, 32 + 32 + 16, (uint8_t)n);
	free(bytes);
	test_codec(NULL, "as they are");
	test_codec(&runs, "compressed");
	ok(container_encode(NULL, 0, 0, NULL, &bytes, &n) == 0 && container_parse(&c, "x", bytes, n, NULL, NULL) == 0 &&
	           container_count(c) == 0,
	   "no chunks at all");
	container_destroy(c);
	free(bytes);
	return tap_end();
}
