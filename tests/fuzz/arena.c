/* SPDX-License-Identifier: BSD-3-Clause
 * arena - fuzzes what a killed rank leaves in its spool folder: the arena, and the trace that salvage makes of it
 *
 * The input is the arena without its zeros: (n, n bytes, m) for n bytes and m zeros behind them, both 16 bits, low byte
 * first. It is extended to the size that its header names, as the recorder's file is. A mutation changes words behind
 * the header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deliver/salvage.h"
#include "tests/fuzz/fuzz.h"
#include "trace/base/arena.h"
#include "trace/file/container.h"
#include "trace/model/trace.h"

#define FILE_MAX (1 << 20)

static size_t expand(const uint8_t *data, size_t size, uint8_t *out)
{
	size_t used = 0, at = 0;

	while (size - at >= 2) {
		size_t n = data[at] | (size_t)data[at + 1] << 8;
		at += 2;
		n = n < size - at ? n : size - at;
		n = n < FILE_MAX - used ? n : FILE_MAX - used;
		memcpy(out + used, data + at, n);
		at += n;
		used += n;
		size_t zeros = size - at >= 2 ? data[at] | (size_t)data[at + 1] << 8 : 0;
		at += size - at >= 2 ? 2 : 0;
		used += zeros < FILE_MAX - used ? zeros : FILE_MAX - used;
	}
	return used;
}

/* The inverse: runs of 6 zeros and more are left out. Returns the size, or 0: more than max. */
static size_t pack(const uint8_t *file, size_t used, uint8_t *out, size_t max)
{
	size_t made = 0, at = 0;

	while (at < used) {
		size_t n = 0, zeros = 0;
		while (at + n < used && n < 0xffff && zeros < 6)
			zeros = file[at + n++] ? 0 : zeros + 1;
		n -= zeros < 6 ? 0 : zeros;
		for (zeros = 0; at + n + zeros < used && zeros < 0xffff && !file[at + n + zeros];)
			zeros++;
		if (made + n + 4 > max)
			return 0;
		out[made] = (uint8_t)n;
		out[made + 1] = (uint8_t)(n >> 8);
		memcpy(out + made + 2, file + at, n);
		out[made + n + 2] = (uint8_t)zeros;
		out[made + n + 3] = (uint8_t)(zeros >> 8);
		made += n + 4;
		at += n + zeros;
	}
	return made;
}

static uint32_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* A reference or a number becomes another one that is likely to be looked at: one of the arena's, a neighbour, the edge
 * of what fits. */
static void mutate_word(uint8_t *file, size_t used, uint64_t *state)
{
	static const uint64_t extremes[] = {0,
	                                    1,
	                                    2,
	                                    0x7fffffff,
	                                    0x80000000,
	                                    0xffffffff,
	                                    0x7fffffffffffffff,
	                                    0x8000000000000000,
	                                    0xffffffffffffffff};
	size_t wide = draw(state) % 2 ? 8 : 4, at, from;
	uint64_t v = 0;

	if (used <= sizeof(struct arena_header) + 16)
		return;
	do /* not in the zeros that most of it is */
		at = sizeof(struct arena_header) + draw(state) % (used - sizeof(struct arena_header) - 8) / wide * wide;
	while (!file[at] && !file[at + 1] && draw(state) % 64);
	from = sizeof(struct arena_header) + draw(state) % (used - sizeof(struct arena_header) - 8) / wide * wide;
	memcpy(&v, file + at, wide);
	switch (draw(state) % 6) {
	case 0:
		v += draw(state) % 2 ? 1 : (uint64_t)-1;
		break;
	case 1:
		v += draw(state) % 2 ? 8 : (uint64_t)-8;
		break;
	case 2:
		v ^= UINT64_C(1) << draw(state) % (8 * wide);
		break;
	case 3:
		v = extremes[draw(state) % (sizeof extremes / sizeof *extremes)];
		break;
	case 4:
		v = draw(state) % 256;
		break;
	default:
		memcpy(&v, file + from, wide);
	}
	memcpy(file + at, &v, wide);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t state = seed;
	if (seed % 16 == 0)
		return LLVMFuzzerMutate(data, size, max);
	uint8_t *file = calloc(1, FILE_MAX);
	size_t used = expand(data, size, file), made;
	for (uint32_t n = 1 + draw(&state) % 4; n > 0; n--)
		mutate_word(file, used, &state);
	made = pack(file, used, data, max);
	free(file);
	return made ? made : LLVMFuzzerMutate(data, size, max);
}

/* What salvage makes of an arena is a trace that readers take, to its last event. */
static void salvage(struct arena *a)
{
	struct world w;
	struct container *c = NULL;
	struct trace t = {.size = 0};
	struct error error = {""};
	uint64_t id = 0;
	uint32_t stream = 0;
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (world_identify(a, "fuzz", &id, &stream, &error) == 0 && world_init(&w, id) == 0) {
		if (salvage_arena(&w, a, "fuzz", &error) == 0 && world_encode(&w, 1, &bytes, &size, &error) == 0) {
			if (container_parse(&c, "fuzz", bytes, size, NULL, &error) || trace_decode(&t, c, &error) ||
			    fuzz_walk(&t, stream, &error)) {
				fprintf(stderr, "what was salvaged cannot be read: %s\n", error.text);
				abort();
			}
			fuzz_trace(&t);
		}
		world_free(&w);
	}
	if (getenv("FUZZ_MESSAGES"))
		fprintf(stderr, "%s\n", error.text);
	free(bytes);
	trace_free(&t);
	container_destroy(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct error error = {""};
	uint8_t *file = calloc(1, FILE_MAX);
	size_t used = expand(data, size, file);
	uint64_t named = 0;
	uint64_t layout = arena_layout(); /* inputs of older builds are still good for something */

	if (used >= sizeof(struct arena_header)) {
		memcpy(&named, file + offsetof(struct arena_header, size), sizeof named);
		memcpy(file + offsetof(struct arena_header, layout), &layout, sizeof layout);
	}
	if (named > used && named <= FILE_MAX)
		used = (size_t)named;
	if (arena_open(&a, fuzz_file(file, used), &error) == 0) {
		salvage(&a);
		arena_close(&a);
	}
	free(file);
	return 0;
}
