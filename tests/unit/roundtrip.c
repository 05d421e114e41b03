/* SPDX-License-Identifier: BSD-3-Clause
 * roundtrip - random programs on several ranks: recorded, merged in several orders, encoded, decoded, walked, compared
 *
 *     roundtrip [PROGRAMS [FIRST_SEED]]
 *
 * A program is a random tree of loops, branches and calls; parameters are constant, relative to the rank, counters,
 * random walks, named constants, strings, vectors. Trip counts and branches may depend on the rank. What each rank did
 * is kept as a plain list.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "tests/unit/tap.h"
#include "trace/record/column.h"
#include "trace/file/container.h"
#include "trace/record/record.h"
#include "trace/base/varint.h"
#include "trace/read/walk.h"

#define SITES   12
#define COLUMNS 3
#define RANKS   6
#define EVENTS  3000

/* One recorded event, as text would be: the function and three parameters that are compared as what they mean. */
struct fact {
	uint32_t site;
	int64_t values[COLUMNS]; /* plain, or VALUE_CONSTANT + k for the named constant "Kk" */
};

struct rank_log {
	struct fact facts[EVENTS];
	size_t count;
};

enum generator { CONSTANT, RANKED, COUNTER, SMALL, WALK, NAMED, GENERATORS };

struct call {
	uint32_t site;
	enum generator generator[COLUMNS];
	int64_t offset[COLUMNS];
};

struct part {
	enum { CALL, LOOP, BRANCH, SEQUENCE } kind;
	struct call call;
	int count, by_rank, parts;
	struct part *part[4];
};

static struct part *program(int depth)
{
	struct part *p = calloc(1, sizeof *p);
	uint64_t dice = random_below(10);
	p->kind = depth == 0 || dice < 3 ? CALL : dice < 6 ? LOOP : dice < 7 ? BRANCH : SEQUENCE;
	if (p->kind == CALL) {
		p->call.site = (uint32_t)random_below(SITES);
		for (int i = 0; i < COLUMNS; i++) {
			p->call.generator[i] = (enum generator)random_below(GENERATORS);
			p->call.offset[i] = (int64_t)random_below(20) - 10;
		}
		return p;
	}
	p->count = 1 + (int)random_below(12);
	p->by_rank = random_below(4) == 0;
	p->parts = p->kind == LOOP ? 1 : 2 + (int)random_below(3);
	for (int i = 0; i < p->parts; i++)
		p->part[i] = program(depth - 1);
	return p;
}

static void program_free(struct part *p)
{
	for (int i = 0; i < p->parts; i++)
		program_free(p->part[i]);
	free(p);
}

struct machine {
	struct arena arena;
	struct columns columns;
	struct record *record;
	struct site *last;
	struct rank_log *log;
	uint32_t rank;
	int64_t counter[SITES * COLUMNS], walk[SITES * COLUMNS];
	uint32_t names[32];
	uint32_t shift; /* each rank numbers its things differently */
	ref sites[SITES];
};

/* Kinds: a plain integer, a vector of two equal elements, a string made of the number. */
static const char *const schemas[3] = {"F a:i b:i c:i", "G a:i b:[i c:s", "H a:p b:c c:i"};

static uint32_t string_of(struct machine *m, int64_t value)
{
	char text[32];
	int n = snprintf(text, sizeof text, "s%lld", (long long)value);
	for (uint32_t i = 1; i < m->record->strings.count; i++) {
		const struct record_string *s =
			arena_at(&m->arena, struct record_string,
		                 *(ref *)table_at(&m->arena, &m->record->strings, i, sizeof(ref)));
		if (s->length == (uint32_t)n && memcmp(s->bytes, text, (size_t)n) == 0)
			return i;
	}
	return record_add_string(&m->arena, m->record, text, (size_t)n);
}

