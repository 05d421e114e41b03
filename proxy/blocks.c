/* SPDX-License-Identifier: BSD-3-Clause
 * blocks - small pieces of C with known mixes of instructions
 *
 * What is read and written is volatile, so that no compiler leaves it out. What stays in registers begins with a value
 * that the compiler does not know, and ends in one that it must store. Loops over arrays have no loop inside, whose end
 * would be a branch that is not predicted: but for rows of a large box, as programs have them. `i` and `j` are
 * variables so that without optimisation they are computed with. Memory that is walked through is written first: pages
 * that are only read are all the same page, which never misses.
 */
#include "proxy/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/crc32.h"

#define NAMES(before)                                                                                                  \
	before "plane", before "product", before "sweep", before "cells", before "change", before "field",             \
		before "random", before "flops", before "divides", before "integers", before "loads", before "stores", \
		before "copies", before "fills", before "moves", before "clears", before "cached", before "missed",    \
		before "written", before "branches", before "guesses", before "pages"

const char *const blocks_name[BLOCKS_MEASURED] = {NAMES(""), "call", NAMES("call_")};

static const char *const sources[BLOCKS] = {
	[BLOCK_PLANE] = "/* A cell of a plane is the mean of those around it. */\n"
			"static void work_plane(long turns)\n"
			"{\n"
			"\tint i = 1;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tconst long j = 1 + turns % 64;\n"
			"\t\twork_next[i][j] = 0.25 * (work_grid[i - 1][j] + work_grid[i + 1][j] +\n"
			"\t\t                          work_grid[i][j - 1] + work_grid[i][j + 1]);\n"
			"\t}\n"
			"\twork_result = work_next[i][1];\n"
			"}\n",
	[BLOCK_PRODUCT] = "/* A product of two rows. */\n"
			  "static void work_product(long turns)\n"
			  "{\n"
			  "\tint i = 1;\n"
			  "\tdouble sum = 0;\n"
			  "\tfor (; turns > 0; turns--) {\n"
			  "\t\tconst long j = turns & 63;\n"
			  "\t\tsum += work_grid[i][j] * work_grid[i + 1][j];\n"
			  "\t}\n"
			  "\twork_result = sum;\n"
			  "}\n",
	[BLOCK_SWEEP] = "/* A cell of a plane depends on those before it, which may be those behind it. */\n"
			"static void work_sweep(long turns)\n"
			"{\n"
			"\tconst int back = work_back;\n"
			"\tint i = 1;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tconst long n = turns % 64, j = back ? 63 - n : n;\n"
			"\t\twork_next[i][j] = 0.5 * work_next[i][j] + 0.25 * (work_above[j] + work_left[i]);\n"
			"\t\twork_above[j] = work_next[i][j];\n"
			"\t\twork_left[i] = work_next[i][j];\n"
			"\t}\n"
			"\twork_result = work_next[i][1];\n"
			"}\n",
	[BLOCK_CELLS] =
		"/* A cell of a plane is a product of what is left and right of it, and above and below. */\n"
		"static void work_cells(long turns)\n"
		"{\n"
		"\tint i = 1;\n"
		"\tfor (; turns > 0; turns--) {\n"
		"\t\tconst long j = 1 + turns % 64;\n"
		"\t\twork_next[i][j] = (0.5 * work_grid[i][j] + 0.25 * (work_grid[i - 1][j] + work_grid[i + 1][j])) *\n"
		"\t\t                  (0.4 * work_grid[i][j] + 0.3 * (work_grid[i][j - 1] + work_grid[i][j + 1]));\n"
		"\t}\n"
		"\twork_result = work_next[i][1];\n"
		"}\n",
	[BLOCK_CHANGE] = "/* How far cells are from a number, added up: one of 64 is on its other side. */\n"
			 "static void work_change(long turns)\n"
			 "{\n"
			 "\tconst double from = work_start;\n"
			 "\tint i = 1;\n"
			 "\tdouble sum = 0;\n"
			 "\tfor (; turns > 0; turns--) {\n"
			 "\t\tconst double x = work_grid[i][turns % 64];\n"
			 "\t\tsum += x > from ? x - from : from - x;\n"
			 "\t}\n"
			 "\twork_result = sum;\n"
			 "}\n",
	[BLOCK_FIELD] = "/* A row of cells of a box that is larger than all caches. */\n"
			"static void work_field(long turns)\n"
			"{\n"
			"\tstatic long at = WIDE_NEAR / WIDE_CELLS - 3 * WIDE_ROWS; /* a layer of it is near */\n"
			"\tint i = 1, j = 1;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tdouble(*const box)[WIDE_ROWS][WIDE_CELLS] = (void *)&work_wide[at * WIDE_CELLS];\n"
			"\t\tdouble *const next = &work_wide_next[at * WIDE_CELLS];\n"
			"\t\tfor (int k = 1; k < WIDE_CELLS - 1; k++)\n"
			"\t\t\tnext[k] = 0.5 * box[i][j][k] +\n"
			"\t\t\t          0.0625 * (box[i - 1][j][k] + box[i + 1][j][k] + box[i][j - 1][k] +\n"
			"\t\t\t                    box[i][j + 1][k] + box[i][j][k - 1] + box[i][j][k + 1] +\n"
			"\t\t\t                    box[i - 1][j - 1][k - 1] + box[i + 1][j + 1][k + 1]);\n"
			"\t\tat = (at + 1) % (WIDE - 3 * WIDE_ROWS);\n"
			"\t}\n"
			"\twork_result = work_wide_next[at * WIDE_CELLS + 1];\n"
			"}\n",
	[BLOCK_RANDOM] = "/* Random numbers (splitmix64). */\n"
			 "static unsigned long long work_random_next(unsigned long long *state)\n"
			 "{\n"
			 "\tunsigned long long x = *state += 0x9e3779b97f4a7c15u;\n"
			 "\tx = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;\n"
			 "\tx = (x ^ x >> 27) * 0x94d049bb133111ebu;\n"
			 "\treturn x ^ x >> 31;\n"
			 "}\n\n"
			 "static void work_random(long turns)\n"
			 "{\n"
			 "\tunsigned long long state = (unsigned long long)work_start;\n"
			 "\tdouble x = 0;\n"
			 "\tfor (; turns > 0; turns--)\n"
			 "\t\tx += (double)(work_random_next(&state) >> 11);\n"
			 "\twork_result = x;\n"
			 "}\n",
	[BLOCK_FLOPS] = "/* Multiplications and additions, in registers. */\n"
			"static void work_flops(long turns)\n"
			"{\n"
			"\tdouble a = work_start, b = a + 1, c = a + 2, d = a + 3;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tWORK_TWICE(WORK_TWICE(WORK_TWICE(WORK_TWICE(a = a * 0.99 + 0.5; b = b * 0.98 + 0.5; "
			"c = c * 0.97 + 0.5;\n\t\t           d = d * 0.96 + 0.5;))))\n"
			"\t}\n"
			"\twork_result = a + b + c + d;\n"
			"}\n",
	[BLOCK_DIVIDES] = "/* Divisions, each of which waits for the one before. */\n"
			  "static void work_divides(long turns)\n"
			  "{\n"
			  "\tdouble a = work_start;\n"
			  "\tfor (; turns > 0; turns--) {\n"
			  "\t\tWORK_TWICE(WORK_TWICE(a = 1 + 1 / a;))\n"
			  "\t}\n"
			  "\twork_result = a;\n"
			  "}\n",
	[BLOCK_INTEGERS] = "/* Integers, in registers. */\n"
			   "static void work_integers(long turns)\n"
			   "{\n"
			   "\tunsigned long long x = (unsigned long long)work_start;\n"
			   "\tfor (; turns > 0; turns--) {\n"
			   "\t\tWORK_TWICE(WORK_TWICE(WORK_TWICE(WORK_TWICE(WORK_TWICE(x ^= x << 13; x ^= x >> 7; x ^= "
			   "x << 17;)))))\n"
			   "\t}\n"
			   "\twork_result = (double)x;\n"
			   "}\n",
	[BLOCK_LOADS] =
		"/* Loads that hit the first cache. */\n"
		"static void work_loads(long turns)\n"
		"{\n"
		"\tunsigned long x = 0;\n"
		"\tfor (; turns > 0; turns--) {\n"
		"\t\tconst unsigned long *p = work_words_at;\n"
		"\t\tx ^= p[0], x += p[1], x ^= p[2], x += p[3], x ^= p[4], x += p[5], x ^= p[6], x += p[7];\n"
		"\t\tx ^= p[8], x += p[9], x ^= p[10], x += p[11], x ^= p[12], x += p[13], x ^= p[14], x += p[15];\n"
		"\t}\n"
		"\twork_result = (double)x;\n"
		"}\n",
	[BLOCK_STORES] = "/* Stores that hit the first cache. */\n"
			 "static void work_stores(long turns)\n"
			 "{\n"
			 "\tfor (; turns > 0; turns--) {\n"
			 "\t\tWORK_TWICE(work_places[0] = turns; work_places[1] = turns; work_places[2] = turns; "
			 "work_places[3] = turns;\n"
			 "\t\t           work_places[4] = turns; work_places[5] = turns; work_places[6] = turns; "
			 "work_places[7] = turns;)\n"
			 "\t}\n"
			 "}\n",
	[BLOCK_COPIES] = "/* The C library copies 1 KiB. */\n"
			 "static void work_copies(long turns)\n"
			 "{\n"
			 "\tlong sum = 0;\n"
			 "\tfor (; turns > 0; turns--) {\n"
			 "\t\tmemcpy(work_to, work_from, work_size);\n"
			 "\t\tsum += work_to[turns & 1023];\n"
			 "\t}\n"
			 "\twork_result = (double)sum;\n"
			 "}\n",
	[BLOCK_FILLS] = "/* The C library fills 1 KiB. */\n"
			"static void work_fills(long turns)\n"
			"{\n"
			"\tlong sum = 0;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tmemset(work_to, (int)turns, work_size);\n"
			"\t\tsum += work_to[turns & 1023];\n"
			"\t}\n"
			"\twork_result = (double)sum;\n"
			"}\n",
	[BLOCK_MOVES] = "/* The C library copies 64 KiB. */\n"
			"static void work_moves(long turns)\n"
			"{\n"
			"\tlong sum = 0;\n"
			"\tfor (; turns > 0; turns--) {\n"
			"\t\tmemcpy(work_long_to, work_long_from, work_long);\n"
			"\t\tsum += work_long_to[turns & 65535];\n"
			"\t}\n"
			"\twork_result = (double)sum;\n"
			"}\n",
	[BLOCK_CLEARS] = "/* The C library fills 64 KiB. */\n"
			 "static void work_clears(long turns)\n"
			 "{\n"
			 "\tlong sum = 0;\n"
			 "\tfor (; turns > 0; turns--) {\n"
			 "\t\tmemset(work_long_to, (int)turns, work_long);\n"
			 "\t\tsum += work_long_to[turns & 65535];\n"
			 "\t}\n"
			 "\twork_result = (double)sum;\n"
			 "}\n",
	[BLOCK_CACHED] = "/* Loads that miss the first cache and hit the last one. */\n"
			 "static void work_cached(long turns)\n"
			 "{\n"
			 "\tstatic unsigned at;\n"
			 "\tdouble sum = 0;\n"
			 "\tfor (; turns > 0; turns--) {\n"
			 "\t\tconst double *p = &work_wide[at];\n"
			 "\t\tsum += p[0], sum += p[8], sum += p[16], sum += p[24];\n"
			 "\t\tat = (at + 32) % WIDE_NEAR;\n"
			 "\t}\n"
			 "\twork_result = sum;\n"
			 "}\n",
	[BLOCK_MISSED] =
		"/* Loads that miss all caches: of each line once, here and there, before any is loaded again. */\n"
		"static void work_missed(long turns)\n"
		"{\n"
		"\tstatic unsigned at;\n"
		"\tunsigned sum = 0;\n"
		"\tfor (; turns > 0; turns--) {\n"
		"\t\tWORK_TWICE(WORK_TWICE(at = (at * 1664525u + 1013904223u) % (FAR_BYTES / 128);\n"
		"\t\t                      sum += work_far[(size_t)at * 128 + 64];))\n"
		"\t}\n"
		"\twork_result = sum;\n"
		"}\n",
	[BLOCK_WRITTEN] = "/* Stores that miss all caches, every other line. */\n"
			  "static void work_written(long turns)\n"
			  "{\n"
			  "\tstatic unsigned at;\n"
			  "\tfor (; turns > 0; turns--, at = (at + 512) % FAR_BYTES) {\n"
			  "\t\twork_far[at] = 1;\n"
			  "\t\twork_far[at + 128] = 1;\n"
			  "\t\twork_far[at + 256] = 1;\n"
			  "\t\twork_far[at + 384] = 1;\n"
			  "\t}\n"
			  "}\n",
	[BLOCK_BRANCHES] =
		"/* Branches that are never taken. */\n"
		"static void work_branches(long turns)\n"
		"{\n"
		"\tfor (; turns > 0; turns--) {\n"
		"\t\tWORK_TWICE(WORK_TWICE(if (work_never) work_result = 1; if (work_never) work_result = 2;))\n"
		"\t}\n"
		"}\n",
	[BLOCK_GUESSES] = "/* Branches that are taken now and then, in no order. */\n"
			  "static void work_guesses(long turns)\n"
			  "{\n"
			  "\tstatic unsigned long long x = 88172645463325252u;\n"
			  "\tfor (; turns > 0; turns--) {\n"
			  "\t\tx ^= x << 13;\n"
			  "\t\tx ^= x >> 7;\n"
			  "\t\tx ^= x << 17;\n"
			  "\t\tif (x & 1)\n"
			  "\t\t\twork_result = 1;\n"
			  "\t\tif (x & 2)\n"
			  "\t\t\twork_result = 2;\n"
			  "\t\tif (x & 4)\n"
			  "\t\t\twork_result = 3;\n"
			  "\t\tif (x & 8)\n"
			  "\t\t\twork_result = 4;\n"
			  "\t}\n"
			  "}\n",
	[BLOCK_PAGES] = "/* The kernel's time: a new page. */\n"
			"static void work_pages(long turns)\n"
			"{\n"
			"\tint zero = open(\"/dev/zero\", O_RDWR);\n"
			"\tfor (; turns > 0 && zero >= 0; turns--) {\n"
			"\t\tvolatile char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);\n"
			"\t\tif (bytes == MAP_FAILED)\n"
			"\t\t\tbreak;\n"
			"\t\tbytes[0] = 1;\n"
			"\t\tmunmap((void *)bytes, 4096);\n"
			"\t}\n"
			"\tif (zero >= 0)\n"
			"\t\tclose(zero);\n"
			"}\n",
};

