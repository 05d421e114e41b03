/* SPDX-License-Identifier: BSD-3-Clause
 * end_scope - where each rank stands: collectives, windows, files, groups, locks and epochs
 *
 * A window is known by its communicator and by how many were made of that before: all members make them in the same
 * order. Epochs are counted as messages: MPI_Win_post lets the origin in ("received" by the target), MPI_Win_complete
 * is "sent" by the origin.
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "insight/end_state.h"

#define HANDLES_MOST 1024 /* of one rank: more windows, files and groups at a time are not known */
#define GROUP_MOST   4096 /* members of a group that is known */

void end_rank_free(struct end_rank *r)
{
	for (uint32_t i = 0; i < r->epoch_count; i++)
		budget_free(r->epochs[i].members);
	for (uint32_t i = 0; i < r->handle_count; i++)
		budget_free(r->handles[i].members);
	budget_free(r->epochs);
	budget_free(r->handles);
}

/* --- collectives --- */

struct collective_key {
	const struct end_state *x;
	uint32_t rank;
	uint64_t scope;
};

static bool is_collective(const void *context, uint32_t number)
{
	const struct collective_key *key = context;
	const struct end_collective *c = &key->x->collectives[number];
	return c->rank == key->rank && c->scope == key->scope;
}

static uint64_t collective_hash(uint32_t rank, uint64_t scope)
{
	return hash_mix(hash_mix(23, scope), rank);
}

const struct end_collective *end_state_collectives(const struct end_state *x, uint32_t rank, uint64_t scope)
{
	struct collective_key key = {x, rank, scope};
	uint32_t number = index_find(&x->collective_index, collective_hash(rank, scope), is_collective, &key);
	return number == INDEX_NONE ? NULL : &x->collectives[number];
}

static struct end_collective *collective_of(struct end_state *x, uint32_t stream, uint64_t scope)
{
	uint32_t rank = stream_rank(x->trace, stream);
	struct collective_key key = {x, rank, scope};
	uint32_t number = index_find(&x->collective_index, collective_hash(rank, scope), is_collective, &key);
	if (number != INDEX_NONE)
		return &x->collectives[number];
	if (!budget_grow(&x->collectives, x->collective_count, &x->collective_capacity, sizeof *x->collectives))
		return NULL;
	if (index_add(&x->collective_index, collective_hash(rank, scope), x->collective_count) != 0)
		return NULL;
	x->collectives[x->collective_count] = (struct end_collective){.scope = scope, .rank = rank, .stream = stream};
	return &x->collectives[x->collective_count++];
}

int end_take_collective(struct end_state *x, uint32_t stream, const struct schema *s, uint64_t scope, int64_t root,
                        uint64_t *place)
{
	*place = 0;
	if (scope == SCOPE_UNKNOWN || s->mpi->scope == SCOPE_WORLD)
		return 0;
	struct end_collective *c = collective_of(x, stream, scope);
	if (!c)
		return -1;
	c->mixed |= c->stream != stream;
	*place = c->count;
	c->last[c->count % END_LAST] = (struct end_took){s->mpi, root};
	c->count++;
	end_turn_collective(x, scope);
	return 0;
}

int end_repeat_collective(struct end_state *x, uint32_t stream, uint64_t scope, uint64_t turns)
{
	struct end_collective *c = collective_of(x, stream, scope);
	if (c) /* what the last ones were is known again when WALK_TURNS more are walked */
		c->count += turns;
	return c ? 0 : -1;
}

/* --- handles --- */

static struct end_handle *handle_at(struct end_rank *r, char kind, int64_t number)
{
	for (uint32_t i = 0; i < r->handle_count; i++)
		if (r->handles[i].kind == kind && r->handles[i].number == number)
			return &r->handles[i];
	return NULL;
}

static void forget_handle(struct end_rank *r, char kind, int64_t number)
{
	struct end_handle *h = handle_at(r, kind, number);
	if (!h)
		return;
	budget_free(h->members);
	*h = r->handles[--r->handle_count];
}

/* members is taken. */
static int learn_handle(struct end_rank *r, char kind, int64_t number, uint64_t scope, uint32_t *members,
                        uint32_t count)
{
	forget_handle(r, kind, number);
	struct end_handle *handles = number < 0 || r->handle_count >= HANDLES_MOST
	                                     ? NULL
	                                     : budget_realloc(r->handles, (r->handle_count + 1) * sizeof *handles);
	if (!handles) {
		budget_free(members);
		return 0; /* then it is not known */
	}
	r->handles = handles;
	handles[r->handle_count++] = (struct end_handle){kind, number, scope, members, count};
	return 0;
}

