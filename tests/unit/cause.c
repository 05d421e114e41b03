/* SPDX-License-Identifier: BSD-3-Clause
 * cause - of programs whose lost time can be reckoned on paper: its kind, its seconds, ranks and place, and nothing
 * else
 */
#include "insight/cause.h"

#include <math.h>

#include "insight/blame.h"
#include "tests/unit/fail.h"
#include "tests/unit/virtual.h"

enum { SIZE = 4, STEPS = 40 };

static struct virtual v;
static struct trace trace;

/* All that is lost, by the definition: what ranks do not compute until the last one is at its end. */
static double lost_ns(void)
{
	double last = 0;
	for (uint32_t r = 0; r < v.size; r++)
		last = v.at[r] > last ? v.at[r] : last;
	return last * v.size - v.all_computed;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 0.02 * fabs(b) + MS;
}

static double calls_ns(void)
{
	return VIRTUAL_CALL * v.count;
}

static bool is_at(uint32_t site, enum virtual_site wanted)
{
	static const char *const names[] = {"MPI_Init",      "MPI_Send",    "MPI_Recv",
	                                    "MPI_Allreduce", "MPI_Barrier", "MPI_Finalize"};
	const struct schema *s;
	if (site == CAUSE_NOWHERE)
		return false;
	s = trace_schema(&trace, &trace.sites[site]);
	return s->function_length == strlen(names[wanted]) &&
	       memcmp(s->function, names[wanted], s->function_length) == 0;
}

/* What is expected of a program: its first cause, and all of it. */
struct wanted {
	enum cause_kind kind;
	double ns;
	enum virtual_site before;
	uint32_t ranks; /* bits */
};

static void look_at(const char *title, const struct wanted *w, bool lossy)
{
	struct causes c;
	struct error error = {""};
	double booked = 0, lost = lost_ns();
	uint32_t ranks = 0;
	virtual_trace(&v, &trace, lossy);
	ok(causes_find(&c, &trace, &error) == 0 && c.known && (c.played || lossy), "%s: it is %s", title,
	   lossy ? "estimated" : "played");
	for (size_t i = 0; i < c.count; i++)
		booked += c.list[i].ns;
	ok(near(booked, lost + calls_ns()), "%s: all that is lost is booked, once (%.1f of %.1f ms)", title,
	   booked / MS, lost / MS);
	const struct cause none = {.kind = CAUSES}, *first = c.count ? &c.list[0] : &none;
	ok(first->kind == w->kind && near(first->ns, w->ns), "%s: %s, %.1f of %.1f ms", title,
	   first->kind < CAUSES ? cause_name(first->kind) : "-", first->ns / MS, w->ns / MS);
	ok(is_at(first->site, w->before), "%s: its place", title);
	for (uint32_t i = 0; i < first->rank_count; i++)
		ranks |= 1U << first->ranks[i];
	ok(ranks == w->ranks, "%s: ranks %x", title, ranks);
	ok(c.count < 2 || c.list[1].ns < 0.02 * lost + 2 * calls_ns(), "%s: and no other", title);
	causes_free(&c);
	trace_free(&trace);
}

static void look(const char *title, const struct wanted *w)
{
	virtual_end(&v);
	look_at(title, w, false);
	look_at(title, w, true);
}

static void test_imbalance(void)
{
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, r == 2 ? 9 * MS : 4 * MS);
		virtual_reduce_all(&v);
	}
	look("one rank has more to do", &(struct wanted){CAUSE_IMBALANCE, STEPS * 3 * 5 * MS, VIRTUAL_REDUCE, 1U << 2});
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, r >= 2 ? 9 * MS : 4 * MS);
		virtual_reduce_all(&v);
	}
	look("half of them have", &(struct wanted){CAUSE_IMBALANCE, STEPS * 2 * 5 * MS, VIRTUAL_REDUCE, 3U << 2});
}

