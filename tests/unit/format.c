/* SPDX-License-Identifier: BSD-3-Clause
 * format - a whole trace: each byte of each chunk is damaged under right checksums, memory runs out, and what comes
 * back is the same
 */
#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"
#include "trace/read/walk.h"

struct source {
	uint8_t *bytes;
	size_t n;
};

/* Decodes, and encodes what it was. Returns 0 if that is the same. */
static int round_trip(void *context)
{
	const struct source *s = context;
	struct container *c;
	struct trace t;
	struct error error = {""};
	uint8_t *again;
	size_t n;
	int rv = container_parse(&c, "x", s->bytes, s->n, NULL, &error);
	if (rv == 0) {
		rv = trace_decode(&t, c, &error);
		if ((rv != 0) != (error.text[0] != '\0'))
			abort();
		if (rv == 0 && (rv = trace_encode(&t, NULL, 0, NULL, &again, &n)) == 0) {
			rv = n == s->n && memcmp(again, s->bytes, n) == 0 ? 0 : -1;
			free(again);
		}
		trace_free(&t);
	}
	container_destroy(c);
	return rv;
}

/* Walks all streams to an end or a contradiction. */
static void walk_all(const struct trace *t)
{
	for (uint32_t rank = 0; rank < t->size && rank < 16; rank++) {
		struct walk *w;
		struct event e;
		if (walk_begin(&w, t, rank, NULL) == 0)
			for (int i = 0; i < 300 && walk_next(w, &e, NULL) == 0; i++) {
			}
		walk_end(w);
	}
}

/* Decodes a container with one chunk changed: of n bytes. Returns whether it was refused. */
struct lie {
	struct container *container;
	struct chunk *chunk;
};

static bool look(void *context, const void *bytes, size_t n)
{
	struct lie *l = context;
	struct chunk saved = *l->chunk;
	struct trace t;
	struct error error = {""};
	struct budget budget = {.memory = 1 << 24, .steps = 1 << 18};
	budget_begin(&budget);
	l->chunk->data = bytes;
	l->chunk->size = n;
	int rv = trace_decode(&t, l->container, &error);
	if ((rv != 0) != (error.text[0] != '\0'))
		abort();
	if (rv == 0)
		walk_all(&t);
	trace_free(&t);
	budget_end(&budget);
	*l->chunk = saved;
	return rv != 0;
}

static void test_trace(uint32_t ranks, int how, const char *what)
{
	struct source s;
	struct container *c;
	struct error error = {""};
	size_t taken = 0, cut, cuts = 0, bits = 0;
	s.bytes = sample_bytes(ranks, how, &s.n);
	ok(round_trip(&s) == 0, "%s, %zu bytes: comes back", what, s.n);
	if (container_parse(&c, "x", s.bytes, s.n, NULL, &error) != 0)
		abort();
	for (size_t i = 0; i < container_count(c); i++) {
		struct lie l = {c, (struct chunk *)(uintptr_t)container_at(c, i)};
		taken += damage_each(look, &l, l.chunk->data, l.chunk->size, &cut);
		cuts += cut;
		bits += 8 * l.chunk->size;
	}
	ok(taken < bits - bits / 4, "%s: of %zu flipped bits under right checksums %zu are refused", what, bits,
	   bits - taken);
	ok(cuts < s.n / 8, "%s: chunks cut short: all but %zu are refused", what, cuts);
	container_destroy(c);
	ok(fails_well(round_trip, &s), "%s: no memory to decode or encode", what);
	free(s.bytes);
}

int main(void)
{
	test_trace(1, 0, "one rank");
	test_trace(6, 0, "six ranks");
	test_trace(2, SAMPLE_DETAIL, "counters, times of all events");
	test_trace(3, SAMPLE_DETAIL | SAMPLE_PART, "a part");
	test_trace(3, SAMPLE_LOSSY | SAMPLE_KILLED, "columns without order, killed ranks");
	return tap_end();
}
