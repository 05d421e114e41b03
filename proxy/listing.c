/* SPDX-License-Identifier: BSD-3-Clause
 * listing - the lines and functions of a program
 */
#include "proxy/listing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/listing_scan.h"
#include "trace/base/budget.h"

static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);
	return n >= m && strcmp(text + n - m, with) == 0;
}

/* ---- names ---- */

static int add_name(struct hole_name **names, uint32_t *count, uint32_t *capacity, char kind, const char *name,
                    size_t n)
{
	char *copy = strndup(name, n);
	if (!copy || !budget_grow(names, *count, capacity, sizeof **names)) {
		free(copy);
		return -1;
	}
	(*names)[(*count)++] = (struct hole_name){copy, kind};
	return 0;
}

int listing_add_constant(struct listing *b, char kind, const char *name)
{
	return add_name(&b->constants, &b->constant_count, &b->constant_capacity, kind, name, strlen(name));
}

struct shape_key {
	const struct listing *b;
	const char *text;
};

static bool is_shape(const void *context, uint32_t i)
{
	const struct shape_key *k = context;
	return strcmp(k->b->shapes[i], k->text) == 0;
}

/* The number of a shape, which is taken over. */
static int set_shape(struct listing *b, struct listing_line *line, char *text)
{
	struct shape_key key = {b, text};
	uint64_t hash = hash_bytes(text, strlen(text));
	line->shape = index_find(&b->by_shape, hash, is_shape, &key);
	if (line->shape != INDEX_NONE) {
		free(text);
		return 0;
	}
	line->shape = b->shape_count;
	if (!budget_grow(&b->shapes, b->shape_count, &b->shape_capacity, sizeof *b->shapes) ||
	    index_add(&b->by_shape, hash, b->shape_count) != 0) {
		free(text);
		return -1;
	}
	b->shapes[b->shape_count++] = text;
	return 0;
}

/* ---- variables ---- */

/* Does a line declare variables: "const long v = "? */
static bool is_declaration(const char *text)
{
	static const char *const others[] = {"if",   "for",    "while", "switch", "do",
	                                     "case", "return", "else",  "goto",   "break"};
	size_t n = listing_word(text);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (listing_is(text, n, others[i]))
			return false;
	return n > 0 && text[n] == ' ' && text[n + 1] != '=';
}

/* The variable in "int *const ranks = " or "int ranks[] = "; also one that is not known yet. */
static int declare(struct listing *b, struct listing_line *line)
{
	const char *equals = strstr(line->text, " = "), *end = equals, *from;
	if (!equals || listing_begins(line->text, "static "))
		return line->fixed = true, 0;
	if (end > line->text && end[-1] == ']')
		while (end > line->text && *end != '[')
			end--;
	for (from = end; from > line->text && listing_letter(from[-1]); from--)
		;
	int local = listing_local(b, from, (size_t)(end - from));
	if (local < 0 && b->local_count < LOCALS_MOST) {
		if (!(b->locals[b->local_count] = strndup(from, (size_t)(end - from))))
			return -1;
		local = (int)b->local_count++;
	}
	line->fixed |= local < 0 || memchr(line->text, ',', (size_t)(equals - line->text));
	if (local >= 0)
		line->declared = UINT64_C(1) << local;
	return 0;
}

/* Its holes, its shape, its variables. */
static int read_block_line(struct listing *b, const struct listing_body *body, struct listing_line *line)
{
	char *shape = NULL;
	line->declared = 0;
	line->fixed = line->loops == LOOPS_MOST; /* there may be more around it */
	if ((is_declaration(line->text) && declare(b, line) != 0) || listing_scan(b, body, line, &shape) != 0) {
		free(shape);
		return -1;
	}
	line->used &= ~line->declared;
	return set_shape(b, line, shape);
}

int listing_set_line(struct listing *b, struct listing_body *body, struct listing_line *line, char *text)
{
	free(line->text);
	line->text = text;
	line->size = strlen(text);
	return read_block_line(b, body, line);
}

/* ---- statements ---- */

/* Behind the statement that begins at a line. */
static uint32_t statement_end(const struct listing_body *body, uint32_t at)
{
	const char *text = at < body->count ? body->lines[at].text : "";
	if (ends(text, "{")) {
		int open = 0;
		do {
			const char *line = body->lines[at].text;
			open += ends(line, "{") - (line[0] == '}' && !listing_begins(line, "} else"));
			at++;
		} while (at < body->count && open > 0);
		return at;
	}
	if (listing_begins(text, "do") && !listing_letter(text[2]))
		return statement_end(body, at + 1) + 1;
	if ((listing_begins(text, "for (") || listing_begins(text, "if (")) && !ends(text, ";"))
		return statement_end(body, at + 1);
	return at + 1;
}

static bool begins_statement(const struct listing_line *line)
{
	static const char *const others[] = {"}", "case ", "default", "break;", "else", "while ("};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (listing_begins(line->text, others[i]))
			return false;
	return *line->text != '\0';
}

void listing_find_statements(struct listing_body *body)
{
	for (uint32_t i = 0; i < body->count; i++) {
		uint32_t end = begins_statement(&body->lines[i]) ? statement_end(body, i) : i;
		body->lines[i].span = end <= body->count ? end - i : 0;
	}
}

/* ---- bodies ---- */

