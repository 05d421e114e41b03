/* SPDX-License-Identifier: BSD-3-Clause
 * unwind - from the frame that a call was made in outwards to main
 */
#include "preload/unwind.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/frame_expression.h"
#include "preload/frame_rules.h"
#include "preload/stack.h"
#include "trace/record/record.h"

/* The rules of most places: the CFA is a register and an offset, and what was saved is near it. */
struct known_rule {
	uintptr_t pc;
	uint32_t module; /* its serial */
	int32_t cfa_offset;
	uint8_t cfa_register; /* REGISTERS: they are not that simple, and are read again */
	uint8_t flags;
	int16_t at[REGISTERS_KEPT_COUNT + 1]; /* words from the CFA on, of REGISTERS_KEPT and of the return address */
};
enum { RULE_SIGNAL = 1, RULE_LAST = 2, RULE_NONE = 4 };
#define RULE_SAME INT16_MAX
#define RULE_GONE INT16_MIN

/* A power of two. */
#define RULES 1024

/* What a child process has all zero, in pages of its own: those of some machines are that large. */
#define WIPED ((size_t)65536)

struct unwinder {
	union {
		struct arena_mind mind;
		char wiped[WIPED];
	};
	struct module_list modules;
	const struct module *module; /* of the last frame; NULL */
	struct stack_view view;
	struct registers now, next;
	uintptr_t slot;  /* where the return address was, that `now` begins with; 0: in no memory */
	bool was_signal; /* the frame was interrupted there */
	struct frame_search search;
	struct known_rule rule[RULES];
};

static const uint8_t kept[] = REGISTERS_KEPT;

enum step { STEP_DONE, STEP_LAST, STEP_NO_RULES, STEP_UNKNOWN_STACK };

struct unwinder *unwinder_create(void)
{
	module_begin();
	void *p = mmap(NULL, sizeof(struct unwinder), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, WIPED, MADV_WIPEONFORK); /* a Linux before 4.14 cannot do it */
	return p;
}

void unwinder_free(struct unwinder *u)
{
	if (u)
		munmap(u, sizeof *u);
}

struct arena_mind *unwinder_mind(struct unwinder *u)
{
	return &u->mind;
}

struct module_list *unwinder_modules(struct unwinder *u)
{
	return &u->modules;
}

/* ---- rules ---- */

static bool make_short(int16_t *at, const struct frame_rule *r)
{
	bool is_near = r->how == FRAME_AT_OFFSET && r->n % 8 == 0 && r->n / 8 > RULE_GONE && r->n / 8 < RULE_SAME;
	*at = is_near ? (int16_t)(r->n / 8) : r->how == FRAME_SAME ? RULE_SAME : RULE_GONE;
	return is_near || r->how == FRAME_SAME || r->how == FRAME_UNKNOWN;
}

static void make_known(struct known_rule *k, const struct frame_rules *f)
{
	const struct frame_row *row = &f->row;
	const struct frame_rule *ret = &row->reg[REGISTER_RETURN];
	bool is_short = !row->by_expression && row->cfa_register < REGISTERS &&
	                (int32_t)row->cfa_offset == row->cfa_offset && f->return_column == REGISTER_RETURN &&
	                row->reg[REGISTER_SP].how == FRAME_SAME && !row->signed_return &&
	                (ret->how == FRAME_AT_OFFSET || ret->how == FRAME_UNKNOWN);
	for (unsigned i = 0; i < REGISTERS_KEPT_COUNT; i++)
		is_short = make_short(&k->at[i], &row->reg[kept[i]]) && is_short;
	is_short = make_short(&k->at[REGISTERS_KEPT_COUNT], ret) && is_short;
	k->cfa_register = is_short ? (uint8_t)row->cfa_register : REGISTERS;
	k->cfa_offset = (int32_t)row->cfa_offset;
	k->flags = (f->signal ? RULE_SIGNAL : 0) | (ret->how == FRAME_UNKNOWN ? RULE_LAST : 0);
}

/* What is known of a place; NULL: it is in no file. Where rules are not simple, they are in u->search. */
static const struct known_rule *rule_of(struct unwinder *u, uintptr_t pc)
{
	if (!u->module || pc - u->module->at.start >= u->module->at.end - u->module->at.start)
		u->module = module_find(&u->modules, pc);
	const struct module *m = u->module;
	if (!m)
		return NULL;
	struct known_rule *k = &u->rule[(pc ^ pc >> 10) % RULES];
	bool known = k->pc == pc && k->module == m->serial;
	if (known && (k->cfa_register < REGISTERS || k->flags & RULE_NONE))
		return k;
	*k = (struct known_rule){.pc = pc, .module = m->serial};
	struct frame_image image = {m->frames_low, m->frames_high, m->at.frame_table};
	if (frame_rules_find(&u->search, &image, pc))
		make_known(k, &u->search.found);
	else
		k->flags = RULE_NONE;
	return k;
}

