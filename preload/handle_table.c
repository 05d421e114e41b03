/* SPDX-License-Identifier: BSD-3-Clause
 * handle_table - the hash table of handles
 */
#include "preload/handle_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct handle_table *handle_table;
unsigned handle_table_version;
static size_t used;

/* An entry is written while the version is odd; what was read while it was the same even one is what was there. */
bool handle_table_peek(uint64_t key, struct handle_entry *out)
{
	unsigned before = __atomic_load_n(&handle_table_version, __ATOMIC_ACQUIRE);
	const struct handle_table *t = __atomic_load_n(&handle_table, __ATOMIC_ACQUIRE);

	if (before & 1 || !t)
		return false;
	size_t i = handle_table_home(t, key);
	for (size_t n = 0; n <= t->mask; n++, i = (i + 1) & t->mask) {
		uint64_t found = __atomic_load_n(&t->slot[i].key, __ATOMIC_RELAXED);

		if (found == key)
			break;
		if (!found)
			return false;
	}
	out->key = key;
	out->number = __atomic_load_n(&t->slot[i].number, __ATOMIC_RELAXED);
	out->freer = __atomic_load_n(&t->slot[i].freer, __ATOMIC_RELAXED);
	out->words[0] = __atomic_load_n(&t->slot[i].words[0], __ATOMIC_RELAXED);
	out->words[1] = __atomic_load_n(&t->slot[i].words[1], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !out->freer && __atomic_load_n(&t->slot[i].key, __ATOMIC_RELAXED) == key &&
	       __atomic_load_n(&handle_table_version, __ATOMIC_RELAXED) == before;
}

static struct handle_table *make_table(size_t slots)
{
	int saved = errno;
	struct handle_table *t = calloc(1, sizeof(*t) + slots * sizeof(t->slot[0]));

	errno = saved;
	if (!t)
		return NULL;
	t->mask = slots - 1;
	t->shift = 64 - __builtin_ctzl(slots);
	return t;
}

static struct handle_entry *empty_slot(struct handle_table *t, uint64_t key)
{
	size_t i = handle_table_home(t, key);

	while (t->slot[i].key)
		i = (i + 1) & t->mask;
	return &t->slot[i];
}

static bool grow_table(void)
{
	/* 512: all predefined handles of Open MPI fit without growing */
	struct handle_table *old = handle_table, *bigger = make_table(old ? 2 * (old->mask + 1) : 512);

	if (!bigger)
		return false;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i].key)
			*empty_slot(bigger, old->slot[i].key) = old->slot[i];
	if (handle_locking) {
		bigger->smaller = old; /* all of them together are as large as the new one */
	} else {
		bigger->smaller = old ? old->smaller : NULL;
		free(old);
	}
	__atomic_store_n(&handle_table, bigger, __ATOMIC_RELEASE);
	return true;
}

struct handle_entry *handle_table_insert(uint64_t key, int32_t number)
{
	struct handle_entry *e = handle_table_find(key);

	if (e)
		return e;
	if (2 * (used + 1) > (handle_table ? handle_table->mask + 1 : 0) && !grow_table())
		return NULL;
	used++;
	e = empty_slot(handle_table, key);
	handle_table_write_begin();
	memset(e, 0, sizeof(*e));
	e->number = number;
	e->key = key;
	handle_table_write_end();
	return e;
}

void handle_table_remove(struct handle_entry *e)
{
	struct handle_table *t = handle_table;
	size_t hole = e - t->slot;

	handle_table_write_begin();
	for (size_t i = (hole + 1) & t->mask; t->slot[i].key; i = (i + 1) & t->mask) {
		/* Entry i may fill the hole unless its home lies between the hole and itself. */
		if (((i - handle_table_home(t, t->slot[i].key)) & t->mask) >= ((i - hole) & t->mask)) {
			t->slot[hole] = t->slot[i];
			hole = i;
		}
	}
	t->slot[hole].key = 0;
	handle_table_write_end();
	used--;
}

void handle_table_clear(void)
{
	for (struct handle_table *t = handle_table, *smaller; t; t = smaller) {
		smaller = t->smaller;
		free(t);
	}
	handle_table = NULL;
	used = 0;
}
