/* SPDX-License-Identifier: BSD-3-Clause
 * dictionary - the values of a column in order of first appearance, while it grows
 */
#ifndef SPOOR_DICTIONARY_H
#define SPOOR_DICTIONARY_H

#include "trace/record/column.h"

/* Stretches that are searched one by one; behind them the dictionary has single values only, found by hash. */
#define DICTIONARY_LINEAR 16

/* The column's stretches, dict_count of them. Valid until the next dictionary_add. */
static inline struct dict_run *dictionary_runs(const struct columns *x, struct column *c)
{
	return c->dict ? arena_at(x->arena, struct dict_run, c->dict) : &c->first;
}

/* The number of a value; -1: it is new, or memory for the hash table was short. */
int64_t dictionary_find(const struct columns *x, struct column *c, int64_t value);
/* The value that has this number, which must be one of the dictionary's. */
int64_t dictionary_value(const struct columns *x, struct column *c, uint32_t index);
/* Adds a value that is not there. False: no memory, and nothing has changed. */
bool dictionary_add(struct columns *x, struct column *c, int64_t value);
/* A run of new values may have gone on for `run` values without the dictionary being told: tells it. */
void dictionary_sync(struct columns *x, struct column *c, uint64_t run);
/* Keeps the first `count` values of a column that gets no more of them, and that the hash table knows nothing of. */
void dictionary_cut(struct columns *x, struct column *c, uint64_t count);

/* The hash table alone: a number for (column, value); -1: there is none. Columns without order use it for their
 * tallies. Where memory is short nothing is added: the value will be new once more, which is larger, and still exact.
 * */
int64_t dictionary_slot(const struct columns *x, const struct column *c, int64_t value);
void dictionary_slot_add(struct columns *x, const struct column *c, int64_t value, uint32_t number);
void dictionary_slot_remove(struct columns *x, const struct column *c, int64_t value);

#endif
