/* SPDX-License-Identifier: BSD-3-Clause
 * means - what ranks spent: steps; totals of any number of ranks; the chunk MEAN
 */
#include "trace/model/means.h"

#include "merge/merge.h"
#include "tests/unit/chunk.h"

/* A total of these ranks. */
static struct trace_total total_of(uint32_t first, uint32_t end, uint32_t step, uint64_t (*ns)(uint32_t rank))
{
	struct trace_total t = {.count = 0};
	for (uint32_t r = first; r < end; r += step) {
		struct trace_rank_ns one = {r, ns(r)};
		struct trace_total single = {.count = 1,
		                             .sum = one.ns,
		                             .min = one.ns,
		                             .max = one.ns,
		                             .min_rank = r,
		                             .max_rank = r,
		                             .ranks = &one};
		if (trace_total_add(&t, &single) != 0)
			abort();
	}
	return t;
}

static void total_free(struct trace_total *t)
{
	budget_free(t->ranks);
	rankmap_free(&t->means.map);
}

static uint64_t uneven(uint32_t rank)
{
	return 1000000 + rank * rank * 1000;
}

static uint64_t quarter(uint32_t rank)
{
	return rank % 4 ? 1000000 : 4000000;
}

/* ---- steps ---- */

static void test_steps(void)
{
	ok(means_step(1000, 1000, 0) == 0 && means_step(1500, 1000, 0) == 8 && means_step(0, 1000, 0) == -16,
	   "the mean is 0; half as much again 8; nothing -16");
	ok(means_step(2000, 1000, 0) == 16 && means_step(4000, 1000, 0) == 32 && means_step(4000, 1000, 3) == 4,
	   "twice as much is a power of two further, four times as much two");
	ok(means_step(2000, 1000, 4) == 1 && means_step(4000, 1000, 4) == 2 && means_step(100, 1000, 4) == -1,
	   "powers of two");
	ok(means_step(4000, 1000, 5) == 1 && means_step(100, 1000, 5) == 0 && means_step(9000, 1000, 7) == 0,
	   "several powers of two");
	ok(means_step(1e300, 1, 0) > 0 && means_step(5, 0, 0) == means_step(1, 1, 0), "no mean, and far too much");
}

/* How far what is read is from what was, at most, in parts of that. */
static double largest_error(unsigned step)
{
	double worst = 0;
	for (uint64_t ns = 20; ns < 100000; ns += 1 + ns / 50) {
		struct trace_means m = {.step = step, .finished = true};
		double back = 0, error;
		if (rankmap_single(&m.map, 3, means_step((double)ns, 1000, step), false) != 0 ||
		    !means_get(&m, 1000, 3, &back))
			abort();
		error = (back > (double)ns ? back - (double)ns : (double)ns - back) / (ns > 1000 ? (double)ns : 1000);
		worst = error > worst ? error : worst;
		rankmap_free(&m.map);
	}
	return worst;
}

static void test_errors(void)
{
	bool good = true;
	for (unsigned step = 0; step < 4; step++)
		good &= largest_error(step) <= means_width(step) * 0.75;
	ok(good && largest_error(0) < 0.05, "what is read is about what was, as far as the step says");
	ok(means_width(0) == 0.0625 && means_width(4) == 1 + 0.0 && means_width(5) == 4, "how wide steps are");
}

/* ---- totals ---- */

static void test_totals(void)
{
	uint64_t ns = 0;
	struct trace_total few = total_of(0, 64, 1, uneven), odd = total_of(1, 200, 2, uneven),
			   even = total_of(0, 200, 2, uneven), all = total_of(0, 200, 1, uneven);
	ok(few.ranks && trace_total_get(&few, 63, &ns) && ns == uneven(63), "64 ranks are exact");
	ok(!all.ranks && trace_total_known(&all) && trace_total_get(&all, 100, &ns) && ns > uneven(100) / 100 * 99 &&
	           ns < uneven(100) / 100 * 101,
	   "200 ranks have 7 bits");
	ok(trace_total_get(&all, 199, &ns) && ns == uneven(199) && !trace_total_get(&all, 200, &ns),
	   "the most is exact; what is not there has none");
	ok(trace_total_add(&odd, &even) == 0 && odd.count == 200 && odd.sum == all.sum &&
	           rankmap_equal(&odd.means.map, &all.means.map),
	   "it does not matter how they were merged");
	total_free(&few);
	total_free(&odd);
	total_free(&even);
	total_free(&all);
}

/* Is every rank of a finished map the mean? */
static bool all_alike(const struct trace_total *total)
{
	struct rankmap level, relative;
	int64_t value;
	double mean = (double)total->sum / (double)total->count;
	if (means_level(&level, &total->means.map, mean) != 0 || means_relative(&relative, &level, mean, 0) != 0)
		abort();
	bool alike = rankmap_constant(&relative, &value) && value == 0 && rankmap_size(&relative) == total->count;
	rankmap_free(&level);
	rankmap_free(&relative);
	return alike;
}

static uint64_t brief(uint32_t rank)
{
	return rank % 4 ? 100000 : 1000000;
}

static void test_level(void)
{
	struct trace_total near = total_of(0, 200, 1, brief), far = total_of(0, 200, 1, quarter);
	ok(all_alike(&near) && !all_alike(&far), "less than a ms from the mean does not matter");
	total_free(&near);
	total_free(&far);
}

