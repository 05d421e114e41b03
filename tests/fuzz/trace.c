/* SPDX-License-Identifier: BSD-3-Clause
 * trace - fuzzes the trace file: container, chunks, walk, merge, and what the index keeps of it
 *
 * Checksums would stop nearly every change; they are made right first.
 */
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/digest.h"
#include "tests/fuzz/container.h"
#include "tests/fuzz/fuzz.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/model/trace.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return container_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container *c = NULL;
	struct trace t = {.size = 0};
	struct error error = {""};
	struct budget budget = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS};
	uint8_t *file = malloc(size + 1);

	budget_begin(&budget);
	memcpy(file, data, size);
	container_correct(file, size);
	if (container_parse(&c, "fuzz", file, size, &codec_zstd, &error) == 0 && trace_decode(&t, c, &error) == 0) {
		struct digest digest;
		digest_make(&digest, &t, NULL);
		digest_free(&digest);
		fuzz_trace(&t);
	}
	trace_free(&t);
	container_destroy(c);
	budget_end(&budget);
	free(file);
	return 0;
}
