/* SPDX-License-Identifier: BSD-3-Clause
 * passage - statements that stand in several places, but for their holes; a function for them
 */
#include "proxy/passage.h"

#include <string.h>

#include "proxy/columns.h"
#include "proxy/names.h"
#include "proxy/node_same.h"
#include "trace/base/budget.h"

/* ---- variables ---- */

#define SCOPE_MOST 64 /* variables that are declared in a passage */

/* What is declared where somebody is in a statement. */
struct scope {
	struct passage *p;
	const char *names[SCOPE_MOST];
	int64_t loops[SCOPE_MOST];
	uint32_t name_count, loop_count;
};

static bool is_declared(const struct scope *s, const char *name)
{
	for (uint32_t i = 0; i < s->name_count; i++)
		if (strcmp(s->names[i], name) == 0)
			return true;
	return false;
}

/* Is a variable known: is it of the passage, of a loop around it, or the number of a visit? */
static bool look_at_variable(struct scope *s, const struct tree_node *n)
{
	int64_t loops = s->p->places[0].loops;
	if (n->form == NODE_VISIT) {
		s->p->visit |= !is_declared(s, "v");
		return true;
	}
	if (n->form == NODE_OWN_RANK || n->form == NODE_LOCAL)
		return is_declared(s, n->form == NODE_LOCAL ? n->name : "own_rank");
	for (uint32_t i = 0; i < s->loop_count; i++)
		if (s->loops[i] == n->number)
			return true;
	if (n->form == NODE_LOOP_END || n->number >= loops || loops - n->number >= 64)
		return false;
	s->p->loops |= UINT64_C(1) << (loops - n->number);
	return true;
}

static bool look_at_variables(struct scope *s, const struct tree_node *n)
{
	bool block = n->form == NODE_BLOCK || n->form == NODE_CASE, loop = node_is_loop(n);
	uint32_t names = s->name_count, loops = s->loop_count;
	if (n->form == NODE_VISIT || n->form == NODE_OWN_RANK || n->form == NODE_LOCAL || n->form == NODE_LOOP ||
	    n->form == NODE_LOOP_END)
		return look_at_variable(s, n);
	for (uint32_t i = 0; i < n->count; i++) {
		if (loop && i == 1) {
			if (s->loop_count == SCOPE_MOST)
				return false;
			s->loops[s->loop_count++] = n->number;
		}
		if (!look_at_variables(s, n->at[i]))
			return false;
	}
	s->loop_count = loops;
	if (block)
		s->name_count = names;
	if (n->form == NODE_DECLARE) {
		if (s->name_count == SCOPE_MOST)
			return false;
		s->names[s->name_count++] = n->name;
	}
	return true;
}

/* Does somebody behind a place ask for its variables? */
static bool declares_for_others(const struct passage *p)
{
	bool declares = false, behind = false;
	for (uint32_t i = 0; i < p->length; i++)
		declares |= p->places[0].each[i]->form == NODE_DECLARE;
	for (uint32_t i = 0; i < p->count; i++)
		behind |= !p->places[i].last;
	return declares && behind;
}

/* ---- what a function is given ---- */

static const struct hole *hole_at(const struct passage *p, uint32_t place, uint32_t hole)
{
	return &p->places[place].holes.each[hole];
}

/* Has it a parameter of the function that it stands in? */
static bool has_parameter(const struct tree_node *n)
{
	bool has = (n->form == NODE_NAME && n->number) ||
	           ((n->form == NODE_SITE || n->form == NODE_QUEUE || n->form == NODE_COUNTER) && n->name);
	for (uint32_t i = 0; i < n->count && !has; i++)
		has = has_parameter(n->at[i]);
	return has;
}

/* Is it the same everywhere? Then it is in the function. */
static bool is_always(const struct passage *p, uint32_t hole)
{
	for (uint32_t i = 0; i < p->count; i++)
		if ((i && !node_same(hole_at(p, 0, hole)->of, hole_at(p, i, hole)->of)) ||
		    has_parameter(hole_at(p, i, hole)->of))
			return false;
	return true;
}

