/* SPDX-License-Identifier: BSD-3-Clause
 * comm_groups - which of the ranks' own communicators are the same, and who is in them
 */
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/read/comm_own.h"

static struct own **sorted(struct comms *c)
{
	struct own **list = budget_malloc((c->count + 1) * sizeof *list);
	for (size_t i = 0; list && i < c->count; i++)
		list[i] = &c->own[i];
	return list;
}

/* The key of all of an intercommunicator is that of one group. */
static uint64_t whole_key(const struct own *own)
{
	return own->inter && own->other < own->key ? own->other : own->key;
}

static bool is_second(const struct own *own)
{
	return own->inter && own->other < own->key;
}

static int by_key(const void *a, const void *b)
{
	const struct own *x = *(struct own *const *)a, *y = *(struct own *const *)b;
	if (whole_key(x) != whole_key(y))
		return whole_key(x) < whole_key(y) ? -1 : 1;
	if (is_second(x) != is_second(y))
		return is_second(x) ? 1 : -1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->stream != y->stream ? (x->stream < y->stream ? -1 : 1)
	                              : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static uint32_t *members_make(int64_t size)
{
	uint32_t *members = budget_malloc((size_t)size * sizeof *members);
	if (members)
		memset(members, 0xff, (size_t)size * sizeof *members); /* RANK_UNKNOWN */
	return members;
}

/* Those with one key and size: one communicator, or several if a rank in it comes more than once. */
static int comm_found(struct comms *c, struct own **list, size_t n)
{
	size_t several = 1;
	for (size_t i = 0, k = 0; i < n; i++) {
		k = i > 0 && list[i]->rank == list[i - 1]->rank ? k + 1 : 1;
		several = k > several ? k : several;
	}
	struct comm *comms = budget_realloc(c->comms, (c->comm_count + several) * sizeof *comms);
	if (!comms)
		return -1;
	c->comms = comms;
	for (size_t i = 0; i < several; i++) {
		struct comm *new = &comms[c->comm_count + i];
		*new = (struct comm){.size = (uint32_t)list[0]->size,
		                     .members = members_make(list[0]->size),
		                     .parent = COMM_UNKNOWN};
		if (!new->members) {
			c->comm_count += (uint32_t)i;
			return -1;
		}
	}
	for (size_t i = 0, k = 0; i < n; i++) {
		k = i > 0 && list[i]->rank == list[i - 1]->rank ? k + 1 : 0;
		struct comm *new = &comms[c->comm_count + k];
		if (list[i]->rank < 0 || list[i]->rank >= list[i]->size)
			continue;
		list[i]->number = c->comm_count + (uint32_t)k;
		new->members[list[i]->rank] = stream_rank(c->trace, list[i]->stream);
		if (!new->name)
			new->name = list[i]->name;
	}
	c->comm_count += (uint32_t)several;
	return 0;
}

/* An intercommunicator: the first `first` are of one group. Where both do not fit together, it is not known. */
static int inter_found(struct comms *c, struct own **list, size_t first, size_t n)
{
	if (first == 0 || first == n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (i != first && (list[i]->size != list[i - 1]->size || list[i]->rank == list[i - 1]->rank))
			return 0;
	struct comm *comms = budget_realloc(c->comms, (c->comm_count + (size_t)1) * sizeof *comms),
		    new = {.size = (uint32_t)list[0]->size,
	                   .remote_size = (uint32_t)list[first]->size,
	                   .members = members_make(list[0]->size),
	                   .remote = members_make(list[first]->size),
	                   .second = budget_calloc(c->trace->size / 8 + 1, 1),
	                   .parent = COMM_UNKNOWN};
	if (comms)
		c->comms = comms;
	if (!comms || !new.members || !new.remote || !new.second) {
		budget_free(new.members);
		budget_free(new.remote);
		budget_free(new.second);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t home = list[i]->home;
		if (list[i]->rank < 0 || list[i]->rank >= list[i]->size)
			continue;
		list[i]->number = c->comm_count;
		(i < first ? new.members : new.remote)[list[i]->rank] = home;
		if (i >= first)
			new.second[home / 8] |= (uint8_t)(1U << home % 8);
		if (!new.name)
			new.name = list[i]->name;
	}
	comms[c->comm_count++] = new;
	return 0;
}

/* All with one key. */
static int key_found(struct comms *c, struct own **list, size_t n)
{
	size_t first = 0;
	if (list[0]->inter) {
		while (first < n && !is_second(list[first]))
			first++;
		return !list[0]->other || list[0]->size > c->trace->size || list[n - 1]->size > c->trace->size
		               ? 0
		               : inter_found(c, list, first, n);
	}
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end]->size == list[i]->size;)
			end++;
		if (list[i]->size > c->trace->size) /* with processes of other worlds in it */
			continue;
		if (comm_found(c, &list[i], end - i) != 0)
			return -1;
	}
	return 0;
}

/* By the lowest rank that made it, and when: the order that people expect. */
static int by_appearance(const void *a, const void *b)
{
	const struct own *x = *(struct own *const *)a, *y = *(struct own *const *)b;
	return x < y ? -1 : x > y;
}

int comm_groups_make(struct comms *c)
{
	int rv = -1;
	struct own **list = sorted(c);
	struct comm *ordered = NULL;
	uint32_t *renamed = NULL;
	if (c->count == 0) {
		budget_free(list);
		return 0;
	}
	if (!list)
		return -1;
	qsort(list, c->count, sizeof *list, by_key);
	for (size_t i = 0, end; i < c->count; i = end) {
		for (end = i + 1; end < c->count && whole_key(list[end]) == whole_key(list[i]);)
			end++;
		if (whole_key(list[i]) != 0 && key_found(c, &list[i], end - i) != 0)
			goto done;
	}
	ordered = budget_malloc(c->comm_count * sizeof *ordered);
	renamed = budget_malloc(c->comm_count * sizeof *renamed);
	if (!ordered || !renamed)
		goto done;
	memset(renamed, 0xff, c->comm_count * sizeof *renamed);
	renamed[COMM_WORLD] = COMM_WORLD;
	renamed[COMM_SELF] = COMM_SELF;
	qsort(list, c->count, sizeof *list, by_appearance);
	uint32_t next = 2;
	for (size_t i = 0; i < c->count; i++)
		if (list[i]->number != COMM_UNKNOWN && renamed[list[i]->number] == COMM_UNKNOWN)
			renamed[list[i]->number] = next++;
	for (uint32_t i = 0; i < c->comm_count; i++) /* nobody's */
		if (renamed[i] == COMM_UNKNOWN)
			renamed[i] = next++;
	for (uint32_t i = 0; i < c->comm_count; i++)
		ordered[renamed[i]] = c->comms[i];
	memcpy(c->comms, ordered, c->comm_count * sizeof *ordered);
	for (size_t i = 0; i < c->count; i++) {
		struct own *own = &c->own[i];
		if (own->number == COMM_UNKNOWN)
			continue;
		own->number = renamed[own->number];
		/* of an intercommunicator that was made of two: where their leaders met */
		uint32_t parent = own->origin == ORIGIN_HALF ? own->met : own->parent;
		if (parent == OWN_WORLD)
			c->comms[own->number].parent = COMM_WORLD;
		else if (parent < i)
			c->comms[own->number].parent = c->own[parent].number;
	}
	rv = 0;
done:
	budget_free(list);
	budget_free(ordered);
	budget_free(renamed);
	return rv;
}
