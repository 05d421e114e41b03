/* SPDX-License-Identifier: BSD-3-Clause
 * algorithm - by which messages MPI libraries make collective operations
 *
 * An algorithm is a row of phases. Each of them says what a process does in its k-th step, from k alone, so that
 * nothing has to be kept.
 */
#include "insight/algorithm.h"

#define NOBODY ALGORITHM_NOBODY
/* Where MPICH changes from one algorithm to another (Thakur et al., sections 4 and 5), in bytes. */
#define SHORT_BCAST     12288
#define SHORT_REDUCE    2048
#define SHORT_ALLGATHER 81920
#define SHORT_ALLTOALL  256
#define MEDIUM_ALLTOALL 32768
#define FEW             8 /* processes: broadcasts are binomial */

struct step_of {
	uint32_t size, self, root, relative; /* relative: to the root */
	uint64_t bytes;
};

typedef bool phase_step(const struct step_of *c, uint32_t k, struct algorithm_step *s);

static uint32_t floor_power(uint32_t n)
{
	uint32_t p = 1;
	while (p <= n / 2)
		p *= 2;
	return p;
}

static uint32_t absolute(const struct step_of *c, uint32_t relative)
{
	return (uint32_t)(((uint64_t)relative + c->root) % c->size);
}

/* --- trees: process v has children v + 1, v + 2, v + 4 ... below its lowest bit --- */

/* The lowest bit of a process; of the root: the power of two behind all. */
static uint32_t reach(const struct step_of *c)
{
	if (c->relative)
		return c->relative & -c->relative;
	uint32_t p = floor_power(c->size);
	return p < c->size ? 2 * p : p;
}

/* How many processes a child stands for. */
static uint32_t below(const struct step_of *c, uint32_t child, uint32_t mask)
{
	return mask < c->size - child ? mask : c->size - child;
}

/* From the root; pieces: each gets only what its own subtree needs. */
static bool down(const struct step_of *c, uint32_t k, struct algorithm_step *s, bool pieces)
{
	uint32_t low = reach(c);
	if (c->relative && k == 0) {
		s->from = absolute(c, c->relative - low);
		return true;
	}
	k -= c->relative != 0;
	uint32_t mask = k < 31 ? low >> (k + 1) : 0;
	if (mask && mask < c->size - c->relative) {
		s->to = absolute(c, c->relative + mask);
		s->bytes = c->bytes * (pieces ? below(c, c->relative + mask, mask) : 1);
	}
	return mask > 0;
}

/* To the root. */
static bool up(const struct step_of *c, uint32_t k, struct algorithm_step *s, bool pieces)
{
	uint32_t low = reach(c), mask = k < 31 ? 1U << k : 0;
	if (mask && mask < low) {
		if (mask < c->size - c->relative)
			s->from = absolute(c, c->relative + mask);
		return true;
	}
	if (mask != low || !c->relative)
		return false;
	s->to = absolute(c, c->relative - low);
	s->bytes = c->bytes * (pieces ? below(c, c->relative, low) : 1);
	return true;
}

static bool broadcast(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return down(c, k, s, false);
}

static bool reduce(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return up(c, k, s, false);
}

static bool scatter(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return down(c, k, s, true);
}

static bool gather(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return up(c, k, s, true);
}

/* The same of a vector, which each has a part of in the end, or at first. */
static bool scatter_vector(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	struct step_of piece = *c;
	piece.bytes = c->bytes / c->size;
	return down(&piece, k, s, true);
}

static bool send_each(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	if (c->relative) {
		s->from = c->root;
		return k == 0;
	}
	s->to = absolute(c, k + 1 < c->size ? k + 1 : 0);
	s->bytes = c->bytes;
	return k + 1 < c->size;
}

static bool receive_each(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	if (c->relative) {
		s->to = c->root;
		s->bytes = c->bytes;
		return k == 0;
	}
	s->from = absolute(c, k + 1 < c->size ? k + 1 : 0);
	return k + 1 < c->size;
}

/* --- powers of two; what there is more of is folded into the first ones --- */

