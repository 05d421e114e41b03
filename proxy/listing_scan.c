/* SPDX-License-Identifier: BSD-3-Clause
 * listing_scan - lines of a program that differ in a few places only
 */
#include "proxy/listing_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

#define DEPTH_MOST 40 /* brackets in brackets */

bool listing_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool listing_is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(word, text, n) == 0;
}

bool listing_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- names ---- */

size_t listing_word(const char *at)
{
	size_t n = 0;
	while (listing_letter(at[n]) && !(n == 0 && isdigit((unsigned char)at[0])))
		n++;
	return n;
}

const char *listing_loop_name(uint32_t loops, char out[16])
{
	snprintf(out, 16, loops < 6 ? "%c" : "i%u", loops < 6 ? (unsigned)"ijklmn"[loops] : loops);
	return out;
}

int listing_loop_of(const char *word, size_t size, size_t *end)
{
	for (uint32_t i = 0; i < LOOPS_MOST; i++) {
		char name[16];
		size_t n = strlen(listing_loop_name(i, name));
		if (size >= n && memcmp(word, name, n) == 0 && (size == n || listing_is(word + n, size - n, "_end")))
			return *end = n, (int)i;
	}
	return -1;
}

int listing_local(const struct listing *b, const char *name, size_t size)
{
	for (uint32_t i = 0; i < b->local_count; i++)
		if (listing_is(name, size, b->locals[i]))
			return (int)i;
	return -1;
}

static char kind_in(const struct hole_name *names, uint32_t count, const char *word, size_t n)
{
	for (uint32_t i = 0; i < count; i++)
		if (listing_is(word, n, names[i].name))
			return names[i].kind;
	return 0;
}

static bool is_table(const struct listing *b, const char *word, size_t n)
{
	if (strncmp(word, "table_", 6) != 0 && strncmp(word, "list_", 5) != 0)
		return false;
	const struct text_definition *of = text_definitions_find(&b->definitions, word, n);
	return of && !of->given;
}

/* The kind of hole that a name goes into; 0: none. */
static char kind_of(const struct listing *b, const struct listing_body *body, const char *word, size_t n)
{
	static const char *const numbers[] = {"rank",        "size",          "KEPT",         "MPI_ANY_SOURCE",
	                                      "MPI_ANY_TAG", "MPI_PROC_NULL", "MPI_UNDEFINED"};
	char kind = kind_in(body->parameters, body->parameter_count, word, n);
	for (size_t i = 0; kind == 0 && i < sizeof numbers / sizeof *numbers; i++)
		kind = listing_is(word, n, numbers[i]) ? HOLE_NUMBER : 0;
	if (kind == 0)
		kind = kind_in(b->constants, b->constant_count, word, n);
	return kind == 0 && is_table(b, word, n) ? HOLE_TABLE : kind;
}

/* What a function is given: "int site, long count)..."; NULL: it is not one of the program. */
static const char *parameters_of(const struct listing *b, const char *word, size_t n)
{
	const struct text_definition *of = text_definitions_find(&b->definitions, word, n);
	return of ? of->given : NULL;
}

/* The name in the parameter of a number, without a number of its own. */
static void name_parameter(const char *at, unsigned number, char out[24])
{
	for (; number > 0 && *at != ')'; number--)
		at += strcspn(at, ",)"), at += *at == ',';
	size_t end = strcspn(at, ",)"), from = end, n;
	while (from > 0 && listing_letter(at[from - 1]))
		from--;
	n = end - from;
	while (n > 0 && isdigit((unsigned char)at[from + n - 1]))
		n--;
	n = n > 1 && n < end - from && at[from + n - 1] == '_' ? n - 1 : end - from;
	snprintf(out, 24, "%.*s", (int)n, at + from);
}

/* ---- holes ---- */

/* Where brackets are open: what is in front of them. */
struct line_scan {
	struct listing *b;
	const struct listing_body *body;
	struct listing_line *line;
	char *shape; /* behind what is written of it */
	struct open {
		const char *word;
		size_t size;
		unsigned commas;
	} open[DEPTH_MOST];
	unsigned depth;
	bool lost; /* no memory */
};

