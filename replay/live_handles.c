/* SPDX-License-Identifier: BSD-3-Clause
 * live_handles - what the numbers of handles in a trace stand for in the replay
 */
#include "replay/live_handles.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/allowance.h"
#include "replay/request_number.h"

void handles_join(struct live_handles *h, struct handles_group *group, uint32_t thread)
{
	h->thread = thread;
	h->group = group;
	pthread_mutex_lock(&group->lock);
	h->next = group->first;
	group->first = h;
	pthread_mutex_unlock(&group->lock);
}

void handles_free(struct live_handles *h)
{
	for (int k = 0; k < HANDLE_KINDS; k++) {
		for (size_t i = 0; i < h->tables[k].count; i++) {
			struct object *o = h->tables[k].items[i];
			if (k == HANDLE_REQUEST)
				continue;
			while (o && o->handle) {
				o->references = 1;
				object_unbind(o);
			}
			free(o);
		}
		free(h->tables[k].items);
	}
}

/* ---- tables ---- */

static void *item_at(const struct live_handles *h, enum handle_kind kind, int64_t number)
{
	assert(kind > HANDLE_NONE && kind < HANDLE_KINDS);
	return number < 0 || (uint64_t)number >= h->tables[kind].count ? NULL : h->tables[kind].items[number];
}

static void *make_item(struct live_handles *h, enum handle_kind kind, int64_t number)
{
	struct handle_table *t = &h->tables[kind];
	if (number < 0 || number > INT32_MAX)
		return NULL;
	if ((uint64_t)number >= t->count) {
		size_t count = 2 * (size_t)number + 16;
		bool room = allowance_take((count - t->count) * sizeof *t->items);
		void **more = room ? realloc(t->items, count * sizeof *more) : NULL;
		if (!more)
			return NULL;
		memset(more + t->count, 0, (count - t->count) * sizeof *more);
		t->items = more;
		t->count = count;
	}
	return t->items[number] = kind == HANDLE_REQUEST ? (void *)request_create() : calloc(1, sizeof(struct object));
}

static void *own_item(struct live_handles *h, enum handle_kind kind, int64_t number)
{
	void *item = item_at(h, kind, number);
	if (item)
		return item;
	if (h->group) /* others look into this table, too */
		pthread_mutex_lock(&h->group->lock);
	item = make_item(h, kind, number);
	if (h->group)
		pthread_mutex_unlock(&h->group->lock);
	return item;
}

struct object *handles_object(const struct live_handles *h, enum handle_kind kind, int64_t number)
{
	struct object *o = item_at(h, kind, number);
	if ((o && o->handle) || !h->group)
		return o && o->handle ? o : NULL;
	pthread_mutex_lock(&h->group->lock);
	o = NULL;
	for (const struct live_handles *other = h->group->first; other && !(o && o->handle); other = other->next)
		o = item_at(other, kind, number);
	pthread_mutex_unlock(&h->group->lock);
	return o && o->handle ? o : NULL;
}

struct object *handles_own_object(struct live_handles *h, enum handle_kind kind, int64_t number)
{
	return own_item(h, kind, number);
}

bool object_bind(struct object *o, void *handle)
{
	if (o->handle && o->handle == handle) {
		o->references++;
		return true;
	}
	struct object *older = NULL;
	if (o->handle) {
		older = malloc(sizeof *older);
		if (!older)
			return false;
		*older = *o;
	}
	*o = (struct object){.handle = handle, .references = 1, .older = older};
	return true;
}

void object_unbind(struct object *o)
{
	struct object *older = o->older;
	if (o->references > 1) {
		o->references--;
		return;
	}
	*o = older ? *older : (struct object){.handle = NULL};
	free(older);
}

#ifdef MPI_SESSION_NULL
static void end_sessions(const struct handle_table *sessions)
{
	for (size_t i = 0; i < sessions->count; i++) {
		const struct object *o = sessions->items[i];
		MPI_Session session = o && o->handle ? HANDLE_OF(MPI_Session, o->handle) : MPI_SESSION_NULL;
		if (session != MPI_SESSION_NULL)
			PMPI_Session_finalize(&session);
	}
}
#endif

void handles_end_sessions(const struct live_handles *h)
{
#ifdef MPI_SESSION_NULL
	end_sessions(&h->tables[HANDLE_SESSION]);
	for (const struct live_handles *other = h->group ? h->group->first : NULL; other; other = other->next)
		if (other != h)
			end_sessions(&other->tables[HANDLE_SESSION]);
#else
	(void)h;
#endif
}

struct request *handles_own_request(struct live_handles *h, int64_t number)
{
	return own_item(h, HANDLE_REQUEST, number);
}

struct request *handles_other_request(const struct live_handles *h, uint32_t thread, uint32_t number)
{
	struct request *r = NULL;
	if (!h->group)
		return NULL;
	pthread_mutex_lock(&h->group->lock);
	for (const struct live_handles *other = h->group->first; other && !r; other = other->next)
		if (other->thread == thread)
			r = item_at(other, HANDLE_REQUEST, number);
	pthread_mutex_unlock(&h->group->lock);
	return r;
}

/* ---- what the library says of an object ---- */

static void ask_comm(struct object *comm)
{
	int inter = 0, topology = MPI_UNDEFINED, n = 0, rank = 0, weighted;
	MPI_Comm c = HANDLE_OF(MPI_Comm, comm->handle);
	PMPI_Comm_size(c, &comm->comm.peers);
	PMPI_Comm_test_inter(c, &inter);
	if (inter) {
		PMPI_Comm_remote_size(c, &comm->comm.peers);
		return;
	}
	PMPI_Topo_test(c, &topology);
	if (topology == MPI_CART) {
		PMPI_Cartdim_get(c, &n);
		comm->comm.indegree = comm->comm.outdegree = 2 * n;
	} else if (topology == MPI_GRAPH) {
		PMPI_Comm_rank(c, &rank);
		PMPI_Graph_neighbors_count(c, rank, &n);
		comm->comm.indegree = comm->comm.outdegree = n;
	} else if (topology == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(c, &comm->comm.indegree, &comm->comm.outdegree, &weighted);
	}
}

/* Threads may ask for the same communicator at the same time: they get the same answers. */
static struct object *asked_comm(struct object *comm)
{
	if (!__atomic_load_n(&comm->asked, __ATOMIC_ACQUIRE) && comm->handle &&
	    HANDLE_OF(MPI_Comm, comm->handle) != MPI_COMM_NULL) {
		ask_comm(comm);
		__atomic_store_n(&comm->asked, true, __ATOMIC_RELEASE);
	}
	return comm;
}

int object_peers(struct object *comm)
{
	return asked_comm(comm)->comm.peers;
}

int object_indegree(struct object *comm)
{
	return asked_comm(comm)->comm.indegree;
}

int object_outdegree(struct object *comm)
{
	return asked_comm(comm)->comm.outdegree;
}

struct object *object_type(struct object *type)
{
	MPI_Aint lb;
	if (type->asked)
		return type;
	MPI_Datatype handle = HANDLE_OF(MPI_Datatype, type->handle);
	if (type->handle && handle != MPI_DATATYPE_NULL) {
		PMPI_Type_get_extent(handle, &lb, &type->type.extent);
		PMPI_Type_get_true_extent(handle, &type->type.true_lb, &type->type.true_extent);
		PMPI_Type_size_x(handle, &type->type.size);
	}
	type->asked = true;
	return type;
}
