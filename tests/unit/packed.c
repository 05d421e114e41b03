/* SPDX-License-Identifier: BSD-3-Clause
 * packed - sites as bytes are the sites that they were; memory runs out at each step
 */
#include "trace/model/packed.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"

enum { ROOMS = 8 };

struct packing {
	struct container *container;
	const uint8_t *bytes;
	size_t n;
};

/* Decodes, packed, and encodes again. Returns 0 if that gives the same bytes. */
static int encode_again(void *context)
{
	struct packing *x = context;
	struct trace t;
	uint8_t *bytes;
	size_t n;
	int rv = trace_decode_packed(&t, x->container, NULL);
	if (rv == 0 && (rv = trace_encode(&t, NULL, 0, NULL, &bytes, &n)) == 0) {
		rv = n == x->n && memcmp(bytes, x->bytes, n) == 0 ? 0 : -1;
		free(bytes);
	}
	trace_free(&t);
	return rv;
}

/* A piece after the other. */
static int send_sites(struct trace *t, struct trace *there, uint8_t *rooms[ROOMS])
{
	size_t size, known;
	for (uint32_t i = 0, end, n = 0; i < t->site_count; i = end, n++) {
		end = packed_piece(t, i, &size);
		if (n == ROOMS || packed_piece(there, i, &known) != end || known != size ||
		    !(rooms[n] = malloc(size + 1)))
			return -1;
		packed_piece_take(t, i, end, rooms[n]);
		packed_piece_lend(there, i, end, rooms[n]);
	}
	return 0;
}

/* Sends it to another process, which encodes it. Returns 0 if that gives the same bytes. */
static int send_on(void *context)
{
	struct packing *x = context;
	struct trace t, there = {.size = 0};
	struct container *c = NULL;
	uint8_t *bytes = NULL, *rooms[ROOMS] = {NULL};
	size_t n;
	int rv = trace_decode_packed(&t, x->container, NULL);
	if (rv == 0 && (rv = trace_encode_tables(&t, &bytes, &n)) == 0 &&
	    (rv = container_parse_take(&c, "m", bytes, n, NULL, NULL)) == 0 &&
	    (rv = trace_decode_packed(&there, c, NULL)) == 0 && (rv = send_sites(&t, &there, rooms)) == 0 &&
	    (rv = trace_encode(&there, NULL, 0, NULL, &bytes, &n)) == 0) {
		rv = n == x->n && memcmp(bytes, x->bytes, n) == 0 ? 0 : -1;
		free(bytes);
	}
	container_destroy(c);
	trace_free(&there);
	trace_free(&t);
	for (int i = 0; i < ROOMS; i++)
		free(rooms[i]);
	return rv;
}

/* Messages are for packed traces of the same release. */
static void test_foreign(const uint8_t *bytes, size_t n)
{
	struct container *c, *m;
	struct trace t, there;
	uint8_t *message;
	size_t size;
	if (container_parse(&c, "x", bytes, n, NULL, NULL) != 0 || trace_decode_packed(&t, c, NULL) != 0 ||
	    trace_encode_tables(&t, &message, &size) != 0 || container_parse(&m, "m", message, size, NULL, NULL) != 0)
		abort();
	ok(trace_decode(&there, m, NULL) == -1, "a file that has sites as bytes is damaged");
	trace_free(&there);
	struct chunk *chunk = (struct chunk *)(uintptr_t)container_find(m, "PACK");
	((uint8_t *)(uintptr_t)chunk->data)[0]++;
	ok(trace_decode_packed(&there, m, NULL) == -1, "a message of another release is refused");
	trace_free(&there);
	trace_free(&t);
	free(message);
	container_destroy(c);
	container_destroy(m);
}

