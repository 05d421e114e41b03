/* SPDX-License-Identifier: BSD-3-Clause
 * share - tables and functions that are the same become one
 *
 * Definitions come behind what they use. So one pass is enough: the names in a definition are replaced by those that
 * stand for them, and then it is compared.
 */
#include "proxy/share.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

#define NAME 40

/* A definition that is kept, or another name for one. */
struct shared {
	char name[NAME], stands_for[NAME];
	char *text; /* with its name left out */
	uint32_t block;
};

#define BLOCK_NONE UINT32_MAX

/* Where an array is given to a call. */
struct array_call {
	const char *name;
	size_t length;
	uint32_t block;
};

struct sharing {
	char **texts; /* all of the program: definitions, and what has them */
	size_t text_count;
	struct shared *each;
	uint32_t count, capacity;
	struct index by_text, by_name, by_block;
	struct array_call *calls;
	uint32_t call_count, call_capacity;
	struct index by_call;
};

struct shared_key {
	const struct sharing *x;
	const char *text;
	size_t length;
};

static bool has_text(const void *context, uint32_t i)
{
	const struct shared_key *k = context;
	return strcmp(k->x->each[i].text, k->text) == 0;
}

static bool has_name(const void *context, uint32_t i)
{
	const struct shared_key *k = context;
	return strncmp(k->x->each[i].name, k->text, k->length) == 0 && k->x->each[i].name[k->length] == '\0';
}

/* The length of a word, if it is of the form letters_digits; else *whole is how much is to be skipped. */
static size_t name_length(const char *at, size_t *whole)
{
	size_t n = 0, letters;
	while (isalpha((unsigned char)at[n]))
		n++;
	letters = n;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	*whole = n ? n : 1;
	if (letters == 0 || letters + 1 >= n || n >= NAME || at[letters] != '_')
		return 0;
	return strspn(at + letters + 1, "0123456789") == n - letters - 1 ? n : 0;
}

/* Writes a text with the names that stand for others; own: a name that is left out. */
static void write_names(const struct sharing *x, const char *text, size_t n, const char *own, FILE *out)
{
	for (size_t i = 0, whole; i < n; i += whole) {
		size_t length = name_length(text + i, &whole);
		struct shared_key key = {x, text + i, length};
		if (length && own && strlen(own) == length && strncmp(own, text + i, length) == 0)
			continue;
		uint32_t found =
			length ? index_find(&x->by_name, hash_bytes(text + i, length), has_name, &key) : INDEX_NONE;
		if (found != INDEX_NONE)
			fputs(x->each[found].stands_for, out);
		else
			fwrite(text + i, 1, whole, out);
	}
}

/* The name that a definition gives; false: none that can be shared. */
static bool name_of(const char *text, size_t n, char out[NAME])
{
	for (size_t i = 0, whole; i < n && text[i] != '=' && text[i] != '{'; i += whole) {
		size_t length = name_length(text + i, &whole);
		if (length == 0 || strncmp(text + i, "length_", 7) == 0) /* goes with an array */
			continue;
		memcpy(out, text + i, length);
		out[length] = '\0';
		return true;
	}
	return false;
}

static bool has_state(const char *text)
{
	return strstr(text, "\tstatic long at[") != NULL;
}

/* The end of the block, or of its part, that a place is in. */
static const char *end_of_block(const char *at)
{
	const char *end;
	for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
		if (end[1 + strspn(end + 1, "\t")] == '}')
			return end;
	return at + strlen(at);
}

/* ---- arrays of one call ---- */

static const char ARRAY[] = "array_";

static bool is_array(const char *name)
{
	return strncmp(name, ARRAY, strlen(ARRAY)) == 0;
}

static bool has_call(const void *context, uint32_t i)
{
	const struct shared_key *k = context;
	const struct array_call *c = &k->x->calls[i];
	return c->length == k->length && memcmp(c->name, k->text, k->length) == 0;
}

static int find_calls_between(struct sharing *x, const char *at, const char *end, uint32_t block)
{
	for (size_t whole; at < end; at += whole) {
		size_t n = name_length(at, &whole);
		struct shared_key key = {x, at, n};
		if (n == 0 || !is_array(at) || at[n] != '(' ||
		    index_find(&x->by_call, hash_bytes(at, n), has_call, &key) != INDEX_NONE)
			continue;
		if (!budget_grow(&x->calls, x->call_count, &x->call_capacity, sizeof *x->calls) ||
		    index_add(&x->by_call, hash_bytes(at, n), x->call_count) != 0)
			return -1;
		x->calls[x->call_count++] = (struct array_call){at, n, block};
	}
	return 0;
}

