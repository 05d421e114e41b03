/* SPDX-License-Identifier: BSD-3-Clause
 * claims - what a job's environment says of the job, and what Slurm says
 */
#include "deliver/claims.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deliver/controller.h"
#include "deliver/helper.h"
#include "deliver/queue.h"
#include "policy/decision.h"
#include "process/process.h"

#define DECIDE_SECONDS 20
#define OUTPUT_SIZE    65536

/* The facts as they were when the step began: what the user asked for is among those for the helper now. */
static char *encode_asked(const struct facts *facts)
{
	struct facts asked = {0};
	const size_t n = strlen(QUEUE_PREFIX);

	for (size_t i = 0; i < facts->count; i++) {
		const char *name = facts->items[i].name;
		if (!strcmp(name, HELPER_OPTION) || !strcmp(name, HELPER_ENVIRONMENT))
			name += n;
		if (strncmp(name, QUEUE_PREFIX, n))
			facts_set(&asked, name, facts->items[i].value);
	}
	char *text = asked.failed ? NULL : facts_encode(&asked);
	facts_clear(&asked);
	return text;
}

static bool is_off(const char *answer)
{
	static struct decision d;
	struct error error = {""};

	return !decision_decode(&d, answer, strlen(answer), &error) && d.mode.kind == MODE_OFF && !d.alternatives[0];
}

/* What the policy says of these facts. */
static bool ask_policy(const char *helper, const struct facts *facts, struct error *said)
{
	const char *argv[] = {helper, "decide", facts_get(facts, HELPER_POLICY), NULL};
	char *output = malloc(OUTPUT_SIZE), *input = encode_asked(facts);
	struct process p = {
		.argv = argv, .input = input, .seconds = DECIDE_SECONDS, .output = output, .output_size = OUTPUT_SIZE};
	bool off = false;

	if (!output || !input)
		error_set(said, "no memory");
	else
		off = process_run(&p, said) == 0 && is_off(output);
	free(output);
	free(input);
	return off;
}

/* The first of them that is not so. */
static void compare(const char *const names[], const struct facts *facts, char *const claimed[], struct error *said)
{
	for (size_t i = 0; names[i]; i++) {
		const char *slurm = facts_get(facts, names[i]);
		if (claimed[i] && slurm && strcmp(claimed[i], slurm) && !said->text[0])
			error_set(said, "the job's environment has %s %.100s, and Slurm has %.100s", names[i],
			          claimed[i], *slurm ? slurm : "none");
	}
}

void claims_settle(const char *helper, struct facts *facts, struct error *said)
{
	static const char *const names[] = {"account", "partition", "qos", "reservation", "het_job_id", NULL};
	char *claimed[sizeof names / sizeof *names] = {NULL};
	const char *policy = facts_get(facts, HELPER_POLICY);

	if (!policy || !*policy)
		return;
	for (size_t i = 0; names[i]; i++) {
		const char *value = facts_get(facts, names[i]);
		claimed[i] = value ? strdup(value) : NULL;
	}
	if (controller_identify(facts, said) == 0) {
		compare(names, facts, claimed, said);
		if (ask_policy(helper, facts, said))
			facts_set(facts, QUEUE_DENIED, "1");
		facts_set(facts, HELPER_POLICY, "");
	}
	for (size_t i = 0; names[i]; i++)
		free(claimed[i]);
}