/* A window or a file of a communicator: how many there were before. Counted as collectives of a scope of its own. */
static int make_in_comm(struct end_state *x, uint32_t stream, const struct event *e, uint64_t comm)
{
	const struct schema *s = e->schema;
	int created = s->at[PARAMETER_CREATED];
	if (created < 0 || (s->column[created].kind != 'w' && s->column[created].kind != 'f'))
		return 0;
	/* that of MPI_COMM_SELF is each rank's own: nobody else is in it */
	struct end_collective *c =
		comm == SCOPE_UNKNOWN || comm == COMM_SELF ? NULL : collective_of(x, stream, comm | SCOPE_MADE);
	uint64_t scope = c ? comm | SCOPE_WINDOW(c->count++ & 0xffffff) : SCOPE_UNKNOWN;
	x->turn.spoiled = true;
	return learn_handle(&x->ranks[stream_rank(x->trace, stream)], s->column[created].kind, e->values[created],
	                    scope, NULL, 0);
}

/* --- groups --- */

/* Its members as ranks of MPI_COMM_WORLD, malloc'ed; NULL: not known. */
static uint32_t *members_of(const struct end_state *x, uint32_t rank, const struct end_handle *group, uint32_t *count)
{
	uint32_t *members = NULL, comm;
	*count = 0;
	if (!group)
		return NULL;
	comm = scope_comm(group->scope);
	*count = group->members ? group->count : comm == COMM_UNKNOWN ? 0 : comms_at(x->comms, comm)->size;
	if (*count == 0 || *count > GROUP_MOST || !(members = budget_malloc(*count * sizeof *members)))
		return NULL;
	for (uint32_t i = 0; i < *count; i++)
		members[i] = group->members ? group->members[i] : comms_world(x->comms, comm, i, rank);
	return members;
}

uint32_t *end_group(const struct end_state *x, uint32_t rank, int64_t group, uint32_t *count)
{
	return members_of(x, rank, handle_at(&x->ranks[rank], 'g', group), count);
}

static int make_group(struct end_state *x, uint32_t stream, const struct event *e)
{
	uint32_t rank = stream_rank(x->trace, stream), *members = NULL, count = 0, all;
	struct end_rank *r = &x->ranks[rank];
	int64_t number = call_value(e, PARAMETER_CREATED);
	int from = schema_column(e->schema, "group"), ranks = schema_column(e->schema, "ranks");
	enum mpi_number base = e->schema->mpi->base;
	if (base == FN_MPI_Comm_group) {
		uint32_t comm = comms_find(x->comms, stream, call_value(e, PARAMETER_COMM));
		bool known = comm != COMM_UNKNOWN && !comms_is_inter(x->comms, comm);
		return learn_handle(r, 'g', number, known ? comm : SCOPE_UNKNOWN, NULL, 0);
	}
	if (base != FN_MPI_Group_incl || from < 0 || ranks < 0 || e->values[ranks] < 0)
		return 0;
	uint32_t *of = members_of(x, rank, handle_at(r, 'g', e->values[from]), &all);
	const struct pool_item *item = event_vector(x->trace, e, e->values[ranks]);
	if (of && item->size / sizeof(int64_t) <= GROUP_MOST)
		members = budget_malloc(item->size + 1);
	for (size_t i = 0; members && i < item->size / sizeof(int64_t); i++) {
		int64_t member = array_element(item, i);
		members[count++] = member >= 0 && member < all ? of[member] : RANK_UNKNOWN;
	}
	budget_free(of);
	return learn_handle(r, 'g', number, SCOPE_UNKNOWN, members, count);
}

/* --- epochs --- */

const struct end_epoch *end_epoch_find(const struct end_state *x, uint32_t rank, enum end_epoch_kind kind,
                                       uint64_t scope)
{
	const struct end_rank *r = &x->ranks[rank];
	for (uint32_t i = 0; i < r->epoch_count; i++)
		if (r->epochs[i].kind == kind && r->epochs[i].scope == scope)
			return &r->epochs[i];
	return NULL;
}

