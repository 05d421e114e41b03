/* SPDX-License-Identifier: BSD-3-Clause
 * series_choice - which runs of an application differ in nothing but their size
 */
#include "archive/series_choice.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/index.h"

static int by_kind(const void *a, const void *b)
{
	const struct series_candidate *x = a, *y = b;
	if (x->alike != y->alike)
		return x->alike < y->alike ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ranks != y->ranks)
		return x->ranks < y->ranks ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? -1 : 1;
	return (x->id < y->id) - (x->id > y->id);
}

/* Sorts the list, and finds the series with most sizes, then runs. */
static void find_longest(struct series_chosen *out, struct series_candidate *list, size_t count)
{
	size_t first = 0, sizes = 1;
	out->first = out->count = out->sizes = out->series = 0;
	if (count)
		qsort(list, count, sizeof *list, by_kind);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && list[i].alike == list[first].alike && list[i].kind == list[first].kind) {
			sizes += list[i].ranks != list[i - 1].ranks;
			continue;
		}
		out->series++;
		if (sizes > out->sizes || (sizes == out->sizes && i - first > out->count)) {
			out->first = first;
			out->count = i - first;
			out->sizes = sizes;
		}
		first = i;
		sizes = 1;
	}
}

/* Executables without a build id are told apart by their path. */
static int64_t kind_of(const struct series_candidate *c, enum series_same same)
{
	return same == SERIES_NAME ? 0 : same == SERIES_BUILD && c->build ? c->build : -c->exe;
}

/* --- numbers --- */

static size_t count_numbers(const char *text)
{
	size_t n = *text != '\0';
	for (; (text = strchr(text, ' ')); text++)
		n++;
	return n;
}

/* Number n of a text; its size. */
static size_t number_at(const char **text, size_t n)
{
	for (; n && *text; n--)
		*text = strchr(*text, ' ') ? strchr(*text, ' ') + 1 : NULL;
	return *text ? strcspn(*text, " ") : 0;
}

static bool number_equal(const char *a, const char *b, size_t n)
{
	size_t size = number_at(&a, n);
	return size == number_at(&b, n) && (!size || memcmp(a, b, size) == 0);
}

/* differs: true for each number that is not the same in all runs of one size (alone), or in all. */
static void find_differing(bool *differs, const struct series_candidate *list, size_t count, size_t numbers, bool alone)
{
	memset(differs, 0, numbers);
	for (size_t i = 1; i < count; i++)
		for (size_t n = 0; n < numbers; n++)
			if (!alone || list[i].ranks == list[i - 1].ranks)
				differs[n] = differs[n] || !number_equal(list[i].numbers, list[i - 1].numbers, n);
}

static int64_t hash_numbers(const char *text, const bool *which, size_t numbers)
{
	uint64_t h = 1;
	for (size_t n = 0; n < numbers; n++) {
		const char *at = text;
		size_t size = which[n] ? number_at(&at, n) : 0;
		h = hash_mix(h, size ? hash_bytes(at, size) : 0);
	}
	return (int64_t)(h >> 1);
}

/* Within what was chosen. */
static void fix_numbers(struct series_chosen *out, struct series_candidate *list)
{
	struct series_candidate *from = list + out->first;
	struct series_chosen some;
	find_differing(out->fixed, from, out->count, out->numbers, true);
	for (size_t i = 0; i < out->count; i++)
		from[i].kind = hash_numbers(from[i].numbers, out->fixed, out->numbers);
	find_longest(&some, from, out->count);
	if (some.sizes >= SERIES_SIZES && some.count < out->count) {
		out->first += some.first;
		out->count = some.count;
		out->sizes = some.sizes;
	} else {
		for (size_t i = 0; i < out->count; i++)
			from[i].kind = 0;
		find_longest(&some, from, out->count);
	}
	find_differing(out->fixed, list + out->first, out->count, out->numbers, false);
	for (size_t n = 0; n < out->numbers; n++)
		out->fixed[n] = !out->fixed[n];
}

int series_choose(struct series_chosen *out, struct series_candidate *list, size_t count, bool named)
{
	const enum series_same last = named ? SERIES_NAME : SERIES_EXECUTABLE;
	*out = (struct series_chosen){.same = SERIES_BUILD};
	for (enum series_same same = SERIES_BUILD; same <= last && out->sizes < SERIES_SIZES; same++) {
		for (size_t i = 0; i < count; i++)
			list[i].kind = kind_of(&list[i], same);
		find_longest(out, list, count);
		out->same = same;
	}
	out->numbers = out->count ? count_numbers(list[out->first].numbers) : 0;
	out->fixed = calloc(out->numbers + 1, sizeof *out->fixed);
	if (out->fixed && out->count)
		fix_numbers(out, list);
	return out->fixed ? 0 : -1;
}
