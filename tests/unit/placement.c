/* SPDX-License-Identifier: BSD-3-Clause
 * placement - damaged texts of nodes first; lists of CPUs come back rank by rank; what is written is read
 */
#include "trace/model/placement.h"

#include <string.h>

#include "merge/merge.h"
#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static struct placement_node node;

static bool is_known(const char *text, enum placement_level level)
{
	placement_parse(text, &node);
	return node.count[level] > 0;
}

static void damaged(void)
{
	static const char *const bad[] = {"",     "x|",        "/|",        "0//1|",      "0+|",
	                                  "0+1|", "0+1*|",     "0+*2|",     "0+1*2x|",    "0,+1*2|",
	                                  "0-|",  "0+8193*2|", "0+1*8193|", "0/0+1*8192|"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!is_known(bad[i], PLACEMENT_SOCKET), "not known: \"%s\"", bad[i]);
	ok(is_known("0-1|x|0/1", PLACEMENT_CORE) && node.count[PLACEMENT_NUMA] == 0 &&
	           node.count[PLACEMENT_SOCKET] == 1,
	   "a damaged level leaves the others");
	ok(is_known("8000+100*3", PLACEMENT_SOCKET) && node.unit[PLACEMENT_SOCKET][8100] == 1,
	   "CPUs that cannot be are left out");
}

static void nodes(void)
{
	placement_parse("0-7,16-23/8-15,24-31|0-3+4*4|0,16+1*16", &node);
	ok(node.count[PLACEMENT_SOCKET] == 2 && node.unit[PLACEMENT_SOCKET][17] == 0 &&
	           node.unit[PLACEMENT_SOCKET][31] == 1 && node.unit[PLACEMENT_SOCKET][32] == PLACEMENT_NONE,
	   "two sockets");
	ok(node.count[PLACEMENT_NUMA] == 4 && node.unit[PLACEMENT_NUMA][7] == 1 &&
	           node.unit[PLACEMENT_NUMA][16] == PLACEMENT_NONE,
	   "four NUMA nodes");
	ok(node.count[PLACEMENT_CORE] == 16 && node.unit[PLACEMENT_CORE][3] == 3 && node.unit[PLACEMENT_CORE][19] == 3,
	   "sixteen cores of two CPUs");
}

static void written(void)
{
	enum { UNITS = 40 };
	static struct cpu_set units[UNITS];
	char text[400] = "", small[8] = "";
	memset(units, 0, sizeof units);
	for (uint32_t i = 0; i < UNITS; i++)
		for (uint32_t k = 0; k < 2; k++)
			cpu_set_add(&units[i], (i < 30 ? i : 2 * i) + 100 * k);
	ok(placement_format(units, UNITS, text, sizeof text) == 0, "a level: %s", text);
	placement_parse(text, &node);
	bool same = node.count[PLACEMENT_SOCKET] == UNITS;
	for (uint32_t cpu = 0; cpu < 400; cpu++)
		for (uint16_t i = 0; i < UNITS; i++)
			same &= cpu_set_has(&units[i], cpu) == (node.unit[PLACEMENT_SOCKET][cpu] == i);
	ok(same, "is read as it was written");
	ok(placement_format(units, UNITS, small, sizeof small) == -1, "there is no room for it");
}

static int make(struct trace *all, const char *const *lists, uint32_t n)
{
	int rv = trace_init(all);
	all->size = n;
	for (uint32_t i = 0; i < n && rv == 0; i++) {
		struct trace one;
		rv = trace_init(&one);
		one.size = n;
		rv = rv ||
		     placement_set(&one, i, lists[i], strlen(lists[i]), i % 2 ? "0-3" : "0-1/2-3", i % 2 ? 3 : 7) ||
		     rankmap_single(&one.events, i, 0, false) || merge_into(all, &one, NULL);
		trace_free(&one);
	}
	return rv ? -1 : 0;
}

static int make_two(void *context)
{
	static const char *const lists[] = {"0", "4-7"};
	struct trace t;
	(void)context;
	int rv = make(&t, lists, 2);
	trace_free(&t);
	return rv;
}

int main(void)
{
	static const char *const lists[] = {"0-3", "4-7", "8-11,20", "", "damaged", "8191", "0-8191"};
	enum { RANKS = sizeof lists / sizeof *lists };
	struct trace t;
	struct cpu_set cpus;
	char text[CPU_LIST_TEXT];
	damaged();
	nodes();
	written();
	ok(make(&t, lists, RANKS) == 0, "a trace of %d ranks", RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		bool known = i != 3 && i != 4;
		text[0] = '\0';
		ok(placement_cpus(&t, i, &cpus) == known &&
		           (!known || (cpu_list_format(&cpus, text, sizeof text) > 0 && !strcmp(text, lists[i]))),
		   "rank %u: %s", i, known ? text : "not known");
	}
	ok(!placement_cpus(&t, RANKS, &cpus), "a rank that there is not");
	trace_free(&t);
	ok(fails_well(make_two, NULL), "no memory");
	return tap_end();
}
