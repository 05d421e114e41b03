/* SPDX-License-Identifier: BSD-3-Clause
 * joined_lines - lines of a program that are calls of its own functions
 */
#include "proxy/joined_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/columns.h"
#include "trace/base/budget.h"

static const char HEAD[] = "static void ", SITE[] = "(int site", KINDS[] = "ctgowfnekmr";

/* ---- ranges ---- */

bool range_equal(const struct text_range *a, const struct text_range *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* Where a word, or what it begins with, stands in a range; NULL: nowhere. */
static const char *range_find(const struct text_range *r, const char *word)
{
	return memmem(r->text, r->size, word, strlen(word));
}

bool range_is_global(const struct text_range *r)
{
	size_t i = 0;
	bool bracket = false;
	for (; i < r->size && strchr("&-", r->text[i]); i++)
		;
	for (; i < r->size; i++) { /* letters, digits, one pair of brackets around digits */
		char b = r->text[i];
		if (b == '[' && !bracket)
			bracket = true;
		else if (b == ']' && bracket && i + 1 == r->size)
			return true;
		else if (bracket ? !isdigit((unsigned char)b)
		                 : !isupper((unsigned char)b) && !isdigit((unsigned char)b) && b != '_' &&
		                           !(i + 1 < r->size && islower((unsigned char)b)))
			return false;
	}
	return !bracket;
}

bool range_counts(const struct text_range *r)
{
	static const char *const ours[] = {"next", "queue_", "++", "drawn_", "pick_", "started("};
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (range_find(r, ours[i]))
			return true;
	return false;
}

/* ---- functions ---- */

static char *copy(const char *text, size_t n)
{
	return strndup(text, n);
}

/* The length of a name without a number behind it: that of "count" for "count_2". */
static size_t plain_length(const char *name, size_t n)
{
	size_t plain = n;
	while (plain > 0 && isdigit((unsigned char)name[plain - 1]))
		plain--;
	return plain > 1 && plain < n && name[plain - 1] == '_' ? plain - 1 : n;
}

/* "long count", of n letters. */
static int add_parameter(struct callee *c, const char *text, size_t n)
{
	size_t name = n;
	while (name > 0 && (isalnum((unsigned char)text[name - 1]) || text[name - 1] == '_'))
		name--;
	if (c->count == ARGUMENTS_MOST)
		return -1;
	c->types[c->count] = copy(text, name);
	c->names[c->count] = copy(text + name, plain_length(text + name, n - name));
	return c->types[c->count] && c->names[c->count] ? (c->count++, 0) : -1;
}

/* Of which kinds may a function change an element: has it the address of one, or is it given one? */
static unsigned kinds_written(const char *definition, size_t size)
{
	const struct text_range body = {definition, size};
	char address[40], pointer[60];
	unsigned writes = 0;
	for (unsigned k = 0; KINDS[k]; k++) {
		snprintf(address, sizeof address, "&%s[", handles_name(KINDS[k]));
		snprintf(pointer, sizeof pointer, "%s *", handles_type(KINDS[k]));
		writes |= (unsigned)(range_find(&body, address) || range_find(&body, pointer)) << k;
	}
	return writes;
}

/* Reads from the name on, which has n letters. */
static int read_callee(struct lines *l, const char *at, size_t n)
{
	const char *end = strstr(at, "\n}\n"), *close = strchr(at, ')');
	if (!end || !close || !budget_grow(&l->callees, l->callee_count, &l->callee_capacity, sizeof *l->callees))
		return -1;
	struct callee *c = &l->callees[l->callee_count];
	*c = (struct callee){.name = copy(at, n),
	                     .mpi = copy(at, plain_length(at, n)),
	                     .sites = 1,
	                     .writes = kinds_written(at, (size_t)(end - at))};
	l->callee_count++;
	if (!c->name || !c->mpi)
		return -1;
	for (const char *p = at + n + strlen(SITE); p < close;) {
		p += strspn(p, ", ");
		size_t size = strcspn(p, ",)");
		if (add_parameter(c, p, size) != 0)
			return -1;
		p += size;
	}
	return 0;
}

static int read_callees(struct lines *l, const char *functions)
{
	for (const char *at = functions; at && *at; at = strstr(at, "\nstatic "), at += at != NULL) {
		size_t n = strncmp(at, HEAD, strlen(HEAD)) == 0 ? strcspn(at + strlen(HEAD), "(") : 0;
		if (n && strncmp(at + strlen(HEAD) + n, SITE, strlen(SITE)) == 0 &&
		    read_callee(l, at + strlen(HEAD), n) != 0)
			return -1;
	}
	return 0;
}

static uint32_t callee_of(const struct lines *l, const char *name, size_t n)
{
	for (uint32_t i = 0; i < l->callee_count; i++)
		if (strlen(l->callees[i].name) == n && memcmp(l->callees[i].name, name, n) == 0)
			return i;
	return CALLEE_NONE;
}

/* ---- lines ---- */

/* Reads ", 1, comm[3]);" up to `end`. Returns 0; 1: it is something else; -1: no memory. */
static int read_arguments(struct line *line, const char *at, const char *end, uint32_t count)
{
	line->arguments = budget_calloc(count + UINT64_C(1), sizeof *line->arguments);
	if (!line->arguments)
		return -1;
	while (at < end && *at == ',' && line->count < count) {
		const char *from = at + 2;
		int depth = 0;
		for (at = from; at < end && (depth > 0 || (*at != ',' && *at != ')')); at++)
			depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
		line->arguments[line->count++] = (struct text_range){from, (size_t)(at - from)};
	}
	return line->count == count && end - at == 2 && strncmp(at, ");", 2) == 0 ? 0 : 1;
}

/* Adds the line if it is a call. *before: the one before it was the last that was added. */
static int read_call(struct lines *l, const char *text, const char *end, bool *before)
{
	struct line line = {.whole = {text, (size_t)(end + 1 - text)}, .indent = (int)strspn(text, "\t")};
	const char *name = text + line.indent, *number = name + strcspn(name, "(\n");
	line.callee = *number == '(' ? callee_of(l, name, (size_t)(number - name)) : CALLEE_NONE;
	bool follows = *before;
	*before = false;
	if (line.callee == CALLEE_NONE || !isdigit((unsigned char)number[1]))
		return 0;
	char *behind;
	line.number = (uint32_t)strtoul(number + 1, &behind, 10);
	int rv = read_arguments(&line, behind, end, l->callees[line.callee].count);
	if (rv == 0 && !budget_grow(&l->each, l->count, &l->capacity, sizeof *l->each))
		rv = -1;
	if (rv != 0) {
		budget_free(line.arguments);
		return rv < 0 ? -1 : 0;
	}
	const struct line *last = l->count ? &l->each[l->count - 1] : NULL;
	line.follows = follows && last->indent == line.indent && last->number + 1 == line.number; /* all have one */
	l->each[l->count++] = line;
	*before = true;
	return 0;
}

int lines_read(struct lines *l, char **texts, size_t count, const char *functions)
{
	if (read_callees(l, functions) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool before = false;
		for (const char *at = texts[i], *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
			if (read_call(l, at, end, &before) != 0)
				return -1;
	}
	return 0;
}

bool lines_follow(const struct lines *l, uint32_t first, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (first + i >= l->count || l->each[first + i].callee == CALLEE_NONE ||
		    (i > 0 && !l->each[first + i].follows))
			return false;
	return true;
}

/* Does an argument have an element of an array, not its address? */
static bool has_element(const struct text_range *r, const char *array)
{
	char mark[40];
	snprintf(mark, sizeof mark, "%s[", array);
	struct text_range rest = *r;
	const char *at;
	while ((at = range_find(&rest, mark)) != NULL) {
		if (at == r->text || (at[-1] != '&' && !isalnum((unsigned char)at[-1]) && at[-1] != '_'))
			return true;
		rest.size -= (size_t)(at + 1 - rest.text);
		rest.text = at + 1;
	}
	return false;
}

bool lines_changes(const struct lines *l, uint32_t callee, const struct text_range *argument)
{
	if (range_find(argument, "started("))
		return true;
	for (unsigned k = 0; KINDS[k]; k++)
		if (l->callees[callee].writes >> k & 1 && has_element(argument, handles_name(KINDS[k])))
			return true;
	return false;
}

/* ---- joining ---- */

size_t lines_letters(const struct lines *l, const struct line *line)
{
	size_t size = (size_t)line->indent + strlen(l->callees[line->callee].name) + strlen("();\n");
	for (uint32_t n = line->number; n > 0; n /= 10)
		size++;
	for (uint32_t i = 0; i < line->count; i++)
		size += line->arguments[i].size + strlen(", ");
	return size;
}

int lines_add_callee(struct lines *l, const char *definition, uint32_t first, uint32_t length)
{
	const char *name = definition + strlen(HEAD);
	if (read_callee(l, name, strcspn(name, "(")) != 0)
		return -1;
	struct callee *c = &l->callees[l->callee_count - 1];
	c->sites = 0;
	for (uint32_t i = 0; i < length; i++) {
		c->sites += l->callees[l->each[first + i].callee].sites;
		c->writes |= l->callees[l->each[first + i].callee].writes;
	}
	return 0;
}

void lines_join(struct lines *l, uint32_t first, uint32_t length, struct text_range *arguments, uint32_t count)
{
	struct line *line = &l->each[first];
	for (uint32_t i = 1; i < length; i++) {
		line->whole.size += line[i].whole.size;
		line[i].callee = CALLEE_NONE;
	}
	budget_free(line->arguments);
	line->arguments = arguments;
	line->count = count;
	line->callee = l->callee_count - 1;
	line->joined = true;
}

void lines_remove(struct lines *l)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < l->count; i++)
		if (l->each[i].callee == CALLEE_NONE)
			budget_free(l->each[i].arguments);
		else
			l->each[kept++] = l->each[i];
	l->count = kept;
}

