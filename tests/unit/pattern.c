/* SPDX-License-Identifier: BSD-3-Clause
 * pattern - stored grammars: what is refused, what is in them, cursors against the sequence written out
 *
 * In the tests a pattern is a list of numbers: how many rules; for each, how many symbols; a symbol is T(token) or
 * R(rule), with P(exponent) behind it if that is more than 1.
 */
#include "trace/model/pattern.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/varint.h"

#define T(token)     ((uint64_t)(token) << 2)
#define R(rule)      ((uint64_t)(rule) << 2 | 2)
#define TP(token)    (T(token) | 1)
#define RP(rule)     (R(rule) | 1)
#define NUMBERS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static struct writer written(const uint64_t *numbers, size_t n)
{
	struct writer w = {0};
	for (size_t i = 0; i < n; i++)
		writer_uint(&w, numbers[i]);
	return w;
}

static int parse(struct pattern *p, const uint64_t *numbers, size_t n)
{
	struct writer w = written(numbers, n);
	int rv = pattern_parse(p, w.data, w.size);
	writer_free(&w);
	return rv;
}

static void refused(const char *what, const uint64_t *numbers, size_t n)
{
	struct pattern p;
	ok(parse(&p, numbers, n) == -1, "refused: %s", what);
	pattern_free(&p);
}

static void test_bad(void)
{
	struct pattern p;
	ok(pattern_parse(&p, NULL, 0) == -1, "refused: nothing");
	pattern_free(&p);
	refused("no rules", NUMBERS(0));
	refused("more rules than bytes", NUMBERS(200, 1, T(0)));
	refused("an empty rule", NUMBERS(1, 0));
	refused("a rule that ends early", NUMBERS(1, 2, T(0)));
	refused("exponent 0", NUMBERS(1, 1, TP(0), 0));
	refused("a rule that refers to itself", NUMBERS(1, 1, R(0)));
	refused("a rule that refers to one behind it", NUMBERS(2, 1, R(1), 1, T(0)));
	refused("a token that is too large", NUMBERS(1, 1, T(UINT32_MAX)));
	refused("bytes behind the end", NUMBERS(1, 1, T(0), 7));
	refused("more than 2^63 tokens", NUMBERS(2, 1, TP(0), UINT64_C(1) << 40, 1, RP(0), UINT64_C(1) << 23));
	refused("more than 2^64 tokens", NUMBERS(2, 1, TP(0), UINT64_C(1) << 40, 1, RP(0), UINT64_C(1) << 40));
	ok(parse(&p, NUMBERS(1, 2, T(0), T(2))) == 0 && !pattern_whole(&p),
	   "a token before its value is new: not whole");
	pattern_free(&p);
	ok(parse(&p, NUMBERS(2, 2, T(1), T(0), 1, RP(0), 2)) == 0 && !pattern_whole(&p), "also inside of a rule");
	pattern_free(&p);
	ok(parse(&p, NUMBERS(2, 2, T(1), T(0), 2, T(0), RP(0), 2)) == 0 && pattern_whole(&p), "but not behind it");
	pattern_free(&p);
}

/* new 1^2 (new 2)^3 1: values 0, then 0 0, then 1 1 2 1 3 1, then 0 */
static void test_example(void)
{
	struct pattern p;
	uint64_t counts[4];
	ok(parse(&p, NUMBERS(2, 2, T(0), T(2), 4, T(0), TP(1), 2, RP(0), 3, T(1))) == 0 && pattern_whole(&p),
	   "an example");
	ok(pattern_length(&p) == 10 && pattern_news(&p) == 4 && pattern_last(&p) == 0 && pattern_symbols(&p) == 6,
	   "its length, its values");
	ok(pattern_count(&p, counts) == 0 && counts[0] == 4 && counts[1] == 4 && counts[2] == 1 && counts[3] == 1,
	   "how often each value comes");
	pattern_free(&p);
}

enum { RULES = 8, LONGEST = 1 << 15 };

/* A random pattern, as numbers; returns how many. */
static size_t random_pattern(uint64_t *out)
{
	size_t n = 0, rules = 1 + random_below(RULES);
	out[n++] = rules;
	for (size_t i = 0; i < rules; i++) {
		size_t symbols = 1 + random_below(3);
		out[n++] = symbols;
		while (symbols-- > 0) {
			uint64_t times = 1 + random_below(3),
				 symbol = i && random_below(2) ? R(random_below(i)) : T(random_below(4));
			out[n++] = symbol | (times > 1);
			if (times > 1)
				out[n++] = times;
		}
	}
	return n;
}

