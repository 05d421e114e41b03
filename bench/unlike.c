/* SPDX-License-Identifier: BSD-3-Clause
 * unlike - looks for the numbers in blocks_unlike with which proxies change as their programs do
 *
 *     unlike FOLDER COUNTER,... TRIES SEED <PROGRAMS
 *
 * bench/likeness makes what is in FOLDER: what blocks count, compiled with -O2, -O0 and -O3, and the computations of
 * programs, with the times of callgrind and those of this machine. A line of PROGRAMS has the name and the instructions
 * of all computations with -O2, -O0 and -O3. As it is known what each block counts with an option, it is known how the
 * option changes the proxy: nothing is run.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/block_fit.h"

#define PROGRAMS   16
#define COUNTERS   8
#define LOOKED_AT  "adi" /* numbers are found without it: how good are they for others? */
#define CHANGED    3     /* numbers at a time, at most */
#define ENOUGH     0.05  /* what is less off than this is not looked at */
#define FAR        0.09  /* what is more off than this matters much more */
#define FAR_WEIGHT 30
/* Times, against instructions; counters that cannot be reached, against those that can. */
#define TIME_WEIGHT    0.2
#define COUNTER_ENOUGH 0.03
#define COUNTER_MOST   0.06

enum flag { O2, O0, O3, FLAGS };
/* Whose times: callgrind's, or the machine's. */
enum clock { COUNTED, NATIVE, CLOCKS };

/* The computations of a program: how often, how long, and what they count. */
struct computations {
	size_t count;
	struct computation {
		double visits, ns, counts[TRACE_COUNTERS];
	} * each;
	struct block_fit fit;
};

struct program {
	char name[32];
	double changes[FLAGS]; /* instructions, against -O2 */
	struct computations of[CLOCKS];
};

/* How far off a proxy is: logarithms; of counters the one that is most off. */
struct off {
	double changes[FLAGS], time, counter;
};

/* What is known of times: nothing, those that there are, or others, as on another machine or a busy one. */
enum times { NONE, TRUE, NOISY, TIMES };

static struct calibration blocks[FLAGS], blocks_native;
static struct program programs[PROGRAMS];
static size_t program_count;
static unsigned counter_count;
static char counter_name[COUNTERS][32];
static double tried[BLOCKS]; /* instead of blocks_unlike */

/* ---- reading ---- */

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "unlike: %s: %s\n", what, why);
	exit(1);
}

static void read_blocks(struct calibration *c, const char *folder, const char *of)
{
	char path[4096];
	struct error error = {"is not there"};
	snprintf(path, sizeof path, "%s/blocks%s", folder, of);
	if (calibration_read(c, path, &error) != 0)
		fail(path, error.text);
}

static void read_counters(char *names)
{
	for (char *name = strtok(names, ","); name && counter_count < COUNTERS; name = strtok(NULL, ","))
		snprintf(counter_name[counter_count++], sizeof *counter_name, "%s", name);
}

static void begin_fit(struct computations *of, const struct calibration *measured)
{
	of->fit = (struct block_fit){.count = counter_count, .ns = measured->ns, .unlike = tried};
	for (unsigned i = 0; i < counter_count; i++) {
		of->fit.counter[i] = i;
		of->fit.measured[i] = calibration_find(measured, counter_name[i]);
		if (!of->fit.measured[i])
			fail(counter_name[i], "was not measured of the blocks");
	}
	for (size_t i = 0; i < of->count; i++)
		block_fit_nothing(&of->fit, of->each[i].counts);
}

static bool read_computation(FILE *f, struct computation *c)
{
	if (fscanf(f, "%lf %lf", &c->visits, &c->ns) != 2)
		return false;
	for (unsigned i = 0; i < counter_count; i++)
		if (fscanf(f, "%lf", &c->counts[i]) != 1)
			return false;
	return true;
}

