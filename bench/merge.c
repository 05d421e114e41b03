/* SPDX-License-Identifier: BSD-3-Clause
 * merge - merges the traces of synthetic ranks without MPI: bytes, time and memory of each step of the tree
 *
 * Ranks are made one after the other and merged as a binary counter counts: two neighbouring traces of 2^k ranks become
 * one of 2^(k + 1), as in MPI_Finalize, and never more than one trace of each size is there. A step is what a rank of
 * the tree does: it has a trace, it gets the bytes of another one, and it must have the bytes of both in the end. Of
 * each level some steps are done like that and measured; the others skip the bytes.
 */
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/codec_zstd.h"
#include "bench/ranks.h"
#include "merge/merge.h"
#include "trace/file/container.h"
#include "trace/model/trace.h"

#define SAMPLES 8 /* steps measured of each level; of the highest levels all that there are */

/* Memory: what malloc has given and not taken back, and the most of it. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);
static size_t in_use, peak;
static uint32_t per_host = 64; /* ranks; 0: all are on one */
static const char *output;     /* a file for the last trace; NULL: none */

static void *count(void *p)
{
	if (p)
		in_use += malloc_usable_size(p);
	if (in_use > peak)
		peak = in_use;
	return p;
}

void *malloc(size_t n)
{
	return count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
	return count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
	size_t before = p ? malloc_usable_size(p) : 0;
	void *q = __libc_realloc(p, n);
	if (q || n == 0)
		in_use -= before;
	return count(q);
}

void free(void *p)
{
	if (p)
		in_use -= malloc_usable_size(p);
	__libc_free(p);
}

static void die(const char *what)
{
	fprintf(stderr, "merge: %s\n", what);
	exit(1);
}

/* CPU time: other programs do not count. */
static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps. */

struct level {
	uint64_t steps, measured;
	double sum, most; /* seconds a step */
	size_t bytes;     /* of the largest message */
	/* the most that a step had at once: its own trace, the other's bytes, and what it made of them */
	size_t memory;
};

static void encode(const struct trace *t, uint8_t **bytes, size_t *size)
{
	if (trace_encode(t, NULL, 0, NULL, bytes, size) != 0)
		die("no memory");
}

/* b (freed) is merged into a. */
static void merge_step(struct level *level, struct trace *a, struct trace *b, bool measured)
{
	struct error error = {""};
	level->steps++;
	if (!measured) {
		if (merge_into(a, b, &error) != 0)
			die(error.text);
		trace_free(b);
		free(b);
		return;
	}
	uint8_t *bytes, *answer;
	size_t size, answer_size;
	struct container *c = NULL;
	struct trace part = {.size = 0};
	encode(b, &bytes, &size);
	trace_free(b);
	free(b);
	size_t before = in_use;
	peak = in_use;
	double begin = seconds();
	if (container_parse(&c, "part", bytes, size, NULL, &error) != 0 || trace_decode(&part, c, &error) != 0 ||
	    merge_take(a, &part, &error) != 0)
		die(error.text);
	trace_free(&part);
	container_destroy(c);
	encode(a, &answer, &answer_size);
	double took = seconds() - begin;
	level->measured++;
	level->sum += took;
	level->most = took > level->most ? took : level->most;
	level->bytes = size > level->bytes ? size : level->bytes;
	size_t memory = peak - before + size;
	level->memory = memory > level->memory ? memory : level->memory;
	free(bytes);
	free(answer);
}

