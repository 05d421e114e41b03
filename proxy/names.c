/* SPDX-License-Identifier: BSD-3-Clause
 * names - names of functions for a generated program
 */
#include "proxy/names.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/budget.h"

/* What the rest of the program has many names of. */
static bool begins_like_ours(const char *name)
{
	static const char *const ours[] = {"scratch", "attribute_", "large_",  "work_",   "poll_", "await_",
	                                   "table_",  "array_",     "length_", "next_",   "pick_", "text_",
	                                   "typed_",  "list_",      "runs_",   "unpack_", "queue_"};
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strncmp(name, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

bool names_is_of_objects(const char *name)
{
	static const char *const begins[] = {"Type_", "Op_", "Comm_", "Pack", "Group_", "Get_", "Unpack"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

size_t names_plain_length(const char *name)
{
	size_t n = 0, plain;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	for (plain = n; plain > 0 && isdigit((unsigned char)name[plain - 1]);)
		plain--;
	return plain > 1 && plain < n && name[plain - 1] == '_' ? plain - 1 : n;
}

static bool is_of_others(const char *name)
{
	static const char *const words[] = {
		"auto",        "break",     "case",       "char",      "const",      "continue",  "default",
		"do",          "double",    "else",       "enum",      "extern",     "float",     "for",
		"goto",        "if",        "inline",     "int",       "long",       "register",  "restrict",
		"return",      "short",     "signed",     "sizeof",    "static",     "struct",    "switch",
		"typedef",     "union",     "unsigned",   "void",      "volatile",   "while",     "main",
		"begin",       "compute",   "rank",       "size",      "visit",      "v",         "i",
		"j",           "k",         "l",          "m",         "n",          "comm",      "type",
		"group",       "op",        "win",        "file",      "info",       "keyval",    "errhandler",
		"message",     "request",   "grown",      "release",   "room",       "memory",    "place",
		"buffer",      "total",     "vector",     "peers",     "neighbours", "sources",   "destinations",
		"gather",      "scatter",   "status",     "position",  "attribute",  "combine",   "draw",
		"allocations", "OUT",       "MEMORY",     "ROOMS",     "at",         "IN",        "pools",
		"pool",        "unix",      "linux",      "at_most",   "beside",     "NOBODY",    "peer",
		"KEPT",        "allocated", "freed",      "cancelled", "again_from", "unpack",    "queue",
		"digit",       "rank_in",   "comm_error", "win_error", "file_error", "started",   "shift",
		"packed",      "packed_at", "next",       "reserve",   "known",      "forgotten", "numbers"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return dlsym(RTLD_DEFAULT, name) != NULL; /* the C library's, as `index`: its headers may declare it */
}

struct name_key {
	const struct names *names;
	const char *text;
};

static bool is_name(const void *context, uint32_t i)
{
	const struct name_key *k = context;
	return strcmp(k->names->each[i].text, k->text) == 0;
}

/* The number of a name that is taken; INDEX_NONE: it is not. */
static uint32_t find_name(const struct names *n, const char *text)
{
	struct name_key key = {n, text};
	return budget_step(1) ? index_find(&n->index, hash_bytes(text, strlen(text)), is_name, &key) : INDEX_NONE;
}

/* Returns its number, or INDEX_NONE: no memory. */
static uint32_t take_name(struct names *n, const char *text)
{
	if (!budget_grow(&n->each, n->count, &n->capacity, sizeof *n->each) ||
	    index_add(&n->index, hash_bytes(text, strlen(text)), n->count) != 0)
		return INDEX_NONE;
	struct name *one = &n->each[n->count];
	snprintf(one->text, sizeof one->text, "%s", text);
	one->last = 1;
	return n->count++;
}

bool names_is_known(const char *text)
{
	size_t skipped = strcspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	return isalpha((unsigned char)text[skipped]) && !strstr(text, "+0x");
}

/* With a number behind it if it is taken. */
static const char *unlike_others(struct names *n, const char *plain)
{
	char name[NAMES_SIZE];
	uint32_t i = find_name(n, plain);
	bool taken = i != INDEX_NONE || is_of_others(plain);
	if (i == INDEX_NONE && (i = take_name(n, plain)) == INDEX_NONE)
		return NULL;
	if (!taken)
		return n->each[i].text;
	do
		snprintf(name, sizeof name, "%s_%u", plain, ++n->each[i].last);
	while (find_name(n, name) != INDEX_NONE || is_of_others(name));
	i = take_name(n, name);
	return i == INDEX_NONE ? NULL : n->each[i].text;
}

const char *names_make(struct names *n, const char *text)
{
	char plain[NAMES_SIZE - 12];
	size_t size = 0;
	for (const char *at = text; *at && size + 1 < sizeof plain; at++)
		if (isalnum((unsigned char)*at) || (*at == '_' && size > 0))
			plain[size++] = *at;
		else if (size > 0 && plain[size - 1] != '_')
			plain[size++] = '_';
	while (size > 0 && plain[size - 1] == '_')
		size--;
	plain[size] = '\0';
	if (!names_is_known(text) || strncmp(plain, "MPI", 3) == 0 || strncmp(plain, "PMPI", 4) == 0)
		snprintf(plain, sizeof plain, "part");
	if (begins_like_ours(plain)) {
		memmove(plain + 4, plain, sizeof plain - 4);
		memcpy(plain, "app_", 4);
		plain[sizeof plain - 1] = '\0';
	}
	return unlike_others(n, plain);
}

const char *names_without_mpi(const char *name)
{
	return name + (strncmp(name, "MPI_", 4) == 0 ? 4 : 0);
}

void names_free(struct names *n)
{
	budget_free(n->each);
	index_free(&n->index);
	*n = (struct names){0};
}
