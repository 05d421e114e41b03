/* SPDX-License-Identifier: BSD-3-Clause
 * algorithm - for up to 40 processes, each algorithm's sends meet their receives, nobody waits for ever, and what each
 * process must know in the end has come to it
 */
#include "insight/algorithm.h"

#include <string.h>

#include "tests/unit/tap.h"

enum { MOST = 40, STEPS = 4096, PIECE = 1 << 20 };

/* A message under way: who knew what when it was sent. */
static struct message {
	uint32_t from, to, phase, tag;
	uint64_t knows;
	bool taken;
} messages[MOST * MOST * 8];
static size_t count;
static uint64_t sent[MOST], got[MOST], knows[MOST];

static void put(const struct algorithm_step *s, uint32_t self, uint32_t phase)
{
	if (s->to == ALGORITHM_NOBODY)
		return;
	sent[self] += s->bytes;
	got[s->to] += s->bytes;
	messages[count++] = (struct message){self, s->to, phase, s->tag, knows[self], false};
}

/* False: it is not there yet. */
static bool take(const struct algorithm_step *s, uint32_t self, uint32_t phase)
{
	if (s->from == ALGORITHM_NOBODY)
		return true;
	for (size_t i = 0; i < count; i++) {
		struct message *m = &messages[i];
		if (m->from == s->from && m->to == self && m->phase == phase && m->tag == s->tag && !m->taken) {
			knows[self] |= m->knows;
			return m->taken = true;
		}
	}
	return false;
}

static struct process {
	struct algorithm_call call;
	struct algorithm_place at;
	struct algorithm_step step;
	bool waits, done;
} processes[MOST];

/* One step, or nothing if it waits. Returns whether it came on. */
static bool step(struct process *p)
{
	if (p->done)
		return false;
	if (!p->waits) {
		p->done = !algorithm_next(&p->call, &p->at, &p->step);
		if (p->done)
			return true;
		put(&p->step, p->call.self, p->at.phase);
		p->waits = true;
	}
	if (!take(&p->step, p->call.self, p->at.phase))
		return false;
	p->waits = false;
	return true;
}

static bool play(enum collective c, enum algorithm a, uint32_t size, uint32_t root)
{
	bool moved = true, all = true;
	count = 0;
	for (uint32_t i = 0; i < size; i++) {
		processes[i] = (struct process){.call = {c, a, size, i, root, PIECE}};
		knows[i] = UINT64_C(1) << i;
		sent[i] = got[i] = 0;
	}
	while (moved) {
		moved = false;
		for (uint32_t i = size; i-- > 0;)
			while (step(&processes[i]))
				moved = true;
	}
	for (uint32_t i = 0; i < size; i++)
		all = all && processes[i].done;
	for (size_t i = 0; i < count; i++)
		all = all && messages[i].taken;
	return all;
}

static bool is_known(enum collective c, uint32_t size, uint32_t root)
{
	const uint64_t all = (UINT64_C(1) << size) - 1;
	for (uint32_t i = 0; i < size; i++) {
		uint64_t must = all;
		if (c == COLLECTIVE_BCAST || c == COLLECTIVE_SCATTER || c == COLLECTIVE_SCATTERV)
			must = UINT64_C(1) << root;
		else if ((c == COLLECTIVE_REDUCE || c == COLLECTIVE_GATHER || c == COLLECTIVE_GATHERV) && i != root)
			must = 0;
		else if (c == COLLECTIVE_SCAN || c == COLLECTIVE_EXSCAN)
			must = (UINT64_C(2) << i) - 1;
		if ((knows[i] & must) != must)
			return false;
	}
	return true;
}

/* Where each process ends with, or begins with, one piece of each: it passes on no fewer bytes than that. */
static bool is_enough(enum collective c, uint32_t size, uint32_t root)
{
	const uint64_t others = (uint64_t)PIECE * (size - 1);
	bool enough = true;
	for (uint32_t i = 0; i < size; i++) {
		if (c == COLLECTIVE_ALLGATHER || c == COLLECTIVE_ALLGATHERV || c == COLLECTIVE_ALLTOALL)
			enough = enough && sent[i] >= others && got[i] >= others;
		if ((c == COLLECTIVE_GATHER || c == COLLECTIVE_GATHERV) && i == root)
			enough = enough && got[i] == others;
		if ((c == COLLECTIVE_SCATTER || c == COLLECTIVE_SCATTERV) && i == root)
			enough = enough && sent[i] == others;
	}
	return enough;
}

static bool is_right(enum collective c, enum algorithm a, uint32_t size)
{
	for (uint32_t root = 0; root < size; root += 1 + size / 4)
		if (!play(c, a, size, root) || !is_known(c, size, root) || !is_enough(c, size, root)) {
			printf("# %u processes, root %u\n", size, root);
			return false;
		}
	return true;
}

/* Recursive doubling of pieces is for powers of two. */
static bool is_for(enum collective c, enum algorithm a, uint32_t size)
{
	return c != COLLECTIVE_ALLGATHER || a != ALGORITHM_RECURSIVE_DOUBLING || (size & (size - 1)) == 0;
}

int main(void)
{
	struct algorithm_place at = {0, 0};
	struct algorithm_step s;
	ok(!algorithm_next(&(struct algorithm_call){COLLECTIVE_BARRIER, ALGORITHM_RING, 4, 0, 0, 0}, &at, &s),
	   "an algorithm that does not fit does nothing");
	ok(!algorithm_next(&(struct algorithm_call){COLLECTIVE_BARRIER, ALGORITHM_DISSEMINATION, 1, 0, 0, 0}, &at, &s),
	   "one process has nobody to talk to");
	ok(!algorithm_next(&(struct algorithm_call){COLLECTIVE_BCAST, ALGORITHM_BINOMIAL, 0, 0, 9, 0}, &at, &s),
	   "nor has none");
	for (int c = 0; c < COLLECTIVES; c++)
		for (int a = ALGORITHM_IDEAL + 1; a < ALGORITHMS; a++) {
			bool right = true;
			if (!algorithm_fits((enum collective)c, (enum algorithm)a))
				continue;
			for (uint32_t size = 2; right && size <= MOST; size++)
				right = !is_for((enum collective)c, (enum algorithm)a, size) ||
				        is_right((enum collective)c, (enum algorithm)a, size);
			ok(right, "%s: %s", collective_name((enum collective)c), algorithm_name((enum algorithm)a));
		}
	bool fits = true;
	for (int c = 0; c < COLLECTIVES; c++)
		for (uint32_t size = 1; size <= MOST; size++)
			for (uint64_t bytes = 0; bytes <= 1 << 22; bytes = 4 * bytes + 1)
				fits = fits && algorithm_fits((enum collective)c,
				                              algorithm_usual((enum collective)c, size, bytes));
	ok(fits, "the usual algorithm fits");
	return tap_end();
}
