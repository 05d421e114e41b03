/* SPDX-License-Identifier: BSD-3-Clause
 * condition_window - what a call that synchronizes a window waits for
 *
 * A lock may be granted when it is asked for, or only when it is used: a rank "holds" it in the trace from the one on.
 * So only those hold it against others that are not just giving it back. Asks end_state.h, and follows nothing itself.
 */
#include "trace/base/budget.h"
#include "insight/blocked.h"

static const char no_group[] = "it is not known who is in its group";

static bool gives_back(const struct blocked *b, uint32_t rank, uint64_t scope)
{
	const struct end_stream *s = end_state_stream(&b->state, rank);
	const struct end_call *call = s ? &b->streams[s - b->state.streams].call : NULL;
	return call && call->schema && call->schema->mpi->class == MPI_CLASS_ONE_SIDED && call->scope == scope;
}

/* Do others hold a lock that keeps it from its own? */
static struct condition condition_lock(struct blocked *b, uint32_t rank, const struct end_call *call)
{
	uint32_t node = WAIT_NODE_NONE,
		 target = call->rank >= 0 && call->rank < UINT32_MAX ? (uint32_t)call->rank : RANK_ANY;
	bool exclusive = call->exclusive && call->schema->mpi->base == FN_MPI_Win_lock;
	for (uint32_t r = 0; r < b->state.trace->size; r++) {
		for (uint32_t i = 0; i < b->state.ranks[r].epoch_count; i++) {
			const struct end_epoch *e = &b->state.ranks[r].epochs[i];
			if (e->kind == EPOCH_LOCK && e->scope == call->scope && r == rank)
				exclusive |= e->exclusive; /* it asked for its lock before */
		}
	}
	for (uint32_t r = 0; r < b->state.trace->size; r++) {
		bool holds = false;
		for (uint32_t i = 0; i < b->state.ranks[r].epoch_count; i++) {
			const struct end_epoch *e = &b->state.ranks[r].epochs[i];
			holds |= e->kind == EPOCH_LOCK && e->scope == call->scope && r != rank &&
			         (exclusive || e->exclusive) &&
			         (e->target == target || e->target == RANK_ANY || target == RANK_ANY);
		}
		if (!holds || gives_back(b, r, call->scope))
			continue;
		if (node == WAIT_NODE_NONE)
			node = wait_graph_add(b->graph, WAIT_FOR_ANY);
		if (wait_graph_wait(b->graph, node, b->rank_nodes[r]) != 0)
			return condition_doubt("there was no memory");
	}
	return node == WAIT_NODE_NONE ? condition_doubt("nobody is known to hold the lock")
	                              : condition_waits(node, false);
}

/* MPI_Win_start, MPI_Win_complete: the targets that have not posted. MPI_Win_wait: the origins that have not completed.
 */
static struct condition condition_group(struct blocked *b, uint32_t rank, const struct end_epoch *epoch)
{
	uint32_t node = WAIT_NODE_NONE;
	for (uint32_t i = 0; epoch->members && i < epoch->count; i++) {
		bool start = epoch->kind == EPOCH_START;
		uint32_t other = epoch->members[i];
		struct message_key key = {epoch->scope | SCOPE_EPOCH, 0, start ? rank : other, start ? other : rank};
		if (other >= b->state.trace->size)
			continue;
		const struct message_count *c = message_counts_find(b->state.messages, &key);
		uint64_t completed = c ? c->sent : 0, posted = c ? c->received : 0;
		if (start ? posted > completed : completed >= posted)
			continue;
		if (node == WAIT_NODE_NONE)
			node = wait_graph_add(b->graph, WAIT_FOR_ALL);
		if (wait_graph_wait(b->graph, node, b->rank_nodes[other]) != 0)
			return condition_doubt("there was no memory");
	}
	return node == WAIT_NODE_NONE ? condition_met() : condition_waits(node, true);
}

struct condition condition_of_window(struct blocked *b, uint32_t rank, const struct end_call *call)
{
	enum mpi_number base = call->schema->mpi->base;
	const struct end_epoch *epoch = NULL;
	if (call->scope == SCOPE_UNKNOWN)
		return condition_doubt("it is not known of which communicator its window is");
	if (base == FN_MPI_Win_complete)
		epoch = end_epoch_find(&b->state, rank, EPOCH_START, call->scope);
	else if (base == FN_MPI_Win_wait)
		epoch = end_epoch_find(&b->state, rank, EPOCH_POST, call->scope);
	if (epoch && epoch->members)
		return condition_group(b, rank, epoch);
	if (base == FN_MPI_Win_start) {
		struct end_epoch open = {.kind = EPOCH_START, .scope = call->scope};
		open.members = end_group(&b->state, rank, call->group, &open.count);
		struct condition c = condition_group(b, rank, &open);
		budget_free(open.members);
		return open.members ? c : condition_doubt(no_group);
	}
	if (base == FN_MPI_Win_complete || base == FN_MPI_Win_wait)
		return condition_doubt(no_group);
	return condition_lock(b, rank, call);
}