static uint32_t vector_of(struct machine *m, int64_t value)
{
	int64_t pair[3] = {value, value, value + 1};
	for (uint32_t i = 0; i < m->record->vectors.count; i++) {
		const struct record_vector *v =
			arena_at(&m->arena, struct record_vector,
		                 *(ref *)table_at(&m->arena, &m->record->vectors, i, sizeof(ref)));
		if (memcmp(v->values, pair, sizeof pair) == 0)
			return i;
	}
	return record_add_vector(&m->arena, m->record, pair, 3);
}

/* Sites get their numbers in order of first use, which differs from rank to rank. */
static struct site *site_of(struct machine *m, uint32_t site)
{
	struct arena *a = &m->arena;
	if (!m->sites[site]) {
		struct record_node node = {.parent = 0, .module = 0, .offset = 100 + site / 2};
		uint32_t outer = table_add(a, &m->record->nodes, &node, sizeof node);
		node = (struct record_node){.parent = outer, .module = 0, .offset = 5000 + site};
		uint32_t inner = table_add(a, &m->record->nodes, &node, sizeof node);
		m->sites[site] = record_new_site(a, site % 3, inner, COLUMNS);
		struct site *s = arena_at(a, struct site, m->sites[site]);
		s->id = m->record->sites.count;
		table_add(a, &m->record->sites, &m->sites[site], sizeof(ref));
	}
	return arena_at(a, struct site, m->sites[site]);
}

static void call(struct machine *m, const struct call *c)
{
	struct rank_log *log = m->log;
	if (log->count == EVENTS)
		return;
	struct site *s = site_of(m, c->site);
	struct fact *fact = &log->facts[log->count++];
	fact->site = c->site;
	for (int i = 0; i < COLUMNS; i++) {
		size_t k = c->site * COLUMNS + (size_t)i;
		int64_t v = c->offset[i];
		switch (c->generator[i]) {
		case RANKED:
			v += m->rank;
			break;
		case COUNTER:
			v += m->counter[k]++;
			break;
		case SMALL:
			v += (int64_t)random_below(3);
			break;
		case WALK:
			v += m->walk[k] += (int64_t)random_below(3) - 1;
			break;
		case NAMED:
			v = VALUE_CONSTANT + (int64_t)random_below(3);
			break;
		default:
			break;
		}
		fact->values[i] = v;
		if (value_is_constant(v))
			v = VALUE_CONSTANT + m->names[v - VALUE_CONSTANT];
		else if (c->site % 3 == 1 && i == 1)
			v = vector_of(m, v);
		else if (c->site % 3 == 1 && i == 2)
			v = string_of(m, v);
		cell_put(&m->columns, &s->column[i], s->visits, v);
	}
	if (m->last)
		cell_put(&m->columns, &m->last->successor, m->last->visits - 1, s->id);
	else
		m->record->first = s->id + 1;
	m->last = s;
	m->record->at.last = s->id + 1;
	s->visits++;
	m->record->events++;
}

static void run(struct machine *m, const struct part *p)
{
	switch (p->kind) {
	case CALL:
		call(m, &p->call);
		break;
	case LOOP:
		for (int i = 0; i < p->count + (p->by_rank ? (int)m->rank : 0); i++)
			run(m, p->part[0]);
		break;
	case BRANCH:
		run(m, p->part[p->by_rank ? m->rank % (unsigned)p->parts : random_below((uint64_t)p->parts)]);
		break;
	case SEQUENCE:
		for (int i = 0; i < p->parts; i++)
			run(m, p->part[i]);
		break;
	}
}

