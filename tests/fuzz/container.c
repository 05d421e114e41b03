/* SPDX-License-Identifier: BSD-3-Clause
 * container - trace files as fuzzers' inputs
 */
#include "tests/fuzz/container.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trace/base/crc32.h"

#define HEADER 32
#define ENTRY  32
#define CHUNKS 64

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;
	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

void container_correct(uint8_t *file, size_t size)
{
	uint64_t n = size >= HEADER ? get(file + 20, 4) : 0;

	if (size < HEADER || n > (size - HEADER) / ENTRY)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint8_t *entry = file + HEADER + ENTRY * i;
		uint64_t offset = get(entry + 8, 8), stored = get(entry + 16, 8);
		if (offset <= size && stored <= size - offset)
			put(entry + 4, crc32_of(file + offset, (size_t)stored), 4);
	}
	put(file + 24, crc32_of(file + HEADER, ENTRY * (size_t)n), 4);
	put(file + 28, crc32_of(file, 28), 4);
}

/* Is it a table of chunks behind each other, uncompressed? */
static bool is_plain(const uint8_t *data, size_t size, uint64_t n)
{
	uint64_t at = HEADER + ENTRY * n;
	if (n == 0 || n > CHUNKS || at > size)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *entry = data + HEADER + ENTRY * i;
		uint64_t stored = get(entry + 16, 8);
		if (get(entry + 8, 8) != at || stored != get(entry + 24, 8) || stored > size - at)
			return false;
		at += stored;
	}
	return at == size;
}

size_t container_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t n = size >= HEADER ? get(data + 20, 4) : 0;
	if (!is_plain(data, size, n) || seed % 32 == 0 || max < size + 16)
		return LLVMFuzzerMutate(data, size, max);
	/* one chunk in the middle of a buffer of its own, with room to grow */
	size_t pick = seed / 32 % n, room = max - size;
	uint8_t *entry = data + HEADER + ENTRY * pick;
	size_t offset = (size_t)get(entry + 8, 8), stored = (size_t)get(entry + 16, 8), rest = size - offset - stored;
	uint8_t *chunk = malloc(stored + room);
	memcpy(chunk, data + offset, stored);
	size_t made = LLVMFuzzerMutate(chunk, stored, stored + room);
	memmove(data + offset + made, data + offset + stored, rest);
	memcpy(data + offset, chunk, made);
	free(chunk);
	put(entry + 16, made, 8);
	put(entry + 24, made, 8);
	for (uint64_t i = pick + 1; i < n; i++)
		put(data + HEADER + ENTRY * i + 8, get(data + HEADER + ENTRY * i + 8, 8) + made - stored, 8);
	return size + made - stored;
}
