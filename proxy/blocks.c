/* SPDX-License-Identifier: BSD-3-Clause
 * blocks - small pieces of C with known mixes of instructions
 */
#include "proxy/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/crc32.h"

#define NAMES(before)                                                                                                 \
	before "product", before "sweep", before "series", before "field", before "box", before "coarse",             \
		before "face", before "random", before "flops", before "divides", before "loads", before "stores",    \
		before "copies", before "moves", before "clears", before "cached", before "missed", before "written", \
		before "branches", before "compares", before "guesses", before "pages"

const char *const blocks_name[BLOCKS_MEASURED] = {NAMES(""), "call", NAMES("call_")};

const int blocks_least[BLOCKS] = {
	[BLOCK_PRODUCT] = 32, [BLOCK_SWEEP] = 32,  [BLOCK_SERIES] = 32, [BLOCK_FIELD] = 1,     [BLOCK_BOX] = 4,
	[BLOCK_COARSE] = 8,   [BLOCK_FACE] = 4,    [BLOCK_RANDOM] = 32, [BLOCK_FLOPS] = 8,     [BLOCK_DIVIDES] = 32,
	[BLOCK_LOADS] = 32,   [BLOCK_STORES] = 32, [BLOCK_COPIES] = 16, [BLOCK_MOVES] = 1,     [BLOCK_CLEARS] = 1,
	[BLOCK_CACHED] = 16,  [BLOCK_MISSED] = 4,  [BLOCK_WRITTEN] = 4, [BLOCK_BRANCHES] = 32, [BLOCK_COMPARES] = 32,
	[BLOCK_GUESSES] = 32, [BLOCK_PAGES] = 1,
};

const double blocks_unlike[BLOCKS] = {
	[BLOCK_PRODUCT] = 0.06, [BLOCK_SWEEP] = 0,      [BLOCK_SERIES] = 0.03,   [BLOCK_FIELD] = 0,
	[BLOCK_BOX] = 0.06,     [BLOCK_COARSE] = 0.04,  [BLOCK_FACE] = 0,        [BLOCK_RANDOM] = 0.03,
	[BLOCK_FLOPS] = 0.06,   [BLOCK_DIVIDES] = 0.06, [BLOCK_LOADS] = 0.5,     [BLOCK_STORES] = 0.03,
	[BLOCK_COPIES] = 0.1,   [BLOCK_MOVES] = 0.1,    [BLOCK_CLEARS] = 0,      [BLOCK_CACHED] = 0.01,
	[BLOCK_MISSED] = 0.2,   [BLOCK_WRITTEN] = 0.2,  [BLOCK_BRANCHES] = 0.06, [BLOCK_COMPARES] = 1,
	[BLOCK_GUESSES] = 0.1,  [BLOCK_PAGES] = 0.1,
};

static bool has_box(const bool used[BLOCKS])
{
	return used[BLOCK_BOX] || used[BLOCK_COARSE] || used[BLOCK_FACE];
}

static void write_variables(FILE *f, const bool used[BLOCKS])
{
	bool registers = used[BLOCK_FLOPS] || used[BLOCK_DIVIDES] || used[BLOCK_RANDOM] || used[BLOCK_SERIES];
	bool lengthy = used[BLOCK_MOVES] || used[BLOCK_CLEARS];
	bool results = false;
	for (int b = 0; b < BLOCKS; b++)
		results |= used[b] && b != BLOCK_STORES && b != BLOCK_WRITTEN && b != BLOCK_PAGES;
	fputs("#define WORK_TWICE(x) x x\n\n", f);
	if (used[BLOCK_PAGES])
		fputs("#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\n", f);
	if (used[BLOCK_COPIES] || lengthy || has_box(used))
		fputs("#include <string.h>\n\n", f);
	if (used[BLOCK_COPIES])
		fputs("static char work_to[1024], work_from[sizeof work_to];\n"
		      "static volatile size_t work_size = sizeof work_to;\n",
		      f);
	if (lengthy)
		fputs("static char work_long_to[65536];\nstatic volatile size_t work_long = sizeof work_long_to;\n", f);
	if (used[BLOCK_MOVES])
		fputs("static char work_long_from[sizeof work_long_to];\n", f);
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
	if (used[BLOCK_BRANCHES] || used[BLOCK_COMPARES] || used[BLOCK_FACE])
		fputs("static volatile int work_never;\n", f);
}

