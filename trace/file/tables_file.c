/* SPDX-License-Identifier: BSD-3-Clause
 * tables_file - the stored form of what sites refer to: the chunks STRG, PATT, VECT, PATH
 */
#include "trace/file/tables_file.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

/* STRG, PATT: byte strings. VECT: vectors. */

void tables_put_pool(struct writer *w, const struct pool *p, uint32_t from)
{
	writer_uint(w, p->count - from);
	for (uint32_t i = from; i < p->count; i++) {
		writer_uint(w, p->items[i].size);
		writer_bytes(w, p->items[i].bytes, p->items[i].size);
	}
}

int tables_get_pool(struct reader *r, struct pool *p)
{
	for (size_t n = reader_count(r); n-- > 0;) {
		size_t size = reader_count(r);
		const uint8_t *bytes = reader_bytes(r, size);
		uint32_t number = p->count;
		if (!bytes || pool_intern(p, bytes, size) != number)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

static int64_t vector_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

void tables_put_vectors(struct writer *w, const struct pool *p, const struct derivations *d)
{
	writer_uint(w, d->vector_count);
	for (uint32_t i = 0; i < p->count; i++) {
		if (d->vectors && d->vectors[i] == UINT32_MAX)
			continue;
		size_t n = p->items[i].size / sizeof(int64_t);
		writer_uint(w, n);
		/* runs: a value, a difference, how many more values follow with that difference */
		for (size_t k = 0; k < n;) {
			int64_t value = vector_element(&p->items[i], k), stride = 0;
			size_t count = 1;
			if (k + 1 < n) {
				int64_t second = vector_element(&p->items[i], k + 1);
				stride = (int64_t)((uint64_t)second - (uint64_t)value);
				if (value_is_constant(value) || value_is_constant(second) || stride == INT64_MIN)
					stride = 0;
				while (k + count < n && vector_element(&p->items[i], k + count) ==
				                                (int64_t)((uint64_t)value + (uint64_t)stride * count))
					count++;
				if (stride != 0 && count < 3)
					count = 1;
			}
			value_put(w, value);
			writer_uint(w, (count - 1) << 1 | (stride != 0 && count > 1));
			if (stride != 0 && count > 1)
				writer_int(w, stride);
			k += count;
		}
	}
}

/* A vector that decodes to more elements than this is taken for damage: 128 MiB. */
#define MAX_VECTOR (UINT64_C(1) << 24)

int tables_get_vectors(struct reader *r, struct pool *p)
{
	for (size_t vectors = reader_count(r); vectors-- > 0;) {
		uint64_t n = reader_uint(r);
		if (r->bad || n > MAX_VECTOR)
			return -1;
		int64_t *values = budget_malloc((n ? n : 1) * sizeof *values);
		uint32_t number = p->count;
		bool ok = values;
		for (uint64_t k = 0; ok && k < n;) {
			int64_t value = value_get(r);
			uint64_t more = reader_uint(r);
			int64_t stride = more & 1 ? reader_int(r) : 0;
			more >>= 1;
			ok = !r->bad && more < n - k;
			for (uint64_t i = 0; ok && i <= more; i++)
				values[k++] = (int64_t)((uint64_t)value + (uint64_t)stride * i);
		}
		ok = ok && pool_intern(p, values, n * sizeof *values) == number;
		budget_free(values);
		if (!ok)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* PATH: modules and the tree of frames. */

void tables_put_paths(struct writer *w, const struct trace *t)
{
	writer_uint(w, t->module_count);
	for (uint32_t i = 0; i < t->module_count; i++) {
		writer_uint(w, t->modules[i].name);
		writer_uint(w, t->modules[i].build_id);
	}
	writer_uint(w, t->node_count - 1);
	uint64_t offset = 0;
	for (uint32_t i = 1; i < t->node_count; i++) {
		const struct trace_node *n = &t->nodes[i];
		writer_uint(w, i - 1 - n->parent);
		writer_uint(w, n->module == UINT32_MAX ? 0 : n->module + UINT64_C(1));
		if (n->module == UINT32_MAX) {
			writer_uint(w, n->offset);
		} else {
			writer_int(w, (int64_t)(n->offset - offset));
			offset = n->offset;
		}
	}
}

int tables_get_paths(struct reader *r, struct trace *t)
{
	for (size_t n = reader_count(r); n-- > 0;) {
		uint64_t name = reader_uint(r), build_id = reader_uint(r);
		uint32_t number = t->module_count;
		if (r->bad || name >= t->strings.count || build_id >= t->strings.count ||
		    trace_module(t, (struct trace_module){(uint32_t)name, (uint32_t)build_id}) != number)
			return -1;
	}
	uint64_t offset = 0;
	for (size_t n = reader_count(r); n-- > 0;) {
		uint32_t number = t->node_count;
		uint64_t back = reader_uint(r), module = reader_uint(r);
		if (r->bad || back > number - 1 || module > t->module_count)
			return -1;
		struct trace_node node = {number - 1 - (uint32_t)back, module == 0 ? UINT32_MAX : (uint32_t)module - 1,
		                          0};
		if (module == 0)
			node.offset = reader_uint(r);
		else
			node.offset = offset += (uint64_t)reader_int(r);
		if (trace_node(t, node) != number)
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}
