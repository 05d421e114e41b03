/* SPDX-License-Identifier: BSD-3-Clause
 * index - finds things in a pool by content
 */
#include "trace/base/index.h"

#include <string.h>

#include "trace/base/budget.h"

void index_free(struct index *x)
{
	budget_free(x->slots);
	*x = (struct index){0};
}

uint32_t index_find(const struct index *x, uint64_t hash, bool (*equal)(const void *context, uint32_t number),
                    const void *context)
{
	if (!x->slots)
		return INDEX_NONE;
	uint32_t half = (uint32_t)hash;
	for (size_t i = half & x->mask; x->slots[i].number; i = (i + 1) & x->mask)
		if (x->slots[i].hash == half && equal(context, x->slots[i].number - 1))
			return x->slots[i].number - 1;
	return INDEX_NONE;
}

static void insert(struct index_slot *slots, size_t mask, struct index_slot s)
{
	size_t i = s.hash & mask;
	while (slots[i].number)
		i = (i + 1) & mask;
	slots[i] = s;
}

int index_add(struct index *x, uint64_t hash, uint32_t number)
{
	if ((x->count + 1) * 2 > (x->slots ? x->mask + 1 : 0)) {
		size_t size = x->slots ? (x->mask + 1) * 2 : 64;
		struct index_slot *slots = budget_calloc(size, sizeof *slots);
		if (!slots)
			return -1;
		for (size_t i = 0; x->slots && i <= x->mask; i++)
			if (x->slots[i].number)
				insert(slots, size - 1, x->slots[i]);
		budget_free(x->slots);
		x->slots = slots;
		x->mask = size - 1;
	}
	insert(x->slots, x->mask, (struct index_slot){(uint32_t)hash, number + 1});
	x->count++;
	return 0;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = hash_mix(UINT64_C(0x2545f4914f6cdd1d), n), word;
	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = hash_mix(h, word);
	}
	word = 0;
	memcpy(&word, p, n);
	return hash_mix(h, word);
}

static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t hash_four(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return mix_bits(mix_bits(mix_bits(mix_bits(a + 1) ^ (b + 0x9e3779b97f4a7c15u)) + c) ^
	                (d * 0xda942042e4dd58b5u));
}
