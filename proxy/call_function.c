/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a large program that differ in their values only, as calls of a function
 */
#include "proxy/call_function.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define CALLS_FEW 3 /* are as they are */
#define MARK      '\x01'

struct call_function {
	struct call_body body;
	uint32_t calls;
	bool same[CALL_PARAMETERS]; /* as that of the first call */
	uint32_t first;
	bool used;
	char name[NAMES_SIZE];
};

static void body_free(struct call_body *b)
{
	free(b->text);
	for (size_t i = 0; i < b->parameters; i++)
		free(b->types[i]);
}

static void made_free(struct call_made *m)
{
	free(m->plain);
	free(m->before);
	free(m->behind);
	for (size_t i = 0; i < CALL_PARAMETERS; i++)
		free(m->values[i]);
}

/* ---- collecting ---- */

struct body_key {
	const struct call_functions *f;
	const struct call_body *body;
};

static bool is_same_body(const void *context, uint32_t i)
{
	const struct body_key *k = context;
	const struct call_body *a = &k->f->each[i].body, *b = k->body;
	bool same = strcmp(a->text, b->text) == 0 && a->parameters == b->parameters;
	for (size_t p = 0; same && p < a->parameters; p++)
		same = strcmp(a->types[p], b->types[p]) == 0;
	return same;
}