static void record(struct trace *t, struct rank_log *log, const struct part *p, uint32_t rank, uint32_t size,
                   uint64_t seed)
{
	struct machine m = {.rank = rank, .log = log};
	struct error error = {""};
	/* as small as it may be: qemu does not forget addresses that were mapped, 40 bytes a page */
	if (arena_create(&m.arena, NULL, UINT64_C(4) << 20, NULL) != 0 || columns_init(&m.columns, &m.arena) != 0)
		abort();
	m.record = record_create(&m.arena);
	m.record->rank = rank;
	m.record->size = size;
	m.record->state = RECORD_FINALIZED;
	struct record_module module = {record_add_string(&m.arena, m.record, "/bin/x", 6), 0};
	table_add(&m.arena, &m.record->modules, &module, sizeof module);
	for (uint32_t i = 0; i < 3; i++) { /* in another order on each rank */
		char name[8];
		uint32_t k = (i + rank) % 3;
		m.names[k] = record_add_string(&m.arena, m.record, name, (size_t)snprintf(name, sizeof name, "K%u", k));
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t string = record_add_string(&m.arena, m.record, schemas[i], strlen(schemas[i]));
		table_add(&m.arena, &m.record->functions, &string, sizeof string);
	}
	log->count = 0;
	random_seed(seed * 100 + rank);
	run(&m, p);
	if (trace_extract(t, &m.arena, &error) != 0) {
		printf("# rank %u: %s\n", rank, error.text);
		abort();
	}
	columns_free(&m.columns);
	arena_close(&m.arena);
}

static bool same_value(const struct trace *t, const struct event *e, int i, int64_t expected)
{
	int64_t v = e->values[i];
	char text[32];
	if (value_is_constant(expected)) {
		snprintf(text, sizeof text, "K%d", (int)(expected - VALUE_CONSTANT));
		return value_is_constant(v) &&
		       strcmp((const char *)t->strings.items[v - VALUE_CONSTANT].bytes, text) == 0;
	}
	if (value_is_constant(v))
		return false;
	if (e->schema->column[i].vector) {
		int64_t pair[3] = {expected, expected, expected + 1};
		const struct pool_item *vector = event_vector(t, e, v);
		return vector->size == sizeof pair && memcmp(vector->bytes, pair, sizeof pair) == 0;
	}
	if (e->schema->column[i].kind == 's') {
		snprintf(text, sizeof text, "s%lld", (long long)expected);
		return strcmp((const char *)t->strings.items[v].bytes, text) == 0;
	}
	return v == expected;
}

static bool same_events(const struct trace *t, uint32_t rank, const struct rank_log *log)
{
	struct walk *w;
	struct event e;
	struct error error = {""};
	size_t n = 0;
	int step;
	bool same = true;
	if (walk_begin(&w, t, rank, &error) != 0)
		return false;
	while (same && (step = walk_next(w, &e, &error)) == 0) {
		same = n < log->count && t->nodes[t->sites[e.site].node].offset == 5000 + log->facts[n].site &&
		       memcmp(e.schema->function, schemas[log->facts[n].site % 3], 1) == 0;
		for (int i = 0; same && i < COLUMNS; i++)
			same = same_value(t, &e, i, log->facts[n].values[i]);
		n++;
	}
	if (error.text[0])
		printf("# rank %u: %s\n", rank, error.text);
	walk_end(w);
	return same && n == log->count;
}

/* Merges ranks in a random order, by twos, as a tree would; the result in canonical form, encoded. */
static void merged(struct trace *ranks, uint32_t n, uint8_t **bytes, size_t *size)
{
	struct trace *parts[RANKS];
	struct trace copies[RANKS], canonical;
	struct error error = {""};
	uint32_t left = n;
	for (uint32_t i = 0; i < n; i++) {
		parts[i] = &copies[i];
		if (trace_init(parts[i]) != 0)
			abort();
		parts[i]->packing = random_below(2);
		if (merge_into(parts[i], &ranks[i], &error) != 0)
			abort();
	}
	while (left > 1) {
		uint32_t a = (uint32_t)random_below(left), b = (uint32_t)random_below(left - 1);
		b += b >= a;
		if ((left % 2 ? merge_take(parts[a], parts[b], &error) : merge_into(parts[a], parts[b], &error)) != 0)
			abort();
		parts[b] = parts[--left];
	}
	if (merge_canonical(&canonical, parts[0], &error) != 0 ||
	    trace_encode(&canonical, NULL, 0, NULL, bytes, size) != 0)
		abort();
	trace_free(&canonical);
	for (uint32_t i = 0; i < n; i++)
		trace_free(&copies[i]);
}

