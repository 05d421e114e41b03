/* SPDX-License-Identifier: BSD-3-Clause
 * joined_statements - statements of a large program that stand in several places, but for numbers: one function
 */
#include "proxy/joined_statements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/listing_alike.h"
#include "proxy/short_functions.h"
#include "trace/base/budget.h"

#define LINES_MOST  80  /* in a function */
#define LOOKED_MOST 400 /* candidates of which is looked how short they make the program */

/* Statements that stand in several places. */
struct passage {
	uint32_t first, length, places;
	uint64_t hash;
	uint32_t end;  /* behind the last place: they do not overlap */
	int64_t about; /* not fewer letters than it could save */
};

/* So many lines have a shape. */
struct shape_use {
	uint32_t lines, first; /* first: of those that were looked at, from the end on */
};

struct joining {
	struct listing *b;
	struct names *names;
	uint64_t most; /* steps */
	struct alike a;
	struct shape_use *seen; /* of each shape */
	uint32_t seen_capacity;
	uint64_t *letters; /* in front of each line */
	uint32_t letters_capacity;
	struct passage *each;
	uint32_t each_count, each_capacity;
	struct index index;
};

/* ---- candidates ---- */

static const struct listing_line *line_at(const struct joining *x, uint32_t i)
{
	return x->a.spots[i].line;
}

static int add_spots(struct joining *x, struct listing_body *body)
{
	for (uint32_t k = 0; k < body->count; k++) {
		uint32_t letters = x->a.count;
		if (!budget_grow(&x->a.spots, x->a.count, &x->a.capacity, sizeof *x->a.spots) ||
		    !budget_grow(&x->letters, letters + 1, &x->letters_capacity, sizeof *x->letters))
			return -1;
		const struct listing_line *line = &body->lines[k];
		x->letters[x->a.count + 1] = x->letters[x->a.count] + line->size + (uint64_t)line->indent + 1;
		x->a.spots[x->a.count++] = (struct spot){body, &body->lines[k], SPOT_NONE};
	}
	return 0;
}

/* Which lines have the same shape. */
static int find_shapes(struct joining *x)
{
	while (x->seen_capacity < x->b->shape_count)
		if (!budget_grow(&x->seen, x->seen_capacity, &x->seen_capacity, sizeof *x->seen))
			return -1;
	memset(x->seen, 0, x->seen_capacity * sizeof *x->seen);
	for (uint32_t i = x->a.count; i-- > 0;) {
		struct shape_use *use = &x->seen[line_at(x, i)->shape];
		x->a.spots[i].next = use->lines++ ? use->first : SPOT_NONE;
		use->first = i;
	}
	return alike_step(&x->a, x->a.count + x->b->count) ? 0 : -1;
}

static int collect_spots(struct joining *x)
{
	x->a.count = 0;
	if (!budget_grow(&x->letters, 0, &x->letters_capacity, sizeof *x->letters))
		return -1;
	x->letters[0] = 0;
	for (uint32_t i = 0; i < x->b->count; i++)
		if (!x->b->bodies[i].gone && add_spots(x, &x->b->bodies[i]) != 0)
			return -1;
	return find_shapes(x);
}

struct passage_key {
	const struct joining *x;
	uint32_t length;
	uint64_t hash;
};

/* Others that have its hash by chance make a guess wrong, not the program. */
static bool is_candidate(const void *context, uint32_t i)
{
	const struct passage_key *k = context;
	const struct passage *c = &k->x->each[i];
	return c->length == k->length && c->hash == k->hash;
}

static int add_candidate(struct joining *x, uint32_t first, uint32_t length, uint64_t hash)
{
	struct passage_key key = {x, length, hash};
	uint32_t i = index_find(&x->index, hash, is_candidate, &key);
	if (i == INDEX_NONE) {
		if (!budget_grow(&x->each, x->each_count, &x->each_capacity, sizeof *x->each) ||
		    index_add(&x->index, hash, x->each_count) != 0)
			return -1;
		i = x->each_count++;
		x->each[i] = (struct passage){.first = first, .length = length, .hash = hash};
	}
	struct passage *c = &x->each[i];
	if (c->end <= first) {
		c->about += c->places ? (int64_t)(x->letters[first + length] - x->letters[first]) : 0;
		c->places++;
		c->end = first + length;
	}
	return 0;
}

/* May a statement be at the end of others: is it one beside them, with lines that are elsewhere, too? */
static bool goes_on(const struct joining *x, uint32_t first, uint32_t at)
{
	const struct listing_line *line = at < x->a.count ? line_at(x, at) : NULL;
	if (!line || line->span == 0 || x->a.spots[at].body != x->a.spots[first].body ||
	    line->indent != line_at(x, first)->indent || at + line->span - first > LINES_MOST)
		return false;
	for (uint32_t i = at; i < at + line->span; i++)
		if (line_at(x, i)->fixed || x->seen[line_at(x, i)->shape].lines < 2)
			return false;
	return true;
}

