/* SPDX-License-Identifier: BSD-3-Clause
 * container - damaged files, compressed and not; whole, from a descriptor, and one chunk alone
 */
#include "trace/file/container.h"
#include "trace/file/bundle.h"

#include <fcntl.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/crc32.h"

/* Compresses what is one byte again and again: to that byte. */
static size_t compress_run(void *out, const void *in, size_t n, bool joined)
{
	(void)joined;
	const char *p = in;
	if (n == 0)
		return 0;
	*(char *)out = *p;
	return n > 1 && memcmp(p, p + 1, n - 1) == 0 ? 1 : 0;
}

static int decompress_run(void *out, size_t n, const void *in, size_t stored, bool joined)
{
	(void)joined;
	memset(out, *(const char *)in, n);
	return stored == 1 ? 0 : -1;
}

/* Of what is joined, takes the zeros together: one, and how many. */
static size_t compress_joined(void *out, const void *in, size_t n, bool joined)
{
	const uint8_t *from = in;
	uint8_t *to = out, *end = to + n;
	if (!joined)
		return compress_run(out, in, n, joined);
	for (size_t i = 0, zeros_here; i < n; i += zeros_here) {
		for (zeros_here = 0; i + zeros_here < n && zeros_here < 255 && from[i + zeros_here] == 0;)
			zeros_here++;
		if (end - to < 2)
			return 0;
		*to++ = from[i];
		if (zeros_here)
			*to++ = (uint8_t)zeros_here;
		else
			zeros_here = 1;
	}
	return (size_t)(to - (uint8_t *)out);
}

static int decompress_joined(void *out, size_t n, const void *in, size_t stored, bool joined)
{
	const uint8_t *from = in, *end = from + stored;
	uint8_t *to = out, *last = to + n;
	if (!joined)
		return decompress_run(out, n, in, stored, joined);
	while (from < end) {
		size_t count = *from ? 1 : end - from > 1 ? from[1] : 0;
		if (count == 0 || (size_t)(last - to) < count)
			return -1;
		memset(to, *from, count);
		from += *from ? 1 : 2;
		to += count;
	}
	return to == last ? 0 : -1;
}

static const struct codec runs = {compress_run, decompress_run}, together = {compress_joined, decompress_joined};
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

/* What says that it is joined, with the checksums of what is so. */
static void refused_joined(const char *what, const void *inner, size_t n)
{
	struct chunk outer = {.id = "JOIN", .data = inner, .size = n};
	struct container *c;
	struct error error = {""};
	uint8_t *bytes;
	size_t size;
	if (container_encode(&outer, 1, 0, NULL, &bytes, &size) != 0)
		abort();
	ok(container_parse(&c, "x", bytes, size, NULL, &error) == -1 && !c && strstr(error.text, "JOIN"), "%s: %s",
	   what, error.text);
	write_file("file", bytes, size);
	int fd = open("file", O_RDONLY);
	uint8_t *data;
	ok(container_read_chunk(fd, "file", "META", NULL, &data, &n, NULL) == -1 && !data, "%s: and of one chunk alone",
	   what);
	close(fd);
	unlink("file");
	free(bytes);
}

static void test_joined(void)
{
	struct container *c;
	uint8_t *bytes;
	size_t n, plain;
	if (container_encode(chunks, CHUNKS, 0, &runs, &bytes, &plain) != 0)
		abort();
	free(bytes);
	if (container_encode(chunks, CHUNKS, CONTAINER_EDITS, &together, &bytes, &n) != 0 ||
	    container_parse(&c, "x", bytes, n, &together, NULL) != 0)
		abort();
	ok(n + 3 * 32 < plain + 40, "joined chunks have one entry: %zu bytes, not %zu", n, plain);
	ok(bytes[16] == (CONTAINER_EDITS | CONTAINER_JOINED) && container_needs(c) == CONTAINER_EDITS,
	   "an older reader refuses them; what is in them needs no more than before");
	ok(container_joined_size(c) > 0 && container_at(c, 0)->stored_size == 0 && container_at(c, 3)->offset == 64,
	   "they have one place in the file");
	container_destroy(c);
	free(bytes);
	static const uint8_t many[1 + 65 * 5] = {65};
	refused_joined("too many", many, sizeof many);
	refused_joined("an end inside of a name", "\1MET", 4);
	refused_joined("a chunk behind its end", "\1META\5{}", 8);
	refused_joined("something left over", "\1META\2{}}", 9);
	static uint8_t large[8 + BUNDLE_MAX_SIZE + 1] = "\1META\x81\x80\1";
	refused_joined("one that is too large", large, sizeof large);
	refused_joined("nothing", "", 0);
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
	test_codec(&together, "joined");
	test_joined();
	ok(container_encode(NULL, 0, 0, NULL, &bytes, &n) == 0 && container_parse(&c, "x", bytes, n, NULL, NULL) == 0 &&
	           container_count(c) == 0,
	   "no chunks at all");
	container_destroy(c);
	free(bytes);
	return tap_end();
}
