/* SPDX-License-Identifier: BSD-3-Clause
 * skeleton - loops with ranges, of sequences that differ in counts, in some calls and in order; against a walk
 *
 * A sequence is a text: a letter is a call. So is a skeleton: B2..3 is a call that comes 2 or 3 times; (...)5 a loop
 * of 5 turns; {...}3 one in any order; ?1/4 is behind something that is in one of four turns.
 */
#include "trace/read/skeleton.h"

#include <ctype.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/record/grammar.h"

enum { EVENTS = 3000, TEXT = 8192 };

static struct arena arena;

static struct pattern folded(const char *sequence, size_t n)
{
	struct grammar_index g = {.arena = &arena};
	struct writer w = {0};
	struct pattern p;
	if (arena_create(&arena, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	ref start = grammar_create(&g);
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && sequence[i + run] == sequence[i]; run++)
			;
		if (grammar_append(&g, start, (uint32_t)(sequence[i] - 'A') + 1, run) != 0)
			abort();
	}
	if (grammar_write(&g, start, &w) != 0 || pattern_parse(&p, w.data, w.size) != 0)
		abort();
	writer_free(&w);
	grammar_index_free(&g);
	arena_close(&arena);
	return p;
}

static void print(const struct skeleton *s, uint32_t node, char *out)
{
	for (uint32_t c = s->nest.nodes[node].first; c != NEST_NONE; c = s->nest.nodes[c].next) {
		const struct skeleton_range *r = &s->ranges[c];
		bool set = s->nest.nodes[c].any_order;
		if (c < s->nest.sites) {
			sprintf(out + strlen(out), "%c", 'A' + (int)s->sites[c]);
		} else {
			strcat(out, set ? "{" : "(");
			print(s, c, out);
			strcat(out, set ? "}" : ")");
		}
		if (r->most > 1 || c > s->nest.sites)
			sprintf(out + strlen(out), r->least < r->most ? "%d..%d" : "%d", (int)r->least, (int)r->most);
		if (r->runs != skeleton_turns(s, c))
			sprintf(out + strlen(out), "?%d/%d", (int)r->runs, (int)skeleton_turns(s, c));
	}
}

static void folds(const char *what, const char *sequence, const char *expected)
{
	char text[TEXT] = "";
	struct skeleton s;
	struct pattern p = folded(sequence, strlen(sequence));
	int rv = skeleton_make(&s, &p);
	if (rv == 0)
		print(&s, s.nest.sites, text);
	if (!ok(rv == 0 && strcmp(text, expected) == 0, "%s: %s", what, expected))
		printf("# %s\n", text);
	skeleton_free(&s);
	pattern_free(&p);
}

static void test_examples(void)
{
	folds("one call", "A", "A");
	folds("nothing to fold", "ABCDEF", "ABCDEF");
	folds("a run", "AAAA", "A4");
	folds("a loop", "IABABABF", "I(AB)3F");
	folds("irregular counts", "IABABBBABBABF", "I(AB1..3)4F");
	folds("the first call of a turn varies", "IAABAAABABF", "I(A1..3B)3F");
	folds("optional calls", "IABCDABDABCDABDF", "I(ABC?2/4D)4F");
	folds("one of two", "IABDACDABDF", "I(AB?2/3C?1/3D)3F");
	folds("nested loops", "IABCBCDABCDABCBCBCDF", "I(A(BC)1..3D)3F");
	folds("a loop that begins with a loop", "IABABABCABABCABABABABCF", "I((AB)2..4C)3F");
	folds("a loop that begins with a loop, and another one in it", "IABABCDCDABABABCDCDCDABABCDCDF",
	      "I((AB)2..3(CD)2..3)3F");
	folds("three loops that begin alike", "IABABCABABCDABABCABABCDF", "I(((AB)2C)2D)2F");
	folds("few turns of it: a call that some turns have", "IABCABABCABCABCABF", "I(ABC?4/6)6F");
	folds("an inner loop that is left out", "IABCBCDADABCBCDF", "I(A(BC)2?2/3D)3F");
	folds("completions in any order", "IWABCWBCAWCABWACBWBACF", "I(W{A?5/15B?5/15C?5/15}3)5F");
	folds("some completions in any order", "IWABWCBWCAWBACF", "I(W{A?3/9B?3/9C?3/9}2..3)4F");
	folds("no structure inside of a loop", "IABCDJACBDIBDACBJCBDAICDABCJDABCDBACIF",
	      "(I{A?7/33B?8/33C?8/33D?7/33J?3/33}9..14?3/4)4F");
	folds("the first call is optional, and comes late", "IBCBCABCBCABCF", "I(BCA?2/5)5F");
	folds("the sequence ends within a loop", "IABCABCAB", "I(ABC?2/3)3");
}

