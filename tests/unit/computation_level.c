/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean
 */
#include "proxy/computation_level.h"

#include "tests/unit/tap.h"

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

int main(void)
{
	const uint32_t ranks[] = {0, 1, 2};
	struct computation one = {.count = 1, .parts = {{1, 5, 0, {7}}}};
	computation_level(&one, 100, 25, 0, ranks, 3);
	ok(near(one.parts[0].ns, 5) && near(one.parts[0].counts[0], 7), "what is always the same stays so");

	/* 25 of 3, 75 of 1: the mean is 1.5; the first 25 would be 3 */
	struct computation turns = {.count = 2, .parts = {{25, 3, 0, {30}}, {75, 1, 0, {10}}}};
	computation_level(&turns, 100, 25, 0, ranks, 3);
	ok(near(turns.parts[0].ns, 1.5) && near(turns.parts[0].counts[0], 15), "in turn: the first ones are the mean");
	ok(near(turns.parts[1].ns, 0.5), "the others are as much longer or shorter than those as they were");

	/* 9 of 1 and one of 11, again and again: 20 visits are as 100 */
	struct computation cycle = {.count = 2, .again = 0, .parts = {{9, 1, 0, {0}}, {1, 11, 0, {0}}}};
	computation_level(&cycle, 100, 20, 0, ranks, 3);
	ok(near(cycle.parts[0].ns, 1) && near(cycle.parts[1].ns, 11), "whole turns of a cycle have its mean already");

	struct computation drawn = {
		.drawn = true, .together = true, .count = 2, .parts = {{50, 1, 0, {0}}, {50, 3, 0, {0}}}};
	computation_level(&drawn, 100, 1, 0, ranks, 3); /* the first place is 0: the first part */
	ok(near(drawn.parts[0].ns, 2), "drawn: so are those that are drawn first");

	struct computation nothing = {.count = 2, .parts = {{10, 0, 0, {0}}, {10, 4, 0, {0}}}};
	computation_level(&nothing, 20, 5, 0, ranks, 3);
	ok(near(nothing.parts[0].ns, 0) && near(nothing.parts[1].ns, 4), "nothing cannot be made longer");

	struct computation wide = {.count = 1, .parts = {{1, 5, 2, {7}}}};
	computation_scale(&wide, 0.5);
	ok(near(wide.parts[0].ns, 2.5) && near(wide.parts[0].width, 1) && near(wide.parts[0].counts[0], 3.5),
	   "half as much in each visit");
	return tap_end();
}