/* ---- steps ---- */

static bool is_known(const struct registers *r, unsigned i)
{
	return i < REGISTERS && (r->known >> i & 1);
}

static void set_register(struct registers *r, unsigned i, bool known, uintptr_t value)
{
	r->value[i] = value;
	r->known = known ? r->known | UINT32_C(1) << i : r->known & ~(UINT32_C(1) << i);
}

/* What a function need not give back is not known of its caller. */
static void keep_registers(struct registers *r)
{
	uint32_t mask = UINT32_C(1) << REGISTER_SP;
	for (unsigned i = 0; i < REGISTERS_KEPT_COUNT; i++)
		mask |= UINT32_C(1) << kept[i];
	r->known &= mask;
}

static enum step step_simply(struct unwinder *u, const struct known_rule *k)
{
	struct registers *r = &u->now;
	uintptr_t value;
	if (k->flags & RULE_LAST)
		return STEP_LAST;
	if (!is_known(r, k->cfa_register))
		return STEP_UNKNOWN_STACK;
	uintptr_t cfa = r->value[k->cfa_register] + (uintptr_t)(intptr_t)k->cfa_offset;
	u->slot = cfa + (uintptr_t)((intptr_t)k->at[REGISTERS_KEPT_COUNT] * 8);
	if (!stack_read(&u->view, u->slot, &r->pc))
		return STEP_UNKNOWN_STACK;
	for (unsigned i = 0; i < REGISTERS_KEPT_COUNT; i++) {
		if (k->at[i] == RULE_SAME)
			continue;
		bool known = k->at[i] != RULE_GONE &&
		             stack_read(&u->view, cfa + (uintptr_t)((intptr_t)k->at[i] * 8), &value);
		set_register(r, kept[i], known, known ? value : 0);
	}
	keep_registers(r);
	set_register(r, REGISTER_SP, true, cfa);
	return STEP_DONE;
}

/* The value that a rule gives a register; *slot: where it is, or 0. False: it is not known. */
static bool value_of(struct unwinder *u, unsigned i, uintptr_t cfa, uintptr_t *slot, uintptr_t *value)
{
	const struct frame_rule *rule = &u->search.found.row.reg[i];
	const uint8_t *end = (const uint8_t *)u->module->frames_high;
	const struct registers *r = &u->now;
	*slot = 0;
	switch (rule->how) {
	case FRAME_AT_OFFSET:
		*slot = cfa + (uintptr_t)rule->n;
		return stack_read(&u->view, *slot, value);
	case FRAME_IS_OFFSET:
		*value = cfa + (uintptr_t)rule->n;
		return true;
	case FRAME_SAME:
		*value = r->value[i];
		return is_known(r, i);
	case FRAME_IN_REGISTER:
		if (rule->n < 0 || rule->n >= REGISTERS || !is_known(r, (unsigned)rule->n))
			return false;
		*value = r->value[rule->n];
		return true;
	case FRAME_AT_EXPRESSION:
		return frame_expression(rule->expression, end, r, &u->view, &cfa, slot) &&
		       stack_read(&u->view, *slot, value);
	case FRAME_IS_EXPRESSION:
		return frame_expression(rule->expression, end, r, &u->view, &cfa, value);
	default:
		return false;
	}
}

static enum step step_in_full(struct unwinder *u)
{
	const struct frame_rules *f = &u->search.found;
	const struct frame_row *row = &f->row;
	uintptr_t cfa, slot, value;
	if (row->reg[f->return_column].how == FRAME_UNKNOWN)
		return STEP_LAST;
	if (row->by_expression) {
		if (!frame_expression(row->cfa_expression, (const uint8_t *)u->module->frames_high, &u->now, &u->view,
		                      NULL, &cfa))
			return STEP_UNKNOWN_STACK;
	} else if (is_known(&u->now, row->cfa_register)) {
		cfa = u->now.value[row->cfa_register] + (uintptr_t)row->cfa_offset;
	} else {
		return STEP_UNKNOWN_STACK;
	}
	u->next = u->now;
	for (unsigned i = 0; i < REGISTERS; i++) {
		bool known = i != f->return_column && value_of(u, i, cfa, &slot, &value);
		set_register(&u->next, i, known, known ? value : 0);
	}
	if (row->reg[REGISTER_SP].how == FRAME_SAME)
		set_register(&u->next, REGISTER_SP, true, cfa);
	if (!f->signal)
		keep_registers(&u->next);
	if (!value_of(u, f->return_column, cfa, &u->slot, &value))
		return STEP_UNKNOWN_STACK;
	u->next.pc = row->signed_return ? registers_unsigned(value) : value;
	u->now = u->next;
	return STEP_DONE;
}

