/* SPDX-License-Identifier: BSD-3-Clause
 * call - what kind of call each function of a trace is
 */
#include "cmd/export/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum field field;
} fields[] = {
	{"comm", FIELD_COMM},
	{"comm_old", FIELD_COMM},
	{"local_comm", FIELD_COMM},
	{"intercomm", FIELD_COMM},
	{"newcomm", FIELD_NEW},
	{"comm_cart", FIELD_NEW},
	{"comm_graph", FIELD_NEW},
	{"comm_dist_graph", FIELD_NEW},
	{"newintercomm", FIELD_NEW},
	{"newintracomm", FIELD_NEW},
	{"dest", FIELD_DEST},
	{"source", FIELD_SOURCE},
	{"count", FIELD_COUNT},
	{"datatype", FIELD_TYPE},
	{"sendcount", FIELD_SENDCOUNT},
	{"sendtype", FIELD_SENDTYPE},
	{"recvcount", FIELD_RECVCOUNT},
	{"recvtype", FIELD_RECVTYPE},
	{"sendcounts", FIELD_SENDCOUNTS},
	{"recvcounts", FIELD_RECVCOUNTS},
	{"sendtypes", FIELD_SENDTYPES},
	{"recvtypes", FIELD_RECVTYPES},
	{"tag", FIELD_TAG},
	{"sendtag", FIELD_TAG},
	{"recvtag", FIELD_RECVTAG},
	{"root", FIELD_ROOT},
	{"request", FIELD_REQUEST},
	{"requests", FIELD_REQUESTS},
	{"flag", FIELD_FLAG},
	{"index", FIELD_INDEX},
	{"indices", FIELD_INDICES},
	{"message", FIELD_MESSAGE},
	{"status.MPI_SOURCE", FIELD_STATUS_SOURCE},
	{"statuses.MPI_SOURCE", FIELD_STATUS_SOURCE},
	{"status.MPI_TAG", FIELD_STATUS_TAG},
	{"statuses.MPI_TAG", FIELD_STATUS_TAG},
	{"status.count", FIELD_STATUS_COUNT},
	{"statuses.count", FIELD_STATUS_COUNT},
	{"color", FIELD_COLOR},
	{"split_type", FIELD_SPLIT_TYPE},
	{"remain_dims", FIELD_REMAIN},
	{"dims", FIELD_DIMS},
	{"comm_name", FIELD_NAME},
	{"stringtag", FIELD_NAME},
	{"partitions", FIELD_PARTITIONS},
	{"error", FIELD_ERROR},
};

