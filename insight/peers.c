/* SPDX-License-Identifier: BSD-3-Clause
 * peers - the ranks of a trace as a graph
 */
#include "insight/peers.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

static bool joins(const struct traffic_cell *c, uint32_t size)
{
	return c->from != c->to && c->from < size && c->to < size;
}

/* That of the other direction, or NULL. Cells are by from, then to. */
static const struct traffic_cell *cell_back(const struct traffic *m, const struct traffic_cell *c)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct traffic_cell *at = &m->cells[middle];
		if (at->from < c->to || (at->from == c->to && at->to < c->from))
			low = middle + 1;
		else
			high = middle;
	}
	const struct traffic_cell *at = low < m->count ? &m->cells[low] : NULL;
	return at && at->from == c->to && at->to == c->from ? at : NULL;
}

static uint64_t cell_messages(const struct traffic_cell *c)
{
	return c ? c->messages + c->one_sided + c->passed : 0;
}

static uint64_t cell_bytes(const struct traffic_cell *c)
{
	return c ? c->bytes + c->one_sided_bytes + c->passed_bytes : 0;
}

/* Calls put for both ends of each pair that has traffic. */
static void each_end(const struct peers *p, const struct traffic *m,
                     void (*put)(void *context, uint32_t at, uint32_t other, const struct traffic_cell *to,
                                 const struct traffic_cell *back),
                     void *context)
{
	for (size_t i = 0; i < m->count && budget_step(4); i++) {
		const struct traffic_cell *c = &m->cells[i];
		if (!joins(c, p->size))
			continue;
		const struct traffic_cell *back = cell_back(m, c);
		put(context, c->from, c->to, c, back);
		if (!back)
			put(context, c->to, c->from, c, NULL);
	}
}

static void count_end(void *context, uint32_t at, uint32_t other, const struct traffic_cell *to,
                      const struct traffic_cell *back)
{
	struct peers *p = context;
	(void)other, (void)to, (void)back;
	p->first[at + 1]++;
}

struct filling {
	struct peers *p;
	uint64_t *next; /* by rank */
};

static void put_end(void *context, uint32_t at, uint32_t other, const struct traffic_cell *to,
                    const struct traffic_cell *back)
{
	struct filling *f = context;
	uint64_t i = f->next[at]++;
	f->p->peer[i] = other;
	f->p->bytes[i] = cell_bytes(to) + cell_bytes(back);
	f->p->messages[i] = cell_messages(to) + cell_messages(back);
}

int peers_make(struct peers *p, const struct traffic *m, uint32_t size, struct error *error)
{
	*p = (struct peers){.size = size, .uniform_bytes = m->sums.uniform_bytes, .uniform_messages = m->sums.uniform};
	p->first = budget_calloc((size_t)size + 1, sizeof *p->first);
	if (!p->first)
		return error_set(error, "no memory");
	each_end(p, m, count_end, p);
	for (uint32_t r = 0; r < size; r++)
		p->first[r + 1] += p->first[r];
	size_t ends = p->first[size];
	struct filling f = {p, budget_malloc(((size_t)size + 1) * sizeof *f.next)};
	p->peer = budget_malloc((ends + 1) * sizeof *p->peer);
	p->bytes = budget_malloc((ends + 1) * sizeof *p->bytes);
	p->messages = budget_malloc((ends + 1) * sizeof *p->messages);
	bool whole = f.next && p->peer && p->bytes && p->messages;
	if (whole) {
		memcpy(f.next, p->first, ((size_t)size + 1) * sizeof *f.next);
		each_end(p, m, put_end, &f);
	}
	budget_free(f.next);
	return whole && budget_step(1) ? 0 : error_set(error, "no memory");
}

void peers_free(struct peers *p)
{
	budget_free(p->first);
	budget_free(p->peer);
	budget_free(p->bytes);
	budget_free(p->messages);
	*p = (struct peers){.size = 0};
}
