/* SPDX-License-Identifier: BSD-3-Clause
 * frame_rules - how to get from a frame to its caller's
 */
#include "preload/frame_rules.h"

#include "preload/byte_reader.h"

/* What all functions of an object file have in common (CIE). */
struct common {
	uint64_t code_unit;
	int64_t data_unit;
	uint8_t return_column, pointers; /* DW_EH_PE of addresses in functions' entries */
	bool signal, augmented;
	const uint8_t *program, *end;
};

static struct reader reader_at(const struct frame_image *image, const uint8_t *at)
{
	return (struct reader){at, (const uint8_t *)image->high,
	                       (uintptr_t)at < image->low || (uintptr_t)at >= image->high};
}

/* An address as DW_EH_PE says: low bits the form, then what it is relative to. */
static uintptr_t read_pointer(struct reader *r, uint8_t encoding, uintptr_t data)
{
	enum { OMIT = 0xff, RELATIVE = 0x70, TO_PC = 0x10, TO_DATA = 0x30 };
	uintptr_t here = (uintptr_t)r->at, value = 0;
	if (encoding == OMIT)
		return 0;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = reader_number(r, 8);
		break;
	case 0x01:
		value = reader_unsigned_leb(r);
		break;
	case 0x02:
		value = reader_number(r, 2);
		break;
	case 0x03:
		value = reader_number(r, 4);
		break;
	case 0x09:
		value = (uintptr_t)reader_signed_leb(r);
		break;
	case 0x0a:
		value = (uintptr_t)reader_signed(r, 2);
		break;
	case 0x0b:
		value = (uintptr_t)reader_signed(r, 4);
		break;
	default:
		r->bad = true;
	}
	if ((encoding & RELATIVE) == TO_PC)
		value += here;
	else if ((encoding & RELATIVE) == TO_DATA)
		value += data;
	else if (encoding & RELATIVE)
		r->bad = true;
	return value;
}

/* The length of an entry; r ends where it does. 0: the last one. */
static uint64_t begin_entry(struct reader *r)
{
	uint64_t length = reader_number(r, 4);
	if (length == UINT32_MAX)
		length = reader_number(r, 8);
	if (length > (size_t)(r->end - r->at))
		r->bad = true;
	if (r->bad)
		return 0;
	r->end = r->at + length;
	return length;
}

/* What the letters of an augmentation say. */
static void read_augmentation(struct reader *r, struct common *c, const char *letters)
{
	uint64_t n = reader_unsigned_leb(r);
	if (n > (size_t)(r->end - r->at)) {
		r->bad = true;
		return;
	}
	const uint8_t *after = r->at + n;
	for (letters++; *letters && !r->bad; letters++) {
		if (*letters == 'L')
			(void)reader_number(r, 1);
		else if (*letters == 'R')
			c->pointers = (uint8_t)reader_number(r, 1);
		else if (*letters == 'P')
			(void)read_pointer(r, (uint8_t)reader_number(r, 1), 0);
		else if (*letters == 'S')
			c->signal = true;
		else if (*letters != 'B') /* arm64's other key: it does not matter here */
			break;            /* the length says where it ends */
	}
	if (!r->bad)
		r->at = after;
}