/* Looking at a part of a site, and changing only its times, leaves the rest as it is. Returns how many are wrong. */
static uint32_t test_parts(struct trace *packed, const struct trace *plain)
{
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < plain->site_count; i++) {
		struct trace_site room;
		const struct trace_site *p = &plain->sites[i], *s = packed_look_columns(packed, i, &room);
		for (uint32_t k = 0; k < p->column_count; k++)
			wrong += s->columns[k].count != p->columns[k].count;
		wrong += s->column_count != p->column_count || !rankmap_equal(&s->visits, &p->visits);
		packed_leave(packed, &room);
		unsigned traits = 0;
		for (unsigned trait = 1; trait <= PACKED_CLASSES; trait *= 2) {
			traits |= packed_has(packed, i, trait) ? trait : 0;
			wrong += packed_has(packed, i, trait) != packed_has(plain, i, trait);
		}
		struct trace_site *times = packed_open_times(packed, i, &room);
		wrong += times->edge_count != p->edge_count || times->communicate.count != p->communicate.count ||
		         !rankmap_equal(&times->visits, &p->visits);
		times->most += 7;
		wrong += packed_close_times(packed, i, times) != 0 || packed_has(packed, i, traits) != (traits != 0) ||
		         packed_look_times(packed, i, &room)->most != p->most + 7;
		packed_leave(packed, &room);
		s = packed_look(packed, i, &room);
		wrong += s->most != p->most + 7 || s->column_count != p->column_count;
		packed_leave(packed, &room);
	}
	return wrong;
}

static void test_kind(int how, const char *what)
{
	struct packing x = {.n = 0};
	struct error error = {""};
	struct trace plain, packed;
	struct trace_site room;
	struct rankmap visits;
	uint32_t wrong = 0;
	uint8_t *bytes = sample_bytes(5, how, &x.n);
	x.bytes = bytes;
	if (container_parse(&x.container, "x", bytes, x.n, NULL, &error) != 0 ||
	    trace_decode(&plain, x.container, &error) != 0 || trace_decode_packed(&packed, x.container, &error) != 0)
		abort();
	ok(packed.packing && !packed.sites && packed.site_count == plain.site_count,
	   "%s: there are no sites but as bytes", what);
	for (uint32_t i = 0; i < plain.site_count; i++) {
		uint32_t function, node;
		const struct trace_site *s = packed_look(&packed, i, &room), *p = packed_look(&plain, i, NULL);
		packed_key(&packed, i, &function, &node);
		wrong += !s || s->function != p->function || s->node != p->node || function != p->function ||
		         node != p->node || s->column_count != p->column_count ||
		         !rankmap_equal(&s->visits, &p->visits) ||
		         !rankmap_equal(&s->visits, packed_visits(&packed, i, &visits));
		rankmap_free(&visits);
		packed_leave(&packed, &room);
		packed_leave(&plain, NULL);
	}
	ok(wrong == 0, "%s: each site is there to be looked at", what);
	ok(test_parts(&packed, &plain) == 0, "%s: and its parts alone", what);
	struct trace_site *s = packed_open(&packed, 0, &room);
	s->least = 12345;
	ok(packed_close(&packed, 0, s) == 0 && packed_look(&packed, 0, &room)->least == 12345,
	   "%s: what is changed stays", what);
	packed_leave(&packed, &room);
	packed_drop(&packed, 0);
	ok(rankmap_empty(packed_visits(&packed, 0, &visits)) && !packed.packed[0].bytes, "%s: a site is dropped", what);
	ok(encode_again(&x) == 0, "%s: written again it is the same", what);
	ok(fails_well(encode_again, &x), "%s: no memory", what);
	ok(send_on(&x) == 0, "%s: sent to another process it is the same", what);
	ok(fails_well(send_on, &x), "%s: no memory to send it", what);
	test_foreign(bytes, x.n);
	trace_free(&plain);
	trace_free(&packed);
	container_destroy(x.container);
	free(bytes);
}

int main(void)
{
	test_kind(0, "whole");
	test_kind(SAMPLE_DETAIL, "counters and all times");
	test_kind(SAMPLE_LOSSY | SAMPLE_KILLED | SAMPLE_DETAIL | SAMPLE_PART, "a part without order");
	return tap_end();
}
