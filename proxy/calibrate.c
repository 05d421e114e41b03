/* SPDX-License-Identifier: BSD-3-Clause
 * calibrate - measures the blocks on this machine
 *
 * The blocks are compiled into a library, which is loaded. What calling and counting take is left out: twice as many
 * turns are compared with once as many. Each counter is measured alone, as a processor counts only a few at a time.
 */
#include "proxy/calibrate.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"
#include "trace/base/papi.h"

/* So long is a measurement at least, ns. */
#define LONG_ENOUGH 2e6
#define TRIES       3

typedef void (*block_function)(long turns);

/* ---- the library ---- */

/* Different computations in which nothing is done: so many, a power of two. */
#define NOTHINGS 8

/* The functions in the library: those that are measured, and what is measured with some of them. */
enum { MEASURED_BEFORE = BLOCKS_MEASURED, MEASURED };

/* A program comes to a computation from another one. So no branch is foreseen, as it is where one is measured many
 * times in a row: something random is done before. */
static void write_before(FILE *f)
{
	fprintf(f,
	        "static volatile unsigned work_order;\n"
	        "static void work_scramble(void)\n{\n"
	        "\twork_order = work_order * 1664525u + 1013904223u;\n\twork_blocks[%d](1);\n}\n"
	        "static void work_before(long turns)\n{\n\tfor (; turns > 0; turns--)\n\t\twork_scramble();\n}\n",
	        BLOCK_GUESSES);
}

/* To find out what is computed, in which nothing is done. */
static void write_call(FILE *f)
{
	fputs("static double work_between(int last, int site)\n{\n\tswitch (site) {\n", f);
	for (int i = 0; i < NOTHINGS; i++)
		fprintf(f, "\tcase %d:\n\t\tif (last == %d)\n\t\t\treturn 0;\n\t\treturn %d;\n", i, -1 - i, BLOCKS + i);
	fprintf(f,
	        "\tdefault:\n\t\treturn 0;\n\t}\n}\n"
	        "static void work_call(long turns)\n{\n\tstatic volatile int last;\n"
	        "\tfor (; turns > 0; turns--) {\n\t\twork_scramble();\n"
	        "\t\twork_spend((int)work_between(last, (int)(work_order >> 20) %% %d));\n\t\tlast = 0;\n\t}\n}\n",
	        NOTHINGS);
}

static void write_calls(FILE *f)
{
	double turns[BLOCKS + NOTHINGS][BLOCKS] = {{0}};
	for (int b = 0; b < BLOCKS; b++)
		turns[b][b] = blocks_least[b];
	for (int i = 0; i < NOTHINGS; i++)
		turns[BLOCKS + i][i] = 1e-30;
	fputs("#define SCALE 1.0\n", f);
	blocks_write_spend(f, turns, BLOCKS + NOTHINGS);
	write_before(f);
	write_call(f);
	for (int b = 0; b < BLOCKS; b++)
		fprintf(f,
		        "static void work_%s(long turns)\n{\n\tfor (; turns > 0; turns--) {\n\t\twork_scramble();\n"
		        "\t\twork_blocks[%d](work_whole(%d, %d));\n\t}\n}\n",
		        blocks_name[BLOCK_CALL_OF + b], b, b, blocks_least[b]);
}

static int write_source(const char *path, struct error *error)
{
	bool used[BLOCKS];
	FILE *f = fopen(path, "we");
	if (!f)
		return error_set(error, "%s: %s", path, strerror(errno));
	memset(used, true, sizeof used);
	fputs("#define _POSIX_C_SOURCE 200809L\n#include <stddef.h>\n", f);
	blocks_write(f, used);
	write_calls(f);
	fputs("void (*const work_ready)(void) = work_begin;\nvoid (*const work_measured[])(long) = {", f);
	for (int b = 0; b < BLOCKS_MEASURED; b++)
		fprintf(f, "work_%s, ", blocks_name[b]);
	fputs("work_before};\n", f);
	int failed = ferror(f);
	return fclose(f) != 0 || failed ? error_set(error, "%s: %s", path, strerror(errno)) : 0;
}

