/* SPDX-License-Identifier: BSD-3-Clause
 * handoff - fuzzes the environment variable that the tracer reads
 */
#include <stdlib.h>
#include <string.h>

#include "spank/handoff.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_handoff(const char *text)
{
	static char out[65536];
	struct handoff h, again;
	struct error error = {""};

	if (handoff_decode(&h, text, &error))
		return;
	if (handoff_encode(&h, out, sizeof out) < 0 || handoff_decode(&again, out, &error))
		abort(); /* what was written cannot be read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_handoff(text);
	free(text);
	return 0;
}
