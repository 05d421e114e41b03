/* SPDX-License-Identifier: BSD-3-Clause
 * grammar - compresses a sequence of runs online: Sequitur with powers (Pilgrim, SC'21, section 2.2)
 *
 * A grammar is a set of rules in an arena; each symbol is a terminal (a token) or a rule, with an exponent. No two
 * equal symbols stand side by side (they are one symbol with a higher exponent), no pair of neighbours (symbol and
 * exponent both) stands twice in one grammar (it becomes a rule), and no rule is used only once with exponent 1 (it is
 * put in place). So a loop nest with constant trip counts has constant size: `a b^3 c a b^3 c a b^3 c` is S -> R^3, R
 * -> a b^3 c.
 *
 *     struct node            next, prev: a rule's symbols are a ring that starts and ends at the rule's guard
 *     guard of rule R        exponent 0; symbol = how many symbols refer to R; a reference to R is R's guard
 *     symbol                 symbol = token << 1, or (reference << 0) | 1: references are multiples of 8
 *     owner                  the start rule of the grammar that the node belongs to
 *
 * Each append is one operation of the arena (arena.h). The index of pairs is not in the arena: it is only needed to go
 * on, and is rebuilt by grammar_index_add() for an arena that is read after a crash.
 */
#ifndef SPOOR_GRAMMAR_H
#define SPOOR_GRAMMAR_H

#include "trace/base/arena.h"
#include "trace/base/varint.h"

struct node {
	ref next, prev;
	uint32_t symbol;
	ref owner;
	uint64_t exponent;
};

/* The pairs of neighbours of all grammars of one arena, in private memory. Zero-initialised with .arena set is empty.
 * */
struct grammar_index {
	struct arena *arena;
	ref *slots;
	size_t mask, count;
	ref *queue; /* symbols to check, while an operation is under way */
	size_t queued, queue_capacity;
	uint32_t nodes; /* made, less those that were given back: how much an append adds is a difference of two */
};

/* The node that r refers to; what a node's and a symbol's words say (above). */
static inline struct node *grammar_node(const struct grammar_index *g, ref r)
{
	return arena_at(g->arena, struct node, r);
}

static inline bool grammar_is_guard(const struct node *n)
{
	return n->exponent == 0;
}

static inline bool grammar_is_rule(uint32_t symbol)
{
	return symbol & 1;
}

static inline ref grammar_rule_of(uint32_t symbol)
{
	return symbol & ~UINT32_C(1);
}

/* What one append may allocate in the arena at most: callers see to it that arena_room(GRAMMAR_ROOM) holds. */
#define GRAMMAR_ROOM 8192

void grammar_index_free(struct grammar_index *g);

/* A new, empty grammar; 0 if there is no room. */
ref grammar_create(struct grammar_index *g);
/* Appends token^count. Returns 0, or -1 if there was no memory (the grammar is then still valid, without the token). */
int grammar_append(struct grammar_index *g, ref start, uint32_t token, uint64_t count);
/* Appends rule^count, a rule of this grammar. */
int grammar_append_rule(struct grammar_index *g, ref start, ref rule, uint64_t count);

/* The rule that the sequence ends with, if it does so with an exponent of 2 or more: a loop under way; else 0. */
ref grammar_loop(const struct grammar_index *g, ref start);

/* Writes the expansion of a rule as runs, in order. Returns how many there are, or 0 if there are more than max, or a
 * run has token `refused` or is longer than UINT32_MAX. */
struct grammar_run {
	uint32_t token, length;
};
size_t grammar_expand(const struct grammar_index *g, ref rule, uint32_t refused, struct grammar_run *out, size_t max);

/* Adds the pairs of a grammar that was read from an untrusted arena, after checking it: references in range, rings
 * closed, no rule contains itself. Returns 0, or -1 if it is damaged. */
int grammar_index_add(struct grammar_index *g, ref start);

/* How many symbols the rules have in all; may stop counting once there are more than `limit`. */
uint32_t grammar_size(const struct grammar_index *g, ref start, uint32_t limit);
/* Symbols of what is not in any rule, but at most `most`: a look that takes no longer than that. */
uint32_t grammar_length(const struct grammar_index *g, ref start, uint32_t most);
/* Where a grammar may be cut so that it has at least so many tokens: in a symbol of the start rule. */
struct grammar_end {
	ref last;              /* the symbol */
	uint64_t exponent;     /* that it has then */
	uint64_t length, news; /* tokens up to there, and how many of them are token 0 */
};
/* Returns 0 or -1 (no memory). The grammar has a symbol. */
int grammar_find_end(const struct grammar_index *g, ref start, uint64_t least, struct grammar_end *out);
/* Gives back what is behind that. Nothing may be appended to the grammar from then on. Without memory it stays whole.
 */
void grammar_cut(struct grammar_index *g, ref start, const struct grammar_end *end);
/* Gives the memory of a grammar that nothing refers to any more back to the arena. */
void grammar_destroy(struct grammar_index *g, ref start);

/* Writes the rules in the form of doc/trace-format.md section "Patterns": children before parents, the start rule last.
 * Returns 0, or -1 on no memory. */
int grammar_write(const struct grammar_index *g, ref start, struct writer *out);

#endif
