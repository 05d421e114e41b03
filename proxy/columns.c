/* SPDX-License-Identifier: BSD-3-Clause
 * columns - what all columns of a program share
 */
#include "proxy/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

bool columns_is_absent(const struct structure *s, int64_t v)
{
	return trace_is_constant(s->trace, v, CONST_ABSENT);
}

static const struct handle_name {
	char kind;
	const char *name, *type, *null;
} handle_names[] = {{'c', "comm", "MPI_Comm", "MPI_COMM_NULL"},
                    {'t', "type", "MPI_Datatype", "MPI_BYTE"},
                    {'g', "group", "MPI_Group", "MPI_GROUP_NULL"},
                    {'o', "op", "MPI_Op", "MPI_OP_NULL"},
                    {'w', "win", "MPI_Win", "MPI_WIN_NULL"},
                    {'f', "file", "MPI_File", "MPI_FILE_NULL"},
                    {'n', "info", "MPI_Info", "MPI_INFO_NULL"},
                    {'k', "keyval", "int", "MPI_KEYVAL_INVALID"},
                    {'e', "errhandler", "MPI_Errhandler", "MPI_ERRHANDLER_NULL"},
                    {'m', "message", "MPI_Message", "MPI_MESSAGE_NULL"},
                    {'r', "request", "MPI_Request", "MPI_REQUEST_NULL"}};

static const struct handle_name *handle_of(char kind)
{
	for (size_t i = 0; i < sizeof handle_names / sizeof *handle_names; i++)
		if (handle_names[i].kind == kind)
			return &handle_names[i];
	return NULL;
}

const char *handles_name(char kind)
{
	const struct handle_name *h = handle_of(kind);
	return h ? h->name : NULL;
}

const char *handles_type(char kind)
{
	const struct handle_name *h = handle_of(kind);
	return h ? h->type : NULL;
}

const char *handles_null(char kind)
{
	const struct handle_name *h = handle_of(kind);
	return h ? h->null : NULL;
}

static int handle_uses(struct columns *c, char kind, int64_t v)
{
	struct handles_used *h = &c->handles[(unsigned char)kind & 127];
	if (!value_is_constant(v)) {
		if (v < 0 || v > 10000000)
			return error_set(c->error, "it has a handle of another thread");
		h->count = v + 1 > h->count ? v + 1 : h->count;
		return 0;
	}
	for (uint32_t i = 0; i < h->constant_count; i++)
		if (h->constants[i] == v)
			return 0;
	if (columns_is_absent(c->structure, v))
		return 0;
	if (!budget_grow(&h->constants, h->constant_count, &h->constant_capacity, sizeof *h->constants))
		return error_set(c->error, "no memory");
	h->constants[h->constant_count++] = v;
	return 0;
}

int64_t handles_number(struct columns *c, char kind, int64_t v)
{
	struct handles_used *h = &c->handles[(unsigned char)kind & 127];
	uint32_t i = 0;
	h->asked = true;
	if (!value_is_constant(v) || columns_is_absent(c->structure, v))
		return v;
	while (i + 1 < h->constant_count && h->constants[i] != v)
		i++;
	return h->count + i;
}

static int runs_use_handles(struct columns *c, const struct schema_column *column, const struct runs *r)
{
	int64_t v;
	for (int64_t i = 0; i < r->count; i++) {
		const struct run *one = &r->each[i];
		int64_t last = one->count ? one->count - 1 : r->rest > 0 ? r->rest - 1 : 0;
		if (!column->vector) {
			if (handle_uses(c, column->kind, one->start) != 0 ||
			    handle_uses(c, column->kind, one->start + last * one->stride) != 0)
				return -1;
		} else if (!value_is_constant(one->start)) {
			const struct pool_item *item = &c->structure->vectors.items[one->start];
			struct handles_used *h = &c->handles[(unsigned char)column->kind & 127];
			h->count += h->count == 0; /* an array without elements has an address, too */
			for (size_t k = 0; k < item->size; k += sizeof v) {
				memcpy(&v, item->bytes + k, sizeof v);
				if (handle_uses(c, column->kind, v) != 0)
					return -1;
			}
		}
	}
	return 0;
}

int columns_begin(struct columns *c, const struct structure *s, struct tree *tree, struct definitions *tables,
                  struct error *error)
{
	*c = (struct columns){.structure = s, .tree = tree, .tables = tables, .error = error};
	for (uint32_t i = 1; i < s->nest.sites; i++) {
		const struct schema *schema = trace_schema(s->trace, &s->trace->sites[s->sites[i].site]);
		for (size_t k = 0; k < schema->count; k++)
			for (uint32_t r = 0; handle_of(schema->column[k].kind) && r < s->ranks; r++) {
				const struct runs *runs = structure_runs(s, s->sites[i].first + (uint32_t)k, r);
				if (runs && runs_use_handles(c, &schema->column[k], runs) != 0)
					return -1;
			}
	}
	return 0;
}

const struct tree_node *handles_at(struct columns *c, char kind, const struct tree_node *number)
{
	return node_2(c->tree, NODE_AT, node_name(c->tree, handles_name(kind)), number);
}

const struct tree_node *columns_constant(const struct columns *c, char kind, int64_t v)
{
	struct tree_node like = {.name = trace_constant_name(c->structure->trace, v), .number = kind};
	return node_new(c->tree, NODE_CONSTANT, &like, NULL, 0);
}

void columns_end(struct columns *c)
{
	for (size_t i = 0; i < sizeof c->handles / sizeof *c->handles; i++)
		budget_free(c->handles[i].constants);
}

void handles_write(const struct columns *c, FILE *out, FILE *start)
{
	static const char kinds[] = "ctgowfnekmr";
	for (const char *k = kinds; *k; k++) {
		const struct handles_used *h = &c->handles[(unsigned char)*k];
		if (h->count == 0 && !h->asked)
			continue;
		fprintf(out, "static %s %s[%" PRId64 "];\n", handles_type(*k), handles_name(*k),
		        h->count + h->constant_count);
		if (h->count)
			fprintf(start, "\tfor (int i = 0; i < %" PRId64 "; i++)\n\t\t%s[i] = %s;\n", h->count,
			        handles_name(*k), handles_null(*k));
		for (uint32_t i = 0; i < h->constant_count; i++)
			fprintf(start, "\t%s[%" PRId64 "] = %s;\n", handles_name(*k), h->count + i,
			        trace_constant_name(c->structure->trace, h->constants[i]));
	}
}

/* ---- tables that are kept aside ---- */

void aside_begin(struct columns *c, struct aside *a)
{
	*a = (struct aside){.before = c->tables, .count = c->table_count};
	c->tables = &a->own;
}

void aside_end(struct columns *c, struct aside *a)
{
	uint32_t before = a->count;
	c->tables = a->before;
	a->count = c->table_count;
	c->table_count = before;
}

void aside_keep(struct columns *c, struct aside *a)
{
	c->table_count = a->count;
	definitions_join(c->tables, &a->own);
}

void aside_drop(struct aside *a)
{
	definitions_free(&a->own);
}