const int blocks_least[BLOCKS] = {
	[BLOCK_PLANE] = 32,   [BLOCK_PRODUCT] = 32, [BLOCK_SWEEP] = 32,  [BLOCK_CELLS] = 32,   [BLOCK_CHANGE] = 32,
	[BLOCK_FIELD] = 1,    [BLOCK_RANDOM] = 32,  [BLOCK_FLOPS] = 8,   [BLOCK_DIVIDES] = 32, [BLOCK_INTEGERS] = 4,
	[BLOCK_LOADS] = 32,   [BLOCK_STORES] = 32,  [BLOCK_COPIES] = 16, [BLOCK_FILLS] = 16,   [BLOCK_MOVES] = 1,
	[BLOCK_CLEARS] = 1,   [BLOCK_CACHED] = 16,  [BLOCK_MISSED] = 4,  [BLOCK_WRITTEN] = 4,  [BLOCK_BRANCHES] = 32,
	[BLOCK_GUESSES] = 32, [BLOCK_PAGES] = 1,
};

static bool has_grid(const bool used[BLOCKS])
{
	return used[BLOCK_PLANE] || used[BLOCK_PRODUCT] || used[BLOCK_CELLS] || used[BLOCK_CHANGE];
}

static void write_memory(FILE *f, const bool used[BLOCKS])
{
	bool registers = used[BLOCK_FLOPS] || used[BLOCK_DIVIDES] || used[BLOCK_INTEGERS] || used[BLOCK_RANDOM] ||
	                 used[BLOCK_CHANGE];
	bool brief = used[BLOCK_COPIES] || used[BLOCK_FILLS], lengthy = used[BLOCK_MOVES] || used[BLOCK_CLEARS];
	bool results = registers || has_grid(used) || used[BLOCK_FIELD] || used[BLOCK_SWEEP] || used[BLOCK_LOADS] ||
	               brief || lengthy || used[BLOCK_CACHED] || used[BLOCK_MISSED] || used[BLOCK_BRANCHES] ||
	               used[BLOCK_GUESSES];
	fputs("#define WORK_TWICE(x) x x\n\n", f);
	if (used[BLOCK_PAGES])
		fputs("#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\n", f);
	if (brief || lengthy)
		fputs("#include <string.h>\n\n", f);
	if (brief)
		fputs("static char work_to[1024];\nstatic volatile size_t work_size = sizeof work_to;\n", f);
	if (used[BLOCK_COPIES])
		fputs("static char work_from[sizeof work_to];\n", f);
	if (lengthy)
		fputs("static char work_long_to[65536];\nstatic volatile size_t work_long = sizeof work_long_to;\n", f);
	if (used[BLOCK_MOVES])
		fputs("static char work_long_from[sizeof work_long_to];\n", f);
	if (has_grid(used))
		fputs("static double work_grid[3][66];\n", f);
	if (used[BLOCK_PLANE] || used[BLOCK_CELLS] || used[BLOCK_SWEEP])
		fputs("static double work_next[3][66];\n", f);
	if (used[BLOCK_SWEEP])
		fputs("static double work_above[66], work_left[2];\nstatic volatile int work_back;\n", f);
	if (registers)
		fputs("static volatile double work_start = 1;\n", f);
	if (results)
		fputs("static volatile double work_result;\n", f);
	if (used[BLOCK_LOADS])
		fputs("static unsigned long work_words[16];\nstatic const unsigned long *volatile work_words_at = "
		      "work_words;\n",
		      f);
	if (used[BLOCK_STORES])
		fputs("static volatile long work_places[8];\n", f);
	if (used[BLOCK_BRANCHES])
		fputs("static volatile int work_never;\n", f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN] || used[BLOCK_FIELD])
		fputs("#ifndef FAR_BYTES /* a power of two, and more than the last cache */\n"
		      "#define FAR_BYTES (1 << 27)\n"
		      "#endif\n",
		      f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN])
		fputs("static volatile unsigned char work_far[FAR_BYTES];\n", f);
	if (used[BLOCK_FIELD] || used[BLOCK_CACHED])
		fputs("enum { WIDE_NEAR = 1 << 14 }; /* more than the first cache */\n", f);
	if (used[BLOCK_FIELD])
		fputs("enum { WIDE_CELLS = 130, WIDE_ROWS = 16, WIDE = FAR_BYTES / 2048 }; /* rows in a layer, and in "
		      "all */\n"
		      "static double work_wide[WIDE * WIDE_CELLS], work_wide_next[WIDE * WIDE_CELLS];\n",
		      f);
	else if (used[BLOCK_CACHED])
		fputs("static double work_wide[WIDE_NEAR];\n", f);
}

