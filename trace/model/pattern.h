/* SPDX-License-Identifier: BSD-3-Clause
 * pattern - a sequence of dictionary tokens as a grammar, as it is stored (doc/trace-format.md, section "Patterns")
 *
 * Rules refer only to rules before them, and the last rule is the sequence: no cycles by construction, and lengths
 * follow in one pass.
 */
#ifndef SPOOR_PATTERN_H
#define SPOOR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_NEW 0 /* token: the next value of the dictionary; k + 1 is dictionary value k */

struct pattern_symbol {
	uint64_t exponent;
	uint32_t id;   /* token or rule */
	uint32_t rule; /* 1: id is a rule */
};

struct pattern_rule {
	size_t first, end; /* symbols */
	uint64_t length;   /* tokens in the expansion */
	uint64_t news;     /* `new` tokens among them */
	uint64_t needs;    /* values that have to be known before it */
};

struct pattern {
	struct pattern_symbol *symbols;
	struct pattern_rule *rules;
	size_t rule_count;
};

/* Parses and checks. Returns 0, or -1 if the bytes are no pattern (or no memory). The caller frees it in any case. */
int pattern_parse(struct pattern *p, const uint8_t *bytes, size_t n);
/* Is each token but `new` of a value that came before it? So it is in the pattern of a column. */
bool pattern_whole(const struct pattern *p);
void pattern_free(struct pattern *p);

/* Tokens in all, and how many of them are `new` (the size of the dictionary). */
uint64_t pattern_length(const struct pattern *p);
uint64_t pattern_news(const struct pattern *p);
/* Of a whole pattern: which value of the dictionary comes last. */
uint64_t pattern_last(const struct pattern *p);
/* The same: how often each value of the dictionary comes; counts has room for all, and is set. Returns 0 or -1 (no
 * memory). */
int pattern_count(const struct pattern *p, uint64_t *counts);
/* Largest number of tokens, written out as runs, that a reader must look at; for the sizes of parts. */
size_t pattern_symbols(const struct pattern *p);

/* A position in a pattern. Valid as long as the pattern. */
struct pattern_cursor {
	const struct pattern *pattern;
	struct pattern_level {
		size_t rule, at;
		uint64_t times; /* turns of this rule left, this one included */
	} * stack;
	size_t depth, capacity;
};

/* Before the first token. Returns 0 or -1 (no memory). */
int pattern_begin(struct pattern_cursor *c, const struct pattern *p);
void pattern_end(struct pattern_cursor *c);
/* The next run of equal tokens within one symbol. Returns 0, 1 at the end, -1 no memory. */
int pattern_next(struct pattern_cursor *c, uint32_t *token, uint64_t *count);

/* Leaves out symbols while they fit into *n tokens, takes off *n what they are, and adds how many of them were `new`.
 * What is left of *n is inside the run that pattern_next gives then. Costs what the grammar's depth and the length of
 * its rules cost. Returns 0, -1 no memory. */
int pattern_skip(struct pattern_cursor *c, uint64_t *n, uint64_t *news);

#endif