static void write_line(const struct lines *l, const struct line *line, FILE *out)
{
	for (int i = 0; i < line->indent; i++)
		fputc('\t', out);
	fprintf(out, "%s(%" PRIu32, l->callees[line->callee].name, line->number);
	for (uint32_t i = 0; i < line->count; i++)
		fprintf(out, ", %.*s", (int)line->arguments[i].size, line->arguments[i].text);
	fputs(");\n", out);
}

static int replace_lines(const struct lines *l, const char *text, char **made)
{
	size_t size, length = strlen(text);
	const char *at = text;
	FILE *out = open_memstream(made, &size);
	if (!out)
		return -1;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct line *line = &l->each[i];
		if (!line->joined || line->whole.text < text || line->whole.text >= text + length)
			continue;
		fwrite(at, 1, (size_t)(line->whole.text - at), out);
		write_line(l, line, out);
		at = line->whole.text + line->whole.size;
	}
	fputs(at, out);
	return fclose(out) == 0 ? 0 : -1;
}

int lines_replace(struct lines *l, char **texts, size_t count)
{
	for (size_t t = 0; t < count; t++) {
		char *made = NULL;
		if (replace_lines(l, texts[t], &made) != 0) {
			free(made);
			return -1;
		}
		free(texts[t]);
		texts[t] = made;
	}
	return 0;
}

void lines_free(struct lines *l)
{
	for (uint32_t i = 0; i < l->callee_count; i++) {
		struct callee *c = &l->callees[i];
		free(c->name);
		free(c->mpi);
		for (uint32_t k = 0; k < ARGUMENTS_MOST; k++) {
			free(c->types[k]);
			free(c->names[k]);
		}
	}
	for (uint32_t i = 0; i < l->count; i++)
		budget_free(l->each[i].arguments);
	budget_free(l->callees);
	budget_free(l->each);
}
