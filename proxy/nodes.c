/* SPDX-License-Identifier: BSD-3-Clause
 * nodes - a program in the making: expressions, statements and functions as nodes
 */
#include "proxy/nodes.h"

#include <string.h>

#include "trace/base/budget.h"

#define ROOM_SIZE    65536 /* bytes in which nodes are */
#define NUMBERS_KEPT 4096

struct tree_room {
	struct tree_room *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

static struct tree_node nothing = {.form = NODE_NUMBER};

static void rooms_free(struct tree_room **rooms, const struct tree_room *until)
{
	while (*rooms != until) {
		struct tree_room *next = (*rooms)->next;
		budget_free(*rooms);
		*rooms = next;
	}
}

void tree_free(struct tree *t)
{
	rooms_free(&t->rooms, NULL);
	rooms_free(&t->lasting, NULL);
	budget_free(t->names);
	budget_free(t->numbers);
	index_free(&t->by_name);
	*t = (struct tree){0};
}

static void *room_in(struct tree *t, struct tree_room **rooms, size_t size)
{
	size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	if (!*rooms || (*rooms)->size - (*rooms)->used < size) {
		size_t all = size > ROOM_SIZE / 4 ? size : ROOM_SIZE;
		struct tree_room *room = budget_malloc(sizeof *room + all);
		if (!room) {
			t->failed = true;
			return NULL;
		}
		*room = (struct tree_room){.next = *rooms, .size = all};
		*rooms = room;
	}
	void *at = (*rooms)->bytes + (*rooms)->used;
	(*rooms)->used += size;
	return at;
}

void *tree_room(struct tree *t, size_t size)
{
	return room_in(t, &t->rooms, size);
}

struct tree_mark tree_mark(struct tree *t)
{
	t->marked = true;
	return (struct tree_mark){t->rooms, t->rooms ? t->rooms->used : 0};
}

void tree_release(struct tree *t, struct tree_mark mark)
{
	rooms_free(&t->rooms, mark.room);
	if (mark.room)
		mark.room->used = mark.used;
}

struct name_key {
	const struct tree *t;
	const char *text;
	size_t n;
};

static bool is_name(const void *context, uint32_t i)
{
	const struct name_key *k = context;
	return strlen(k->t->names[i]) == k->n && memcmp(k->t->names[i], k->text, k->n) == 0;
}

const char *tree_name(struct tree *t, const char *text, size_t n)
{
	struct name_key key = {t, text, n};
	uint64_t hash = hash_bytes(text, n);
	uint32_t i = index_find(&t->by_name, hash, is_name, &key);
	if (i != INDEX_NONE)
		return t->names[i];
	char *copy = room_in(t, t->marked ? &t->lasting : &t->rooms, n + 1);
	if (!copy || !budget_grow(&t->names, t->name_count, &t->name_capacity, sizeof *t->names) ||
	    index_add(&t->by_name, hash, t->name_count) != 0) {
		t->failed = true;
		return "";
	}
	memcpy(copy, text, n);
	copy[n] = '\0';
	t->names[t->name_count++] = copy;
	return copy;
}

/* ---- making ---- */

static struct tree_node *make_in(struct tree *t, struct tree_room **rooms, enum node_form form,
                                 const struct tree_node *const *at, size_t count)
{
	struct tree_node *n = room_in(t, rooms, sizeof *n + count * sizeof *at);
	if (!n)
		return &nothing;
	*n = (struct tree_node){.form = form, .count = (uint32_t)count};
	if (count)
		memcpy(n->at, at, count * sizeof *at);
	return n;
}

static struct tree_node *make_one(struct tree *t, enum node_form form, const struct tree_node *const *at, size_t count)
{
	return make_in(t, &t->rooms, form, at, count);
}

/* Where a number is kept; NULL: it is not. */
static const struct tree_node **number_place(struct tree *t, int64_t number)
{
	if (!t->marked)
		return NULL;
	if (!t->numbers)
		t->numbers = budget_calloc(NUMBERS_KEPT, sizeof(const struct tree_node *));
	return t->numbers ? &t->numbers[hash_mix(1, (uint64_t)number) % NUMBERS_KEPT] : NULL;
}

const struct tree_node *node_of(struct tree *t, enum node_form form, int64_t number)
{
	const struct tree_node **kept = form == NODE_NUMBER ? number_place(t, number) : NULL,
			       *known = kept ? *kept : NULL;
	if (known && known->number == number)
		return known;
	struct tree_node *n = make_in(t, kept ? &t->lasting : &t->rooms, form, NULL, 0);
	if (n == &nothing)
		return n;
	n->number = number;
	if (kept)
		*kept = n;
	return n;
}

const struct tree_node *node_named(struct tree *t, enum node_form form, const char *name)
{
	struct tree_node *n = make_one(t, form, NULL, 0);
	if (n != &nothing)
		n->name = name;
	return n;
}

const struct tree_node *node_use(struct tree *t, struct definition *of)
{
	struct tree_node *n = make_one(t, NODE_USE, NULL, 0);
	if (n != &nothing)
		n->of = of;
	return n;
}

const struct tree_node *node_new(struct tree *t, enum node_form form, const struct tree_node *like,
                                 const struct tree_node *const *at, size_t count)
{
	struct tree_node *n = make_one(t, form, at, count);
	if (like && n != &nothing) {
		n->number = like->number;
		n->name = like->name;
		n->of = like->of;
	}
	return n;
}

const struct tree_node *node_call(struct tree *t, const char *name, const struct tree_node *const *at, size_t count)
{
	return node_new(t, NODE_CALL, &(struct tree_node){.name = name}, at, count);
}

const struct tree_node *node_format(struct tree *t, const char *format, const struct tree_node *const *at, size_t count)
{
	return node_new(t, NODE_FORMAT, &(struct tree_node){.name = format}, at, count);
}

const struct tree_node *node_declare(struct tree *t, const char *type, const char *name, bool array,
                                     const struct tree_node *value)
{
	return node_new(t, NODE_DECLARE, &(struct tree_node){.name = name, .number = array},
	                NODES(node_named(t, NODE_TEXT, type), value));
}

const struct tree_node *node_sum(struct tree *t, const struct tree_node *a, int64_t c)
{
	if (c == 0)
		return a;
	return node_2(t, c < 0 ? NODE_MINUS : NODE_PLUS, a, node_number(t, c < 0 ? -c : c));
}

void nodes_add(struct tree *t, struct nodes *n, const struct tree_node *one)
{
	if (budget_grow(&n->each, n->count, &n->capacity, sizeof *n->each))
		n->each[n->count++] = one;
	else
		t->failed = true;
}

const struct tree_node *nodes_end(struct tree *t, enum node_form form, struct nodes *n)
{
	const struct tree_node *all = node_new(t, form, NULL, n->each, n->count);
	budget_free(n->each);
	*n = (struct nodes){0};
	return all;
}

unsigned node_count(const struct tree_node *n, enum node_form form, int64_t number)
{
	unsigned count = n->form == form && (number == -1 || n->number == number);
	for (uint32_t i = 0; i < n->count; i++)
		count += node_count(n->at[i], form, number);
	return count;
}

bool node_is_number(const struct tree_node *n, int64_t v)
{
	return n->form == NODE_NUMBER && n->number == v;
}

bool node_declares(const struct tree_node *n, const char *name)
{
	bool there = (n->form == NODE_DECLARE || n->form == NODE_LOCAL) && strcmp(n->name, name) == 0;
	for (uint32_t i = 0; i < n->count && !there; i++)
		there = node_declares(n->at[i], name);
	return there;
}

/* ---- changing ---- */

const struct tree_node *node_with(struct tree *t, const struct tree_node *n, const struct tree_node *const *at)
{
	if (n->count == 0 || memcmp(at, n->at, n->count * sizeof *at) == 0)
		return n;
	return node_new(t, n->form, n, at, n->count);
}

#define CHILDREN_FEW 16

const struct tree_node *node_replace(struct tree *t, const struct tree_node *n, node_change *change, void *context)
{
	const struct tree_node *few[CHILDREN_FEW], **at = few, *other = change(context, t, n);
	if (other)
		return other;
	if (n->count > CHILDREN_FEW && !(at = budget_malloc(n->count * sizeof *at))) {
		t->failed = true;
		return n;
	}
	for (uint32_t i = 0; i < n->count; i++)
		at[i] = node_replace(t, n->at[i], change, context);
	other = node_with(t, n, at);
	if (at != few)
		budget_free(at);
	return other;
}

struct visit_change {
	const struct tree_node *visit;
	uint64_t turns;
};

/* v % turns */
static bool is_turn(const struct tree_node *n, uint64_t turns)
{
	return turns && n->form == NODE_MODULO && n->at[0]->form == NODE_VISIT &&
	       node_is_number(n->at[1], (int64_t)turns);
}

static const struct tree_node *change_visit(void *context, struct tree *t, const struct tree_node *n)
{
	const struct visit_change *c = context;
	(void)t;
	bool turn = is_turn(n, c->turns) || (n->form == NODE_IN_BRACKETS && is_turn(n->at[0], c->turns));
	return turn || n->form == NODE_VISIT ? c->visit : NULL;
}

const struct tree_node *node_visit(struct tree *t, const struct tree_node *n, const struct tree_node *visit,
                                   uint64_t turns)
{
	struct visit_change c = {visit, turns};
	return node_replace(t, n, change_visit, &c);
}