void blocks_write(FILE *f, const bool used[BLOCKS])
{
	write_memory(f, used);
	fputs("\n/* Pages that were never written are all the same one. */\n"
	      "static void work_begin(void)\n"
	      "{\n",
	      f);
	if (has_grid(used))
		fputs("\tfor (size_t i = 0; i < 66; i++)\n"
		      "\t\twork_grid[0][i] = work_grid[1][i] = work_grid[2][i] = (double)(i + 1);\n",
		      f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN])
		fputs("\tfor (size_t i = 0; i < sizeof work_far; i += 4096)\n\t\twork_far[i] = 1;\n", f);
	if (used[BLOCK_FIELD])
		fputs("\tfor (size_t i = 0; i < WIDE * WIDE_CELLS; i += 512)\n\t\twork_wide[i] = work_wide_next[i] = "
		      "1;\n",
		      f);
	if (used[BLOCK_FIELD] || used[BLOCK_CACHED])
		fputs("\tfor (size_t i = 0; i < WIDE_NEAR; i++)\n\t\twork_wide[i] = 1;\n", f);
	if (used[BLOCK_MOVES])
		fputs("\tmemset(work_long_from, 1, sizeof work_long_from);\n", f);
	if (used[BLOCK_MOVES] || used[BLOCK_CLEARS])
		fputs("\tmemset(work_long_to, 1, sizeof work_long_to);\n", f);
	fputs("}\n", f);
	for (int i = 0; i < BLOCKS; i++)
		if (used[i])
			fprintf(f, "\n%s", sources[i]);
}

