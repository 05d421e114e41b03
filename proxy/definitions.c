/* SPDX-License-Identifier: BSD-3-Clause
 * definitions - the functions and tables that a program defines, by their names
 */
#include "proxy/definitions.h"

#include <string.h>

#include "trace/base/budget.h"

/* Reads the beginning of a line. Returns false: it defines nothing. */
static bool read_definition(struct text_definition *one, const char *at)
{
	static const char FUNCTION[] = "static void ", TABLE[] = "static const long ", SIDE[] = "[] =";
	bool function = strncmp(at, FUNCTION, strlen(FUNCTION)) == 0;
	if (!function && strncmp(at, TABLE, strlen(TABLE)) != 0)
		return false;
	one->name = at + strlen(function ? FUNCTION : TABLE);
	one->size = strcspn(one->name, function ? "(\n" : "[\n");
	const char *behind = one->name + one->size;
	one->given = function ? behind + 1 : NULL;
	return function ? *behind == '(' : strncmp(behind, SIDE, strlen(SIDE)) == 0;
}

struct text_definition_key {
	const struct text_definitions *d;
	const char *word;
	size_t n;
};

static bool is_of_name(const void *context, uint32_t i)
{
	const struct text_definition_key *k = context;
	return k->d->each[i].size == k->n && memcmp(k->d->each[i].name, k->word, k->n) == 0;
}

static uint32_t find(const struct text_definitions *d, const char *word, size_t n)
{
	struct text_definition_key key = {d, word, n};
	return index_find(&d->index, hash_bytes(word, n), is_of_name, &key);
}

int text_definitions_read(struct text_definitions *d, const char *text)
{
	struct text_definition one;
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (!read_definition(&one, at) || find(d, one.name, one.size) != INDEX_NONE)
			continue;
		if (!budget_grow(&d->each, d->count, &d->capacity, sizeof *d->each) ||
		    index_add(&d->index, hash_bytes(one.name, one.size), d->count) != 0)
			return -1;
		d->each[d->count++] = one;
	}
	return 0;
}

const struct text_definition *text_definitions_find(const struct text_definitions *d, const char *word, size_t n)
{
	uint32_t i = find(d, word, n);
	return i == INDEX_NONE ? NULL : &d->each[i];
}

void text_definitions_free(struct text_definitions *d)
{
	budget_free(d->each);
	index_free(&d->index);
}
