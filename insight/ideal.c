/* SPDX-License-Identifier: BSD-3-Clause
 * ideal - how a job would run on an ideal network
 */
#include "insight/ideal.h"

#include "insight/simulate.h"
#include "trace/base/budget.h"

static int play(struct ideal *out, struct simulator *s, const struct trace *t, const bool *synchronous,
                struct error *error)
{
	struct simulation run = {.known = false};
	struct stretches stretches = {.ranks = budget_calloc((size_t)t->size + 1, sizeof *stretches.ranks)};
	const struct simulate_options o = {
		.network = &network_ideal, .synchronous = synchronous, .stretches = &stretches};
	int rv = stretches.ranks ? simulator_run(s, &o, &run, error) : error_set(error, "no memory");
	*out = (struct ideal){.known = rv == 0 && run.known,
	                      .run_ns = run.run_ns,
	                      .ranks = stretches.ranks,
	                      .size = t->size,
	                      .wait_ns = run.inside_ns,
	                      .meets = stretches.meets,
	                      .meet_count = stretches.meet_count,
	                      .meet_capacity = stretches.meet_capacity};
	run.inside_ns = NULL;
	simulation_free(&run);
	return rv;
}

int ideal_make(struct ideal *out, const struct trace *t, const bool *synchronous, struct error *error)
{
	struct simulator *s;
	*out = (struct ideal){.known = false};
	if (t->size > IDEAL_RANKS)
		return 0;
	int rv = simulator_create(&s, t, IDEAL_EVENTS, error);
	if (s)
		rv = play(out, s, t, synchronous, error);
	simulator_destroy(s);
	if (!out->known)
		ideal_free(out);
	return rv;
}

void ideal_free(struct ideal *i)
{
	for (uint32_t r = 0; i->ranks && r < i->size; r++)
		budget_free(i->ranks[r].list);
	budget_free(i->ranks);
	budget_free(i->wait_ns);
	budget_free(i->meets);
	*i = (struct ideal){.known = false};
}