static int compile_source(const char *compiler, const char *source, const char *library, struct error *error)
{
	int status = -1;
	const char *argv[] = {compiler, "-std=c99", "-O2", "-fPIC", "-shared", "-o", library, source, NULL};
	pid_t pid = process_own(NULL, (char *const *)(uintptr_t)argv, NULL, NULL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : error_set(error, "%s cannot compile the blocks; CC names another compiler", compiler);
}

/* Never unloaded. NULL: error is set. */
static const block_function *load_blocks(const char *compiler, struct error *error)
{
	const char *tmp = getenv("TMPDIR");
	char folder[PATH_MAX - 20], source[PATH_MAX], library[PATH_MAX];
	void *opened = NULL;
	if ((size_t)snprintf(folder, sizeof folder, "%s/spoor-blocks.XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
	            sizeof folder ||
	    !mkdtemp(folder)) {
		error_set(error, "no folder in TMPDIR: %s", strerror(errno));
		return NULL;
	}
	snprintf(source, sizeof source, "%s/blocks.c", folder);
	snprintf(library, sizeof library, "%s/blocks.so", folder);
	if (write_source(source, error) == 0 && compile_source(compiler, source, library, error) == 0) {
		opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
		if (!opened)
			error_set(error, "%s", dlerror());
	}
	unlink(source);
	unlink(library);
	rmdir(folder);
	void (*const *ready)(void) = opened ? dlsym(opened, "work_ready") : NULL;
	if (ready)
		(*ready)();
	return opened ? dlsym(opened, "work_measured") : NULL;
}

/* ---- time ---- */

static double calibrate_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_turns(block_function block, long turns)
{
	double least = INFINITY;
	for (int i = 0; i < TRIES; i++) {
		double begin = calibrate_now();
		block(turns);
		least = fmin(least, calibrate_now() - begin);
	}
	return least;
}

/* Enough to be measured. */
static long find_turns(block_function block)
{
	long turns = 64;
	while (turns < LONG_MAX / 8 && time_turns(block, turns) < LONG_ENOUGH)
		turns *= 2;
	return turns;
}

/* ---- counters ---- */

static void *counter_open(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* What one turn counts, by comparing n turns with 2 n. */
static double count_turn(const struct papi *p, int set, block_function block, long turns)
{
	long long at[3] = {0};
	block(turns); /* caches and predictions are warm */
	p->read(set, &at[0]);
	block(turns);
	p->read(set, &at[1]);
	block(2 * turns);
	p->read(set, &at[2]);
	return fmax(0, (double)(at[2] - 2 * at[1] + at[0]) / (double)turns);
}

/* Takes out what is measured with it. */
static void leave_out(double numbers[BLOCKS_MEASURED], double before)
{
	for (int b = BLOCK_CALL; b < BLOCKS_MEASURED; b++)
		numbers[b] = fmax(0, numbers[b] - before);
}

/* False: the counter is not there. */
static bool count_blocks(const struct papi *p, const char *name, const block_function *blocks, const long *turns,
                         double *counts)
{
	int set = PAPI_NULL, code;
	long long last[8];
	if (p->event_name_to_code(name, &code) != PAPI_OK || p->create_eventset(&set) != PAPI_OK)
		return false;
	bool good = p->add_event(set, code) == PAPI_OK && p->start(set) == PAPI_OK;
	for (int b = 0; good && b < BLOCKS_MEASURED; b++)
		counts[b] = count_turn(p, set, blocks[b], turns[b]);
	if (good)
		leave_out(counts, count_turn(p, set, blocks[MEASURED_BEFORE], turns[MEASURED_BEFORE]));
	if (good)
		p->stop(set, last);
	p->cleanup_eventset(set);
	p->destroy_eventset(&set);
	return good;
}

static double faults_now(void)
{
	struct rusage u;
	return getrusage(RUSAGE_SELF, &u) == 0 ? (double)(u.ru_minflt + u.ru_majflt) : 0;
}

/* What the kernel counts, and the tracer without PAPI, too. */
static void count_faults(struct calibration *c, const block_function *blocks, const long *turns)
{
	struct calibration_counter *k = &c->counters[c->counter_count++];
	snprintf(k->name, sizeof k->name, "perf::PAGE-FAULTS");
	for (int b = 0; b < BLOCKS_MEASURED; b++) {
		double begin = faults_now();
		blocks[b](turns[b]);
		k->counts[b] = (faults_now() - begin) / (double)turns[b];
	}
}

int calibrate_blocks(struct calibration *c, const char *compiler, const char *(*counter)(size_t i), struct error *error)
{
	long turns[MEASURED];
	double ns[MEASURED];
	struct papi papi;
	int ignored;
	const char *name;
	const block_function *blocks = load_blocks(compiler, error);
	*c = (struct calibration){0};
	if (!blocks)
		return error_set(error, "the blocks cannot be loaded");
	for (int b = 0; b < MEASURED; b++) {
		turns[b] = find_turns(blocks[b]);
		ns[b] = fmax(0, time_turns(blocks[b], 2 * turns[b]) - time_turns(blocks[b], turns[b])) /
		        (double)turns[b];
	}
	memcpy(c->ns, ns, sizeof c->ns);
	leave_out(c->ns, ns[MEASURED_BEFORE]);
	count_faults(c, blocks, turns);
	if (papi_load(&papi, papi_open(counter_open), &ignored) != PAPI_READY)
		return 0;
	for (size_t i = 0; (name = counter(i)) != NULL && c->counter_count < CALIBRATION_COUNTERS; i++) {
		struct calibration_counter *k = &c->counters[c->counter_count];
		if (!count_blocks(&papi, name, blocks, turns, k->counts))
			continue;
		snprintf(k->name, sizeof k->name, "%s", name);
		c->counter_count++;
	}
	return 0;
}