static int find_candidates(struct joining *x)
{
	x->each_count = 0;
	index_free(&x->index);
	for (uint32_t first = 0; first < x->a.count; first++) {
		uint64_t hash = 7;
		for (uint32_t at = first; goes_on(x, first, at);) {
			uint32_t end = at + line_at(x, at)->span;
			for (; at < end; at++)
				hash = hash_mix(hash,
				                (uint64_t)line_at(x, at)->shape * 64 +
				                        (uint64_t)(line_at(x, at)->indent - line_at(x, first)->indent));
			if (!alike_step(&x->a, end - first) || add_candidate(x, first, end - first, hash) != 0)
				return -1;
		}
	}
	return 0;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct passage *x = a, *y = b;
	return x->about != y->about ? (x->about < y->about) - (x->about > y->about)
	                            : (x->first > y->first) - (x->first < y->first);
}

/* ---- which one ---- */

/* What the function is about: the first call that is not about a datatype, an operation, or who there is. */
static const char *title_of(const struct joining *x, const struct passage *c)
{
	static const char *const others[] = {"Type_", "Op_", "Comm_", "Pack", "Group_", "Get_", "Unpack"};
	const char *title = "part";
	for (uint32_t i = c->first; i < c->first + c->length; i++) {
		const char *name = line_at(x, i)->callee;
		bool other = false;
		name += strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
		for (size_t k = 0; k < sizeof others / sizeof *others; k++)
			other |= strncmp(name, others[k], strlen(others[k])) == 0;
		if (*name && !other)
			return name;
		title = *name && strcmp(title, "part") == 0 ? name : title;
	}
	return title;
}

/* How many letters fewer the program has; 0: not fewer, or it cannot be a function; -1: no memory. */
static int64_t gain_of(struct joining *x, const struct passage *c)
{
	char *text = NULL, name[48];
	size_t size;
	int64_t before = 0;
	if (alike_find_places(&x->a, c->first, c->length) != 0)
		return -1;
	if (x->a.places_count < 2 || !alike_find_given(&x->a))
		return 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -1;
	const char *of = title_of(x, c);
	snprintf(name, sizeof name, "%.*s_100", (int)listing_plain_length(of), of);
	alike_write_function(&x->a, name, out);
	for (uint32_t p = 0; p < x->a.places_count; p++) {
		alike_write_call(&x->a, p, name, out);
		before += (int64_t)(x->letters[x->a.places[p] + c->length] - x->letters[x->a.places[p]]);
		before -= line_at(x, x->a.places[p])->indent + 1;
	}
	int rv = fclose(out);
	free(text);
	if (rv != 0 || !alike_step(&x->a, size + (uint64_t)before))
		return -1;
	return before > (int64_t)size ? before - (int64_t)size : 0;
}

/* ---- joining ---- */

/* Puts one line in each of the places from `first` to the one before `end`, which are in one body. Texts are taken
 * over. */
static int replace_in_body(struct joining *x, uint32_t first, uint32_t end, char **texts)
{
	struct listing_body *body = x->a.spots[x->a.places[first]].body;
	struct listing_line *lines = body->lines;
	uint32_t from = 0, to = 0;
	int rv = 0;
	for (uint32_t p = first; p < end; p++, to++) {
		uint32_t at = (uint32_t)(x->a.spots[x->a.places[p]].line - lines);
		memmove(lines + to, lines + from, (at - from) * sizeof *lines);
		to += at - from;
		for (uint32_t i = 1; i < x->a.length; i++)
			listing_free_line(&lines[at + i]);
		from = at + x->a.length;
		lines[to] = lines[at];
		if (listing_set_line(x->b, body, &lines[to], texts[p]) != 0)
			rv = -1;
	}
	memmove(lines + to, lines + from, (body->count - from) * sizeof *lines);
	body->count -= from - to;
	listing_find_statements(body);
	return rv;
}

/* The calls of a function take the places of its lines. */
static int replace_places(struct joining *x, const char *name)
{
	char **texts = budget_calloc(x->a.places_count, sizeof *texts);
	int rv = texts ? 0 : -1;
	size_t size;
	for (uint32_t p = 0; p < x->a.places_count && rv == 0; p++) {
		FILE *out = open_memstream(&texts[p], &size);
		if (out)
			alike_write_call(&x->a, p, name, out);
		rv = out && fclose(out) == 0 ? 0 : -1;
	}
	for (uint32_t p = 0; p < x->a.places_count && rv != 0 && texts; p++)
		free(texts[p]);
	for (uint32_t p = 0, end; p < x->a.places_count && rv == 0; p = end) {
		const struct listing_body *body = x->a.spots[x->a.places[p]].body;
		for (end = p; end < x->a.places_count && x->a.spots[x->a.places[end]].body == body;)
			end++;
		rv = replace_in_body(x, p, end, texts);
	}
	budget_free(texts);
	return rv;
}