/* May it stand in a function? A number, a name of MPI, or a handle: "17", "MPI_SUM", "&request[0]". */
static bool is_global(const char *text)
{
	const char *at = text + (text[0] == '&' || text[0] == '-');
	size_t letters = strspn(at, "abcdefghijklmnopqrstuvwxyz"), digits;
	if (isdigit((unsigned char)*at))
		return text[0] != '&' && at[strspn(at, "0123456789")] == '\0';
	if (strncmp(at, "MPI_", 4) == 0)
		return text[0] != '&' && at[strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
	if (text[0] == '-' || letters == 0 || at[letters] != '[' || strncmp(at, "visit[", 6) == 0)
		return false;
	digits = strspn(at + letters + 1, "0123456789");
	return digits && strcmp(at + letters + 1 + digits, "]") == 0;
}

static struct call_function *function_of(struct call_functions *f, struct call_body *body)
{
	struct body_key key = {f, body};
	uint64_t hash = hash_bytes(body->text, strlen(body->text));
	uint32_t found = index_find(&f->index, hash, is_same_body, &key);
	if (found != INDEX_NONE) {
		body_free(body);
		return &f->each[found];
	}
	if (!budget_grow(&f->each, f->count, &f->capacity, sizeof *f->each) ||
	    index_add(&f->index, hash, f->count) != 0) {
		body_free(body);
		return NULL;
	}
	f->each[f->count] = (struct call_function){.body = *body, .first = f->call_count};
	return &f->each[f->count++];
}

int call_functions_add(struct call_functions *f, struct call_body *body, struct call_made *call, FILE *out)
{
	struct call_function *of = function_of(f, body);
	if (!of || !budget_grow(&f->calls, f->call_count, &f->call_capacity, sizeof *f->calls)) {
		made_free(call);
		return -1;
	}
	call->function = (uint32_t)(of - f->each);
	f->calls[f->call_count] = *call;
	for (size_t i = 0; i < of->body.parameters; i++)
		of->same[i] = of->calls == 0
		                      ? is_global(call->values[i])
		                      : of->same[i] && strcmp(call->values[i], f->calls[of->first].values[i]) == 0;
	of->calls++;
	fprintf(out, "%c%" PRIu32 "\n", MARK, f->call_count++);
	return 0;
}

/* ---- writing ---- */

static void write_short(const struct call_functions *f, const struct call_made *m, const char *name, FILE *out)
{
	const struct call_function *of = &f->each[m->function];
	fputs(m->before, out);
	for (int i = 0; i < m->indent; i++)
		fputc('\t', out);
	fprintf(out, "%s(%" PRIu32, name, m->number);
	for (size_t i = 0; i < of->body.parameters; i++)
		if (!of->same[i])
			fprintf(out, ", %s", m->values[i]);
	fprintf(out, ");\n%s", m->behind);
}

/* What stands for a parameter in the body. `*&type[0]` is type[0]. */
static const char *write_marked(const struct call_functions *f, const struct call_function *of, const char *at,
                                FILE *out)
{
	bool star = at[0] == '*' && (unsigned char)at[1] >= CALL_FUNCTION_MARK;
	unsigned i = (unsigned char)at[star] - CALL_FUNCTION_MARK;
	const char *value = f->calls[of->first].values[i], *type = of->body.types[i];
	if (of->same[i])
		fprintf(out, "%s%s", star && *value != '&' ? "*" : "", value + (star && *value == '&'));
	else
		fprintf(out, "%s%s", star ? "*" : "", type + strcspn(type, "\x02") + 1);
	return at + star;
}

static void write_definition(const struct call_functions *f, const struct call_function *of, const char *name,
                             FILE *out)
{
	fprintf(out, "static void %s(int site", name);
	for (size_t i = 0; i < of->body.parameters; i++) {
		const char *type = of->body.types[i];
		size_t n = strcspn(type, "\x02"); /* between the type and the name */
		if (!of->same[i])
			fprintf(out, ", %.*s%s", (int)n, type, type + n + 1);
	}
	fputs(")\n{\n", out);
	for (const char *at = of->body.text; *at; at++)
		if ((unsigned char)*at >= CALL_FUNCTION_MARK ||
		    (*at == '*' && (unsigned char)at[1] >= CALL_FUNCTION_MARK))
			at = write_marked(f, of, at, out);
		else
			fputc(*at, out);
	fputs("}\n\n", out);
}

/* Does a function make the program shorter? Returns 1, 0, or -1: no memory. */
static int is_shorter(const struct call_functions *f, uint32_t number)
{
	const struct call_function *of = &f->each[number];
	char *text = NULL;
	size_t size = 0, plain = 0;
	FILE *out = of->calls > CALLS_FEW ? open_memstream(&text, &size) : NULL;
	if (!out)
		return of->calls > CALLS_FEW ? -1 : 0;
	write_definition(f, of, of->body.mpi, out);
	for (uint32_t i = of->first; i < f->call_count; i++)
		if (f->calls[i].function == number) {
			write_short(f, &f->calls[i], of->body.mpi, out);
			plain += strlen(f->calls[i].plain);
		}
	fclose(out);
	free(text);
	return size < plain;
}

int call_functions_choose(struct call_functions *f, struct names *names, FILE *out)
{
	for (uint32_t i = 0; i < f->count; i++) {
		struct call_function *of = &f->each[i];
		int rv = is_shorter(f, i);
		if (rv < 0)
			return -1;
		if (rv == 0)
			continue;
		const char *name = names_make(names, of->body.mpi + (strncmp(of->body.mpi, "MPI_", 4) == 0 ? 4 : 0));
		if (!name)
			return -1;
		snprintf(of->name, sizeof of->name, "%s", name);
		of->used = true;
		write_definition(f, of, of->name, out);
	}
	return 0;
}

int call_functions_expand(const struct call_functions *f, char **text)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	if (!out)
		return -1;
	for (const char *at = *text; *at; at++) {
		if (*at != MARK) {
			fputc(*at, out);
			continue;
		}
		const struct call_made *m = &f->calls[strtoul(at + 1, NULL, 10)];
		if (f->each[m->function].used)
			write_short(f, m, f->each[m->function].name, out);
		else
			fputs(m->plain, out);
		at += strcspn(at, "\n");
	}
	if (fclose(out) != 0)
		return -1;
	free(*text);
	*text = made;
	return 0;
}

void call_functions_free(struct call_functions *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		body_free(&f->each[i].body);
	for (uint32_t i = 0; i < f->call_count; i++)
		made_free(&f->calls[i]);
	budget_free(f->each);
	budget_free(f->calls);
	index_free(&f->index);
}