/* Each array is in one place, which is in front of the end of a block: those of one call are in front of the same. */
static int find_calls(struct sharing *x)
{
	uint32_t block = 0;
	for (size_t i = 1; i < x->text_count; i++)
		for (const char *at = x->texts[i], *end; *at; at = end + (*end != '\0')) {
			end = end_of_block(at);
			if (find_calls_between(x, at, end, block++) != 0)
				return -1;
		}
	return 0;
}

static uint32_t block_of(const struct sharing *x, const char *name)
{
	size_t n = strlen(name);
	struct shared_key key = {x, name, n};
	uint32_t i = is_array(name) ? index_find(&x->by_call, hash_bytes(name, n), has_call, &key) : INDEX_NONE;
	return i == INDEX_NONE ? BLOCK_NONE : x->calls[i].block;
}

static uint64_t hash_block(const struct shared *s)
{
	return hash_mix(hash_bytes(s->stands_for, strlen(s->stands_for)), s->block);
}

struct block_key {
	const struct sharing *x;
	const struct shared *one;
};

static bool is_together(const void *context, uint32_t i)
{
	const struct block_key *k = context;
	const struct shared *s = &k->x->each[i];
	return s->block == k->one->block && strcmp(s->stands_for, k->one->stands_for) == 0;
}

/* May it be there for another one? An array is there until its function is called again. */
static bool may_be_shared(const struct sharing *x, const struct shared *one)
{
	struct block_key key = {x, one};
	return one->block == BLOCK_NONE || index_find(&x->by_block, hash_block(one), is_together, &key) == INDEX_NONE;
}

/* ---- definitions ---- */

static int add_definition(struct sharing *x, const char *text, size_t n, FILE *out)
{
	char name[NAME], *plain = NULL;
	size_t size;
	FILE *f = open_memstream(&plain, &size);
	if (!f)
		return -1;
	bool named = name_of(text, n, name);
	write_names(x, text, n, named ? name : NULL, f);
	fclose(f);
	if (!named || has_state(plain)) {
		write_names(x, text, n, NULL, out);
		free(plain);
		return 0;
	}
	struct shared_key key = {x, plain, 0};
	uint64_t hash = hash_bytes(plain, size);
	uint32_t found = index_find(&x->by_text, hash, has_text, &key);
	if (!budget_grow(&x->each, x->count, &x->capacity, sizeof *x->each)) {
		free(plain);
		return -1;
	}
	struct shared *one = &x->each[x->count];
	*one = (struct shared){.text = plain, .block = block_of(x, name)};
	memcpy(one->name, name, NAME);
	memcpy(one->stands_for, found == INDEX_NONE ? name : x->each[found].name, NAME);
	if (found != INDEX_NONE && !may_be_shared(x, one)) {
		memcpy(one->stands_for, name, NAME);
		found = INDEX_NONE;
	}
	if (found == INDEX_NONE)
		write_names(x, text, n, NULL, out);
	x->count++;
	if (one->block != BLOCK_NONE && index_add(&x->by_block, hash_block(one), x->count - 1) != 0)
		return -1;
	if (found == INDEX_NONE)
		return index_add(&x->by_text, hash, x->count - 1);
	return index_add(&x->by_name, hash_bytes(name, strlen(name)), x->count - 1);
}

static int replace_text(struct sharing *x, char **text, bool definitions)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	int rv = out ? 0 : -1;
	for (const char *at = *text; rv == 0 && *at;) {
		const char *end = definitions ? strstr(at, "\nstatic ") : NULL;
		size_t n = end ? (size_t)(end + 1 - at) : strlen(at);
		if (definitions)
			rv = add_definition(x, at, n, out);
		else
			write_names(x, at, n, NULL, out);
		at += n;
	}
	if (out)
		fclose(out);
	if (rv != 0) {
		free(made);
		return -1;
	}
	free(*text);
	*text = made;
	return 0;
}

int share_definitions(char **texts, size_t count)
{
	struct sharing x = {.texts = texts, .text_count = count};
	int rv = find_calls(&x);
	for (size_t i = 0; i < count && rv == 0; i++)
		rv = replace_text(&x, &texts[i], i == 0);
	for (uint32_t i = 0; i < x.count; i++)
		free(x.each[i].text);
	budget_free(x.each);
	index_free(&x.by_text);
	index_free(&x.by_name);
	index_free(&x.by_block);
	index_free(&x.by_call);
	budget_free(x.calls);
	return rv;
}
