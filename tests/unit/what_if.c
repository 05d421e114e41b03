/* SPDX-License-Identifier: BSD-3-Clause
 * what_if - of programs that can be reckoned on paper: what changes save; and each allocation fails in turn
 */
#include "insight/what_if.h"

#include <math.h>

#include "tests/unit/fail.h"
#include "tests/unit/virtual.h"

enum { SIZE = 4, STEPS = 20 };

static struct virtual v;
static struct trace trace;

/* Rank 2 computes for `slow`, the others for 4 ms, before each MPI_Allreduce. */
static void make_trace(double slow)
{
	virtual_start(&v, SIZE);
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, r == 2 ? slow : 4 * MS);
		virtual_reduce_all(&v);
		for (uint32_t r = 1; r < SIZE; r++)
			virtual_send(&v, r, r - 1);
		for (uint32_t r = 0; r < SIZE - 1; r++)
			virtual_receive(&v, r, r + 1);
	}
	virtual_end(&v);
	virtual_trace(&v, &trace, false);
}

/* What is saved by a change; negative: it was not tried. */
static double saved(const struct what_ifs *w, enum what_if_kind kind)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->list[i].kind == kind)
			return w->list[i].saved;
	return -1;
}

static int find(void *context)
{
	struct causes c;
	struct what_ifs w = {.known = false};
	struct error error = {""};
	int rv = causes_find(&c, &trace, &error);
	if (rv == 0)
		rv = what_ifs_find(&w, &trace, &c, context, 0, &error);
	if (rv == 0 && !w.known)
		rv = -1;
	what_ifs_free(&w);
	causes_free(&c);
	return rv;
}

static void test_savings(void)
{
	struct causes c;
	struct what_ifs w;
	struct error error = {""};
	make_trace(12 * MS);
	ok(causes_find(&c, &trace, &error) == 0 && what_ifs_find(&w, &trace, &c, NULL, 0, &error) == 0 && w.known,
	   "a rank that is slow");
	ok(fabs((double)w.base_ns / w.recorded_ns - 1) < 0.01, "the base takes as long as the run");
	ok(fabs(saved(&w, WHAT_IF_ALIKE) - 8.0 / 12) < 0.01, "as fast as the others: %.3f", saved(&w, WHAT_IF_ALIKE));
	ok(fabs(saved(&w, WHAT_IF_EVEN) - 6.0 / 12) < 0.01, "work spread evenly: %.3f", saved(&w, WHAT_IF_EVEN));
	ok(saved(&w, WHAT_IF_IDEAL) >= 0 && saved(&w, WHAT_IF_IDEAL) < 0.01, "an ideal network saves hardly anything");
	bool sorted = true;
	for (size_t i = 1; i < w.count; i++)
		sorted = sorted && w.list[i - 1].saved >= w.list[i].saved;
	ok(sorted && w.count >= 5, "what saves most comes first");
	what_ifs_free(&w);
	causes_free(&c);
	trace_free(&trace);
}

int main(void)
{
	struct network network = {.eager = 0, .computing = 1};
	for (int i = 0; i < NETWORK_LEVELS; i++)
		network.levels[i] = (struct network_level){1000, 100, 100, 0.1};
	test_savings();
	make_trace(8 * MS);
	ok(find(NULL) == 0 && find(&network) == 0, "on its own network, and on another one");
	ok(fails_well(find, NULL), "each allocation fails");
	ok(fails_well(find, &network), "and if all messages wait for their receives");
	trace_free(&trace);
	return tap_end();
}
