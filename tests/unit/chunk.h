/* SPDX-License-Identifier: BSD-3-Clause
 * chunk - one chunk of a good trace is replaced by other bytes: for the tests of its codec
 */
#ifndef SPOOR_TEST_CHUNK_H
#define SPOOR_TEST_CHUNK_H

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"
#include "trace/base/varint.h"

#define NUMBERS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* A sample (sample.h), and the chunk under test. */
struct chunk_test {
	uint8_t *bytes;
	size_t n;
	struct container *container;
	struct chunk *chunk;
};

static inline void chunk_test_begin(struct chunk_test *x, const char *id, uint32_t ranks, int how)
{
	x->bytes = sample_bytes(ranks, how, &x->n);
	if (container_parse(&x->container, "x", x->bytes, x->n, NULL, NULL) != 0)
		abort();
	x->chunk = (struct chunk *)(uintptr_t)container_find(x->container, id);
	if (!x->chunk)
		abort();
}

static inline void chunk_test_end(struct chunk_test *x)
{
	container_destroy(x->container);
	free(x->bytes);
}

/* Decodes the trace with these bytes for the chunk. Returns 0 or -1; the caller frees *t in any case. */
static inline int chunk_decode(struct chunk_test *x, struct trace *t, const void *bytes, size_t n)
{
	struct chunk saved = *x->chunk;
	struct error error = {""};
	struct budget budget = {.memory = 1 << 24, .steps = 1 << 18};
	budget_begin(&budget);
	x->chunk->data = bytes;
	x->chunk->size = n;
	int rv = trace_decode(t, x->container, &error);
	*x->chunk = saved;
	budget_end(&budget);
	if ((rv != 0) != (error.text[0] != '\0'))
		abort();
	return rv;
}

/* What is taken, spoor writes in a form that it reads, and that it writes again in the same bytes. */
static inline void chunk_taken(const struct trace *t)
{
	uint8_t *bytes[2] = {NULL, NULL};
	size_t n[2];
	struct container *c = NULL;
	struct trace again = {.size = 0};
	struct error error = {""};
	if (trace_encode(t, NULL, 0, NULL, &bytes[0], &n[0]) == 0) {
		if (container_parse(&c, "again", bytes[0], n[0], NULL, &error) || trace_decode(&again, c, &error) ||
		    trace_encode(&again, NULL, 0, NULL, &bytes[1], &n[1])) {
			printf("# what was written cannot be read: %s\n", error.text);
			abort();
		}
		if (n[0] != n[1] || memcmp(bytes[0], bytes[1], n[0]) != 0)
			abort();
	}
	container_destroy(c);
	trace_free(&again);
	free(bytes[0]);
	free(bytes[1]);
}

/* Returns whether the bytes are refused; for damage_each. */
static inline bool chunk_look(void *context, const void *bytes, size_t n)
{
	struct trace t;
	int rv = chunk_decode(context, &t, bytes, n);
	if (rv == 0)
		chunk_taken(&t);
	trace_free(&t);
	return rv != 0;
}

/* The chunk as a list of numbers. */
static inline bool chunk_numbers(struct chunk_test *x, const uint64_t *numbers, size_t n)
{
	struct writer w = {0};
	for (size_t i = 0; i < n; i++)
		writer_uint(&w, numbers[i]);
	bool refused = chunk_look(x, w.data, w.size);
	writer_free(&w);
	return refused;
}

static inline void chunk_damage(struct chunk_test *x, const char *what)
{
	size_t cut, bits = 8 * x->chunk->size, taken = damage_each(chunk_look, x, x->chunk->data, x->chunk->size, &cut);
	ok(cut == 0, "%s: %zu bytes cut short anywhere are refused", what, x->chunk->size);
	ok(taken < bits, "%s: of %zu flipped bits, %zu are refused; the others make other traces", what, bits,
	   bits - taken);
}

static inline int chunk_decode_again(void *context)
{
	struct chunk_test *x = context;
	struct trace t;
	int rv = chunk_decode(x, &t, x->chunk->data, x->chunk->size);
	trace_free(&t);
	return rv;
}

#endif
