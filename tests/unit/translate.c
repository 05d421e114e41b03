/* SPDX-License-Identifier: BSD-3-Clause
 * translate - the numbers of one trace in another: values of each sort; arrays that are copied, and that are moved; and
 * order: what is put into order, and what nobody refers to
 */
#include "merge/translate.h"

#include "merge/order.h"
#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum { RANKS = 3 };

static int translation_begin(struct translation *x, struct trace *into, const struct trace *from)
{
	*x = (struct translation){.into = into, .from = from};
	x->strings = translate_numbers(from->strings.count);
	x->vectors = translate_numbers(from->vector_pool.count);
	x->patterns = translate_numbers(from->patterns.count);
	x->modules = translate_numbers(from->module_count);
	x->nodes = translate_numbers(from->node_count);
	x->functions = translate_numbers(from->function_count);
	x->sites = translate_numbers(from->site_count);
	for (uint32_t i = 0; x->patterns && i < from->patterns.count; i++)
		x->patterns[i] = UINT32_MAX;
	for (uint32_t i = 0; x->vectors && i < from->vector_pool.count; i++)
		x->vectors[i] = UINT32_MAX;
	return x->strings && x->vectors && x->patterns && x->modules && x->nodes && x->functions && x->sites ? 0 : -1;
}

static void translation_end(struct translation *x)
{
	free(x->strings);
	free(x->vectors);
	free(x->patterns);
	free(x->modules);
	free(x->nodes);
	free(x->functions);
	free(x->sites);
}

static uint32_t string_of(struct trace *t, const char *text)
{
	return pool_intern(&t->strings, text, strlen(text));
}

static void test_values(void)
{
	struct trace into, from;
	struct translation x;
	if (trace_init(&into) != 0 || trace_init(&from) != 0)
		abort();
	uint32_t b = string_of(&into, "b"), own_a = string_of(&from, "a"), own_b = string_of(&from, "b");
	int64_t array[2] = {VALUE_CONSTANT + own_b, 17};
	uint32_t number = pool_intern(&from.vector_pool, array, sizeof array);
	if (translation_begin(&x, &into, &from) != 0 || translate_strings(&x) != 0)
		abort();
	uint32_t a = pool_find(&into.strings, "a", 1);
	ok(a != UINT32_MAX && x.strings[own_a] == a && x.strings[own_b] == b && x.strings[0] == 0,
	   "strings that are there, and that are not yet");
	ok(translate_value(&x, VALUE_CONSTANT + own_b, REFERENCE_NONE) == VALUE_CONSTANT + b &&
	           translate_value(&x, VALUE_CONSTANT + own_b, REFERENCE_SITE) == VALUE_CONSTANT + b &&
	           translate_value(&x, own_b, REFERENCE_STRING) == b && translate_value(&x, 99, REFERENCE_NONE) == 99 &&
	           translate_value(&x, VALUE_LOSSY, REFERENCE_NONE) == VALUE_LOSSY,
	   "constants, strings, numbers");
	int64_t copy[2];
	ok(into.vector_pool.count == 0 && translate_vector(&x, number) == 0 && translate_vector(&x, number) == 0 &&
	           into.vector_pool.count == 1,
	   "an array is taken over when something refers to it, once");
	memcpy(copy, into.vector_pool.items[0].bytes, sizeof copy);
	ok(copy[0] == VALUE_CONSTANT + b && copy[1] == 17 && from.vector_pool.items[number].bytes,
	   "with its constants");
	x.vectors[number] = UINT32_MAX;
	x.take = &from;
	ok(translate_vector(&x, number) == 0 && into.vector_pool.count == 1 && !from.vector_pool.items[number].bytes,
	   "the same array, moved");
	translation_end(&x);
	trace_free(&into);
	trace_free(&from);
}

static bool ascends(const struct pool *p, uint32_t first)
{
	bool right = true;
	for (uint32_t i = first + 1; i < p->count; i++) {
		const struct pool_item *x = &p->items[i - 1], *y = &p->items[i];
		int order = memcmp(x->bytes, y->bytes, x->size < y->size ? x->size : y->size);
		right &= order < 0 || (order == 0 && x->size < y->size);
	}
	return right;
}

/* All tables of a trace whose parts were merged, last rank first. Returns 0 or -1. */
static int order_all(struct trace *out, struct trace *from)
{
	struct translation x;
	uint32_t *moved = NULL;
	int rv = translation_begin(&x, out, from);
	rv = trace_init(out) != 0 || rv != 0 || order_tables(&x, NULL, &moved) != 0 ? -1 : 0;
	translation_end(&x);
	return rv;
}

static void merge_backwards(struct trace *all)
{
	struct trace one;
	if (trace_init(all) != 0)
		abort();
	string_of(all, "zzz");
	string_of(all, "nobody refers to it");
	pool_intern(&all->patterns, "unused", 6);
	pool_intern(&all->vector_pool, "unused!!", 8);
	for (uint32_t rank = RANKS; rank-- > 0;) {
		sample_trace(&one, rank, RANKS, 0);
		if (merge_into(all, &one, NULL) != 0)
			abort();
		trace_free(&one);
	}
}

static void test_order(void)
{
	struct trace all, out;
	bool paths = true, sites = true;
	merge_backwards(&all);
	ok(order_all(&out, &all) == 0 && out.strings.count == all.strings.count && out.strings.items[0].size == 0 &&
	           ascends(&out.strings, 0),
	   "strings, by their bytes");
	ok(out.patterns.count < all.patterns.count && ascends(&out.patterns, 0) &&
	           out.vector_pool.count < all.vector_pool.count && ascends(&out.vector_pool, 0),
	   "patterns and arrays, without those that nobody refers to");
	for (uint32_t i = 1; i < out.node_count; i++)
		paths &= out.nodes[i].parent < i;
	for (uint32_t i = 1; i < out.site_count; i++)
		sites &= out.sites[i - 1].node < out.sites[i].node ||
		         (out.sites[i - 1].node == out.sites[i].node &&
		          out.sites[i - 1].function < out.sites[i].function);
	ok(paths && out.node_count == all.node_count && sites && out.site_count == all.site_count,
	   "frames, further out first; sites by frame and function");
	trace_free(&out);
	trace_free(&all);
}

static int order_again(void *context)
{
	struct trace out = {.size = 0};
	int rv = order_all(&out, context);
	trace_free(&out);
	return rv;
}

int main(void)
{
	struct trace all;
	test_values();
	test_order();
	merge_backwards(&all);
	ok(fails_well(order_again, &all), "no memory");
	trace_free(&all);
	return tap_end();
}
