/* SPDX-License-Identifier: BSD-3-Clause
 * calibration - files that are none; what was written is read; a computation that is made of blocks is found again
 */
#include "proxy/calibration.h"

#include <inttypes.h>
#include <math.h>

#include "proxy/block_fit.h"
#include "proxy/prelude.h"
#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

/* version: of the blocks that were measured; NULL: the file does not say it. */
static int read_text(const char *version, const char *text, struct error *error)
{
	static struct calibration c;
	FILE *f = fopen("blocks", "w");
	if (version)
		fprintf(f, "blocks %s\n", version);
	fputs(text, f);
	fclose(f);
	error->text[0] = '\0';
	int rv = calibration_read(&c, "blocks", error);
	unlink("blocks");
	return rv;
}

/* Of the blocks that there are. */
static int read_now(const char *text, struct error *error)
{
	char version[9];
	snprintf(version, sizeof version, "%08" PRIx32, blocks_version());
	return read_text(version, text, error);
}

/* Without the last block of a counter. */
static void incomplete(const char *counter, const char *what)
{
	char text[16384], *end = text, last[100];
	struct error error;
	const char *const names[] = {"ns", "PAPI_TOT_INS"};
	for (int i = 0; i < 2; i++)
		for (int b = 0; b + !strcmp(names[i], counter) < BLOCKS_MEASURED; b++)
			end += sprintf(end, "%s %s 1\n", names[i], blocks_name[b]);
	snprintf(last, sizeof last, "blocks: expected %s of all blocks, but that of \"%s\" is not there", counter,
	         blocks_name[BLOCKS_MEASURED - 1]);
	ok(read_now(text, &error) == -1 && strstr(error.text, last) && strstr(error.text, "--calibrate"), "%s: %s",
	   what, error.text);
	sprintf(end, "%s %s 1\n", counter, blocks_name[BLOCKS_MEASURED - 1]);
	ok(read_now(text, &error) == 0, "and with it");
}

/* What another spoor measured, whatever its blocks were, and what is not said to be of any. */
static void other_blocks(void)
{
	struct error error;
	static const char *const versions[] = {NULL, "", "x", "1 2"};
	ok(read_text("00000001", "ns gone 1\n", &error) == -1 &&
	           strstr(error.text, "found those of others (00000001)") && strstr(error.text, "--calibrate"),
	   "of other blocks: %s", error.text);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		ok(read_text(versions[i], "ns flops 1\n", &error) == -1 &&
		           strstr(error.text, "blocks, line 1: expected \"blocks VERSION\"") &&
		           strstr(error.text, "--calibrate"),
		   "of no blocks (%s): %s", versions[i] ? versions[i] : "no line", error.text);
	ok(read_text(NULL, "", &error) == -1 && strstr(error.text, "blocks, line 1"), "an empty file: %s", error.text);
}

static void bad_input(void)
{
	static struct calibration c;
	struct error error = {""};
	static const char *const texts[] = {
		"ns flops\n",     "ns flops x\n", "ns flops -1\n",   "ns flops nan\n", "ns flops 1 2\n",
		"ns nothing 1\n", "\n",           "ns flops 1e999\n"};
	ok(calibration_read(&c, "blocks", &error) == 1, "no file");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ok(read_now(texts[i], &error) == -1 && strstr(error.text, "blocks, line 2"), "%.*s is refused",
		   (int)strcspn(texts[i], "\n"), texts[i]);
	other_blocks();
	incomplete("ns", "a block without its time");
	incomplete("PAPI_TOT_INS", "a counter without a block");
	char *many = calloc(CALIBRATION_COUNTERS + 1, 20), *end = many;
	for (int i = 0; i <= CALIBRATION_COUNTERS; i++)
		end += sprintf(end, "C%d flops 1\n", i);
	ok(read_now(many, &error) == -1 && strstr(error.text, "line 130"), "too many counters: %s", error.text);
	free(many);
	setenv("XDG_CACHE_HOME", "", 1);
	unsetenv("HOME");
	char path[8];
	ok(calibration_path(path, sizeof path, &error) == -1, "nowhere to keep it");
	setenv("HOME", "/a/long/one", 1);
	ok(calibration_path(path, sizeof path, &error) == -1, "a path that is too long");
}

static struct calibration blocks_of_two(void)
{
	struct calibration c = {.counter_count = 2};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_LD_INS");
	for (int b = 0; b < BLOCKS; b++)
		c.counters[0].counts[b] = 10 + b;
	c.counters[1].counts[BLOCK_LOADS] = 8;
	c.ns[BLOCK_FLOPS] = 1.5;
	return c;
}