/* Writes a rule out, the plain way. */
static size_t expand(const struct pattern *p, size_t rule, uint32_t *out, size_t n)
{
	for (size_t i = p->rules[rule].first; i < p->rules[rule].end; i++)
		for (uint64_t k = 0; k < p->symbols[i].exponent; k++) {
			if (p->symbols[i].rule)
				n = expand(p, p->symbols[i].id, out, n);
			else
				out[n++] = p->symbols[i].id;
		}
	return n;
}

static bool cursor_agrees(const struct pattern *p, const uint32_t *tokens, size_t n, uint64_t from)
{
	struct pattern_cursor c;
	uint32_t token;
	uint64_t count, news = 0, at, left = from, before = 0;
	bool right = pattern_begin(&c, p) == 0 && pattern_skip(&c, &left, &news) == 0;
	for (at = 0; at < from - left; at++)
		before += tokens[at] == PATTERN_NEW;
	right &= before == news;
	while (right && pattern_next(&c, &token, &count) == 0) {
		right &= left < count && at + count <= n; /* what is left to skip is inside this run */
		left = 0;
		for (; right && count > 0; count--)
			right &= tokens[at++] == token;
	}
	pattern_end(&c);
	return right && at == n;
}

static bool agrees(const struct pattern *p, uint32_t *tokens)
{
	size_t n = pattern_length(p), last = p->rule_count - 1;
	uint64_t news = 0, values = 0, unknown = 0, counts[LONGEST] = {0}, said[LONGEST];
	bool right = expand(p, last, tokens, 0) == n;
	for (size_t i = 0; i < n; i++) {
		news += tokens[i] == PATTERN_NEW;
		values = tokens[i] == PATTERN_NEW ? news - 1 : tokens[i] - 1;
		unknown += values >= news;
		if (values < LONGEST)
			counts[values]++;
	}
	right &= pattern_news(p) == news && pattern_whole(p) == (unknown == 0);
	if (unknown == 0)
		right &= pattern_last(p) == values && pattern_count(p, said) == 0 &&
		         memcmp(said, counts, news * sizeof *said) == 0;
	for (int i = 0; i < 4 && right; i++)
		right &= cursor_agrees(p, tokens, n, i ? random_below(n) : 0);
	return right;
}

static bool look(void *context, const void *bytes, size_t n)
{
	struct pattern p;
	int rv = pattern_parse(&p, bytes, n);
	if (rv == 0 && pattern_length(&p) < LONGEST && !agrees(&p, context))
		abort();
	pattern_free(&p);
	return rv != 0;
}

static int parse_and_walk(void *context)
{
	const struct writer *w = context;
	struct pattern p;
	struct pattern_cursor c = {0};
	uint64_t counts[64], count, n = 3, news = 0;
	uint32_t token;
	int rv = pattern_parse(&p, w->data, w->size) || pattern_count(&p, counts) || pattern_begin(&c, &p) ||
	         pattern_skip(&c, &n, &news);
	while (rv == 0 && (rv = pattern_next(&c, &token, &count)) == 0) {
	}
	pattern_end(&c);
	pattern_free(&p);
	return rv == 1 ? 0 : -1;
}

int main(void)
{
	static uint32_t tokens[LONGEST];
	uint64_t numbers[RULES * 8];
	size_t wrong = 0, whole = 0, cut, cuts = 0;
	test_bad();
	test_example();
	random_seed(3);
	for (int i = 0; i < 2000; i++) {
		struct pattern p;
		if (parse(&p, numbers, random_pattern(numbers)) != 0 || pattern_length(&p) >= LONGEST ||
		    !agrees(&p, tokens))
			wrong += p.rule_count && pattern_length(&p) < LONGEST;
		whole += p.rule_count && pattern_whole(&p);
		pattern_free(&p);
	}
	ok(wrong == 0 && whole > 100, "2000 random patterns, %zu of them whole: cursors, counts, the last value",
	   whole);
	for (int i = 0; i < 40; i++) {
		struct writer w = written(numbers, random_pattern(numbers));
		damage_each(look, tokens, w.data, w.size, &cut);
		cuts += cut;
		writer_free(&w);
	}
	ok(cuts == 0, "patterns cut short are refused; flipped bits are refused, or make other patterns");
	struct writer deep = {0};
	writer_uint(&deep, 20);
	for (unsigned i = 0; i < 20; i++) {
		writer_uint(&deep, 1);
		writer_uint(&deep, i ? R(i - 1) : T(0));
	}
	ok(fails_well(parse_and_walk, &deep), "no memory: parsing and cursors say so");
	writer_free(&deep);
	return tap_end();
}
