/* SPDX-License-Identifier: BSD-3-Clause
 * frame_expression - where a rule of a frame is an expression
 */
#include "preload/frame_expression.h"

#include "preload/byte_reader.h"

#define DEPTH 12

struct machine {
	struct reader code;
	const struct registers *registers;
	struct stack_view *view;
	unsigned count;
	uintptr_t stack[DEPTH];
};

static void push_value(struct machine *m, uintptr_t value)
{
	if (m->count == DEPTH)
		m->code.bad = true;
	else
		m->stack[m->count++] = value;
}

static uintptr_t pop(struct machine *m)
{
	if (m->count == 0) {
		m->code.bad = true;
		return 0;
	}
	return m->stack[--m->count];
}

static void push_register(struct machine *m, uint64_t number, int64_t offset)
{
	const struct registers *r = m->registers;
	if (number == REGISTER_RETURN && REGISTER_RETURN != 30) /* x86-64: a stub of the linker asks where it is */
		push_value(m, r->pc + (uintptr_t)offset);
	else if (number >= REGISTERS || !(r->known >> number & 1))
		m->code.bad = true;
	else
		push_value(m, r->value[number] + (uintptr_t)offset);
}

static void read_memory(struct machine *m)
{
	uintptr_t value = 0;
	if (!stack_read(m->view, pop(m), &value))
		m->code.bad = true;
	push_value(m, value);
}

/* Two operands. */
static void compute(struct machine *m, uint8_t op)
{
	uintptr_t b = pop(m), a = pop(m);
	intptr_t sa = (intptr_t)a, sb = (intptr_t)b;
	switch (op) {
	case 0x1a: /* DW_OP_and */
		return push_value(m, a & b);
	case 0x1c: /* DW_OP_minus */
		return push_value(m, a - b);
	case 0x1e: /* DW_OP_mul */
		return push_value(m, a * b);
	case 0x21: /* DW_OP_or */
		return push_value(m, a | b);
	case 0x22: /* DW_OP_plus */
		return push_value(m, a + b);
	case 0x24: /* DW_OP_shl */
		return push_value(m, b < 64 ? a << b : 0);
	case 0x25: /* DW_OP_shr */
		return push_value(m, b < 64 ? a >> b : 0);
	case 0x27: /* DW_OP_xor */
		return push_value(m, a ^ b);
	case 0x29: /* DW_OP_eq, ge, gt, le, lt, ne */
		return push_value(m, a == b);
	case 0x2a:
		return push_value(m, sa >= sb);
	case 0x2b:
		return push_value(m, sa > sb);
	case 0x2c:
		return push_value(m, sa <= sb);
	case 0x2d:
		return push_value(m, sa < sb);
	case 0x2e:
		return push_value(m, a != b);
	default:
		m->code.bad = true;
	}
}

static void step(struct machine *m, uint8_t op)
{
	struct reader *code = &m->code;
	uint64_t number;
	uintptr_t top;
	if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit */
		return push_value(m, op - 0x30u);
	if (op >= 0x70 && op <= 0x8f) /* DW_OP_breg */
		return push_register(m, op - 0x70u, reader_signed_leb(code));
	switch (op) {
	case 0x06: /* DW_OP_deref */
		return read_memory(m);
	case 0x08: /* DW_OP_const1u, 1s, 2u, 2s, 4u, 4s, 8u, 8s */
	case 0x0a:
	case 0x0c:
	case 0x0e:
		return push_value(m, reader_number(code, (size_t)1 << (op - 0x08) / 2));
	case 0x09:
	case 0x0b:
	case 0x0d:
	case 0x0f:
		return push_value(m, (uintptr_t)reader_signed(code, (size_t)1 << (op - 0x08) / 2));
	case 0x10: /* DW_OP_constu */
		return push_value(m, reader_unsigned_leb(code));
	case 0x11: /* DW_OP_consts */
		return push_value(m, (uintptr_t)reader_signed_leb(code));
	case 0x12: /* DW_OP_dup */
		top = pop(m);
		push_value(m, top);
		return push_value(m, top);
	case 0x13: /* DW_OP_drop */
		(void)pop(m);
		return;
	case 0x23: /* DW_OP_plus_uconst */
		return push_value(m, pop(m) + reader_unsigned_leb(code));
	case 0x92: /* DW_OP_bregx */
		number = reader_unsigned_leb(code);
		return push_register(m, number, reader_signed_leb(code));
	case 0x96: /* DW_OP_nop */
		return;
	default:
		return compute(m, op);
	}
}

bool frame_expression(const uint8_t *expression, const uint8_t *end, const struct registers *r, struct stack_view *v,
                      const uintptr_t *cfa, uintptr_t *value)
{
	struct machine m = {.code = {expression, end, false}, .registers = r, .view = v};
	uint64_t n = reader_unsigned_leb(&m.code);
	if (m.code.bad || n > (size_t)(m.code.end - m.code.at))
		return false;
	m.code.end = m.code.at + n;
	if (cfa)
		push_value(&m, *cfa);
	while (m.code.at < m.code.end && !m.code.bad)
		step(&m, *m.code.at++);
	*value = pop(&m);
	return !m.code.bad;
}