/* The number among those that take part; NOBODY. */
static uint32_t core_rank(const struct step_of *c)
{
	uint32_t rest = c->size - floor_power(c->size);
	return c->self >= 2 * rest ? c->self - rest : c->self % 2 ? c->self / 2 : NOBODY;
}

static uint32_t of_core(const struct step_of *c, uint32_t core)
{
	uint32_t rest = c->size - floor_power(c->size);
	return core < rest ? 2 * core + 1 : core + rest;
}

static bool fold(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	if (k > 0 || c->self >= 2 * (c->size - floor_power(c->size)))
		return false;
	s->bytes = c->bytes;
	*(c->self % 2 ? &s->from : &s->to) = c->self ^ 1;
	return true;
}

static bool unfold(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	if (k > 0 || c->self >= 2 * (c->size - floor_power(c->size)))
		return false;
	s->bytes = c->bytes;
	*(c->self % 2 ? &s->to : &s->from) = c->self ^ 1;
	return true;
}

static bool exchange_in_core(const struct step_of *c, uint32_t mask, uint64_t bytes, struct algorithm_step *s)
{
	uint32_t core = core_rank(c);
	if (core == NOBODY || mask == 0 || mask >= floor_power(c->size))
		return false;
	s->to = s->from = of_core(c, core ^ mask);
	s->bytes = bytes;
	return true;
}

static bool doubling(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return exchange_in_core(c, k < 31 ? 1U << k : 0, c->bytes, s);
}

/* Half of the vector, then a quarter of it, and so on. */
static bool halving(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return exchange_in_core(c, k < 31 ? floor_power(c->size) >> (k + 1) : 0, c->bytes >> (k < 31 ? k + 1 : 31), s);
}

static bool regather(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return exchange_in_core(c, k < 31 ? 1U << k : 0, c->bytes / floor_power(c->size) << (k < 31 ? k : 0), s);
}

/* Of pieces that each has one of. */
static bool doubling_gather(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	return exchange_in_core(c, k < 31 ? 1U << k : 0, c->bytes << (k < 31 ? k : 0), s);
}

/* --- rings, and what goes around --- */

static void shift(const struct step_of *c, uint32_t to, struct algorithm_step *s)
{
	s->to = (uint32_t)(((uint64_t)c->self + to) % c->size);
	s->from = (uint32_t)(((uint64_t)c->self + c->size - to) % c->size);
}

static bool ring(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	shift(c, 1, s);
	s->bytes = c->bytes;
	s->tag = k;
	return k + 1 < c->size;
}

static bool ring_vector(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	bool more = ring(c, k, s);
	s->bytes = c->bytes / c->size;
	return more;
}

static bool pairwise(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	shift(c, k + 1 < c->size ? k + 1 : 0, s);
	s->bytes = c->bytes;
	return k + 1 < c->size;
}

static bool pairwise_vector(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	bool more = pairwise(c, k, s);
	s->bytes = c->bytes / c->size;
	return more;
}

/* All sends, and then all receives. */
static bool scattered(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	const uint32_t others = c->size - 1;
	struct algorithm_step both = *s;
	shift(c, k % others + 1, &both);
	if (k < others) {
		s->to = both.to;
		s->bytes = c->bytes;
	} else {
		s->from = both.from;
	}
	return k < 2 * (uint64_t)others;
}

static bool dissemination(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	uint32_t by = k < 31 ? 1U << k : c->size;
	if (by >= c->size)
		return false;
	shift(c, by, s);
	return true;
}

static bool bruck_gather(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	uint32_t by = k < 31 ? 1U << k : c->size;
	if (by >= c->size)
		return false;
	shift(c, c->size - by, s);
	s->bytes = c->bytes * (by < c->size - by ? by : c->size - by);
	return true;
}

/* All blocks for processes whose distance has this bit. */
static bool bruck_all(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	uint32_t by = k < 31 ? 1U << k : c->size;
	if (by >= c->size)
		return false;
	shift(c, by, s);
	uint32_t whole = c->size / (2 * by) * by, rest = c->size % (2 * by);
	s->bytes = c->bytes * (whole + (rest > by ? rest - by : 0));
	return true;
}