static void round_trip(void)
{
	struct calibration c = blocks_of_two(), back;
	struct error error = {""};
	char path[300], folder[250];
	snprintf(folder, sizeof folder, "%s/a/b", scratch);
	snprintf(path, sizeof path, "%s/c", folder);
	ok(calibration_write(&c, path, &error) == 0, "folders are made");
	ok(calibration_read(&back, path, &error) == 0 && back.counter_count == 2 && back.ns[BLOCK_FLOPS] == 1.5 &&
	           calibration_find(&back, "PAPI_LD_INS") &&
	           calibration_find(&back, "PAPI_LD_INS")->counts[BLOCK_LOADS] == 8 &&
	           !calibration_find(&back, "PAPI_L1_DCM"),
	   "what was written is read");
	unlink(path);
	rmdir(folder);
	folder[strlen(folder) - 2] = '\0';
	rmdir(folder);
	ok(calibration_write(&c, "/proc/none/blocks", &error) == -1, "a folder that cannot be");
}

static void fits(void)
{
	struct calibration c = blocks_of_two();
	const struct block_fit f = {.count = 2, .counter = {1, 0}, .measured = {&c.counters[0], &c.counters[1]}};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {80, 1200}, sums[2] = {0};
	ok(block_fit_turns(&f, counts, 0, turns) == 0, "a computation");
	for (int b = 0; b < BLOCKS; b++) {
		sums[0] += turns[b] * c.counters[1].counts[b];
		sums[1] += turns[b] * c.counters[0].counts[b];
	}
	ok(fabs(sums[0] / 80 - 1) < 2e-3 && fabs(sums[1] / 1200 - 1) < 2e-3, "its turns count what it counted");
	counts[0] = counts[1] = 0;
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && turns[BLOCK_LOADS] == 0 && turns[BLOCK_FLOPS] == 0, "nothing");
}

/* Packing with a condition for each element: many branches that are foreseen, and few loads. */
static void branches_without_loads(void)
{
	struct calibration c = {.counter_count = 3};
	const struct block_fit f = {
		.count = 3, .counter = {0, 1, 2}, .measured = {&c.counters[0], &c.counters[1], &c.counters[2]}};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {17000, 3500, 1200};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_BR_CN");
	strcpy(c.counters[2].name, "PAPI_LD_INS");
	const int measured[][4] = {{BLOCK_FLOPS, 130, 1, 0},
	                           {BLOCK_LOADS, 19, 1, 17},
	                           {BLOCK_BRANCHES, 26, 9, 8},
	                           {BLOCK_COMPARES, 10, 5, 0}};
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 3; k++)
			c.counters[k].counts[measured[i][0]] = measured[i][1 + k];
	bool exact = block_fit_turns(&f, counts, 0, turns) == 0;
	for (int k = 0; k < 3; k++) {
		double sum = 0;
		for (int b = 0; b < BLOCKS; b++)
			sum += turns[b] * c.counters[k].counts[b];
		exact &= fabs(sum / counts[k] - 1) < 0.02;
	}
	ok(exact, "many branches, few loads");
}

/* What all blocks count of each counter, and what their calls count besides. */
static double sum_of(const struct calibration *c, int counter, const double turns[BLOCKS])
{
	double sum = 0;
	for (int b = 0; b < BLOCKS; b++)
		sum += turns[b] * c->counters[counter].counts[b] +
		       (turns[b] > 0 ? c->counters[counter].counts[BLOCK_CALL_OF + b] : 0);
	return sum;
}

static void typical_ones(void)
{
	struct calibration c = {.counter_count = 3};
	const struct block_fit f = {
		.count = 3, .counter = {0, 1, 2}, .measured = {&c.counters[0], &c.counters[1], &c.counters[2]}};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {7000, 2000};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_LD_INS");
	strcpy(c.counters[2].name, "PAPI_BR_MSP");
	c.counters[0].counts[BLOCK_PRODUCT] = 7;
	c.counters[1].counts[BLOCK_PRODUCT] = 2;
	c.counters[0].counts[BLOCK_FLOPS] = c.counters[0].counts[BLOCK_LOADS] = 10;
	c.counters[1].counts[BLOCK_LOADS] = 10;
	c.counters[0].counts[BLOCK_GUESSES] = c.counters[1].counts[BLOCK_GUESSES] = 2;
	c.counters[2].counts[BLOCK_GUESSES] = 1;
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && fabs(turns[BLOCK_PRODUCT] - 1000) < 1 &&
	           turns[BLOCK_LOADS] < 0.2 && turns[BLOCK_FLOPS] < 0.5,
	   "of two ways to count the same, loops over arrays");
	counts[2] = 100;
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && turns[BLOCK_PRODUCT] == 0 && turns[BLOCK_LOADS] > 100 &&
	           turns[BLOCK_FLOPS] > 100 && fabs(turns[BLOCK_GUESSES] - 100) < 1,
	   "none where branches are not predicted");
}

