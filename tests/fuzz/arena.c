/* SPDX-License-Identifier: BSD-3-Clause
 * arena - fuzzes what a killed rank leaves in its spool folder: the arena, and the trace that is made of it
 *
 * The input is the arena without its zeros: (n, n bytes, m) for n bytes and m zeros behind them, both 16 bits, low byte first. It is extended
 * to the size that its header names, as the recorder's file is.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trace/arena.h"
#include "trace/trace.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct trace t = {.size = 0};
	struct error error = {""};
	uint8_t *file = calloc(1, FILE_MAX);
	size_t used = expand(data, size, file);
	uint64_t named = 0;
	uint32_t version = ARENA_VERSION; /* inputs of older versions are still good for something */

	if (used >= sizeof(struct arena_header)) {
		memcpy(&named, file + offsetof(struct arena_header, size), sizeof named);
		memcpy(file + offsetof(struct arena_header, version), &version, sizeof version);
	}
	if (named > used && named <= FILE_MAX)
		used = (size_t)named;
	if (arena_open(&a, fuzz_file(file, used), &error) == 0) {
		if (trace_extract(&t, &a, &error) == 0) {
			if (trace_check(&t, &error) == 0)
				fuzz_trace(&t);
		}
		trace_free(&t);
		arena_close(&a);
	}
	free(file);
	return 0;
}
