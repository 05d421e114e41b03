/* SPDX-License-Identifier: BSD-3-Clause
 * digest - fuzzes what `spoor index` keeps of a trace that anybody may have put into the archive
 */
#include "archive/digest.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/container.h"
#include "tests/fuzz/fuzz.h"
#include "trace/base/regular.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return container_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct digest d;
	struct error error = {""};
	uint8_t *file = malloc(size + 1);

	memcpy(file, data, size);
	container_correct(file, size);
	digest_read(&d, fuzz_file(file, size), REGULAR_ANYBODY, &error);
	digest_free(&d);
	free(file);
	return 0;
}