static void write_dispatch(FILE *f, const bool used[BLOCKS], bool few)
{
	unsigned count = 0;
	fputs("/* Volatile: what a turn counts must not depend on where it is called from. */\n"
	      "static void (*volatile const work_blocks[])(long) = {",
	      f);
	for (int b = 0; b < BLOCKS; b++)
		if (used[b])
			fprintf(f, "%swork_%s", count++ ? ", " : "", blocks_name[b]);
	fprintf(f,
	        "};\n\n"
	        "static double work_owed[%u];\n\n"
	        "/* Whole turns: a part of one is left for the next time. */\n"
	        "static long work_whole(int block, double turns)\n"
	        "{\n"
	        "\tconst double all = work_owed[block] + turns * (SCALE);\n"
	        "\tconst long whole = (long)all;\n"
	        "\twork_owed[block] = all - (double)whole;\n"
	        "\treturn whole;\n"
	        "}\n\n",
	        count);
	if (few)
		fputs("/* A few turns are not worth a call: they are left for the next time. */\n"
		      "static void work_few(int block, double turns, int least)\n"
		      "{\n"
		      "\twork_owed[block] += turns * (SCALE);\n"
		      "\tif (work_owed[block] >= least)\n"
		      "\t\twork_blocks[block](work_whole(block, 0));\n"
		      "}\n\n",
		      f);
}

