/* SPDX-License-Identifier: BSD-3-Clause
 * trace - fuzzes the trace file: container, chunks, walk, merge, and what the index keeps of it
 *
 * Checksums would stop nearly every change; they are made right first.
 */
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/digest.h"
#include "tests/fuzz/fuzz.h"
#include "trace/container.h"
#include "trace/crc32.h"
#include "trace/trace.h"

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;
	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void correct_sums(uint8_t *file, size_t size)
{
	uint64_t n = size >= 32 ? get(file + 20, 4) : 0;

	if (size < 32 || n > (size - 32) / 32)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint8_t *entry = file + 32 + 32 * i;
		uint64_t offset = get(entry + 8, 8), stored = get(entry + 16, 8);
		if (offset <= size && stored <= size - offset)
			put32(entry + 4, crc32_of(file + offset, (size_t)stored));
	}
	put32(file + 24, crc32_of(file + 32, 32 * (size_t)n));
	put32(file + 28, crc32_of(file, 28));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container *c = NULL;
	struct trace t = {.size = 0};
	struct error error = {""};
	uint8_t *file = malloc(size + 1);

	memcpy(file, data, size);
	correct_sums(file, size);
	if (container_parse(&c, "fuzz", file, size, &codec_zstd, &error) == 0 && trace_decode(&t, c, &error) == 0) {
		struct digest digest;
		digest_make(&digest, &t);
		digest_free(&digest);
		fuzz_trace(&t);
	}
	trace_free(&t);
	container_destroy(c);
	free(file);
	return 0;
}