static bool read_common(const struct frame_image *image, const uint8_t *at, struct common *c)
{
	struct reader r = reader_at(image, at);
	*c = (struct common){.pointers = 0};
	if (!begin_entry(&r) || reader_number(&r, 4) != 0)
		return false;
	uint64_t version = reader_number(&r, 1);
	const char *letters = (const char *)r.at;
	size_t n = r.bad ? 0 : strnlen(letters, (size_t)(r.end - r.at));
	reader_skip(&r, n + 1);
	if (r.bad || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return false;
	c->code_unit = reader_unsigned_leb(&r);
	c->data_unit = reader_signed_leb(&r);
	c->return_column = (uint8_t)(version == 1 ? reader_number(&r, 1) : reader_unsigned_leb(&r));
	c->augmented = *letters == 'z';
	if (c->augmented)
		read_augmentation(&r, c, letters);
	c->program = r.at;
	c->end = r.end;
	return !r.bad && c->return_column < REGISTERS;
}

/* A function's entry (FDE): where its code begins, and what follows. False: pc is not in it. */
static bool read_function(const struct frame_image *image, const uint8_t *at, uintptr_t pc, struct common *c,
                          struct reader *program, uintptr_t *begin)
{
	struct reader r = reader_at(image, at);
	if (!begin_entry(&r))
		return false;
	const uint8_t *field = r.at;
	uint64_t back = reader_number(&r, 4);
	if (r.bad || back == 0 || back > (uintptr_t)field - image->low || !read_common(image, field - back, c))
		return false;
	*begin = read_pointer(&r, c->pointers, 0);
	uintptr_t size = read_pointer(&r, c->pointers & 0x0f, 0);
	if (c->augmented)
		reader_skip(&r, reader_unsigned_leb(&r));
	*program = r;
	return !r.bad && pc - *begin < size;
}

/* Of a sorted table of (code, entry) the last one whose code is not behind pc. */
static const uint8_t *search_table(const struct frame_image *image, uintptr_t pc, bool *sorted)
{
	enum { TABLE_VERSION = 1, NUMBER_4 = 0x03, DATA_REL_4 = 0x3b };
	struct reader r = reader_at(image, image->table);
	const uint8_t *frames;
	struct {
		int32_t code, entry;
	} e;
	*sorted = false;
	if (reader_number(&r, 1) != TABLE_VERSION)
		return NULL;
	uint8_t frames_form = (uint8_t)reader_number(&r, 1), count_form = (uint8_t)reader_number(&r, 1),
		table_form = (uint8_t)reader_number(&r, 1);
	frames = (const uint8_t *)read_pointer(&r, frames_form, (uintptr_t)image->table);
	if (r.bad)
		return NULL;
	if (count_form != NUMBER_4 || table_form != DATA_REL_4)
		return frames;
	size_t low = 0, high = (size_t)reader_number(&r, 4);
	*sorted = true;
	if (r.bad || high > (size_t)(r.end - r.at) / sizeof e)
		return NULL;
	int64_t wanted = (int64_t)(pc - (uintptr_t)image->table);
	while (low < high) { /* those before low are not behind pc, those from high on are */
		size_t middle = low + (high - low) / 2;
		memcpy(&e, r.at + middle * sizeof e, sizeof e);
		if (e.code <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	memcpy(&e, r.at + (low - 1) * sizeof e, sizeof e);
	return (const uint8_t *)((uintptr_t)image->table + (uintptr_t)(intptr_t)e.entry);
}

/* ---- the program of an entry ---- */

struct execution {
	struct frame_search *search;
	const struct common *common;
	uintptr_t at, pc;
	bool initial; /* the common part, which is what DW_CFA_restore restores */
};

static void set_rule(struct frame_row *row, uint64_t number, enum frame_how how, int64_t n)
{
	if (number < REGISTERS)
		row->reg[number] = (struct frame_rule){.how = (uint8_t)how, .n = n};
}

static void set_expression(struct frame_row *row, uint64_t number, enum frame_how how, struct reader *r)
{
	if (number < REGISTERS)
		row->reg[number] = (struct frame_rule){.how = (uint8_t)how, .expression = r->at};
	reader_skip(r, reader_unsigned_leb(r));
}

static void restore_rule(const struct execution *x, struct frame_row *row, uint64_t number)
{
	const struct frame_rule same = {.how = FRAME_SAME};

	if (number < REGISTERS)
		row->reg[number] = x->initial ? same : x->search->initial.reg[number];
}

static void set_cfa(struct frame_row *row, uint64_t number, int64_t offset)
{
	row->by_expression = false;
	row->cfa_register = number < REGISTERS ? (uint16_t)number : REGISTERS;
	row->cfa_offset = offset;
}

static void remember_row(struct frame_search *s, struct reader *r)
{
	if (s->depth == FRAME_REMEMBERED)
		r->bad = true;
	else
		s->remembered[s->depth++] = s->found.row;
}

static void recall_row(struct frame_search *s, struct reader *r)
{
	if (s->depth == 0)
		r->bad = true;
	else
		s->found.row = s->remembered[--s->depth];
}

/* The instructions that say what a register is, rather than where. */
static void take_value_rule(const struct execution *x, struct reader *r, uint8_t op)
{
	struct frame_row *row = &x->search->found.row;
	int64_t unit = x->common->data_unit;
	uint64_t number;
	switch (op) {
	case 0x14: /* DW_CFA_val_offset */
		number = reader_unsigned_leb(r);
		set_rule(row, number, FRAME_IS_OFFSET, (int64_t)reader_unsigned_leb(r) * unit);
		break;
	case 0x15: /* DW_CFA_val_offset_sf */
		number = reader_unsigned_leb(r);
		set_rule(row, number, FRAME_IS_OFFSET, reader_signed_leb(r) * unit);
		break;
	case 0x16: /* DW_CFA_val_expression */
		set_expression(row, reader_unsigned_leb(r), FRAME_IS_EXPRESSION, r);
		break;
	default:
		r->bad = true;
	}
}

/* The instructions that say something of a register, or of the CFA. */
static void take_rule(const struct execution *x, struct reader *r, uint8_t op)
{
	struct frame_row *row = &x->search->found.row;
	int64_t unit = x->common->data_unit;
	uint64_t number;
	switch (op) {
	case 0x05: /* DW_CFA_offset_extended */
		number = reader_unsigned_leb(r);
		set_rule(row, number, FRAME_AT_OFFSET, (int64_t)reader_unsigned_leb(r) * unit);
		break;
	case 0x06: /* DW_CFA_restore_extended */
		restore_rule(x, row, reader_unsigned_leb(r));
		break;
	case 0x07: /* DW_CFA_undefined */
		set_rule(row, reader_unsigned_leb(r), FRAME_UNKNOWN, 0);
		break;
	case 0x08: /* DW_CFA_same_value */
		set_rule(row, reader_unsigned_leb(r), FRAME_SAME, 0);
		break;
	case 0x09: /* DW_CFA_register */
		number = reader_unsigned_leb(r);
		set_rule(row, number, FRAME_IN_REGISTER, (int64_t)reader_unsigned_leb(r));
		break;
	case 0x0c: /* DW_CFA_def_cfa */
		number = reader_unsigned_leb(r);
		set_cfa(row, number, (int64_t)reader_unsigned_leb(r));
		break;
	case 0x0d: /* DW_CFA_def_cfa_register */
		set_cfa(row, reader_unsigned_leb(r), row->cfa_offset);
		break;
	case 0x0e: /* DW_CFA_def_cfa_offset */
		row->cfa_offset = (int64_t)reader_unsigned_leb(r);
		break;
	case 0x0f: /* DW_CFA_def_cfa_expression */
		row->by_expression = true;
		row->cfa_expression = r->at;
		reader_skip(r, reader_unsigned_leb(r));
		break;
	case 0x10: /* DW_CFA_expression */
		set_expression(row, reader_unsigned_leb(r), FRAME_AT_EXPRESSION, r);
		break;
	case 0x11: /* DW_CFA_offset_extended_sf */
		number = reader_unsigned_leb(r);
		set_rule(row, number, FRAME_AT_OFFSET, reader_signed_leb(r) * unit);
		break;
	case 0x12: /* DW_CFA_def_cfa_sf */
		number = reader_unsigned_leb(r);
		set_cfa(row, number, reader_signed_leb(r) * unit);
		break;
	case 0x13: /* DW_CFA_def_cfa_offset_sf */
		row->cfa_offset = reader_signed_leb(r) * unit;
		break;
	default:
		take_value_rule(x, r, op);
	}
}

/* Those that have no operand, say where the next ones count from, or are not about a register. */
static void take_other(struct execution *x, struct reader *r, uint8_t op)
{
	uint64_t unit = x->common->code_unit;
	switch (op) {
	case 0x00: /* DW_CFA_nop */
		break;
	case 0x01: /* DW_CFA_set_loc */
		x->at = read_pointer(r, x->common->pointers, 0);
		break;
	case 0x02: /* DW_CFA_advance_loc1, 2, 4 */
		x->at += reader_number(r, 1) * unit;
		break;
	case 0x03:
		x->at += reader_number(r, 2) * unit;
		break;
	case 0x04:
		x->at += reader_number(r, 4) * unit;
		break;
	case 0x0a: /* DW_CFA_remember_state */
		remember_row(x->search, r);
		break;
	case 0x0b: /* DW_CFA_restore_state */
		recall_row(x->search, r);
		break;
	case 0x2d: /* DW_CFA_AARCH64_negate_ra_state */
		x->search->found.row.signed_return ^= true;
		break;
	case 0x2e: /* DW_CFA_GNU_args_size */
		(void)reader_unsigned_leb(r);
		break;
	default:
		take_rule(x, r, op);
	}
}

/* Up to pc. */
static bool execute_entry(struct execution *x, struct reader r)
{
	enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0 };
	struct frame_row *row = &x->search->found.row;
	while (r.at < r.end && !r.bad && x->at <= x->pc) {
		uint8_t op = *r.at++, low = op & 0x3f;
		if ((op & 0xc0) == ADVANCE)
			x->at += low * x->common->code_unit;
		else if ((op & 0xc0) == OFFSET)
			set_rule(row, low, FRAME_AT_OFFSET, (int64_t)reader_unsigned_leb(&r) * x->common->data_unit);
		else if ((op & 0xc0) == RESTORE)
			restore_rule(x, row, low);
		else
			take_other(x, &r, op);
	}
	return !r.bad;
}

static bool find_row(struct frame_search *s, const struct common *c, struct reader program, uintptr_t begin,
                     uintptr_t pc)
{
	struct execution x = {.search = s, .common = c, .at = begin, .pc = pc, .initial = true};
	memset(&s->found, 0, sizeof s->found);
	s->depth = 0;
	s->found.return_column = c->return_column;
	s->found.signal = c->signal;
	if (!execute_entry(&x, (struct reader){c->program, c->end, false}))
		return false;
	s->initial = s->found.row;
	x.initial = false;
	x.at = begin;
	return execute_entry(&x, program);
}

/* Without a sorted table: one entry after the other. */
static bool search_all(struct frame_search *s, const struct frame_image *image, const uint8_t *at, uintptr_t pc)
{
	struct common c;
	struct reader r = reader_at(image, at), program;
	uintptr_t begin;
	while (!r.bad) {
		struct reader entry = r;
		if (!begin_entry(&entry))
			return false;
		if (read_function(image, r.at, pc, &c, &program, &begin))
			return find_row(s, &c, program, begin, pc);
		r.at = entry.end;
	}
	return false;
}

bool frame_rules_find(struct frame_search *s, const struct frame_image *image, uintptr_t pc)
{
	struct common c;
	struct reader program;
	uintptr_t begin;
	bool sorted;
	const uint8_t *at = image->low < image->high ? search_table(image, pc, &sorted) : NULL;
	if (!at)
		return false;
	if (!sorted)
		return search_all(s, image, at, pc);
	return read_function(image, at, pc, &c, &program, &begin) && find_row(s, &c, program, begin, pc);
}
