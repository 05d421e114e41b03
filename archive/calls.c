/* SPDX-License-Identifier: BSD-3-Clause
 * calls - what the index keeps of the functions and call sites of a trace, as bytes
 */
#include "archive/calls.h"

#include <assert.h>
#include <string.h>

/* The first three are always there: calls, ns, peak_ns. Each of the others has a flag. */
#define ALWAYS     3
#define FLAGS      (CALL_FIGURES - ALWAYS)
#define FLAG(i)    (UINT64_C(1) << ((i)-ALWAYS))
#define CALLS_MOST (UINT64_MAX >> FLAGS)

/* --- packing --- */

/* SQLite has signed integers. */
static uint64_t clamped(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

static void write_numbers(struct writer *w, const union figure_calls *c)
{
	uint64_t calls = c->calls > CALLS_MOST ? CALLS_MOST : c->calls, ns = clamped(c->ns);
	uint64_t flags = 0;

	for (int i = ALWAYS; i < CALL_FIGURES; i++)
		flags |= c->number[i] ? FLAG(i) : 0;
	writer_uint(w, calls << FLAGS | flags);
	writer_uint(w, ns);
	writer_int(w, (int64_t)clamped(c->peak_ns) - (int64_t)ns);
	for (int i = ALWAYS; i < CALL_FIGURES; i++)
		if (c->number[i])
			writer_uint(w, clamped(c->number[i]));
}

static void take_calls(union figure_calls *from, const union figure_calls *c)
{
	for (int i = 0; i < CALL_FIGURES; i++)
		from->number[i] -= c->number[i] < from->number[i] ? c->number[i] : from->number[i];
}

static bool is_nothing(const union figure_calls *c)
{
	uint64_t any = 0;
	for (int i = 0; i < CALL_FIGURES; i++)
		any |= c->number[i];
	return any == 0;
}

void calls_pack(struct writer *out, const struct digest *d, const int64_t *functions, const int64_t *places)
{
	for (size_t i = 0; i < d->function_count; i++) {
		union figure_calls rest = d->functions[i].calls;
		size_t sites = 0;
		for (size_t k = 0; k < d->site_count; k++)
			if (strcmp(d->sites[k].function, d->functions[i].name) == 0) {
				take_calls(&rest, &d->sites[k].calls);
				sites++;
			}
		bool more = sites == 0 || !is_nothing(&rest);
		writer_uint(out, (uint64_t)functions[i]);
		writer_uint(out, sites + more);
		for (size_t k = 0; k < d->site_count && sites > 0; k++) {
			if (strcmp(d->sites[k].function, d->functions[i].name) != 0)
				continue;
			assert(places[k] > 0);
			writer_uint(out, (uint64_t)places[k]);
			writer_uint(out, d->sites[k].number);
			write_numbers(out, &d->sites[k].calls);
		}
		if (more) {
			writer_uint(out, 0);
			write_numbers(out, &rest);
		}
	}
}

/* --- reading --- */

struct calls_reader calls_reader_of(const void *bytes, size_t size)
{
	return (struct calls_reader){.r = reader_of(bytes, size)};
}

static int64_t read_number(struct reader *r)
{
	uint64_t n = reader_uint(r);
	r->bad = r->bad || n > INT64_MAX;
	return (int64_t)n;
}

static void read_numbers(struct reader *r, union figure_calls *c)
{
	uint64_t first = reader_uint(r);

	*c = (union figure_calls){
		.number = {[CALL_FIGURE_CALLS] = first >> FLAGS, [CALL_FIGURE_CALL_NS] = (uint64_t)read_number(r)}};
	const int64_t more = reader_int(r), ns = (int64_t)c->ns;
	r->bad = r->bad || more < -ns || more > INT64_MAX - ns;
	c->peak_ns = r->bad ? 0 : (uint64_t)(ns + more);
	for (int i = ALWAYS; i < CALL_FIGURES; i++)
		c->number[i] = first & FLAG(i) ? (uint64_t)read_number(r) : 0;
}

int calls_next(struct calls_reader *r, struct calls_part *part)
{
	if (r->parts == 0) {
		if (r->r.at == r->r.end)
			return r->r.bad ? -1 : 1;
		r->function = read_number(&r->r);
		r->parts = reader_count(&r->r);
		if (r->parts == 0) /* every function has one */
			r->r.bad = true;
	}
	part->function = r->function;
	part->place = read_number(&r->r);
	uint64_t site = part->place ? reader_uint(&r->r) : 0;
	part->site = (uint32_t)site;
	read_numbers(&r->r, &part->calls);
	if (r->r.bad || site > UINT32_MAX)
		return -1;
	r->parts--;
	return 0;
}

int calls_next_function(struct calls_reader *r, struct calls_part *sum)
{
	struct calls_part part;
	int rv = calls_next(r, sum);

	while (rv == 0 && r->parts > 0 && (rv = calls_next(r, &part)) == 0)
		figure_calls_add(&sum->calls, &part.calls);
	sum->place = sum->site = 0;
	return rv;
}