static void write_cells(FILE *f, const bool used[BLOCKS])
{
	if (used[BLOCK_PRODUCT] || used[BLOCK_SERIES])
		fputs("static double work_grid[3][66];\n", f);
	if (used[BLOCK_SWEEP] || used[BLOCK_SERIES])
		fputs("static double work_next[2][66];\n", f);
	if (used[BLOCK_SWEEP])
		fputs("static double work_above[66], work_left[2];\nstatic volatile int work_back;\n", f);
	if (used[BLOCK_BOX] || used[BLOCK_FACE])
		fputs("static volatile int work_cells = 32;\n", f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN] || used[BLOCK_FIELD])
		fputs("#ifndef FAR_BYTES /* a power of two, and more than the last cache */\n"
		      "#define FAR_BYTES (1 << 27)\n"
		      "#endif\n",
		      f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN])
		fputs("static volatile unsigned char work_far[FAR_BYTES];\n", f);
	if (used[BLOCK_FIELD] || used[BLOCK_CACHED] || has_box(used))
		fputs("enum { WIDE_NEAR = 1 << 13 }; /* more than the first cache */\n", f);
	if (used[BLOCK_FIELD])
		fputs("enum { WIDE_CELLS = 130, WIDE_ROWS = 16, WIDE = FAR_BYTES / 2048 }; /* rows in a layer, and in "
		      "all */\n"
		      "static double work_wide[WIDE * WIDE_CELLS], work_wide_next[WIDE * WIDE_CELLS];\n",
		      f);
	else if (used[BLOCK_CACHED] || has_box(used))
		fputs("static double work_wide[WIDE_NEAR];\n", f);
	if (has_box(used))
		fputs("enum { BOX_ROWS = 34, BOX_CELLS = 66 }; /* rows in a layer: three are more than the first cache "
		      "*/\n"
		      "static double work_box_next[2][BOX_ROWS][BOX_CELLS];\n"
		      "static double (*volatile work_boxes[])[BOX_ROWS][BOX_CELLS] = {(void *)work_wide, "
		      "work_box_next};\n",
		      f);
	if (used[BLOCK_FACE])
		fputs("static double work_row[BOX_CELLS];\n", f);
}

void blocks_write(FILE *f, const bool used[BLOCKS])
{
	write_variables(f, used);
	write_cells(f, used);
	fputs("\n/* Pages that were never written are all the same one. */\n"
	      "static void work_begin(void)\n"
	      "{\n",
	      f);
	if (used[BLOCK_PRODUCT] || used[BLOCK_SERIES])
		fputs("\tfor (size_t i = 0; i < 66; i++)\n"
		      "\t\twork_grid[0][i] = work_grid[1][i] = work_grid[2][i] = (double)(i + 1);\n",
		      f);
	if (has_box(used))
		fputs("\tmemset(work_box_next, 0, sizeof work_box_next);\n", f);
	if (used[BLOCK_MISSED] || used[BLOCK_WRITTEN])
		fputs("\tfor (size_t i = 0; i < sizeof work_far; i += 4096)\n\t\twork_far[i] = 1;\n", f);
	if (used[BLOCK_FIELD])
		fputs("\tfor (size_t i = 0; i < WIDE * WIDE_CELLS; i += 512)\n\t\twork_wide[i] = work_wide_next[i] = "
		      "1;\n",
		      f);
	if (used[BLOCK_FIELD] || used[BLOCK_CACHED] || has_box(used))
		fputs("\tfor (size_t i = 0; i < WIDE_NEAR; i++)\n\t\twork_wide[i] = 1;\n", f);
	if (used[BLOCK_MOVES])
		fputs("\tmemset(work_long_from, 1, sizeof work_long_from);\n", f);
	if (used[BLOCK_MOVES] || used[BLOCK_CLEARS])
		fputs("\tmemset(work_long_to, 1, sizeof work_long_to);\n", f);
	fputs("}\n", f);
	for (int i = 0; i < BLOCKS; i++)
		if (used[i])
			fprintf(f, "\n%s", blocks_text[i]);
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