static void test_ring(void)
{
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++) {
			virtual_compute(&v, r, r == 1 ? 9 * MS : 4 * MS);
			virtual_send(&v, r, (r + 1) % SIZE);
		}
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_receive(&v, r, (r + SIZE - 1) % SIZE);
	}
	virtual_barrier(&v);
	look("one rank of a ring", &(struct wanted){CAUSE_IMBALANCE, STEPS * 3 * 5 * MS, VIRTUAL_SEND, 1U << 1});
}

static void test_moving(void)
{
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, r == (uint32_t)i % SIZE ? 9 * MS : 4 * MS);
		virtual_reduce_all(&v);
	}
	look("another one each time", &(struct wanted){CAUSE_MOVING, STEPS * 3 * 5 * MS, VIRTUAL_REDUCE, 0});
}

static void test_serial(void)
{
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, 4 * MS);
		virtual_reduce_all(&v);
		virtual_compute(&v, 0, 5 * MS);
		virtual_barrier(&v);
	}
	look("only one rank computes", &(struct wanted){CAUSE_SERIAL, STEPS * 3 * 5 * MS, VIRTUAL_BARRIER, 1});
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		virtual_compute(&v, 0, 5 * MS);
		for (uint32_t r = 1; r < SIZE; r++)
			virtual_send(&v, 0, r);
		for (uint32_t r = 1; r < SIZE; r++)
			virtual_receive(&v, r, 0);
	}
	look("and sends to all", &(struct wanted){CAUSE_SERIAL, STEPS * 3 * 5 * MS, VIRTUAL_SEND, 1});
}

static void test_serialised(void)
{
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++) {
			if (r > 0)
				virtual_receive(&v, r, r - 1);
			virtual_compute(&v, r, 3 * MS);
			if (r + 1 < SIZE)
				virtual_send(&v, r, r + 1);
		}
		virtual_barrier(&v);
	}
	/* the last one computes before the barrier, the others before they send */
	look("one after the other",
	     &(struct wanted){CAUSE_SERIALISED, STEPS * (SIZE - 1) * SIZE * 3 * MS, VIRTUAL_SEND, 0});
}

/* Shares of two causes are their own. */
static void test_mixture(void)
{
	struct causes c;
	struct error error = {""};
	double imbalance = 0, serial = 0;
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, r == 3 ? 6 * MS : 4 * MS);
		virtual_reduce_all(&v);
		virtual_compute(&v, 0, 5 * MS);
		virtual_barrier(&v);
	}
	virtual_end(&v);
	virtual_trace(&v, &trace, false);
	ok(causes_find(&c, &trace, &error) == 0, "two causes");
	for (size_t i = 0; i < c.count; i++) {
		imbalance += c.list[i].kind == CAUSE_IMBALANCE ? c.list[i].ns : 0;
		serial += c.list[i].kind == CAUSE_SERIAL ? c.list[i].ns : 0;
	}
	ok(near(imbalance, STEPS * 3 * 2 * MS) && near(serial, STEPS * 3 * 5 * MS),
	   "each has its own: %.1f and %.1f ms", imbalance / MS, serial / MS);
	causes_free(&c);
	trace_free(&trace);
}

static int find_once(void *context)
{
	struct causes c;
	struct error error = {""};
	int rv = causes_find(&c, context, &error);
	causes_free(&c);
	return rv == 0 || error.text[0] ? 0 : -1;
}

static void test_efficient(void)
{
	struct causes c;
	struct error error = {""};
	virtual_start(&v, SIZE);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t r = 0; r < SIZE; r++)
			virtual_compute(&v, r, i % 10 ? 2 * MS : 20 * MS);
		virtual_reduce_all(&v);
	}
	virtual_end(&v);
	virtual_trace(&v, &trace, false);
	ok(causes_find(&c, &trace, &error) == 0 && c.lost_ns < 0.01 * c.all_ns,
	   "ranks that compute long together lose nothing (%.1f ms)", c.lost_ns / MS);
	causes_free(&c);
	ok(fails_well(find_once, &trace), "allocations that fail");
	trace_free(&trace);
}

int main(void)
{
	test_imbalance();
	test_ring();
	test_moving();
	test_serial();
	test_serialised();
	test_mixture();
	test_efficient();
	return tap_end();
}