/* Prefixes: from those before, to those behind. */
static bool prefix(const struct step_of *c, uint32_t k, struct algorithm_step *s)
{
	uint32_t by = k < 31 ? 1U << k : c->size;
	if (by >= c->size)
		return false;
	if (c->self + by < c->size)
		s->to = c->self + by;
	if (c->self >= by)
		s->from = c->self - by;
	s->bytes = c->bytes;
	return true;
}

/* --- the algorithms --- */

const char *algorithm_name(enum algorithm a)
{
	static const char *const names[ALGORITHMS] = {
		"ideal",        "binomial", "linear", "scatter-allgather", "recursive-doubling",
		"rabenseifner", "ring",     "bruck",  "pairwise",          "dissemination"};
	return names[a];
}

#define PHASES 4
static const struct method {
	enum collective collective;
	enum algorithm algorithm;
	phase_step *phases[PHASES + 1];
} methods[] = {
	{COLLECTIVE_BARRIER, ALGORITHM_DISSEMINATION, {dissemination}},
	{COLLECTIVE_BCAST, ALGORITHM_BINOMIAL, {broadcast}},
	{COLLECTIVE_BCAST, ALGORITHM_LINEAR, {send_each}},
	{COLLECTIVE_BCAST, ALGORITHM_SCATTER_ALLGATHER, {scatter_vector, ring_vector}},
	{COLLECTIVE_GATHER, ALGORITHM_BINOMIAL, {gather}},
	{COLLECTIVE_GATHER, ALGORITHM_LINEAR, {receive_each}},
	{COLLECTIVE_GATHERV, ALGORITHM_LINEAR, {receive_each}},
	{COLLECTIVE_SCATTER, ALGORITHM_BINOMIAL, {scatter}},
	{COLLECTIVE_SCATTER, ALGORITHM_LINEAR, {send_each}},
	{COLLECTIVE_SCATTERV, ALGORITHM_LINEAR, {send_each}},
	{COLLECTIVE_ALLGATHER, ALGORITHM_BRUCK, {bruck_gather}},
	{COLLECTIVE_ALLGATHER, ALGORITHM_RECURSIVE_DOUBLING, {doubling_gather}},
	{COLLECTIVE_ALLGATHER, ALGORITHM_RING, {ring}},
	{COLLECTIVE_ALLGATHERV, ALGORITHM_BRUCK, {bruck_gather}},
	{COLLECTIVE_ALLGATHERV, ALGORITHM_RING, {ring}},
	{COLLECTIVE_ALLTOALL, ALGORITHM_BRUCK, {bruck_all}},
	{COLLECTIVE_ALLTOALL, ALGORITHM_LINEAR, {scattered}},
	{COLLECTIVE_ALLTOALL, ALGORITHM_PAIRWISE, {pairwise}},
	{COLLECTIVE_ALLTOALLV, ALGORITHM_LINEAR, {scattered}},
	{COLLECTIVE_ALLTOALLV, ALGORITHM_PAIRWISE, {pairwise}},
	{COLLECTIVE_ALLTOALLW, ALGORITHM_LINEAR, {scattered}},
	{COLLECTIVE_ALLTOALLW, ALGORITHM_PAIRWISE, {pairwise}},
	{COLLECTIVE_ALLREDUCE, ALGORITHM_RECURSIVE_DOUBLING, {fold, doubling, unfold}},
	{COLLECTIVE_ALLREDUCE, ALGORITHM_RABENSEIFNER, {fold, halving, regather, unfold}},
	{COLLECTIVE_ALLREDUCE, ALGORITHM_RING, {ring_vector, ring_vector}},
	{COLLECTIVE_ALLREDUCE, ALGORITHM_BINOMIAL, {reduce, broadcast}},
	{COLLECTIVE_REDUCE, ALGORITHM_BINOMIAL, {reduce}},
	{COLLECTIVE_REDUCE, ALGORITHM_LINEAR, {receive_each}},
	{COLLECTIVE_REDUCE_SCATTER, ALGORITHM_PAIRWISE, {pairwise_vector}},
	{COLLECTIVE_REDUCE_SCATTER, ALGORITHM_RECURSIVE_DOUBLING, {fold, doubling, unfold}},
	{COLLECTIVE_REDUCE_SCATTER_BLOCK, ALGORITHM_PAIRWISE, {pairwise_vector}},
	{COLLECTIVE_REDUCE_SCATTER_BLOCK, ALGORITHM_RECURSIVE_DOUBLING, {fold, doubling, unfold}},
	{COLLECTIVE_SCAN, ALGORITHM_RECURSIVE_DOUBLING, {prefix}},
	{COLLECTIVE_EXSCAN, ALGORITHM_RECURSIVE_DOUBLING, {prefix}},
};