/* The length of an expression of the rank up to what ends it; 0: it is something else. */
static size_t pure_length(const struct line_scan *s, const char *text)
{
	size_t i = 0;
	int depth = 0;
	while (text[i]) {
		size_t n = listing_word(text + i);
		if (depth == 0 && strchr(",)];}", text[i]))
			return i;
		char kind = n ? kind_of(s->b, s->body, text + i, n) : 0;
		if (n ? strchr("LSQV", kind) == NULL || kind == 0 : !strchr("0123456789 +-*/%<>=!&|?:()", text[i]))
			return 0;
		if (text[i] == '=' && text[i + 1] != '=' && !(i > 0 && strchr("=<>!", text[i - 1])))
			return 0;
		if ((text[i] == '+' || text[i] == '-' || text[i] == '&') && text[i + 1] == text[i] && text[i] != '&')
			return 0;
		depth += (text[i] == '(') - (text[i] == ')');
		i += n ? n : 1;
	}
	return 0;
}

/* Of "site + 3". Returns false: it is more than that. */
static bool read_base(struct hole *h, const char *text)
{
	char *end;
	h->base = (uint32_t)listing_word(text);
	const char *at = text + h->base;
	if (h->base && h->size == h->base)
		return h->number = 0, true;
	if (h->base && !listing_begins(at, " + "))
		return false;
	h->number = strtol(at + (h->base ? 3 : 0), &end, 10);
	return end == text + h->size;
}

char listing_counted(const char *name)
{
	return listing_begins(name, "queue") ? HOLE_QUEUE : listing_begins(name, "counter") ? HOLE_VISIT : HOLE_SITE;
}

static bool is_open_of(const struct line_scan *s, const char *word)
{
	const struct open *o = &s->open[s->depth - 1];
	return s->depth > 0 && listing_is(o->word, o->size, word);
}

static char number_kind(const struct line_scan *s)
{
	if (s->depth == 0)
		return HOLE_NUMBER;
	const struct open *o = &s->open[s->depth - 1];
	if (is_open_of(s, "next") || is_open_of(s, "numbers"))
		return HOLE_QUEUE;
	if (is_open_of(s, "visit"))
		return HOLE_VISIT;
	if (is_open_of(s, "compute"))
		return HOLE_SITE;
	const char *given = o->size ? parameters_of(s->b, o->word, o->size) : NULL;
	for (unsigned i = 0; given && i < o->commas && *given != ')'; i++)
		given += strcspn(given, ",)"), given += 2 * (*given == ',');
	return given && listing_begins(given, "int ") ? listing_counted(given + strlen("int ")) : HOLE_NUMBER;
}

static void hint_of(const struct line_scan *s, char kind, char out[24])
{
	static const struct {
		char kind;
		const char *name;
	} known[] = {{HOLE_SITE, "site"}, {HOLE_QUEUE, "queue"}, {HOLE_VISIT, "counter"}, {HOLE_TABLE, "values"}};
	const struct open *o = s->depth ? &s->open[s->depth - 1] : NULL;
	const char *given = o && o->size ? parameters_of(s->b, o->word, o->size) : NULL;
	snprintf(out, 24, "number");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].kind == kind) {
			snprintf(out, 24, "%s", known[i].name);
			return;
		}
	if (islower((unsigned char)kind))
		snprintf(out, 24, "%s", kind == 't' ? "datatype" : kind == 'c' ? "comm_here" : "handle");
	if (given)
		name_parameter(given, o->commas, out);
	else if (listing_begins(s->line->text, "if ("))
		snprintf(out, 24, "when");
	else if (listing_begins(s->line->text, "for ("))
		snprintf(out, 24, "turns");
	else if (o && o->size && o->word[o->size] == '[' && o->size < 16)
		snprintf(out, 24, "%.*s_at", (int)o->size, o->word);
}

static void put_letters(struct line_scan *s, const char *at, size_t n)
{
	memcpy(s->shape, at, n);
	s->shape += n;
}