static bool same_base(const struct tree_node *a, const struct tree_node *b)
{
	return a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0);
}

/* Can what is in one hole be told by what is in another one? */
static bool tells(const struct passage *p, uint32_t by, uint32_t hole)
{
	const struct hole *first = hole_at(p, 0, by), *told = hole_at(p, 0, hole);
	if (first->kind != told->kind)
		return false;
	int64_t more = told->of->number - first->of->number;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct tree_node *a = hole_at(p, i, by)->of, *b = hole_at(p, i, hole)->of;
		if (!hole_is_counted(told->kind) ? !node_same(a, b)
		                                 : !same_base(a, b) || b->number - a->number != more || more < 0)
			return false;
	}
	return true;
}

/* The parameter for a hole; given_count: none. */
static uint32_t parameter_for(const struct passage *p, uint32_t hole)
{
	uint32_t i = 0;
	if (is_always(p, hole))
		return p->given_count;
	while (i < p->given_count && !tells(p, p->given[i], hole))
		i++;
	return i;
}

/* ---- names ---- */

static const struct parameter *known_parameter(const struct passage *p, const struct hole *h)
{
	for (int k = 0; k < 2 && h->call; k++)
		for (uint32_t i = 0; p->known[k] && i < p->known[k]->count; i++) {
			const struct routine *r = &p->known[k]->each[i];
			if (strcmp(r->name, h->call) == 0)
				return h->argument < r->parameter_count ? &r->parameters[h->argument] : NULL;
		}
	return NULL;
}

/* Without a number of its own. */
static void plain_name(const char *name, char out[24])
{
	snprintf(out, 24, "%.*s", (int)names_plain_length(name), name);
}

static void hint_of(const struct passage *p, const struct hole *h, char out[24])
{
	static const struct {
		char kind;
		const char *name;
	} known[] = {{HOLE_SITE, "site"},    {HOLE_QUEUE, "queue"}, {HOLE_VISIT, "counter"},
	             {HOLE_TABLE, "values"}, {'t', "datatype"},     {'c', "comm_here"}};
	const struct parameter *parameter = known_parameter(p, h);
	snprintf(out, 24, h->kind >= 'a' ? "handle" : "number");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].kind == h->kind) {
			snprintf(out, 24, "%s", known[i].name);
			if (h->kind < 'a')
				return;
		}
	if (parameter)
		plain_name(parameter->name, out);
	else if (h->statement == NODE_IF)
		snprintf(out, 24, "when");
	else if (h->statement >= NODE_FOR && h->statement <= NODE_FOR_DOWN)
		snprintf(out, 24, "turns");
	else if (h->statement == NODE_AT && h->call && strlen(h->call) < 16)
		snprintf(out, 24, "%s_at", h->call);
}

static bool name_is_taken(const struct passage *p, const char *name)
{
	static const char *const others[] = {"rank", "size", "v", "own_rank", "visit"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	if (name[0] >= 'i' && name[0] <= 'n' && name[1] == '\0') /* of a loop */
		return true;
	for (uint32_t i = 0; i < p->given_count; i++)
		if (strcmp(p->names[i], name) == 0)
			return true;
	for (uint32_t i = 0; i < p->length; i++)
		if (node_declares(p->places[0].each[i], name))
			return true;
	return false;
}

static const char *name_of_hole(const struct passage *p, struct tree *t, uint32_t hole)
{
	char hint[24], name[40];
	hint_of(p, hole_at(p, 0, hole), hint);
	snprintf(name, sizeof name, "%s", hint);
	for (unsigned i = 2; name_is_taken(p, name); i++)
		snprintf(name, sizeof name, "%s_%u", hint, i);
	return tree_name(t, name, strlen(name));
}

int passage_find_given(struct passage *p, struct tree *t)
{
	struct scope scope = {.p = p};
	p->given_count = 0;
	p->loops = 0;
	p->visit = false;
	if (declares_for_others(p))
		return 0;
	for (uint32_t i = 0; i < p->length; i++)
		if (!look_at_variables(&scope, p->places[0].each[i]))
			return 0;
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t k = 0; k < p->length; k++)
			if (shape_holes(p->places[i].each[k], &p->places[i].holes) != 0)
				return -1;
	for (uint32_t k = 0; k < p->places[0].holes.count; k++) {
		if (is_always(p, k) || parameter_for(p, k) < p->given_count)
			continue;
		if (p->given_count == GIVEN_MOST)
			return 0;
		p->names[p->given_count] = name_of_hole(p, t, k);
		p->given[p->given_count++] = k;
	}
	return 1;
}

