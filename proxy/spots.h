/* SPDX-License-Identifier: BSD-3-Clause
 * spots - the statements of a program in one list, each in front of those in it
 */
#ifndef SPOOR_PROXY_SPOTS_H
#define SPOOR_PROXY_SPOTS_H

#include "proxy/print.h"

#define SPOT_NONE UINT32_MAX

/* What a statement is, wherever it stands with so many loops around it. */
struct statement_facts {
	const struct tree_node *of;
	int64_t loops;
	uint64_t shape;
	uint32_t letters, lines; /* letters: without tabs in front of it */
};

/* A statement where it stands. */
struct spot {
	const struct tree_node *const *each; /* it, and those behind it */
	uint32_t left;                       /* so many are these */
	uint32_t span;                       /* it, and the statements in it */
	uint32_t facts;
	uint32_t alike; /* the next one of its shape; SPOT_NONE */
	uint32_t same;  /* 1: no other one has it */
	int64_t loops;
	int indent;
};

/* Zero-initialised is empty. */
struct spots {
	struct spot *each;
	uint32_t count, capacity;
	struct statement_facts *facts;
	uint32_t facts_count, facts_capacity;
	struct index by_statement, by_shape;
	struct tree scratch;
};

/* Forgets where statements stand, not what they are. */
void spots_begin(struct spots *s);
/* Adds those of a function. Returns 0, or -1: no memory. */
int spots_add(struct spots *s, const struct tree_node *body);
/* Which of them have the same shape, by its hash: whether they have it is to be looked at. Returns 0, or -1: no memory.
 */
int spots_find_alike(struct spots *s);
void spots_free(struct spots *s);

static inline const struct statement_facts *spots_facts(const struct spots *s, uint32_t spot)
{
	return &s->facts[s->each[spot].facts];
}

/* Letters of a statement where it stands. */
static inline uint64_t spots_letters(const struct spots *s, uint32_t spot)
{
	const struct statement_facts *f = spots_facts(s, spot);
	return f->letters + (uint64_t)f->lines * (uint64_t)s->each[spot].indent;
}

/* How many lists of statements are in a statement, and the i-th one. */
uint32_t spots_lists(const struct tree_node *n);
const struct tree_node *const *spots_list(const struct tree_node *n, uint32_t i, uint32_t *count);

#endif
