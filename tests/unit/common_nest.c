/* SPDX-License-Identifier: BSD-3-Clause
 * common_nest - one loop nest of ranks that do different things
 */
#include "proxy/common_nest.h"

#include <string.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

/* What ranks do, each site a letter; `n(...)` n times. "A2(BC)" is ABCBC. Each rank begins from a site of its own. */
static const char *const *ranks;
static char found[400];

static const char *walk(struct steps *steps, const char *text, uint32_t *last)
{
	for (; *text && *text != ')'; text++) {
		int times = *text >= '1' && *text <= '9' ? *text++ - '0' : 0;
		const char *end = text;
		for (int i = 0; i < times; i++)
			end = walk(steps, text + 1, last);
		if (!times) {
			uint32_t site = (uint32_t)(*text - 'A' + 1);
			if (steps_add(steps, *last, site, 1) != 0)
				return NULL;
			*last = site;
		}
		if (!end)
			return NULL;
		text = end;
	}
	return text;
}

/* Loops in round brackets, sets in any order in square ones. */
static void show(const struct loop_nest *nest, uint32_t node)
{
	const struct nest_node *n = &nest->nodes[node];
	char text[2] = {node < nest->sites ? (char)('A' + node - 1) : n->any_order ? '[' : '(', '\0'};
	if (node != nest->sites && node > 0)
		strcat(found, text);
	for (uint32_t c = n->first; c != NEST_NONE; c = nest->nodes[c].next)
		show(nest, c);
	if (node > nest->sites)
		strcat(found, n->any_order ? "]" : ")");
}

static int make(void *context)
{
	struct step_kinds kinds = {.count = 0};
	struct loop_nest nest = {NULL, 0, 0};
	uint32_t sites = 1;
	int rv = 0;
	(void)context;
	for (int i = 0; ranks[i] && rv == 0; i++) {
		struct steps steps = {.count = 0};
		uint32_t last = 0;
		rv = walk(&steps, ranks[i], &last) ? 0 : -1;
		for (const char *c = ranks[i]; *c; c++)
			sites = *c >= 'A' && (uint32_t)(*c - 'A' + 2) > sites ? (uint32_t)(*c - 'A' + 2) : sites;
		if (step_kinds_add(&kinds, &steps) != 0)
			rv = -1;
	}
	if (rv == 0 && (rv = common_nest_make(&nest, sites, &kinds)) >= 0) {
		snprintf(found, sizeof found, "%u: ", kinds.count);
		if (rv == 0)
			show(&nest, sites);
		rv = 0;
	}
	loop_nest_free(&nest);
	step_kinds_free(&kinds);
	return rv;
}

static void is(const char *title, const char *wanted, const char *const *of)
{
	ranks = of;
	int rv = make(NULL);
	if (!ok(rv == 0 && strcmp(found, wanted) == 0, "%s", title))
		printf("# %s, not %s\n", found, wanted);
}

#define RANKS(...) ((const char *const[]){__VA_ARGS__, NULL})

int main(void)
{
	is("ranks that do the same are one kind", "1: A(B(CD)E)F", RANKS("A3(B4(CD)E)F", "A2(B9(CD)E)F"));
	is("loops with another entry in each kind", "2: A((BCD)E)F", RANKS("A3(4(BC)E)F", "A3(4(CD)E)F"));
	const char *const sweeps[] = {"A9(3(9(DE)9(FG)L)M)", "A9(3(9(CD)9(FI)JKL)M)", "A9(3(9(BE)9(GH)L)M)",
	                              "A9(3(9(BC)9(HI)JKL)M)", NULL};
	is("sweeps in a grid, whose corners make no calls outwards", "4: A(((BCDE)(FGHI)JKL)M)", sweeps);
	ok(fails_well(make, NULL), "no memory");
	is("kinds that have no site in common", "2: (AB)(CD)", RANKS("9(AB)", "9(CD)"));
	is("a kind that makes one turn", "2: A((BC)D)E", RANKS("A9(9(BC)D)E", "ABCDE"));
	is("a call that each kind makes at a site of its own", "2: A((BC)DE)", RANKS("A9(9(BC)D)", "A9(9(BC)E)"));
	is("a kind that leaves a loop out", "2: A((BC)D)E", RANKS("A9(9(BC)D)E", "A9(D)E"));
	is("an order in each kind, but none in common: a set", "2: A[BCD]E", RANKS("A9(BCD)E", "A9(CBD)E"));
	is("no order outside of loops: none", "2: ", RANKS("ABC", "ACB"));
	is("loops that overlap: a set", "2: A[DBC]", RANKS("A9(BC)D", "AB9(CD)"));
	return tap_end();
}