/* Loops around each line. */
static void count_loops(struct listing_body *body)
{
	int indents[LOOPS_MOST];
	uint32_t loops = 0;
	for (uint32_t i = 0; i < body->count; i++) {
		struct listing_line *line = &body->lines[i];
		while (loops > 0 && line->indent <= indents[loops - 1])
			loops--;
		line->loops = loops;
		if (listing_begins(line->text, "for (") && loops < LOOPS_MOST)
			indents[loops++] = line->indent;
	}
}

static int read_parameters(struct listing *b, struct listing_body *body)
{
	const char *at = strchr(body->head, '(');
	for (at = at ? at + 1 : ""; *at && *at != ')'; at += *at == ',' ? 2 : 0) {
		size_t end = strcspn(at, ",)"), from = end;
		char kind = listing_begins(at, "const long *") ? HOLE_TABLE
		            : listing_begins(at, "long ")      ? HOLE_NUMBER
		                                               : 0;
		while (from > 0 && listing_letter(at[from - 1]))
			from--;
		if (listing_begins(at, "int "))
			kind = listing_counted(at + from);
		for (const struct hole_type *t = b->types; kind == 0 && t->type; t++)
			kind = listing_begins(at, t->type) && at[strlen(t->type)] == ' ' && at[from - 1] == ' '
			               ? t->kind
			               : 0;
		if (kind && add_name(&body->parameters, &body->parameter_count, &body->parameter_capacity, kind,
		                     at + from, end - from) != 0)
			return -1;
		at += end;
	}
	return 0;
}

static int add_line(struct listing_body *body, const char *text, size_t n)
{
	size_t tabs = strspn(text, "\t");
	if (!budget_grow(&body->lines, body->count, &body->capacity, sizeof *body->lines))
		return -1;
	tabs = tabs < n ? tabs : n;
	struct listing_line *line = &body->lines[body->count++];
	*line = (struct listing_line){.text = strndup(text + tabs, n - tabs), .size = n - tabs, .indent = (int)tabs};
	return line->text ? 0 : -1;
}

/* A function of n letters, or lines. */
static int add_body(struct listing *b, const char *text, size_t n, bool made)
{
	static const char HEAD[] = "static void ", OPEN[] = "\n{\n";
	if (!budget_grow(&b->bodies, b->count, &b->capacity, sizeof *b->bodies))
		return -1;
	struct listing_body *body = &b->bodies[b->count++];
	const char *open = listing_begins(text, HEAD) ? strstr(text, OPEN) : NULL, *end = text + n;
	const char *at = open && open < end ? open + strlen(OPEN) : text;
	*body = (struct listing_body){.made = made};
	body->head = strndup(text, (size_t)(at - text));
	body->name = strndup(text + (at > text ? strlen(HEAD) : 0), at > text ? strcspn(text + strlen(HEAD), "(") : 0);
	if (!body->head || !body->name || read_parameters(b, body) != 0 ||
	    (made && text_definitions_read(&b->definitions, body->head) != 0) ||
	    index_add(&b->by_name, hash_bytes(body->name, strlen(body->name)), b->count - 1) != 0)
		return -1;
	while (at < end && !(*body->name && *at == '}')) {
		size_t length = strcspn(at, "\n");
		if (add_line(body, at, length) != 0)
			return -1;
		at += length + 1;
	}
	count_loops(body);
	for (int again = 0; again < 2; again++) /* variables are known the second time */
		for (uint32_t i = 0; i < body->count; i++)
			if (read_block_line(b, body, &body->lines[i]) != 0)
				return -1;
	listing_find_statements(body);
	return 0;
}

int listing_add(struct listing *b, const char *text, bool made)
{
	while (*text) {
		const char *end = listing_begins(text, "static ") ? strstr(text, "\n}\n") : NULL;
		size_t n = end ? (size_t)(end + 3 - text) : strlen(text);
		if (add_body(b, text, n, made) != 0)
			return -1;
		text += n;
		text += strspn(text, "\n");
	}
	return 0;
}

struct body_key {
	const struct listing *b;
	const char *name;
};

static bool is_body(const void *context, uint32_t i)
{
	const struct body_key *k = context;
	return strcmp(k->b->bodies[i].name, k->name) == 0;
}

struct listing_body *listing_body_of(const struct listing *b, const char *name)
{
	struct body_key key = {b, name};
	uint32_t i = *name ? index_find(&b->by_name, hash_bytes(name, strlen(name)), is_body, &key) : INDEX_NONE;
	return i == INDEX_NONE ? NULL : &b->bodies[i];
}

size_t listing_plain_length(const char *name)
{
	size_t n = strlen(name), plain = n;
	while (plain > 0 && name[plain - 1] >= '0' && name[plain - 1] <= '9')
		plain--;
	return plain > 1 && plain < n && name[plain - 1] == '_' ? plain - 1 : n;
}

void listing_free_line(struct listing_line *line)
{
	free(line->text);
	budget_free(line->holes);
}

static void free_names(struct hole_name *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(names[i].name);
	budget_free(names);
}

void listing_free(struct listing *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		struct listing_body *body = &b->bodies[i];
		for (uint32_t k = 0; k < body->count; k++)
			listing_free_line(&body->lines[k]);
		budget_free(body->lines);
		free_names(body->parameters, body->parameter_count);
		free(body->name);
		free(body->head);
	}
	for (uint32_t i = 0; i < b->shape_count; i++)
		free(b->shapes[i]);
	for (uint32_t i = 0; i < b->local_count; i++)
		free(b->locals[i]);
	free_names(b->constants, b->constant_count);
	text_definitions_free(&b->definitions);
	budget_free(b->bodies);
	budget_free(b->shapes);
	index_free(&b->by_shape);
	index_free(&b->by_name);
}