static void read_computations(struct computations *of, const char *folder, const char *name, const char *clock)
{
	char path[4096];
	struct computation c = {0};
	snprintf(path, sizeof path, "%s/%s.%s", folder, name, clock);
	FILE *f = fopen(path, "r");
	if (!f)
		fail(path, "cannot be read");
	while (read_computation(f, &c)) {
		of->each = realloc(of->each, (of->count + 1) * sizeof *of->each);
		if (!of->each)
			fail(path, "no memory");
		of->each[of->count++] = c;
	}
	if (!feof(f) || of->count == 0)
		fail(path, "expected VISITS NS COUNT... in each line");
	fclose(f);
}

static void read_programs(const char *folder)
{
	double instructions[FLAGS];
	struct program *p = programs;
	for (; program_count < PROGRAMS &&
	       scanf("%31s %lf %lf %lf", p->name, &instructions[O2], &instructions[O0], &instructions[O3]) == 4;
	     p = &programs[++program_count]) {
		for (int flag = O2; flag < FLAGS; flag++)
			p->changes[flag] = instructions[flag] / instructions[O2];
		read_computations(&p->of[COUNTED], folder, p->name, "counted");
		read_computations(&p->of[NATIVE], folder, p->name, "native");
		begin_fit(&p->of[COUNTED], &blocks[O2]);
		begin_fit(&p->of[NATIVE], &blocks_native);
	}
}

/* ---- what is off ---- */

/* From 0 to 1, the same ones after the same seed. */
static double draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) / 0x1p53;
}

/* Instructions of turns that are compiled with a flag. */
static double instructions_of(enum flag flag, const double turns[BLOCKS])
{
	double sum = 0;
	const struct calibration_counter *c = calibration_find(&blocks[flag], "PAPI_TOT_INS");
	for (int b = 0; b < BLOCKS; b++)
		sum += turns[b] * c->counts[b];
	return sum;
}

/* What turns count or take, with their calls. */
static double sum_of(const double measured[BLOCKS_MEASURED], const double turns[BLOCKS])
{
	double sum = block_fit_calls(measured, turns);
	for (int b = 0; b < BLOCKS; b++)
		sum += turns[b] * measured[b];
	return sum;
}

struct sums {
	double instructions[FLAGS], ns[2], counts[COUNTERS][2]; /* of the program, and of its proxy */
};

static void add_computation(struct sums *s, const struct block_fit *f, const struct computation *c, double ns)
{
	double turns[BLOCKS];
	if (block_fit_turns(f, c->counts, ns, turns) != 0)
		fail("a computation", "no memory");
	for (int flag = O2; flag < FLAGS; flag++)
		s->instructions[flag] += c->visits * instructions_of(flag, turns);
	s->ns[0] += c->visits * c->ns;
	s->ns[1] += c->visits * sum_of(f->ns, turns);
	for (unsigned i = 0; i < counter_count; i++) {
		s->counts[i][0] += c->visits * c->counts[i];
		s->counts[i][1] += c->visits * (sum_of(f->measured[i]->counts, turns) + f->nothing[i]);
	}
}

static double ratio(const double pair[2])
{
	return pair[0] > 0 && pair[1] > 0 ? log(pair[1] / pair[0]) : 0;
}

static struct off find_off(const struct program *p, enum clock clock, enum times times, uint64_t seed)
{
	const struct computations *of = &p->of[clock];
	struct sums s = {0};
	struct off off = {0};
	double drift = times == NOISY ? draw(&seed) - 0.5 : 0;
	for (size_t i = 0; i < of->count; i++) {
		double noise = times == NOISY ? 0.3 * (draw(&seed) - 0.5) : 0;
		add_computation(&s, &of->fit, &of->each[i], times == NONE ? 0 : of->each[i].ns * exp(drift + noise));
	}
	for (int flag = O2; flag < FLAGS; flag++)
		off.changes[flag] = log(s.instructions[flag] / s.instructions[O2] / p->changes[flag]);
	off.time = ratio(s.ns);
	for (unsigned i = 0; i < counter_count; i++)
		off.counter = fmax(off.counter, fabs(ratio(s.counts[i])));
	return off;
}

