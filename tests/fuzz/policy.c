/* SPDX-License-Identifier: BSD-3-Clause
 * policy - fuzzes the site's policy: reading it, deciding by it, explaining it
 */
#include "policy/policy.h"
#include "tests/fuzz/fuzz.h"

static void ignore(const char *line)
{
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems = {0};
	struct facts facts = {0};
	struct decision d;

	struct policy *policy = policy_load(fuzz_file(data, size), false, &problems);
	if (policy) {
		for (size_t i = 0; i < policy_fact_count; i++)
			facts_set(&facts, policy_fact_names[i], i % 3 ? "4" : "a,b*");
		facts_set(&facts, "trace_option", "on");
		policy_decide(policy, &facts, &d);
		policy_explain(policy, &facts, 20, ignore);
		facts_clear(&facts);
		policy_destroy(policy);
	}
	problems_clear(&problems);
	return 0;
}
