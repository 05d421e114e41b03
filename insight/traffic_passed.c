/* SPDX-License-Identifier: BSD-3-Clause
 * traffic_passed - collectives, and what they pass from rank to rank
 */
#include "insight/traffic.h"
#include "insight/traffic_inside.h"

#include "trace/base/budget.h"

/* Collectives of larger communicators are not taken apart, so that their pairs take no more than 300 MB. */
#define PAIRS_MOST (UINT64_C(1) << 22)

/* What the i-th element of a call's arrays is. Where a persistent operation was started, its arguments belong to
 * another event, and each peer is taken to get the same. */
static uint64_t passed_element(const struct passing *p, enum mpi_parameter counts, enum mpi_parameter types, uint32_t i)
{
	size_t n, k;
	uint64_t size = 0;
	const struct pool_item *list = call_array(p->trace, p->event, counts, &n),
			       *each = call_array(p->trace, p->event, types, &k);
	if (!list || i >= n)
		return p->act->sent / p->size;
	int64_t type = each && i < k ? array_element(each, i) : call_value(p->event, types),
		count = array_element(list, i);
	return count > 0 && execution_type_size(p->execution, type, &size) ? (uint64_t)count * size : 0;
}

static uint64_t passed_to(const struct passing *p, uint32_t i)
{
	size_t n;
	switch (p->act->collective) {
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
		return call_array(p->trace, p->event, PARAMETER_COUNT, &n)
		               ? passed_element(p, PARAMETER_COUNT, PARAMETER_TYPE, i)
		               : passed_element(p, PARAMETER_RECV_COUNT, PARAMETER_RECV_TYPE, i); /* in place */
	case COLLECTIVE_SCATTERV:
		return passed_element(p, PARAMETER_COUNT, PARAMETER_TYPE, i);
	default:
		return p->act->send_piece;
	}
}

static int pass_to(struct counting *c, uint32_t from, uint32_t to, uint64_t bytes)
{
	return traffic_count(c, &(struct traffic_change){COUNTED_PASSED, .from = from, .to = to, .bytes = bytes});
}

static int pass_one(struct counting *c, const struct passing *p, uint32_t i)
{
	uint32_t to = comms_world(p->comms, p->act->comm, i, p->self);
	uint64_t bytes = to == p->self || to == RANK_UNKNOWN ? 0 : passed_to(p, i);
	return bytes ? pass_to(c, p->self, to, bytes) : 0;
}

static int pass_each(struct counting *c, const struct passing *p)
{
	int rv = 0;
	for (uint32_t i = 0; i < p->size && rv == 0 && budget_step(1); i++)
		rv = pass_one(c, p, i);
	return rv;
}

/* Do its arguments say which ranks get what? The root of MPI_Gather sends nothing, nor do the others in MPI_Scatter. */
static bool says_pairs(const struct act *a)
{
	switch (a->collective) {
	case COLLECTIVE_ALLTOALL:
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_SCATTERV:
		return true;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_GATHERV:
		return a->root || a->peer != RANK_UNKNOWN;
	default:
		return false;
	}
}

static int count_passed(struct counting *c, const struct passing *p)
{
	const struct act *a = p->act;
	struct traffic_sums *sums = &c->m->sums;
	bool gathers = a->collective == COLLECTIVE_GATHER || a->collective == COLLECTIVE_GATHERV;
	if (a->collective == COLLECTIVE_ALLTOALL && comms_is_world(p->comms, a->comm)) {
		sums->uniform += p->size - 1;
		sums->uniform_bytes += a->send_piece * (p->size - 1);
	} else if (!says_pairs(a) || p->size == 0 || (uint64_t)p->size * p->size > PAIRS_MOST) {
		sums->other_passed_bytes += a->sent;
	} else if (!gathers) {
		return pass_each(c, p);
	} else if (!a->root && a->sent) {
		return pass_to(c, p->self, a->peer, a->sent);
	}
	return 0;
}

int traffic_collective(struct counting *c, struct passing *p)
{
	const struct act *a = p->act;
	struct traffic_sums *sums = &c->m->sums;
	if (a->kind != ACT_COLLECTIVE && a->kind != ACT_COLLECTIVE_BEGIN)
		return 0;
	sums->collectives[a->collective].calls++;
	sums->collectives[a->collective].sent += a->sent;
	sums->collectives[a->collective].received += a->received;
	if (!c->wish->passed || a->bystander)
		return 0;
	p->size = comms_peers(p->comms, a->comm, p->self);
	return count_passed(c, p);
}