static double square_over(double off, double enough)
{
	double over = fmax(0, fabs(off) - enough);
	return over * over;
}

static double score_of(const struct off *off, bool time)
{
	double score = square_over(fmin(off->counter, COUNTER_MOST), COUNTER_ENOUGH);
	for (int flag = O0; flag < FLAGS; flag++)
		score += square_over(off->changes[flag], ENOUGH) + FAR_WEIGHT * square_over(off->changes[flag], FAR);
	return score + (time ? TIME_WEIGHT * square_over(off->time, ENOUGH) : 0);
}

/* Of all programs with which numbers are found. */
static double score_all(void)
{
	double score = 0;
	for (size_t i = 0; i < program_count; i++)
		for (int clock = 0; clock < CLOCKS && strcmp(programs[i].name, LOOKED_AT) != 0; clock++)
			for (int times = clock == COUNTED ? NONE : TRUE; times < TIMES; times++) {
				struct off off = find_off(&programs[i], clock, times, i);
				score += score_of(&off, clock == NATIVE && times == TRUE);
			}
	return score;
}

/* ---- looking for numbers ---- */

static void change_some(uint64_t *state)
{
	static const double levels[] = {0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.5, 2};
	int n = 1 + (int)(draw(state) * CHANGED);
	for (int i = 0; i < n; i++) {
		int block = (int)(draw(state) * BLOCKS);
		tried[block] = levels[(int)(draw(state) * (sizeof levels / sizeof *levels))];
	}
	tried[BLOCK_DIVIDES] = tried[BLOCK_FLOPS]; /* counters cannot tell them apart */
}

static void look_for_better(long tries, uint64_t seed)
{
	double best = score_all(), before[BLOCKS];
	printf("\n%8s %8.4f\n", "", best);
	for (long i = 1; i <= tries; i++) {
		memcpy(before, tried, sizeof before);
		change_some(&seed);
		double score = score_all();
		if (score < best)
			printf("%8ld %8.4f\n", i, best = score);
		else
			memcpy(tried, before, sizeof before);
		fflush(stdout);
	}
}

static void print_numbers(void)
{
	puts("");
	for (int b = 0; b < BLOCKS; b++)
		printf("%-10s %4g%s", blocks_name[b], tried[b], b % 6 == 5 || b + 1 == BLOCKS ? "\n" : "   ");
	puts("");
}

static double percent(double off)
{
	return 100 * (exp(off) - 1);
}

static void print_programs(void)
{
	printf("%-10s %9s %9s %9s   %9s %9s %9s   %9s\n", "", "-O0", "proxy", "off by", "-O3", "proxy", "off by",
	       "counters");
	for (const struct program *p = programs; p < programs + program_count; p++) {
		const struct off off = find_off(p, COUNTED, TRUE, 0);
		printf("%-10s", p->name);
		for (int flag = O0; flag < FLAGS; flag++)
			printf(" x %7.2f x %7.2f %+7.1f %%  ", p->changes[flag],
			       p->changes[flag] * exp(off.changes[flag]), percent(off.changes[flag]));
		printf(" %7.1f %%\n", percent(off.counter));
	}
}

int main(int argc, char **argv)
{
	static const char *const flags[FLAGS] = {"-O2", "-O0", "-O3"};
	if (argc != 5)
		fail("expected FOLDER COUNTER,... TRIES SEED", "bench/likeness calls it");
	for (int flag = O2; flag < FLAGS; flag++)
		read_blocks(&blocks[flag], argv[1], flags[flag]);
	read_blocks(&blocks_native, argv[1], "-native");
	read_counters(argv[2]);
	read_programs(argv[1]);
	memcpy(tried, blocks_unlike, sizeof tried);
	print_programs();
	long tries = atol(argv[3]);
	if (tries > 0) {
		look_for_better(tries, strtoull(argv[4], NULL, 10));
		print_numbers();
		print_programs();
	}
	return 0;
}