/* What comes of the sequence itself: the loops that a step leaves are complete, and their counts with them. */
static void walk_ranges(const struct loop_nest *n, const uint32_t *sites, size_t events, struct skeleton_range *out)
{
	uint64_t *count = calloc(n->count, sizeof *count);
	for (size_t i = 0; i <= events; i++) {
		uint32_t meet = i == 0 || i == events ? NEST_NONE : loop_nest_meet(n, sites[i - 1], sites[i]);
		if (i > 0 && i < events && sites[i - 1] == sites[i]) {
			count[sites[i]]++;
			continue;
		}
		for (uint32_t v = i > 0 ? sites[i - 1] : NEST_NONE; v != meet; v = n->nodes[v].parent) {
			struct skeleton_range *r = &out[v];
			r->least = r->runs == 0 || count[v] < r->least ? count[v] : r->least;
			r->most = count[v] > r->most ? count[v] : r->most;
			r->total += count[v];
			r->runs++;
			count[v] = 0;
		}
		for (uint32_t v = i < events ? sites[i] : NEST_NONE; v != meet; v = n->nodes[v].parent)
			count[v] = 1;
		if (meet != NEST_NONE && loop_nest_turns(n, meet, sites[i - 1], sites[i]))
			count[meet]++;
	}
	free(count);
}

/* One of some kinds: chance; nested loops of changing counts with optional calls; completions; a graph walk. */
static size_t random_sequence(unsigned kind, char *out)
{
	size_t n = 0, want = 1 + random_below(EVENTS - 64);
	unsigned sites = 1 + (unsigned)random_below(20), now = 0;
	while (n < want) {
		if (kind == 0) {
			out[n++] = (char)('A' + random_below(sites));
		} else if (kind == 1) {
			out[n++] = 'A';
			for (uint64_t k = random_below(4); k > 0; k--) {
				for (uint64_t j = 1 + random_below(5); j > 0; j--)
					out[n++] = 'B';
				if (random_below(8) == 0)
					out[n++] = 'C';
			}
			if (random_below(3))
				out[n++] = 'D';
		} else if (kind == 2) {
			unsigned left = 15;
			out[n++] = 'A';
			while (left) {
				unsigned one = (unsigned)random_below(4);
				if (left >> one & 1)
					out[n++] = (char)('B' + one);
				left &= ~(1U << one);
			}
		} else {
			out[n++] = (char)('A' + now);
			now = (now + 1 + (random_below(5) ? 0 : (unsigned)random_below(sites))) % sites;
		}
	}
	return n;
}

