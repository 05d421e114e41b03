/* SPDX-License-Identifier: BSD-3-Clause
 * facts - fuzzes what helpers read of a step: facts, from the spool and through pipes; and the decision that the plugin
 * reads
 */
#include <stdlib.h>
#include <string.h>

#include "policy/decision.h"
#include "trace/base/facts.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_facts(const char *text, size_t size)
{
	struct facts f = {0}, again = {0};
	struct error error = {""};

	if (facts_decode(&f, text, size, "fuzz", &error) == 0) {
		char *out = facts_encode(&f);
		if (!out || facts_decode(&again, out, strlen(out), "fuzz", &error) || again.count != f.count)
			abort();
		free(out);
	}
	facts_clear(&again);
	facts_clear(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decision d;
	struct error error = {""};
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_facts(text, size);
	decision_decode(&d, text, size, &error);
	free(text);
	return 0;
}