static void write_case(FILE *f, const bool used[BLOCKS], const double turns[BLOCKS])
{
	for (int b = 0, k = -1; b < BLOCKS; b++) {
		k += used[b];
		if (turns[b] >= blocks_least[b])
			fprintf(f, "\t\twork_blocks[%d](work_whole(%d, %.5g)); /* %s */\n", k, k, turns[b],
			        blocks_name[b]);
		else if (turns[b] > 0)
			fprintf(f, "\t\twork_few(%d, %.5g, %d); /* %s */\n", k, turns[b], blocks_least[b],
			        blocks_name[b]);
	}
}

void blocks_write_spend(FILE *f, const double (*turns)[BLOCKS], size_t count)
{
	bool used[BLOCKS] = {false}, few = false, any = false;
	for (size_t i = 0; i < count; i++)
		for (int b = 0; b < BLOCKS; b++) {
			used[b] |= turns[i][b] > 0;
			any |= turns[i][b] > 0;
			few |= turns[i][b] > 0 && turns[i][b] < blocks_least[b];
		}
	if (any)
		write_dispatch(f, used, few);
	fputs("/* Each has branches of its own, so that they are predicted. */\n"
	      "static void work_spend(int what)\n{\n\tswitch (what) {\n",
	      f);
	for (size_t i = 0; i < count; i++) {
		fprintf(f, "\tcase %zu:\n", i);
		write_case(f, used, turns[i]);
		fputs("\t\tbreak;\n", f);
	}
	fputs("\tdefault:\n\t\tbreak;\n\t}\n}\n\n", f);
}

void blocks_write_all(FILE *f)
{
	bool used[BLOCKS];
	double turns[2][BLOCKS];
	memset(used, true, sizeof used);
	for (int b = 0; b < BLOCKS; b++) {
		turns[0][b] = blocks_least[b];
		turns[1][b] = blocks_least[b] / 2.0;
	}
	blocks_write(f, used);
	blocks_write_spend(f, turns, 2);
}

uint32_t blocks_version(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	if (!f)
		return 0;
	blocks_write_all(f);
	uint32_t version = fclose(f) == 0 ? crc32_of(text, size) : 0;
	free(text);
	return version;
}
