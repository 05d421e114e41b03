/* SPDX-License-Identifier: BSD-3-Clause
 * blame - for whose computation ranks wait, of programs in which it can be reckoned on paper
 */
#include "insight/blame.h"

#include <math.h>

#include "tests/unit/virtual.h"

static struct virtual v;
static struct trace trace;
static struct ideal ideal;
static struct blame blame;

static bool near(double a, double b)
{
	return fabs(a - b) < 0.01 * fabs(b) + 0.1 * MS;
}

/* By rank: what others wait for that it computes; because of uneven work, and for the rest. */
static double uneven[VIRTUAL_RANKS], turn[VIRTUAL_RANKS];

static bool make(double factor)
{
	struct error error = {""};
	double factors[16];
	virtual_trace(&v, &trace, false);
	for (int i = 0; i < 16; i++)
		factors[i] = factor;
	if (ideal_make(&ideal, &trace, NULL, &error) != 0 || !ideal.known ||
	    blame_make(&blame, &trace, &ideal, factors, &error) != 0)
		return false;
	memset(uneven, 0, sizeof uneven);
	memset(turn, 0, sizeof turn);
	for (size_t i = 0; i < blame.part_count; i++) {
		uneven[blame.parts[i].rank] += blame.parts[i].uneven_ns;
		turn[blame.parts[i].rank] += blame.parts[i].turn_ns;
	}
	return true;
}

static void end(void)
{
	blame_free(&blame);
	ideal_free(&ideal);
	trace_free(&trace);
}

/* The drawing of blame.h. */
static void test_drawing(void)
{
	virtual_start(&v, 3);
	for (uint32_t r = 0; r < 3; r++)
		virtual_compute(&v, r, r == 2 ? 10 * MS : 4 * MS);
	virtual_reduce_all(&v);
	virtual_end(&v);
	bool made = make(1);
	ok(made && near(uneven[2], 12 * MS), "both wait 6 ms for the third one: %.2f ms", uneven[2] / MS);
	ok(near(uneven[0] + uneven[1] + turn[0] + turn[1] + turn[2], 0), "and for nobody else");
	ok(near((double)ideal.run_ns, 10 * MS), "it takes as long as the longest of them");
	end();
	made = make(0.5);
	ok(made && near(uneven[2], 6 * MS), "of waits of which half counts, half is booked");
	end();
}

/* Ranks 1, 2 wait for 0; then 2 for 1; at the end all for the last one. */
static void test_chain(void)
{
	virtual_start(&v, 3);
	for (uint32_t r = 0; r < 3; r++) {
		if (r > 0)
			virtual_receive(&v, r, r - 1);
		virtual_compute(&v, r, 10 * MS);
		if (r < 2)
			virtual_send(&v, r, r + 1);
	}
	virtual_barrier(&v);
	virtual_end(&v);
	bool made = make(1);
	ok(made && near(turn[0], 20 * MS) && near(turn[1], 20 * MS) && near(turn[2], 20 * MS),
	   "in a chain two wait for each: %.1f %.1f %.1f ms", turn[0] / MS, turn[1] / MS, turn[2] / MS);
	ok(near(uneven[0] + uneven[1] + uneven[2], 0), "and the work is even");
	end();
}

/* Rank 0 is late; rank 1 waits for it, and then computes; rank 2 waits for rank 1, and so first for rank 0. */
static void test_through(void)
{
	virtual_start(&v, 3);
	virtual_compute(&v, 0, 10 * MS);
	virtual_send(&v, 0, 1);
	virtual_receive(&v, 1, 0);
	virtual_compute(&v, 1, 2 * MS);
	virtual_send(&v, 1, 2);
	virtual_receive(&v, 2, 1);
	virtual_end(&v);
	ok(make(1), "a wait through another rank");
	/* 24 ms are lost, 18 of them because rank 0 computes 10 and the others 4 in the mean, as 3 * 10 - 12 */
	ok(near(uneven[0], 18 * MS) && near(uneven[1], 0), "is booked on whom that one waits for: %.1f ms",
	   uneven[0] / MS);
	ok(near(turn[0], 5 * MS) && near(turn[1], 1 * MS), "and the rest on whoever computes then");
	end();
}

/* Rank 1 is late in a ring; its neighbour and itself then compute what all do, later than the others, who wait for
 * that. */
static void test_begun_late(void)
{
	double before_send = 0;
	virtual_start(&v, 4);
	for (int i = 0; i < 10; i++) {
		for (uint32_t r = 0; r < 4; r++) {
			virtual_compute(&v, r, r == 1 ? 9 * MS : 4 * MS);
			virtual_send(&v, r, (r + 1) % 4);
		}
		for (uint32_t r = 0; r < 4; r++) {
			virtual_receive(&v, r, (r + 3) % 4);
			virtual_compute(&v, r, 6 * MS);
		}
		virtual_reduce_all(&v);
	}
	virtual_end(&v);
	bool made = make(1);
	for (size_t i = 0; i < blame.part_count; i++)
		before_send +=
			strncmp(trace_schema(&trace, &trace.sites[blame.parts[i].site])->function, "MPI_Send", 8) == 0
				? blame.parts[i].uneven_ns
				: 0;
	ok(made && near(uneven[1], 150 * MS), "who is late is blamed: %.1f ms", uneven[1] / MS);
	ok(near(before_send, 150 * MS), "for what made it late: %.1f ms", before_send / MS);
	end();
}

int main(void)
{
	test_begun_late();
	test_drawing();
	test_chain();
	test_through();
	return tap_end();
}