/* A signal handler's return, whoever wrote it, comes without unwind information at times. */
static bool is_restorer(struct unwinder *u)
{
	static const uint8_t code[] = REGISTERS_RESTORER;
	uintptr_t words[2];
	return stack_read(&u->view, u->now.pc, &words[0]) && stack_read(&u->view, u->now.pc + 8, &words[1]) &&
	       memcmp(words, code, sizeof code) == 0;
}

static enum step step_out_of_signal(struct unwinder *u)
{
	uintptr_t sp = u->now.value[REGISTER_SP], value;
	u->next.known = 0;
	for (unsigned i = 0; i < REGISTERS; i++) {
		bool known = stack_read(&u->view, sp + (uintptr_t)registers_saved(i), &value);
		set_register(&u->next, i, known, known ? value : 0);
	}
	u->slot = sp + REGISTERS_SAVED_PC;
	if (!stack_read(&u->view, u->slot, &u->next.pc))
		return STEP_UNKNOWN_STACK;
	u->now = u->next;
	u->was_signal = true;
	return STEP_DONE;
}

/* To the caller's frame. */
static enum step step_out(struct unwinder *u)
{
	const struct known_rule *k = rule_of(u, u->was_signal ? u->now.pc : u->now.pc - 1);
	if (!k || k->flags & RULE_NONE)
		return is_restorer(u) ? step_out_of_signal(u) : STEP_NO_RULES;
	u->was_signal = k->flags & RULE_SIGNAL;
	return k->cfa_register < REGISTERS ? step_simply(u, k) : step_in_full(u);
}

/* ---- the path ---- */

static const int gap_of_step[] = {[STEP_LAST] = 0, [STEP_NO_RULES] = GAP_NO_UNWIND, [STEP_UNKNOWN_STACK] = GAP_STACK};

/* From the frame of the wrapper's caller on. */
static void take_frames(struct unwinder *u, struct callpath *path, size_t most)
{
	enum step step = STEP_DONE;
	uintptr_t before = 0;
	while (step == STEP_DONE && u->now.pc != 0 && path->count < most) {
		uintptr_t sp = u->now.value[REGISTER_SP];
		path->frame[path->count++] = (struct callpath_frame){(const uintptr_t *)u->slot, u->now.pc, sp};
		if (sp == before && path->count > 1 && u->now.pc == path->frame[path->count - 2].address)
			step = STEP_UNKNOWN_STACK; /* it leads to itself */
		else
			step = step_out(u);
		before = sp;
	}
	if (step != STEP_DONE)
		path->gap = gap_of_step[step];
	else if (u->now.pc == 0)
		path->gap = 0;
	else
		path->gap = most == CALLPATH_MAX ? GAP_TOO_DEEP : GAP_CUT;
}

/* Frames of the tracer itself that a wrapper may be away. */
#define OWN_FRAMES 32

__attribute__((noinline)) void unwind_path(struct unwinder *u, struct callpath *path, void *return_address, void *cfa,
                                           size_t most)
{
	loaded_look();
	u->module = NULL;
	u->was_signal = true; /* this place is no return address */
	registers_here(&u->now);
	stack_look(&u->view, (const void *)u->now.value[REGISTER_SP]); /* NOLINT: the tracer's own frames, too */
	path->count = 0;
	for (int i = 0; i < OWN_FRAMES && u->now.value[REGISTER_SP] < (uintptr_t)cfa; i++)
		if (step_out(u) != STEP_DONE)
			break;
	if (u->now.value[REGISTER_SP] == (uintptr_t)cfa && u->now.pc == (uintptr_t)return_address) {
		take_frames(u, path, most);
		return;
	}
	path->frame[0] = (struct callpath_frame){(const uintptr_t *)cfa - 1, (uintptr_t)return_address, (uintptr_t)cfa};
	path->count = 1;
	path->gap = GAP_NO_UNWIND;
}
