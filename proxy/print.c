/* SPDX-License-Identifier: BSD-3-Clause
 * print - nodes of a program (nodes.h) as C
 */
#include "proxy/print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "trace/base/budget.h"

/* How expressions are written: what is in front of each child. */
static const char *const texts[NODE_FORMS] = {
	[NODE_NEGATED] = "!$",
	[NODE_ADDRESS] = "&$",
	[NODE_DEREFERENCED] = "*$",
	[NODE_TIMES] = "$ * $",
	[NODE_OVER] = "$ / $",
	[NODE_MODULO] = "$ % $",
	[NODE_PLUS] = "$ + $",
	[NODE_MINUS] = "$ - $",
	[NODE_SHIFTED] = "$ >> $",
	[NODE_LESS] = "$ < $",
	[NODE_LESS_EQUAL] = "$ <= $",
	[NODE_GREATER] = "$ > $",
	[NODE_GREATER_EQUAL] = "$ >= $",
	[NODE_EQUAL] = "$ == $",
	[NODE_UNEQUAL] = "$ != $",
	[NODE_BITS] = "$ & $",
	[NODE_XOR] = "$ ^ $",
	[NODE_BOTH] = "$ && $",
	[NODE_EITHER] = "$ || $",
	[NODE_CHOICE] = "$ ? $ : $",
	[NODE_IN_BRACKETS] = "($)",
	[NODE_AT] = "$[$]",
	[NODE_NEXT] = "$++",
};

/* ---- letters ---- */

static void put_letters(struct printer *p, const char *text, size_t n)
{
	if (p->out)
		fwrite(text, 1, n, p->out);
	for (size_t i = 0; i < n; i++)
		p->lines += text[i] == '\n';
	p->size += n;
}

void print_text(struct printer *p, const char *text)
{
	put_letters(p, text, strlen(text));
}

