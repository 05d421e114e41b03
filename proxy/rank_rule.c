/* SPDX-License-Identifier: BSD-3-Clause
 * rank_rule - which of a few kinds each rank is of, as a C expression
 *
 * Kinds are told apart one after another, the rarest first; ranks of those that have been written do not matter any
 * more. The last one is what remains.
 */
#include "proxy/rank_rule.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Larger steps are no rule that a reader would see. */
#define STEP_MOST 64

struct rule {
	const uint8_t *kind;
	uint32_t ranks;
	bool written[RANK_KINDS];
};

static bool matters(const struct rule *r, uint32_t rank)
{
	return r->kind[rank] != RANK_ANY && !r->written[r->kind[rank]];
}

static void kind_extent(const struct rule *r, uint8_t kind, uint32_t *first, uint32_t *last)
{
	*first = UINT32_MAX;
	for (uint32_t i = 0; i < r->ranks; i++) {
		if (r->kind[i] != kind)
			continue;
		*first = *first == UINT32_MAX ? i : *first;
		*last = i;
	}
}

/* first <= rank <= last: is nobody else there? */
static bool is_range(const struct rule *r, uint8_t kind, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		if (r->kind[i] != kind && matters(r, i))
			return false;
	return true;
}

/* rank % step is `rest` for this kind, and for nobody else? */
static bool is_step(const struct rule *r, uint8_t kind, uint32_t step, uint32_t rest)
{
	for (uint32_t i = 0; i < r->ranks; i++)
		if (matters(r, i) && (r->kind[i] == kind) != (i % step == rest))
			return false;
	return true;
}

static bool find_condition(const struct rule *r, uint8_t kind, char *text, size_t size)
{
	uint32_t first, last = 0;
	kind_extent(r, kind, &first, &last);
	assert(first <= last && last < r->ranks);
	if (first == last)
		return snprintf(text, size, "rank == %u", first) > 0;
	if (is_range(r, kind, first, last)) {
		if (first == 0)
			snprintf(text, size, "rank < %u", last + 1);
		else if (last == r->ranks - 1)
			snprintf(text, size, "rank >= %u", first);
		else
			snprintf(text, size, "rank >= %u && rank <= %u", first, last);
		return true;
	}
	for (uint32_t step = 2; step <= STEP_MOST && step <= r->ranks / 2; step++) {
		if (is_step(r, kind, step, first % step)) {
			snprintf(text, size, "rank %% %u == %u", step, first % step);
			return true;
		}
	}
	return false;
}

static int rarest_kind(const struct rule *r, uint32_t kinds)
{
	uint64_t count[RANK_KINDS] = {0};
	int best = -1;
	for (uint32_t i = 0; i < r->ranks; i++)
		if (matters(r, i))
			count[r->kind[i]]++;
	for (uint32_t k = 0; k < kinds; k++)
		if (!r->written[k] && (best < 0 || count[k] < count[best]))
			best = (int)k;
	return best;
}

/* No rule: a letter for each rank. */
static void write_letters(FILE *f, const struct rule *r, uint32_t kinds, char *const *texts)
{
	for (uint32_t k = 0; k + 1 < kinds; k++) {
		putc('"', f);
		for (uint32_t i = 0; i < r->ranks; i++)
			putc(r->kind[i] == RANK_ANY ? '-' : r->kind[i] == k ? 'x' : '.', f);
		fprintf(f, "\"[rank] == 'x' ? %s : ", texts[k]);
	}
	fputs(texts[kinds - 1], f);
}

void rank_rule_write(FILE *f, const uint8_t *kind, uint32_t ranks, uint32_t kinds, char *const *texts)
{
	struct rule r = {.kind = kind, .ranks = ranks};
	char condition[RANK_KINDS][64];
	int order[RANK_KINDS];
	assert(kinds > 0 && kinds <= RANK_KINDS);
	for (uint32_t n = 0; n < kinds; n++) {
		order[n] = rarest_kind(&r, kinds);
		if (n + 1 < kinds && !find_condition(&r, (uint8_t)order[n], condition[n], sizeof condition[n])) {
			write_letters(f, &r, kinds, texts);
			return;
		}
		r.written[order[n]] = true;
	}
	for (uint32_t n = 0; n + 1 < kinds; n++)
		fprintf(f, "%s ? %s : ", condition[n], texts[order[n]]);
	fputs(texts[order[kinds - 1]], f);
}
