/* SPDX-License-Identifier: BSD-3-Clause
 * message_counts - how many messages were sent and received
 */
#include "insight/message_counts.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"

struct message_counts {
	struct message_count *counts;
	uint32_t count, capacity;
	uint32_t *slots; /* open addressing: number of the count + 1; 0 is free */
	uint32_t mask, dests;
	uint32_t *first; /* by destination: number + 1 */
};

struct message_counts *message_counts_create(uint32_t dests)
{
	struct message_counts *m = budget_calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->dests = dests;
	m->mask = 255;
	m->slots = budget_calloc(m->mask + 1, sizeof *m->slots);
	m->first = budget_calloc((size_t)dests + 1, sizeof *m->first);
	if (m->slots && m->first)
		return m;
	message_counts_destroy(m);
	return NULL;
}

void message_counts_destroy(struct message_counts *m)
{
	if (!m)
		return;
	budget_free(m->counts);
	budget_free(m->slots);
	budget_free(m->first);
	budget_free(m);
}

static uint32_t *slot_of_key(const struct message_counts *m, const struct message_key *key)
{
	uint64_t h = hash_mix(hash_mix(hash_mix(19, key->scope), (uint64_t)key->tag),
	                      (uint64_t)key->source << 32 | key->dest);
	for (uint32_t i = (uint32_t)h & m->mask;; i = (i + 1) & m->mask) {
		const struct message_key *at = m->slots[i] ? &m->counts[m->slots[i] - 1].key : NULL;
		if (!at || (at->scope == key->scope && at->tag == key->tag && at->source == key->source &&
		            at->dest == key->dest))
			return &m->slots[i];
	}
}

static int grow_slots(struct message_counts *m)
{
	uint32_t *before = m->slots, mask = m->mask;
	if (!(m->slots = budget_calloc(2 * (size_t)mask + 2, sizeof *m->slots))) {
		m->slots = before;
		return -1;
	}
	m->mask = 2 * mask + 1;
	for (uint32_t i = 0; i < m->count; i++)
		*slot_of_key(m, &m->counts[i].key) = i + 1;
	budget_free(before);
	return 0;
}

static int add_key(struct message_counts *m, const struct message_key *key)
{
	if (m->count >= MESSAGE_KEYS || key->dest >= m->dests || (2 * m->count >= m->mask && grow_slots(m) != 0))
		return -1;
	if (!budget_grow(&m->counts, m->count, &m->capacity, sizeof *m->counts))
		return -1;
	m->counts[m->count] = (struct message_count){.key = *key, .next = m->first[key->dest]};
	m->first[key->dest] = *slot_of_key(m, key) = ++m->count;
	return 0;
}

static struct message_count *count_of(struct message_counts *m, const struct message_key *key)
{
	uint32_t *slot = slot_of_key(m, key);
	uint32_t number = *slot;
	if (number == 0 && add_key(m, key) != 0) /* slot may be gone then */
		return NULL;
	return &m->counts[(number ? number : m->count) - 1];
}

int message_counts_add(struct message_counts *m, const struct message_key *key, uint64_t sent, uint64_t received)
{
	struct message_count *c = count_of(m, key);
	if (!c)
		return -1;
	c->sent += sent;
	c->received += received;
	return 0;
}

int message_counts_post(struct message_counts *m, const struct message_key *key)
{
	struct message_count *c = count_of(m, key);
	if (!c)
		return -1;
	c->posted++;
	return 0;
}

const struct message_count *message_counts_find(const struct message_counts *m, const struct message_key *key)
{
	uint32_t slot = *slot_of_key(m, key);
	return slot ? &m->counts[slot - 1] : NULL;
}

const struct message_count *message_counts_next(const struct message_counts *m, uint32_t dest,
                                                const struct message_count *before)
{
	uint32_t next = before ? before->next : dest < m->dests ? m->first[dest] : 0;
	return next ? &m->counts[next - 1] : NULL;
}
