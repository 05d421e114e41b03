/* SPDX-License-Identifier: BSD-3-Clause
 * tidy_text - statements of a program without what they do not need
 */
#include "proxy/tidy_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

static const char OPEN[] = " {", FOR[] = "for (long ", CASE[] = "case ";

struct tidy_line {
	const char *text; /* behind its tabs */
	int indent, size; /* without its end */
	bool gone, bare;  /* bare: without " {" at its end */
};

struct tidy {
	struct tidy_line *each;
	uint32_t count, capacity;
};

static int read_lines(struct tidy *t, const char *text)
{
	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		int indent = (int)strspn(text, "\t");
		if (!budget_grow(&t->each, t->count, &t->capacity, sizeof *t->each))
			return -1;
		t->each[t->count++] =
			(struct tidy_line){text + indent, indent, (int)(end - text) - indent, false, false};
	}
	return 0;
}

static bool begins(const struct tidy_line *l, const char *with)
{
	return strncmp(l->text, with, strlen(with)) == 0;
}

static bool opens(const struct tidy_line *l)
{
	size_t n = strlen(OPEN);
	return l->size > (int)n && memcmp(l->text + l->size - n, OPEN, n) == 0 &&
	       (begins(l, "for (") || begins(l, "if (") || begins(l, CASE));
}

/* The line of the brace that closes what a line opens. */
static uint32_t end_of(const struct tidy *t, uint32_t from)
{
	uint32_t i = from + 1;
	while (i < t->count && t->each[i].indent > t->each[from].indent)
		i++;
	return i < t->count && t->each[i].size == 1 && t->each[i].text[0] == '}' ? i : from;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does a word of n letters stand in lines from `from` to the one before `end`? */
static bool has_word(const struct tidy *t, uint32_t from, uint32_t end, const char *word, size_t n)
{
	for (uint32_t i = from; i < end; i++) {
		const struct tidy_line *l = &t->each[i];
		for (const char *at = l->text; at + n <= l->text + l->size; at++)
			if (memcmp(at, word, n) == 0 && !in_word(at[n]) && !in_word(at[-1]))
				return true;
	}
	return false;
}

/* ---- loops ---- */

/* "for (long i = 0, i_end = 3 + v; i < i_end; i++) {": what is between "i_end = " and ";", if nobody asks for i. */
static bool only_counts(const struct tidy *t, uint32_t i, uint32_t end, size_t *name, const char **turns, size_t *size)
{
	const struct tidy_line *l = &t->each[i];
	char head[80], tail[80];
	if (!begins(l, FOR))
		return false;
	const char *variable = l->text + strlen(FOR);
	*name = strcspn(variable, " ");
	if (*name > 8)
		return false;
	snprintf(head, sizeof head, " = 0, %.*s_end = ", (int)*name, variable);
	snprintf(tail, sizeof tail, "; %.*s < %.*s_end; %.*s++) {", (int)*name, variable, (int)*name, variable,
	         (int)*name, variable);
	int before = (int)(strlen(FOR) + *name + strlen(head)), behind = (int)strlen(tail);
	if (l->size < before + behind || strncmp(variable + *name, head, strlen(head)) != 0 ||
	    memcmp(l->text + l->size - behind, tail, (size_t)behind) != 0)
		return false;
	*turns = l->text + before;
	*size = (size_t)(l->size - before - behind);
	return !has_word(t, i + 1, end, variable, *name);
}

static void write_line(const struct tidy *t, uint32_t i, FILE *out)
{
	const struct tidy_line *l = &t->each[i];
	const char *turns;
	size_t name, size;
	uint32_t end = i;
	for (int k = 0; k < l->indent; k++)
		fputc('\t', out);
	while (end < t->count && (end == i || t->each[end].indent > l->indent))
		end++;
	if (only_counts(t, i, end, &name, &turns, &size)) {
		const char *variable = l->text + strlen(FOR);
		fprintf(out, "for (long %.*s = %.*s; %.*s > 0; %.*s--)%s", (int)name, variable, (int)size, turns,
		        (int)name, variable, (int)name, variable, l->bare ? "" : OPEN);
	} else {
		fwrite(l->text, 1, (size_t)l->size - (l->bare ? strlen(OPEN) : 0), out);
	}
	fputc('\n', out);
}

/* ---- braces ---- */

/* Is a block one statement of one line? */
static bool is_single(const struct tidy *t, uint32_t from, uint32_t end)
{
	const struct tidy_line *l = &t->each[from + 1];
	return end == from + 2 && l->size > 1 && l->text[l->size - 1] == ';' && !begins(l, "const ");
}

/* Does a case declare a variable? */
static bool has_variable(const struct tidy *t, uint32_t from, uint32_t end)
{
	for (uint32_t i = from + 1; i < end; i++)
		if (t->each[i].indent == t->each[from].indent + 1 && begins(&t->each[i], "const "))
			return true;
	return false;
}

static void remove_braces(struct tidy *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t end = opens(&t->each[i]) ? end_of(t, i) : i;
		bool bare = end != i && (begins(&t->each[i], CASE) ? !has_variable(t, i, end) : is_single(t, i, end));
		t->each[i].bare = bare;
		t->each[end].gone |= bare;
	}
}

int tidy_text(char **text)
{
	struct tidy t = {0};
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	int rv = out ? read_lines(&t, *text) : -1;
	if (rv == 0)
		remove_braces(&t);
	for (uint32_t i = 0; rv == 0 && i < t.count; i++)
		if (!t.each[i].gone)
			write_line(&t, i, out);
	if (out)
		fclose(out);
	if (rv == 0) {
		free(*text);
		*text = made;
	} else {
		free(made);
	}
	budget_free(t.each);
	return rv;
}