static const struct {
	const char *name; /* behind MPI_, and without _c, I and _init */
	enum collective collective;
} collectives[] = {
	{"Barrier", COLLECTIVE_BARRIER},
	{"Bcast", COLLECTIVE_BCAST},
	{"Gather", COLLECTIVE_GATHER},
	{"Gatherv", COLLECTIVE_GATHERV},
	{"Scatter", COLLECTIVE_SCATTER},
	{"Scatterv", COLLECTIVE_SCATTERV},
	{"Allgather", COLLECTIVE_ALLGATHER},
	{"Allgatherv", COLLECTIVE_ALLGATHERV},
	{"Alltoall", COLLECTIVE_ALLTOALL},
	{"Alltoallv", COLLECTIVE_ALLTOALLV},
	{"Alltoallw", COLLECTIVE_ALLTOALLW},
	{"Allreduce", COLLECTIVE_ALLREDUCE},
	{"Reduce", COLLECTIVE_REDUCE},
	{"Reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
	{"Reduce_scatter_block", COLLECTIVE_REDUCE_SCATTER_BLOCK},
	{"Scan", COLLECTIVE_SCAN},
	{"Exscan", COLLECTIVE_EXSCAN},
	{"Neighbor_allgather", COLLECTIVE_NEIGHBOR},
	{"Neighbor_allgatherv", COLLECTIVE_NEIGHBOR},
	{"Neighbor_alltoall", COLLECTIVE_NEIGHBOR},
	{"Neighbor_alltoallv", COLLECTIVE_NEIGHBOR},
	{"Neighbor_alltoallw", COLLECTIVE_NEIGHBOR},
};

static const struct {
	const char *name;
	enum call_kind kind;
	enum call_way way;
} kinds[] = {
	{"Init", CALL_INIT, 0},
	{"Init_thread", CALL_INIT, 0},
	{"Finalize", CALL_FINALIZE, 0},
	{"Send", CALL_SEND, 0},
	{"Bsend", CALL_SEND, 0},
	{"Ssend", CALL_SEND, 0},
	{"Rsend", CALL_SEND, 0},
	{"Isend", CALL_SEND, WAY_REQUEST},
	{"Ibsend", CALL_SEND, WAY_REQUEST},
	{"Issend", CALL_SEND, WAY_REQUEST},
	{"Irsend", CALL_SEND, WAY_REQUEST},
	{"Send_init", CALL_SEND, WAY_PERSISTENT},
	{"Bsend_init", CALL_SEND, WAY_PERSISTENT},
	{"Ssend_init", CALL_SEND, WAY_PERSISTENT},
	{"Rsend_init", CALL_SEND, WAY_PERSISTENT},
	{"Psend_init", CALL_SEND, WAY_PERSISTENT},
	{"Precv_init", CALL_RECV, WAY_PERSISTENT},
	{"Recv", CALL_RECV, 0},
	{"Irecv", CALL_RECV, WAY_REQUEST},
	{"Recv_init", CALL_RECV, WAY_PERSISTENT},
	{"Sendrecv", CALL_SENDRECV, 0},
	{"Sendrecv_replace", CALL_SENDRECV, 0},
	{"Isendrecv", CALL_SENDRECV, WAY_REQUEST},
	{"Isendrecv_replace", CALL_SENDRECV, WAY_REQUEST},
	{"Mprobe", CALL_MPROBE, 0},
	{"Improbe", CALL_MPROBE, 0},
	{"Mrecv", CALL_MRECV, 0},
	{"Imrecv", CALL_MRECV, WAY_REQUEST},
	{"Start", CALL_START, 0},
	{"Startall", CALL_START, 0},
	{"Wait", CALL_COMPLETE, 0},
	{"Waitall", CALL_COMPLETE, 0},
	{"Waitany", CALL_COMPLETE, 0},
	{"Waitsome", CALL_COMPLETE, 0},
	{"Test", CALL_COMPLETE, 0},
	{"Testall", CALL_COMPLETE, 0},
	{"Testany", CALL_COMPLETE, 0},
	{"Testsome", CALL_COMPLETE, 0},
	{"Cancel", CALL_CANCEL, 0},
	{"Request_free", CALL_FREE, 0},
	{"Comm_free", CALL_COMM_FREE, 0},
	{"Comm_disconnect", CALL_COMM_FREE, 0},
};

static const char *const collective_names[COLLECTIVES] = {
	"barrier",   "bcast",     "gather",     "gatherv",        "scatter",
	"scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
	"alltoallw", "allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
	"scan",      "exscan",    "neighbor"};

const char *collective_name(enum collective c)
{
	return collective_names[c];
}

static bool find_collective(struct call *c, const char *name)
{
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
		if (strcmp(collectives[i].name, name) == 0) {
			c->kind = CALL_COLLECTIVE;
			c->collective = collectives[i].collective;
			return true;
		}
	return false;
}

static void classify(struct call *c)
{
	char name[sizeof c->name];
	size_t skip = strncmp(c->name, "MPIX_", 5) == 0 ? 5 : strncmp(c->name, "MPI_", 4) == 0 ? 4 : 0;
	if (skip == 0)
		return;
	snprintf(name, sizeof name, "%s", c->name + skip);
	size_t n = strlen(name);
	if (n > 2 && strcmp(name + n - 2, "_c") == 0) /* MPI_Count instead of int */
		name[n -= 2] = '\0';
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, name) == 0) {
			c->kind = kinds[i].kind;
			c->way = kinds[i].way;
			return;
		}
	if (c->at[FIELD_NEW] >= 0) {
		c->kind = CALL_COMM_MAKE;
		return;
	}
	if (find_collective(c, name))
		return;
	if (n > 5 && strcmp(name + n - 5, "_init") == 0) {
		name[n - 5] = '\0';
		if (find_collective(c, name))
			c->way = WAY_PERSISTENT;
	} else if (name[0] == 'I') {
		name[1] = (char)(name[1] >= 'a' && name[1] <= 'z' ? name[1] - 'a' + 'A' : name[1]);
		if (find_collective(c, name + 1))
			c->way = WAY_REQUEST;
	}
}

int calls_make(struct calls *c, const struct trace *t)
{
	*c = (struct calls){.trace = t, .items = calloc((size_t)t->function_count + 1, sizeof *c->items)};
	if (!c->items)
		return -1;
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;
		struct call *call = &c->items[i];
		snprintf(call->name, sizeof call->name, "%.*s", (int)s->function_length, s->function);
		memset(call->at, -1, sizeof call->at);
		for (size_t k = 0; k < s->count; k++)
			for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
				if (s->column[k].length == strlen(fields[f].name) &&
				    memcmp(s->column[k].name, fields[f].name, s->column[k].length) == 0 &&
				    call->at[fields[f].field] < 0)
					call->at[fields[f].field] = (int8_t)k;
		classify(call);
	}
	return 0;
}

void calls_free(struct calls *c)
{
	free(c->items);
	c->items = NULL;
}

const struct pool_item *call_array(const struct calls *calls, const struct call *c, const struct event *e, enum field f,
                                   size_t *n)
{
	*n = 0;
	int at = c->at[f];
	if (at < 0 || !e->schema->column[at].vector || value_is_constant(e->values[at]) || e->values[at] == VALUE_LOSSY)
		return NULL;
	const struct pool_item *item = event_vector(calls->trace, e, e->values[at]);
	*n = item->size / sizeof(int64_t);
	return item;
}

int64_t array_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}