static int open_epoch(struct end_rank *r, struct end_epoch epoch)
{
	struct end_epoch *epochs = r->epoch_count >= HANDLES_MOST
	                                   ? NULL
	                                   : budget_realloc(r->epochs, (r->epoch_count + 1) * sizeof *epochs);
	if (!epochs) {
		budget_free(epoch.members);
		r->unsure |= UNSURE_LOSSY;
		return 0;
	}
	r->epochs = epochs;
	epochs[r->epoch_count++] = epoch;
	return 0;
}

/* As many notices as the group of the epoch has members. */
static int count_epoch(struct end_state *x, uint32_t rank, const struct end_epoch *epoch)
{
	for (uint32_t i = 0; epoch->members && i < epoch->count; i++) {
		bool start = epoch->kind == EPOCH_START;
		struct message_key key = {epoch->scope | SCOPE_EPOCH, 0, start ? rank : epoch->members[i],
		                          start ? epoch->members[i] : rank};
		if (epoch->members[i] < x->trace->size && end_count(x, &key, start, !start) != 0)
			return -1;
	}
	return 0;
}

static void close_epoch(struct end_rank *r, enum end_epoch_kind kind, uint64_t scope, uint32_t target)
{
	for (uint32_t i = 0; i < r->epoch_count; i++) {
		struct end_epoch *e = &r->epochs[i];
		if (e->kind != kind || e->scope != scope || (kind == EPOCH_LOCK && e->target != target))
			continue;
		budget_free(e->members);
		*e = r->epochs[--r->epoch_count];
		return;
	}
}

static int take_epoch(struct end_state *x, uint32_t rank, const struct end_call *call)
{
	struct end_rank *r = &x->ranks[rank];
	enum mpi_number base = call->schema->mpi->base;
	uint32_t target = call->rank >= 0 && call->rank < UINT32_MAX ? (uint32_t)call->rank : RANK_ANY;
	struct end_epoch epoch = {.kind = EPOCH_LOCK,
	                          .scope = call->scope,
	                          .target = target,
	                          .exclusive = call->exclusive && base == FN_MPI_Win_lock};
	int test = call->schema->at[PARAMETER_FLAG];
	switch ((int)base) {
	case FN_MPI_Win_lock:
	case FN_MPI_Win_lock_all:
		return open_epoch(r, epoch);
	case FN_MPI_Win_unlock:
	case FN_MPI_Win_unlock_all:
		close_epoch(r, EPOCH_LOCK, call->scope, target);
		return 0;
	case FN_MPI_Win_start:
	case FN_MPI_Win_post:
		epoch.kind = base == FN_MPI_Win_start ? EPOCH_START : EPOCH_POST;
		epoch.members = end_group(x, rank, call->group, &epoch.count);
		if (epoch.kind == EPOCH_POST && count_epoch(x, rank, &epoch) != 0) {
			budget_free(epoch.members);
			return -1;
		}
		return open_epoch(r, epoch);
	case FN_MPI_Win_complete: {
		const struct end_epoch *open = end_epoch_find(x, rank, EPOCH_START, call->scope);
		int rv = open ? count_epoch(x, rank, open) : 0;
		close_epoch(r, EPOCH_START, call->scope, 0);
		return rv;
	}
	case FN_MPI_Win_wait:
	case FN_MPI_Win_test:
		if (test < 0)
			close_epoch(r, EPOCH_POST, call->scope, 0);
		return 0;
	default:
		return 0;
	}
}

int end_take_scope(struct end_state *x, uint32_t stream, const struct event *e, const struct end_call *call)
{
	const struct schema *s = e->schema;
	uint32_t rank = stream_rank(x->trace, stream);
	int freed = s->at[PARAMETER_FREED];
	switch (s->mpi->class) {
	case MPI_CLASS_GROUP:
	case MPI_CLASS_COMMUNICATOR:
		if (freed >= 0 && s->column[freed].kind == 'g')
			forget_handle(&x->ranks[rank], 'g', e->values[freed]);
		return freed < 0 ? make_group(x, stream, e) : 0;
	case MPI_CLASS_WINDOW:
	case MPI_CLASS_FILE:
		if (freed >= 0)
			forget_handle(&x->ranks[rank], s->column[freed].kind, e->values[freed]);
		return make_in_comm(x, stream, e, call->scope);
	case MPI_CLASS_ONE_SIDED:
		return call->scope == SCOPE_UNKNOWN ? 0 : take_epoch(x, rank, call);
	default:
		return 0;
	}
}
