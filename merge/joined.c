/* SPDX-License-Identifier: BSD-3-Clause
 * joined - what has been computed before, by what it was computed from: bytes to bytes
 */
#include "merge/joined.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

enum { ENTRIES = 512, LONGEST = 512 /* bytes; so it has 256 KiB at most */ };

struct joined {
	struct entry {
		uint32_t from, made; /* bytes */
		uint8_t *bytes;      /* both, one behind the other */
	} entries[ENTRIES];
};

struct joined *joined_new(void)
{
	return budget_calloc(1, sizeof(struct joined));
}

void joined_free(struct joined *m)
{
	for (unsigned i = 0; m && i < ENTRIES; i++)
		budget_free(m->entries[i].bytes);
	budget_free(m);
}

const uint8_t *joined_find(const struct joined *m, const void *from, size_t n, size_t *size)
{
	const struct entry *e = &m->entries[hash_bytes(from, n) % ENTRIES];
	if (!e->bytes || e->from != n || memcmp(e->bytes, from, n) != 0)
		return NULL;
	*size = e->made;
	return e->bytes + n;
}

int joined_keep(struct joined *m, const void *from, size_t n, const void *made, size_t size)
{
	struct entry *e = &m->entries[hash_bytes(from, n) % ENTRIES];
	if (n == 0 || n + size > LONGEST)
		return 0;
	uint8_t *bytes = budget_malloc(n + size);
	if (!bytes)
		return -1;
	memcpy(bytes, from, n);
	memcpy(bytes + n, made, size);
	budget_free(e->bytes);
	*e = (struct entry){(uint32_t)n, (uint32_t)size, bytes};
	return 0;
}