static void put_format(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put_format(struct printer *p, const char *format, ...)
{
	char text[128];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	put_letters(p, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_tabs(struct printer *p, int indent)
{
	while (indent-- > 0)
		put_letters(p, "\t", 1);
}

/* ---- what was printed ---- */

static bool is_piece(const void *context, uint32_t i)
{
	const void *const *k = context;
	return ((const struct printed *)k[0])->each[i] == k[1];
}

void printed_add(struct printed *all, const char *piece)
{
	const void *key[] = {all, piece};
	uint64_t hash = hash_mix(7, (uint64_t)(uintptr_t)piece);
	if (index_find(&all->index, hash, is_piece, key) != INDEX_NONE)
		return;
	if (!budget_grow(&all->each, all->count, &all->capacity, sizeof *all->each) ||
	    index_add(&all->index, hash, all->count) != 0)
		all->failed = true;
	else
		all->each[all->count++] = piece;
}

static void remember(struct printer *p, const char *piece)
{
	if (p->printed)
		printed_add(p->printed, piece);
}

void printed_free(struct printed *p)
{
	budget_free(p->each);
	index_free(&p->index);
	*p = (struct printed){0};
}

/* ---- expressions ---- */

void print_loop_name(int64_t number, char out[16])
{
	if (number < 6)
		snprintf(out, 16, "%c", "ijklmn"[number]);
	else
		snprintf(out, 16, "i%" PRIu32, (uint32_t)number);
}

static void print_number(struct printer *p, int64_t v)
{
	put_format(p, v < -INT64_C(0x7fffffff) || v > 0x7fffffff ? "%" PRId64 "L" : "%" PRId64, v);
}

static void print_children(struct printer *p, const struct tree_node *n)
{
	for (uint32_t i = 0; i < n->count; i++) {
		print_text(p, i ? ", " : "");
		print_node(p, n->at[i]);
	}
}

static void print_name(struct printer *p, const struct definition *d)
{
	print_text(p, d->kind);
	if (d->number != DEFINITION_ALONE)
		put_format(p, "_%" PRIu32, d->number);
}

static void print_filled(struct printer *p, const char *text, const struct tree_node *n)
{
	uint32_t child = 0;
	for (size_t length; *text; text += length) {
		length = strcspn(text, "$");
		put_letters(p, text, length);
		if (text[length] && child < n->count)
			print_node(p, n->at[child++]);
		length += text[length] != '\0';
	}
}

/* Of call sites, queues and counters. */
static void print_counted(struct printer *p, const struct tree_node *n)
{
	if (!n->name)
		put_format(p, "%" PRId64, n->number);
	else if (n->number)
		put_format(p, "%s + %" PRId64, n->name, n->number);
	else
		print_text(p, n->name);
}

static void print_leaf(struct printer *p, const struct tree_node *n)
{
	char name[16];
	switch (n->form) {
	case NODE_NUMBER:
		print_number(p, n->number);
		break;
	case NODE_VISIT:
		print_text(p, "v");
		break;
	case NODE_OWN_RANK:
		print_text(p, "own_rank");
		break;
	case NODE_LOOP:
	case NODE_LOOP_END:
		print_loop_name(n->number, name);
		put_format(p, n->form == NODE_LOOP ? "%s" : "%s_end", name);
		break;
	case NODE_USE:
		print_name(p, definition_shared(n->of));
		break;
	case NODE_SITE:
	case NODE_QUEUE:
	case NODE_COUNTER:
		print_counted(p, n);
		break;
	case NODE_HOLE:
		put_format(p, "_%" PRId64, n->number);
		break;
	default:
		remember(p, n->name);
		print_text(p, n->name);
	}
}

void print_node(struct printer *p, const struct tree_node *n)
{
	if (texts[n->form]) {
		print_filled(p, texts[n->form], n);
		return;
	}
	switch (n->form) {
	case NODE_CAST:
		put_format(p, "(%s)", n->name);
		print_children(p, n);
		break;
	case NODE_COMPOUND:
		put_format(p, "&(%s){", n->name);
		print_children(p, n);
		print_text(p, "}");
		break;
	case NODE_CALL:
		remember(p, n->name);
		print_text(p, n->name);
		print_text(p, "(");
		print_children(p, n);
		print_text(p, ")");
		break;
	case NODE_LIST:
		print_text(p, "{");
		print_children(p, n);
		print_text(p, "}");
		break;
	case NODE_SEQUENCE:
		for (uint32_t i = 0; i < n->count; i++)
			print_node(p, n->at[i]);
		break;
	case NODE_FORMAT:
		remember(p, n->name);
		print_filled(p, n->name, n);
		break;
	default:
		print_leaf(p, n);
	}
}

size_t print_size(const struct tree_node *n)
{
	struct printer p = {.out = NULL};
	print_node(&p, n);
	return p.size;
}

/* ---- statements ---- */

static bool is_bare(const struct tree_node *block)
{
	return block->form != NODE_BLOCK;
}

/* A block, and what is around it; one statement may stand without. */
static void print_block(struct printer *p, const struct tree_node *block, int indent)
{
	print_text(p, is_bare(block) ? "\n" : " {\n");
	print_statement(p, block, indent + 1);
	if (is_bare(block))
		return;
	put_tabs(p, indent);
	print_text(p, "}\n");
}

static void print_for(struct printer *p, const struct tree_node *n, int indent)
{
	char i[16];
	print_loop_name(n->number, i);
	put_format(p, n->form == NODE_FOR_DOWN ? "for (long %s = " : "for (long %s = 0", i);
	if (n->form == NODE_FOR_END)
		put_format(p, ", %s_end = ", i);
	else if (n->form == NODE_FOR)
		put_format(p, "; %s < ", i);
	print_node(p, n->at[0]);
	if (n->form == NODE_FOR_END)
		put_format(p, "; %s < %s_end", i, i);
	else if (n->form == NODE_FOR_DOWN)
		put_format(p, "; %s > 0", i);
	put_format(p, n->form == NODE_FOR_DOWN ? "; %s--)" : "; %s++)", i);
	print_block(p, n->at[1], indent);
}

static void print_case(struct printer *p, const struct tree_node *n, int64_t number, int indent)
{
	bool bare = is_bare(n->at[0]);
	put_tabs(p, indent);
	put_format(p, bare ? "case %" PRId64 ":\n" : "case %" PRId64 ": {\n", number);
	print_statement(p, n->at[0], indent + 1);
	put_tabs(p, indent + 1);
	print_text(p, "break;\n");
	put_tabs(p, bare ? 0 : indent);
	print_text(p, bare ? "" : "}\n");
}

static void print_switch(struct printer *p, const struct tree_node *n, int indent)
{
	print_text(p, "switch (");
	print_node(p, n->at[0]);
	print_text(p, ") {\n");
	for (uint32_t i = 1; i < n->count; i++)
		print_case(p, n->at[i], i - 1, indent);
	put_tabs(p, indent);
	print_text(p, "}\n");
}

static void print_do(struct printer *p, const struct tree_node *n, int indent)
{
	print_text(p, "do\n");
	print_statement(p, n->at[0], indent + 1);
	put_tabs(p, indent);
	print_text(p, "while (");
	print_node(p, n->at[1]);
	print_text(p, ");\n");
}

static void print_declaration(struct printer *p, const struct tree_node *n)
{
	put_format(p, n->number ? "%s%s[] = " : "%s%s = ", n->at[0]->name, n->name);
	print_node(p, n->at[1]);
	print_text(p, ";\n");
}

void print_statement(struct printer *p, const struct tree_node *n, int indent)
{
	if (n->form == NODE_SEQUENCE || n->form == NODE_BLOCK) {
		for (uint32_t i = 0; i < n->count; i++)
			if (n->at[i]->form == NODE_BLOCK) { /* a block of its own */
				put_tabs(p, indent);
				print_text(p, "{\n");
				print_statement(p, n->at[i], indent + 1);
				put_tabs(p, indent);
				print_text(p, "}\n");
			} else {
				print_statement(p, n->at[i], indent);
			}
		return;
	}
	put_tabs(p, indent);
	switch (n->form) {
	case NODE_IF:
		print_text(p, "if (");
		print_node(p, n->at[0]);
		print_text(p, ")");
		print_block(p, n->at[1], indent);
		break;
	case NODE_FOR:
	case NODE_FOR_END:
	case NODE_FOR_DOWN:
		print_for(p, n, indent);
		break;
	case NODE_SWITCH:
		print_switch(p, n, indent);
		break;
	case NODE_DO:
		print_do(p, n, indent);
		break;
	case NODE_DECLARE:
		print_declaration(p, n);
		break;
	default: /* NODE_STATEMENT */
		print_node(p, n->at[0]);
		print_text(p, ";\n");
	}
}

/* ---- definitions ---- */

/* What is in front of an element of a table, or of one of its rows. */
static const char *separator(const struct definition *d, int side, int64_t i)
{
	bool rows = side == 0 && d->sides > 1, turns = d->wrap && i % d->wrap == 0;
	if (rows && d->open)
		return i ? ",\n\t" : "\n\t";
	if (i == 0)
		return side == 0 && d->open ? "\n\t" : "";
	if (rows)
		return turns ? ",\n\t\t" : ", ";
	return turns && side + 1 == d->sides && (d->sides == 1 || d->open) ? ",\n\t" : ", ";
}

static void print_value(struct printer *p, const struct definition *d, uint32_t at)
{
	if (d->names && d->names[at])
		print_node(p, d->names[at]);
	else if (d->hexadecimal)
		put_format(p, "0x%" PRIx64, (uint64_t)d->values[at]);
	else
		print_number(p, d->values[at]);
}

/* A row, of which there may be several in one. */
static void print_row(struct printer *p, const struct definition *d, int side, uint32_t *at)
{
	for (int64_t i = 0; *at < d->count && (side == 0 || i < d->side[side]); i++) {
		print_text(p, separator(d, side, i));
		if (side + 1 == d->sides) {
			print_value(p, d, (*at)++);
			continue;
		}
		print_text(p, "{");
		print_row(p, d, side + 1, at);
		print_text(p, "}");
	}
}

static void print_sides(struct printer *p, const struct definition *d)
{
	int64_t row = 1;
	for (int i = 1; i < d->sides; i++)
		row *= d->side[i];
	if (d->is_packed)
		put_format(p, "[%" PRId64 "]", d->count / row);
	else
		print_text(p, "[]");
	for (int i = 1; i < d->sides; i++)
		put_format(p, "[%" PRId64 "]", d->side[i]);
}

void print_definition(struct printer *p, const struct definition *d)
{
	uint32_t at = 0;
	if (d->queued || d->gone)
		return;
	if (d->text) {
		print_node(p, d->text);
		return;
	}
	print_text(p, d->is_packed ? "static long " : "static const long ");
	print_name(p, d);
	print_sides(p, d);
	if (!d->is_packed) {
		print_text(p, " = {");
		print_row(p, d, 0, &at);
		print_text(p, "}");
	}
	print_text(p, ";");
	if (d->note && !d->is_packed)
		print_node(p, d->note);
	print_text(p, "\n");
}