static bool agrees(const char *sequence, size_t n)
{
	struct skeleton s;
	struct pattern p = folded(sequence, n);
	bool right = skeleton_make(&s, &p) == 0;
	uint64_t counts[32] = {0};
	uint32_t local[32];
	uint32_t *sites = calloc(n, sizeof *sites);
	struct skeleton_range *walked = calloc(s.nest.count, sizeof *walked);
	for (uint32_t i = 0; i < s.nest.sites; i++)
		local[s.sites[i]] = i;
	for (size_t i = 0; i < n; i++) {
		sites[i] = local[sequence[i] - 'A'];
		counts[sites[i]]++;
	}
	walk_ranges(&s.nest, sites, n, walked);
	right = right && memcmp(walked, s.ranges, s.nest.count * sizeof *walked) == 0;
	for (uint32_t i = 0; i < s.nest.sites; i++)
		right &= s.ranges[i].total == counts[i];
	for (uint32_t i = 0; i < s.nest.count; i++)
		right &= s.ranges[i].runs <= skeleton_turns(&s, i);
	free(sites);
	free(walked);
	skeleton_free(&s);
	pattern_free(&p);
	return right;
}

static void test_random(void)
{
	static char sequence[EVENTS];
	for (unsigned kind = 0; kind < 4; kind++) {
		unsigned wrong = 0;
		for (unsigned i = 0; i < 200; i++) {
			random_seed(i);
			wrong += !agrees(sequence, random_sequence(kind, sequence));
		}
		ok(wrong == 0, "kind %u: the counts of each call and the ranges are those of the sequence", kind);
	}
}

static void test_choose(void)
{
	char sequence[400] = "";
	for (int i = 0; i < 20; i++)
		strcat(sequence, i % 3 ? "ABBBBBC" : "ABDEFGC");
	strcat(sequence, "HIJKLM");
	struct skeleton s;
	struct pattern p = folded(sequence, strlen(sequence));
	bool shown[64], right = skeleton_make(&s, &p) == 0;
	uint64_t calls[64];
	for (uint64_t lines = 1; right && lines < 20; lines++) {
		uint64_t used = 0;
		right &= skeleton_choose(&s, lines, shown, calls) == 0 && calls[s.nest.sites] == strlen(sequence);
		for (uint32_t i = 0; i < s.nest.count; i++) {
			bool gap = false;
			right &= !shown[i] || i == s.nest.sites || shown[s.nest.nodes[i].parent];
			for (uint32_t c = shown[i] ? s.nest.nodes[i].first : NEST_NONE; c != NEST_NONE;
			     c = s.nest.nodes[c].next) {
				used += shown[c] || !gap;
				gap = !shown[c];
			}
		}
		right &= used <= lines;
	}
	ok(right, "as many lines as asked for, those of most calls; parents of what is shown are shown");
	ok(skeleton_choose(&s, 0, shown, NULL) == 0 && !memchr(shown, false, s.nest.count), "0 lines: no limit");
	ok(skeleton_choose(&s, 5, shown, NULL) == 0 && shown[1] && !shown[s.nest.sites - 1],
	   "5 lines: the call in the loop, not the one behind it");
	ok(skeleton_choose(&s, UINT64_MAX, shown, NULL) == 0 && !memchr(shown, false, s.nest.count), "2^64 - 1 lines");
	skeleton_free(&s);
	pattern_free(&p);
}

static void test_bad(void)
{
	struct skeleton s;
	struct pattern none = {0}, news;
	const uint8_t a_new[] = {1, 1, 0};
	ok(skeleton_make(&s, &none) == -1, "no sequence: refused");
	skeleton_free(&s);
	if (pattern_parse(&news, a_new, sizeof a_new) != 0)
		abort();
	ok(skeleton_make(&s, &news) == -1, "a token that is no site: refused");
	skeleton_free(&s);
	pattern_free(&news);
}

static int make_and_choose(void *context)
{
	struct skeleton s;
	bool shown[64];
	int rv = skeleton_make(&s, context) == 0 && skeleton_choose(&s, 3, shown, NULL) == 0 ? 0 : -1;
	skeleton_free(&s);
	return rv;
}

int main(void)
{
	test_bad();
	test_examples();
	test_random();
	test_choose();
	struct pattern p = folded("IABCBCDABCDABCBCBCDF", 20);
	ok(fails_well(make_and_choose, &p), "no memory: it says so");
	pattern_free(&p);
	return tap_end();
}
