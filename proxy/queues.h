/* SPDX-License-Identifier: BSD-3-Clause
 * queues - numbers of a large program that have no rule: each place takes the next one of its own
 *
 *     Bcast(22, 0, comm[next(7)])        at each visit, the next number of the rank in queue 7
 *
 * At the end of the program stands a text, letters as those of dense_code.h, with all queues one behind the other.
 * Ranks with the same numbers have a row in common. Of each queue the text says from which one before it follows (0:
 * none). If from one, its numbers are those times a number, and so much more. Else the text says how many rows it has;
 * of each rank, how many rows come behind its own of those that were there already (0: a new one); of each row, by how
 * much it is longer than the one before it, and how many numbers at its end come again for ever (QUEUE_LAST, QUEUE_ALL,
 * or so many); then the numbers of all rows. Copies may be of queues before.
 */
#ifndef SPOOR_PROXY_QUEUES_H
#define SPOOR_PROXY_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proxy/definition.h"

enum { QUEUE_LAST, QUEUE_ALL };

/* What a rank takes: the first `lead`, and then `period` again and again. */
struct queue_list {
	int64_t *values;
	uint64_t lead, period;
	uint32_t row; /* the first rank with the same values has it, too */
};

struct queues {
	struct queue {
		int64_t *values;
		uint32_t count, row; /* and of the first row */
		uint64_t *head;      /* what the text says in front of them */
		uint32_t head_count, head_capacity;
		size_t size; /* letters, if it stood alone */
		uint32_t id; /* in the program, + 1; 0: it is not there */
	} * each;
	uint32_t count, capacity;
	uint32_t *order, ids, ids_capacity; /* of each id, its queue */
	bool arrays;                        /* numbers() is asked for */
};

/* Which ranks have the same values: rows, in the order of their first ranks. Ranks without values have none. Returns 0,
 * or -1: no memory. */
int queues_find_rows(struct queue_list *of_rank, uint32_t ranks, uint32_t *rows);
/* Adds a queue. none: ranks that take nothing. rows: how many there are. Returns its number, or -1: no memory; -2: it
 * has numbers that are too large. */
int64_t queues_add(struct queues *q, const struct queue_list *of_rank, const bool *none, uint32_t ranks, uint32_t rows);
/* A node for its number, which it has once queues_take has seen it. Its letters count as a definition. */
const struct tree_node *queues_use(const struct queues *q, struct tree *t, struct definitions *d, uint32_t number);
/* Queues in a node are in the program: they get the next numbers. Returns 0, or -1: no memory. */
int queues_take(struct queues *q, const struct tree_node *n);
/* Writes next(), and numbers() if it is asked for, with the texts of the queues that were taken. It asks for functions
 * of dense.h. Returns 0, or -1: no memory. */
int queues_write(const struct queues *q, FILE *out);
void queues_free(struct queues *q);

#endif