static const struct method *method_of(enum collective c, enum algorithm a)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (methods[i].collective == c && methods[i].algorithm == a)
			return &methods[i];
	return NULL;
}

bool algorithm_fits(enum collective c, enum algorithm a)
{
	return a == ALGORITHM_IDEAL || method_of(c, a);
}

enum algorithm algorithm_usual(enum collective c, uint32_t size, uint64_t bytes)
{
	switch (c) {
	case COLLECTIVE_BARRIER:
		return ALGORITHM_DISSEMINATION;
	case COLLECTIVE_BCAST:
		return bytes < SHORT_BCAST || size < FEW ? ALGORITHM_BINOMIAL : ALGORITHM_SCATTER_ALLGATHER;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_REDUCE:
		return ALGORITHM_BINOMIAL;
	case COLLECTIVE_GATHERV:
	case COLLECTIVE_SCATTERV:
		return ALGORITHM_LINEAR;
	case COLLECTIVE_ALLGATHER:
		if (bytes * size < SHORT_ALLGATHER)
			return floor_power(size) == size ? ALGORITHM_RECURSIVE_DOUBLING : ALGORITHM_BRUCK;
		return ALGORITHM_RING;
	case COLLECTIVE_ALLGATHERV:
		return bytes * size < SHORT_ALLGATHER ? ALGORITHM_BRUCK : ALGORITHM_RING;
	case COLLECTIVE_ALLTOALL:
		if (bytes <= SHORT_ALLTOALL && size >= FEW)
			return ALGORITHM_BRUCK;
		return bytes <= MEDIUM_ALLTOALL ? ALGORITHM_LINEAR : ALGORITHM_PAIRWISE;
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
		return ALGORITHM_PAIRWISE;
	case COLLECTIVE_ALLREDUCE:
		return bytes <= SHORT_REDUCE ? ALGORITHM_RECURSIVE_DOUBLING : ALGORITHM_RABENSEIFNER;
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_REDUCE_SCATTER_BLOCK:
		return bytes <= SHORT_REDUCE ? ALGORITHM_RECURSIVE_DOUBLING : ALGORITHM_PAIRWISE;
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return ALGORITHM_RECURSIVE_DOUBLING;
	default:
		return ALGORITHM_IDEAL;
	}
}

bool algorithm_next(const struct algorithm_call *c, struct algorithm_place *at, struct algorithm_step *out)
{
	const struct method *m = method_of(c->collective, c->algorithm);
	const uint32_t root = c->root < c->size ? c->root : 0;
	if (!m || c->size < 2)
		return false;
	const struct step_of s = {.size = c->size,
	                          .self = c->self,
	                          .root = root,
	                          .relative = (uint32_t)(((uint64_t)c->self + c->size - root) % c->size),
	                          .bytes = c->bytes};
	while (at->phase < PHASES && m->phases[at->phase]) {
		*out = (struct algorithm_step){.to = NOBODY, .from = NOBODY};
		if (m->phases[at->phase](&s, at->step, out)) {
			at->step++;
			return true;
		}
		at->phase++;
		at->step = 0;
	}
	return false;
}