static void run(const struct workload *w, int k, bool levels, bool json)
{
	struct grid grid = grid_of(k, per_host);
	struct trace *parts[32] = {NULL}, canonical;
	struct level level[32] = {{0}};
	struct error error = {""};
	for (uint32_t rank = 0; rank < grid.n; rank++) {
		struct trace *t = ranks_make(w, &grid, rank);
		int i = 0;
		for (; parts[i]; i++) {
			/* the first ones of a level, and all of the highest levels; the rank of the root is among them
			 * */
			bool measured = level[i].steps < SAMPLES / 2 || i + 3 >= k;
			merge_step(&level[i], parts[i], t, measured);
			t = parts[i];
			parts[i] = NULL;
		}
		parts[i] = t;
	}
	struct trace *root = parts[k];
	uint8_t *bytes, *packed;
	size_t size, packed_size, before = in_use;
	peak = in_use;
	double begin = seconds();
	if (merge_canonical(&canonical, root, &error) != 0)
		die(error.text);
	encode(&canonical, &bytes, &size);
	double took = seconds() - begin;
	size_t memory = peak - before;
	if (trace_encode(&canonical, NULL, 0, &codec_zstd, &packed, &packed_size) != 0)
		die("no memory");
	FILE *file = output ? fopen(output, "w") : NULL;
	if (output && (!file || fwrite(packed, 1, packed_size, file) != packed_size || fclose(file) != 0))
		die("the trace cannot be written");
	double slowest = 0;
	size_t most_memory = 0, most_bytes = 0;
	for (int i = 0; i < k; i++) {
		slowest = level[i].most > slowest ? level[i].most : slowest;
		most_memory = level[i].memory > most_memory ? level[i].memory : most_memory;
		most_bytes = level[i].bytes > most_bytes ? level[i].bytes : most_bytes;
		if (levels)
			printf("    level %2d  %8zu bytes  %9.3f ms (most %9.3f)  %9zu bytes of memory  (%" PRIu64
			       " of %" PRIu64 " steps)\n",
			       i, level[i].bytes,
			       1e3 * level[i].sum / (double)(level[i].measured ? level[i].measured : 1),
			       1e3 * level[i].most, level[i].memory, level[i].measured, level[i].steps);
	}
	if (json)
		printf("{\"workload\":\"%s\",\"ranks\":%u,\"step_ms\":%.3f,\"message\":%zu,\"step_memory\":%zu,\"root_"
		       "memory\":%zu,\"last_ms\":%.3f,"
		       "\"last_memory\":%zu,\"raw\":%zu,\"file\":%zu}\n",
		       w->name, grid.n, 1e3 * slowest, most_bytes, most_memory, level[k - 1].memory, 1e3 * took, memory,
		       size, packed_size);
	else
		printf("%-10s %8u %10.3f %11zu %11zu %10.3f %11zu %11zu %11zu\n", w->name, grid.n, 1e3 * slowest,
		       most_bytes, most_memory, 1e3 * took, memory, size, packed_size);
	fflush(stdout);
	free(bytes);
	free(packed);
	trace_free(&canonical);
	trace_free(root);
	free(root);
}

static const char usage[] =
	"Usage: bench/merge [--from K] [--to K] [--per-host N] [--levels] [--json] [--output FILE] "
	"[halo3d|classes|recursive|irregular|worst]...\n"
	"Merges the traces of 2^K synthetic ranks for K = 6, 8, 10, ... without MPI.\n\n"
	"  --from K, --to K  the smallest and the largest number of ranks; at most 20\n"
	"  --per-host N      ranks of a host, of which each has a name (default 64); 0: all are on one host\n"
	"  --levels          the steps of each level of the tree as well\n"
	"  --json            an object a line\n"
	"  --output FILE     where the last trace goes, for `spoor stat`\n\n"
	"STEP is the slowest step of the tree: decode a message, merge it, encode the result (CPU time). LAST is what "
	"the root does behind the\n"
	"last step: canonical form, encoding. MEMORY is what they allocate, the other's message included. RAW is what "
	"is written by the tracer, FILE\n"
	"what is kept (zstd).\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"from", required_argument, NULL, 'f'},     {"to", required_argument, NULL, 't'},
		{"per-host", required_argument, NULL, 'p'}, {"levels", no_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},           {"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
	int from = 6, to = 0;
	bool levels = false, json = false;
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'f':
			from = atoi(optarg);
			break;
		case 't':
			to = atoi(optarg);
			break;
		case 'p':
			per_host = (uint32_t)atoi(optarg);
			break;
		case 'l':
			levels = true;
			break;
		case 'j':
			json = true;
			break;
		case 'o':
			output = optarg;
			break;
		default:
			fputs(usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (from < 3 || from > 20 || to < 0 || to > 20) {
		fputs(usage, stderr);
		return 2;
	}
	if (!json)
		printf("%-10s %8s %10s %11s %11s %10s %11s %11s %11s\n", "WORKLOAD", "RANKS", "STEP ms", "MESSAGE",
		       "MEMORY", "LAST ms", "MEMORY", "RAW", "FILE");
	for (size_t i = 0; i < WORKLOADS; i++) {
		bool wanted = optind == argc;
		for (int k = optind; k < argc; k++)
			wanted |= !strcmp(argv[k], workloads[i].name);
		for (int k = from; wanted && k <= (to ? to : workloads[i].most); k += k % 2 ? 1 : 2)
			run(&workloads[i], k, levels, json);
	}
	return 0;
}