/* Divisions and other operations count the same, but take 20 and 2 ns. */
static void as_long(void)
{
	struct calibration c = {.counter_count = 1, .ns[BLOCK_DIVIDES] = 20, .ns[BLOCK_FLOPS] = 2};
	const struct block_fit f = {.count = 1, .counter = {0}, .measured = {&c.counters[0]}, .ns = c.ns};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {100000};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	c.counters[0].counts[BLOCK_DIVIDES] = c.counters[0].counts[BLOCK_FLOPS] = 10;
	for (double ns = 20000; ns <= 200000; ns += 60000)
		ok(block_fit_turns(&f, counts, ns, turns) == 0 && fabs(sum_of(&c, 0, turns) / 100000 - 1) < 0.01 &&
		           fabs((20 * turns[BLOCK_DIVIDES] + 2 * turns[BLOCK_FLOPS]) / ns - 1) < 0.02,
		   "of two ways to count the same, what takes %.0f ns", ns);
	ok(block_fit_turns(&f, counts, 1000, turns) == 0 && turns[BLOCK_DIVIDES] == 0 &&
	           fabs(sum_of(&c, 0, turns) / 100000 - 1) < 0.01,
	   "counters matter more than a time that cannot be");
}

static void few_calls(void)
{
	struct calibration c = {.counter_count = 2};
	const struct block_fit f = {.count = 2, .counter = {0, 1}, .measured = {&c.counters[0], &c.counters[1]}};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {100000, 1};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_BR_MSP");
	for (int b = 0; b < BLOCKS; b++) {
		c.counters[0].counts[b] = 10 + b;
		c.counters[1].counts[BLOCK_CALL_OF + b] = 1;
	}
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && fabs(sum_of(&c, 0, turns) / 100000 - 1) < 0.01 &&
	           sum_of(&c, 1, turns) == 1,
	   "one block, if each call counts");
	c = (struct calibration){.counter_count = 3};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_LD_INS");
	strcpy(c.counters[2].name, "PAPI_BR_MSP");
	const struct block_fit three = {
		.count = 3, .counter = {0, 1, 2}, .measured = {&c.counters[0], &c.counters[1], &c.counters[2]}};
	c.counters[0].counts[BLOCK_FLOPS] = c.counters[0].counts[BLOCK_LOADS] = c.counters[1].counts[BLOCK_LOADS] = 10;
	counts[0] = 100050;
	counts[1] = 100000;
	counts[2] = 0;
	ok(block_fit_turns(&three, counts, 0, turns) == 0 && turns[BLOCK_LOADS] > 9900 && turns[BLOCK_FLOPS] == 0,
	   "next to nothing is not added up");
}

/* A turn clears much memory: it is no part of what stores a few words, as long as others can. */
static void large_turns(void)
{
	struct calibration c = {.counter_count = 2};
	const struct block_fit f = {.count = 2, .counter = {0, 1}, .measured = {&c.counters[0], &c.counters[1]}};
	double turns[BLOCKS], counts[TRACE_COUNTERS] = {650, 650};
	strcpy(c.counters[0].name, "PAPI_TOT_INS");
	strcpy(c.counters[1].name, "PAPI_SR_INS");
	c.counters[0].counts[BLOCK_CLEARS] = c.counters[1].counts[BLOCK_CLEARS] = 65000;
	c.counters[0].counts[BLOCK_STORES] = c.counters[1].counts[BLOCK_STORES] = 10;
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && turns[BLOCK_CLEARS] == 0 && fabs(turns[BLOCK_STORES] - 65) < 1,
	   "no part of a turn that does much more");
	counts[0] = counts[1] = 650000;
	ok(block_fit_turns(&f, counts, 0, turns) == 0 && turns[BLOCK_CLEARS] > 9, "turns that do less");
}

/* A program gets the functions that its text names: blocks name none, not even in comments. */
static void names_no_function(void)
{
	char *text = NULL, *functions = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	blocks_write_all(f);
	fclose(f);
	f = open_memstream(&functions, &size);
	const char *pieces[] = {text};
	prelude_write(f, &(struct printed){.each = pieces, .count = 1});
	fclose(f);
	ok(strstr(text, "work_whole(0, 32)); /* product */") && strstr(text, "work_few(0, 16, 32); /* product */"),
	   "whole turns, and a few");
	ok(functions[0] == '\0', "blocks name no function that a program may get: %.60s", functions);
	free(functions);
	free(text);
}

int main(void)
{
	scratch_enter();
	bad_input();
	round_trip();
	fits();
	branches_without_loads();
	typical_ones();
	as_long();
	few_calls();
	large_turns();
	names_no_function();
	return tap_end();
}