/* Writes the function, and its calls. */
static int make_function(struct joining *x, const struct passage *c)
{
	char *text = NULL, title[40];
	size_t size;
	if (alike_find_places(&x->a, c->first, c->length) != 0 || !alike_find_given(&x->a))
		return -1;
	const char *of = title_of(x, c), *name;
	snprintf(title, sizeof title, "%.*s", (int)listing_plain_length(of), of);
	FILE *out = (name = names_make(x->names, title)) ? open_memstream(&text, &size) : NULL;
	if (!out)
		return -1;
	alike_write_function(&x->a, name, out);
	int rv = fclose(out) == 0 ? listing_add(x->b, text, true) : -1;
	free(text);
	if (rv != 0 || collect_spots(x) != 0) /* the bodies have moved */
		return -1;
	return replace_places(x, x->b->bodies[x->b->count - 1].name);
}

/* Makes the function by which the program becomes shortest. Returns 1; 0: there is none, or it takes too much; -1: no
 * memory, or no steps. */
static int make_best(struct joining *x)
{
	int64_t best = 0;
	uint32_t which = 0;
	if (x->a.steps >= x->most)
		return 0;
	if (collect_spots(x) != 0 || find_candidates(x) != 0)
		return -1;
	if (x->each_count)
		qsort(x->each, x->each_count, sizeof *x->each, compare_candidates);
	for (uint32_t i = 0; i < x->each_count && i < LOOKED_MOST && x->each[i].about > best && x->a.steps < x->most;
	     i++) {
		int64_t gain = gain_of(x, &x->each[i]);
		if (gain < 0)
			return -1;
		which = gain > best ? i : which;
		best = gain > best ? gain : best;
	}
	if (best == 0)
		return 0;
	const struct passage chosen = x->each[which];
	return make_function(x, &chosen) == 0 ? 1 : -1;
}

/* ---- the texts again ---- */

static void write_body(const struct listing_body *body, FILE *out)
{
	fputs(body->head, out);
	for (uint32_t i = 0; i < body->count; i++) {
		for (int k = 0; k < body->lines[i].indent; k++)
			fputc('\t', out);
		fprintf(out, "%s\n", body->lines[i].text);
	}
	fputs(*body->name ? "}\n\n" : "", out);
}

/* A function that was made, behind those that it calls. */
static void write_made(struct listing *b, struct listing_body *body, FILE *out)
{
	if (body->gone)
		return;
	body->gone = true;
	for (uint32_t i = 0; i < body->count; i++) {
		struct listing_body *called = listing_body_of(b, body->lines[i].callee);
		if (called && called->made)
			write_made(b, called, out);
	}
	write_body(body, out);
}

static int write_bodies(const struct listing *b, uint32_t from, uint32_t end, char **text)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	if (!out)
		return -1;
	for (uint32_t i = from; i < end; i++)
		if (!b->bodies[i].gone)
			write_body(&b->bodies[i], out);
	if (fclose(out) != 0) {
		free(made);
		return -1;
	}
	free(*text);
	*text = made;
	return 0;
}

int joined_statements_make(struct listing *b, char **texts, size_t count, struct names *names, uint64_t steps,
                           FILE *out)
{
	struct joining x = {.b = b, .names = names, .most = steps, .a = {.b = b}};
	uint32_t *ends = budget_calloc(count + 1, sizeof *ends);
	int rv = ends ? 0 : -1;
	for (size_t i = 0; i < count && rv == 0; i++) {
		rv = listing_add(b, texts[i], false);
		ends[i + 1] = b->count;
	}
	while (rv == 0 && (rv = make_best(&x)) == 1)
		rv = short_functions_take_in(b, &x.a.steps, steps);
	for (size_t i = 0; i < count && rv == 0; i++)
		rv = write_bodies(b, ends[i], ends[i + 1], &texts[i]);
	for (uint32_t i = 0; rv == 0 && i < b->count; i++)
		if (b->bodies[i].made)
			write_made(b, &b->bodies[i], out);
	budget_free(ends);
	budget_free(x.a.spots);
	budget_free(x.seen);
	budget_free(x.letters);
	budget_free(x.each);
	budget_free(x.a.places);
	index_free(&x.index);
	return rv;
}