/* Returns the letters of the hole; 0: there is none here. */
static size_t add_hole(struct line_scan *s, const char *at, size_t size, char kind)
{
	struct listing_line *line = s->line;
	struct hole h = {.kind = kind, .at = (uint32_t)(at - line->text), .size = (uint32_t)size};
	if (strchr("SQV", kind) && !read_base(&h, at))
		return 0;
	hint_of(s, kind, h.hint);
	if (!budget_grow(&line->holes, line->hole_count, &line->hole_capacity, sizeof *line->holes))
		return s->lost = true, 0;
	line->holes[line->hole_count++] = h;
	*s->shape++ = '\x01';
	*s->shape++ = kind;
	return size;
}

static size_t string_length(const char *at)
{
	size_t n = 1;
	while (at[n] && at[n] != '"')
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return at[n] ? n + 1 : n;
}

/* A word that is no part of an expression of the rank. */
static size_t scan_word(struct line_scan *s, const char *at, size_t n)
{
	struct listing_line *line = s->line;
	char kind = kind_of(s->b, s->body, at, n);
	size_t end;
	int loop = listing_loop_of(at, n, &end), local = listing_local(s->b, at, n);
	if (kind && !strchr("SQV", kind)) {
		size_t size = add_hole(s, at, n, kind);
		return size ? size : n;
	}
	if (loop >= 0 &&
	    loop < (int)line->loops + listing_begins(line->text, "for (")) { /* by how far it is around the line */
		line->loops_used |= UINT32_C(1) << loop;
		*s->shape++ = '\x02';
		*s->shape++ = (char)('a' + (int)line->loops - loop);
		put_letters(s, at + end, n - end);
		return n;
	}
	if (local >= 0)
		line->used |= UINT64_C(1) << local;
	if (at[n] == '(' && !*line->callee && !listing_is(at, n, "compute") && n < sizeof line->callee &&
	    (strncmp(at, "MPI_", 4) == 0 || parameters_of(s->b, at, n)))
		memcpy(line->callee, at, n);
	put_letters(s, at, n);
	return n;
}

static void scan_bracket(struct line_scan *s, const char *at)
{
	size_t n = 0;
	if (strchr("([{", *at)) {
		while (at - n > s->line->text && listing_letter(at[-(ptrdiff_t)n - 1]))
			n++;
		if (s->depth == DEPTH_MOST)
			s->line->fixed = true;
		else
			s->open[s->depth++] = (struct open){at - n, n, 0};
	} else if (strchr(")]}", *at)) {
		s->depth -= s->depth > 0;
	} else if (*at == ',' && s->depth) {
		s->open[s->depth - 1].commas++;
	}
}

/* What stands in front of an expression. The sign of an assignment does, that of a comparison does not. */
static bool is_begin(const struct listing_line *line, const char *at)
{
	while (at > line->text && at[-1] == ' ')
		at--;
	if (at - line->text > 1 && at[-1] == '=' && strchr("=<>!", at[-2]))
		return false;
	return at > line->text && strchr("([{,=", at[-1]);
}

static size_t scan_one(struct line_scan *s, const char *at)
{
	bool label = listing_begins(s->line->text, "case ");
	size_t n = *at == '"' ? string_length(at) : 0, size;
	if (n) {
		put_letters(s, at, n);
		return n;
	}
	if (!label && *at != ' ' && is_begin(s->line, at) && (n = pure_length(s, at)) > 0 &&
	    (size = add_hole(s, at, n, number_kind(s))) > 0)
		return size;
	if ((n = listing_word(at)) > 0)
		return scan_word(s, at, n);
	n = strspn(at, "0123456789");
	if (n && !label && !listing_letter(at[n]) && at[n] != '.' && (size = add_hole(s, at, n, number_kind(s))) > 0)
		return size;
	scan_bracket(s, at);
	n = n ? n : 1;
	put_letters(s, at, n);
	return n;
}

int listing_scan(struct listing *b, const struct listing_body *body, struct listing_line *line, char **shape)
{
	struct line_scan s = {.b = b, .body = body, .line = line};
	line->hole_count = line->loops_used = 0;
	line->used = 0;
	memset(line->callee, 0, sizeof line->callee);
	/* what stands for a hole or a loop has two letters */
	if (!(*shape = s.shape = malloc(2 * line->size + 1)))
		return -1;
	for (const char *at = line->text; *at;)
		at += scan_one(&s, at);
	*s.shape = '\0';
	return s.lost ? -1 : 0;
}