static void test_regular(void)
{
	struct trace_total all = total_of(0, 4096, 1, quarter);
	struct rankmap relative;
	int64_t less = 0, more = 0;
	ok(all.means.map.node_count < 20, "a map of ranks that repeat is small");
	ok(means_relative(&relative, &all.means.map, 1750000, 0) == 0 && rankmap_get(&relative, 4, &more) &&
	           rankmap_get(&relative, 5, &less) && more == 18 && less == -7,
	   "relative to the mean of all");
	rankmap_free(&relative);
	total_free(&all);
}

/* Do all ranks together have the sum, to a ns each, if a file has steps of this size? */
static bool sum_is_right(uint64_t (*ns)(uint32_t rank), unsigned step)
{
	struct trace_total all = total_of(0, 300, 1, ns);
	struct rankmap codes = all.means.map;
	double sum = 0;
	uint64_t one;
	if (means_relative(&all.means.map, &codes, (double)all.sum / 300, step) != 0)
		abort();
	rankmap_free(&codes);
	all.means.finished = true;
	all.means.step = step;
	trace_total_share(&all);
	for (uint32_t r = 0; r < 300 && trace_total_get(&all, r, &one); r++) {
		if (one < all.min || one > all.max)
			abort();
		sum += (double)one;
	}
	total_free(&all);
	return sum <= (double)all.sum + 300 && sum >= (double)all.sum - 300;
}

static void test_sums(void)
{
	bool good = true;
	for (unsigned step = 0; step < MEANS_STEPS; step++)
		good &= sum_is_right(uneven, step) && sum_is_right(quarter, step);
	ok(good, "however coarse the steps are, the ranks have the sum of all");
}

static int add_without_memory(void *context)
{
	(void)context;
	struct trace_total t = {.count = 0};
	bool good = true;
	for (uint32_t r = 0; good && r < 67; r++) {
		struct trace_rank_ns one = {r, uneven(r)};
		struct trace_total single = {.count = 1, .sum = 1, .min = 1, .max = 1, .ranks = &one};
		good = trace_total_add(&t, &single) == 0;
	}
	total_free(&t);
	return good ? 0 : -1;
}

/* ---- the chunk ---- */

static void test_refused(int how, const char *what)
{
	struct chunk_test x;
	chunk_test_begin(&x, "MEAN", 70, SAMPLE_CLASSES | how);
	ok(chunk_look(&x, "", 0), "%s: refused: nothing", what);
	ok(chunk_numbers(&x, NUMBERS(0, 0, 0, 1, 1 << 20, 2, 0, 0, 0)), "%s: refused: a site that there is not", what);
	ok(chunk_numbers(&x, NUMBERS(0, 0, 0, 1, 0, 0, 0, 0, 0)), "%s: refused: a site without a form", what);
	ok(chunk_numbers(&x, NUMBERS(0, 0, 0, 1, 0, 10, 0, 0, 0)), "%s: refused: a step that is none", what);
	ok(chunk_numbers(&x, NUMBERS(11, 0, 0, 0)), "%s: refused: a total's step that is none", what);
	chunk_damage(&x, what);
	ok(fails_well(chunk_decode_again, &x), "%s: no memory", what);
	chunk_test_end(&x);
}

/* Ranks that spend a part of a second in a site, each another one. */
static void test_sites(void)
{
	struct trace t, back;
	uint8_t *bytes;
	size_t size;
	struct error error = {""};
	struct container *c = NULL;
	double ns = 0;
	sample_merged(&t, 4, SAMPLE_CLASSES);
	struct trace_site *s = &t.sites[0];
	for (uint32_t r = 0; r < 4; r++) {
		struct trace_means one = {.step = 0};
		if (rankmap_single(&one.map, r, means_code(r == 1 ? 90000000 : 30000000), false) != 0 ||
		    means_add(&s->means, &one) != 0)
			abort();
		rankmap_free(&one.map);
	}
	const double all = 90e6 * (double)(s->communicate.count / 4);
	const uint64_t visits = s->communicate.count, mean = 45000000;
	struct histogram_bin *bin = s->communicate.bins;
	*bin = (struct histogram_bin){visits, mean, mean, visits * mean, (uint128)mean * mean * visits};
	s->communicate = (struct histogram){.count = visits,
	                                    .sum = visits * mean,
	                                    .min = mean,
	                                    .max = mean,
	                                    .squares = bin->squares,
	                                    .bins = bin,
	                                    .bin_count = 1};
	ok(means_of_site(s, 1, &ns) && ns > 0.99 * all && ns < 1.01 * all && !means_of_site(s, 4, &ns),
	   "what a rank spent in a site");
	ok(trace_encode(&t, NULL, 0, NULL, &bytes, &size) == 0 &&
	           container_parse(&c, "t", bytes, size, NULL, &error) == 0 && trace_decode(&back, c, &error) == 0 &&
	           means_of_site(&back.sites[0], 1, &ns) && ns > 0.95 * all && ns < 1.05 * all,
	   "written and read");
	container_destroy(c);
	free(bytes);
	trace_free(&back);
	trace_free(&t);
}

int main(void)
{
	test_steps();
	test_errors();
	test_totals();
	test_sums();
	test_level();
	test_regular();
	ok(fails_well(add_without_memory, NULL), "no memory for totals");
	test_refused(0, "final");
	test_refused(SAMPLE_PART, "part");
	test_sites();
	return tap_end();
}