void passage_end(struct passage *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		budget_free(p->places[i].holes.each);
}

/* ---- the function, and its calls ---- */

static const struct tree_node *fill_given(void *context, struct tree *t, uint32_t hole)
{
	const struct passage *p = context;
	const struct hole *h = hole_at(p, 0, hole);
	uint32_t i = parameter_for(p, hole);
	if (i == p->given_count)
		return NULL;
	struct tree_node like = {.name = p->names[i], .number = h->kind};
	if (!hole_is_counted(h->kind))
		return node_new(t, NODE_NAME, &like, NULL, 0);
	like.number = h->of->number - hole_at(p, 0, p->given[i])->of->number;
	return node_new(t, h->of->form, &like, NULL, 0);
}

static const char *type_of(struct tree *t, char kind)
{
	char type[40];
	const char *handle = handles_type(kind);
	if (!handle || hole_is_counted(kind))
		return hole_is_counted(kind) ? "int " : kind == HOLE_TABLE ? "const long *" : "long ";
	int n = snprintf(type, sizeof type, "%s ", handle);
	return tree_name(t, type, (size_t)n);
}

void passage_function(const struct passage *p, struct tree *t, const char *name, struct routines *out)
{
	struct parameter parameters[GIVEN_MOST + 65];
	struct nodes body = {0};
	const int64_t loops = p->places[0].loops, outer = p->loops ? 0 : loops;
	uint32_t next = 0, count = 0;
	for (uint32_t i = 0; i < p->given_count; i++)
		parameters[count++] = (struct parameter){type_of(t, hole_at(p, 0, p->given[i])->kind), p->names[i]};
	for (int64_t k = 1; k <= loops && k < 64; k++)
		if (p->loops >> k & 1) {
			char loop[16];
			print_loop_name(loops - k, loop);
			parameters[count++] = (struct parameter){"long ", tree_name(t, loop, strlen(loop))};
		}
	if (p->visit)
		parameters[count++] = (struct parameter){"long ", "v"};
	for (uint32_t i = 0; i < p->length; i++)
		nodes_add(t, &body, shape_fill(t, p->places[0].each[i], outer, fill_given, (void *)p, &next));
	routine_add(out, t, name, parameters, count, nodes_end(t, NODE_BLOCK, &body));
}

const struct tree_node *passage_call(const struct passage *p, struct tree *t, uint32_t place, const char *name)
{
	struct nodes given = {0};
	const int64_t loops = p->places[place].loops;
	for (uint32_t i = 0; i < p->given_count; i++) {
		const struct tree_node *value = hole_at(p, place, p->given[i])->of;
		nodes_add(t, &given, value->form == NODE_IN_BRACKETS ? value->at[0] : value);
	}
	for (int64_t k = 1; k <= loops && k < 64; k++)
		if (p->loops >> k & 1)
			nodes_add(t, &given, node_of(t, NODE_LOOP, loops - k));
	if (p->visit)
		nodes_add(t, &given, node_of(t, NODE_VISIT, 0));
	const struct tree_node *call = node_call(t, name, given.each, given.count);
	budget_free(given.each);
	return node_1(t, NODE_STATEMENT, call);
}