/* A trace whose checksums are right and whose content is not: decoding says so, or gives something that can be walked,
 * to a contradiction or the end; nothing crashes. Returns whether it was refused. */
static bool survive_lie(const struct container *c)
{
	struct trace t;
	struct error error = {""};
	const struct chunk *chunk = container_at(c, random_below(container_count(c)));
	if (chunk->size == 0)
		return false;
	uint8_t *byte = (uint8_t *)(uintptr_t)&chunk->data[random_below(chunk->size)], saved = *byte;
	*byte = (uint8_t)random_next();
	int rv = trace_decode(&t, c, &error);
	for (uint32_t r = 0; rv == 0 && r < t.size && r < RANKS; r++) {
		struct walk *w;
		struct event e;
		if (walk_begin(&w, &t, r, &error) != 0)
			continue;
		for (int i = 0; i < 4 * EVENTS && walk_next(w, &e, &error) == 0; i++) {
		}
		walk_end(w);
	}
	trace_free(&t);
	*byte = saved;
	return rv != 0;
}

int main(int argc, char **argv)
{
	uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t events = 0, bytes_in_all = 0, damaged = 0, wrong = 0, orders = 0, refused = 0, lies = 0,
		 lies_refused = 0;
	struct rank_log *logs = calloc(RANKS, sizeof *logs);
	for (uint64_t seed = first; seed < first + programs; seed++) {
		struct trace ranks[RANKS], decoded = {0};
		struct container *c = NULL;
		struct error error = {""};
		uint8_t *bytes, *again;
		size_t size, size_again;
		random_seed(seed);
		uint32_t n = 1 + (uint32_t)random_below(RANKS);
		struct part *p = program(1 + (int)random_below(5));
		for (uint32_t r = 0; r < n; r++)
			record(&ranks[r], &logs[r], p, r, n, seed);
		random_seed(seed + 1000000);
		merged(ranks, n, &bytes, &size);
		for (int i = 0; i < 2; i++) {
			merged(ranks, n, &again, &size_again);
			orders += size != size_again || memcmp(bytes, again, size) != 0;
			free(again);
		}
		if (container_parse(&c, "trace", bytes, size, NULL, &error) != 0 ||
		    trace_decode(&decoded, c, &error) != 0) {
			printf("# seed %llu: %s\n", (unsigned long long)seed, error.text);
			wrong++;
		} else {
			for (uint32_t r = 0; r < n; r++) {
				events += logs[r].count;
				if (!same_events(&decoded, r, &logs[r])) {
					printf("# seed %llu: rank %u differs\n", (unsigned long long)seed, r);
					wrong++;
				}
			}
		}
		trace_free(&decoded);
		for (int i = 0; c && i < 10; i++, lies++)
			lies_refused += survive_lie(c);
		container_destroy(c);
		bytes_in_all += size;
		/* a damaged trace is refused or decodes to something; it never brings the reader down */
		for (int i = 0; i < 3; i++) {
			size_t at = random_below(size);
			bytes[at] ^= (uint8_t)(1 << random_below(8));
			struct error text = {""};
			damaged++;
			refused += container_parse(&c, "trace", bytes, size, NULL, &text) != 0 && text.text[0];
			container_destroy(c);
			bytes[at] ^= (uint8_t)(1 << random_below(8));
		}
		free(bytes);
		for (uint32_t r = 0; r < n; r++)
			trace_free(&ranks[r]);
		program_free(p);
	}
	ok(wrong == 0, "%llu programs: all %llu events of all ranks come back (%.2f bytes an event)",
	   (unsigned long long)programs, (unsigned long long)events,
	   events ? (double)bytes_in_all / (double)events : 0.0);
	ok(orders == 0, "any order of merging gives the same bytes");
	ok(refused == damaged, "%llu flipped bits are all noticed", (unsigned long long)damaged);
	ok(lies_refused > lies / 4,
	   "%llu changed bytes under right checksums: %llu are refused, none brings the reader down",
	   (unsigned long long)lies, (unsigned long long)lies_refused);
	free(logs);
	return tap_end();
}
