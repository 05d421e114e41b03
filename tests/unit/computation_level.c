/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean
 */
#include "proxy/computation_level.h"

#include <math.h>

#include "tests/unit/tap.h"

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static void level(struct computation *each, uint32_t count, uint64_t all, uint64_t left)
{
	computation_level(&(struct computation_kinds){.count = count, .each = each}, all, left);
}

int main(void)
{
	struct computation one = {.count = 1, .parts = {{.times = 1, .ns = 5, .counts = {7}}}};
	level(&one, 1, 100, 25);
	ok(near(one.parts[0].ns, 5) && near(one.parts[0].counts[0], 7) && one.visits == 25,
	   "what is always the same stays so");

	/* 25 of 3, 75 of 1 */
	struct computation turns = {.count = 2, .parts = {{25, 3, 0, {30}, 5}, {75, 1, 0, {10}, 6}}};
	level(&turns, 1, 100, 24);
	ok(turns.drawn && turns.parts[0].times == 18 && turns.parts[1].times == 6 && turns.visits == 24,
	   "in turn, which does not come to its end: a quarter of each part is drawn");
	ok(near(turns.parts[1].ns, 3) && near(turns.parts[1].counts[0], 30) && near(turns.parts[0].ns, 1),
	   "which are as they were");

	/* two of 5 among others of 1: one is left, which has half of both */
	struct computation rare = {
		.count = 3, .again = 1, .parts = {{60, 1, 0, {10}, 5}, {2, 5, 0, {50}, 6}, {38, 1, 0, {10}, 5}}};
	level(&rare, 1, 100, 25);
	ok(rare.count == 2 && rare.parts[0].times == 24 && rare.parts[1].times == 1 && near(rare.parts[0].ns, 1) &&
	           near(rare.parts[1].ns, 3) && near(rare.parts[1].counts[0], 30),
	   "what comes now and then still does, for its share");

	/* 9 of 1 and one of 11, again and again: 20 visits are as 100 */
	struct computation cycle = {.count = 2, .again = 0, .parts = {{9, 1, 0, {0}, 5}, {1, 11, 0, {0}, 6}}};
	level(&cycle, 1, 100, 20);
	ok(!cycle.drawn && near(cycle.parts[0].ns, 1) && near(cycle.parts[1].ns, 11) && cycle.parts[0].times == 9,
	   "whole turns of a cycle have its mean already");

	/* the same on another rank, but that once it came a little later */
	struct computation late[2] = {
		{.count = 4, .parts = {{9, 1, 0, {0}, 5}, {1, 11, 0, {0}, 6}, {81, 1, 0, {0}, 5}, {9, 11, 0, {0}, 6}}},
		{.count = 2, .parts = {{9, 1, 0, {0}, 5}, {1, 11, 0, {0}, 6}}}};
	level(late, 2, 100, 30);
	ok(late[0].drawn && late[1].drawn && late[0].parts[0].times == 27 && late[1].parts[0].times == 27 &&
	           late[0].visits == 30 && late[1].visits == 30,
	   "if one rank begins unlike it goes on, all of them are drawn");
	struct computation good = {.count = 5,
	                           .parts = {{9, 1, 0, {0}, 5},
	                                     {1, 11, 0, {0}, 6},
	                                     {10, 1, 0, {0}, 5},
	                                     {1, 11, 0, {0}, 6},
	                                     {9, 1, 0, {0}, 5}}};
	level(&good, 1, 30, 20);
	ok(!good.drawn && good.parts[0].times == 9, "what begins as it goes on stays in turn");

	/* of eight ranks: in each of 100 visits, from 1 to 3 or from 4 to 6 */
	struct computation drawn = {.drawn = true, .count = 2, .parts = {{420, 2, 2, {0}, 5}, {380, 5, 2, {0}, 6}}};
	level(&drawn, 1, 100, 100);
	ok(drawn.parts[0].times == 52 && drawn.parts[1].times == 1 && drawn.parts[2].times == 47 && drawn.count == 3,
	   "drawn: as many values as there are visits of one rank");
	ok(near(drawn.parts[0].width, 2 * 52 / 52.5) && near(drawn.parts[0].ns, 1 + 52 / 52.5) &&
	           near(52 * drawn.parts[0].ns + drawn.parts[1].ns + 47 * drawn.parts[2].ns, 100 * 3.425),
	   "from the parts' beginnings to their ends, with the mean of all");
	level(&drawn, 1, 100, 2);
	ok(drawn.count == 2 && drawn.parts[0].times == 1 && drawn.parts[1].times == 1 && drawn.visits == 2 &&
	           near((drawn.parts[0].ns + drawn.parts[1].ns) / 2, 3.425),
	   "of more parts than there are visits, some become one");

	struct computation many = {.drawn = true, .count = COMPUTATION_PARTS};
	for (uint32_t i = 0; i < many.count; i++)
		many.parts[i] = (struct computation_part){.times = 3, .ns = i, .key = i};
	level(&many, 1, 1000, 1000);
	uint64_t times = 0;
	for (uint32_t i = 0; i < many.count; i++)
		times += many.parts[i].times;
	ok(many.count <= COMPUTATION_PARTS && times == 1000, "of many parts, neighbours become one");

	struct computation wide = {.count = 1, .parts = {{.times = 1, .ns = 5, .width = 2, .counts = {7}}}};
	computation_scale(&wide, 0.5);
	ok(near(wide.parts[0].ns, 2.5) && near(wide.parts[0].width, 1) && near(wide.parts[0].counts[0], 3.5),
	   "half as much in each visit");
	return tap_end();
}
