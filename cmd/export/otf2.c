/* SPDX-License-Identifier: BSD-3-Clause
 * otf2 - `spoor export --otf2 DIR`: an OTF2 archive, for Vampir, ViTE, Scalasca
 *
 * A location is a stream of events: a rank, or a thread of one. Events are written rank by rank, the definitions behind
 * them: the library keeps one buffer of a location, and nothing grows with the number of events.
 */
#include "cmd/base/sink.h"
#include "cmd/export/otf2_comms.h"

#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "trace/model/host.h"
#include "trace/model/unended.h"

#define CHUNK_EVENTS      (1 << 20) /* bytes; the library takes 256 KiB to 16 MiB */
#define CHUNK_DEFINITIONS (4 << 20)
#define ATTRIBUTE_FROM    0

struct archive {
	struct export *export;
	OTF2_Archive *handle;
	OTF2_AttributeList *attributes;
	OTF2_GlobalDefWriter *definitions;
	OTF2_StringRef strings;
	uint64_t *events;  /* written, by location */
	uint32_t *unended; /* by function: the region of calls that did not end; 0: there are none */
	uint64_t last;     /* the latest time */
	const char *folder;
};

static OTF2_FlushType flush(void *context, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)context;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

/* The first thing that the library complains of. */
static OTF2_ErrorCode complain(void *context, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
	struct export *x = context;
	char text[256];
	(void)file;
	(void)line;
	(void)function;
	vsnprintf(text, sizeof text, format, args);
	if (!x->error.text[0])
		error_set(&x->error, "OTF2: %s%s%s", OTF2_Error_GetDescription(code), text[0] ? ": " : "", text);
	return code;
}

/* --- events --- */

static const struct {
	OTF2_CollectiveOp op;
	OTF2_RegionRole role;
} operations[COLLECTIVES] = {
	[COLLECTIVE_BARRIER] = {OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
	[COLLECTIVE_BCAST] = {OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
	[COLLECTIVE_GATHER] = {OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
	[COLLECTIVE_GATHERV] = {OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
	[COLLECTIVE_SCATTER] = {OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
	[COLLECTIVE_SCATTERV] = {OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
	[COLLECTIVE_ALLGATHER] = {OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_ALLGATHERV] = {OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_ALLTOALL] = {OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_ALLTOALLV] = {OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_ALLTOALLW] = {OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_ALLREDUCE] = {OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
	[COLLECTIVE_REDUCE] = {OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
	[COLLECTIVE_REDUCE_SCATTER] = {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_OTHER},
	[COLLECTIVE_REDUCE_SCATTER_BLOCK] = {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, OTF2_REGION_ROLE_COLL_OTHER},
	[COLLECTIVE_SCAN] = {OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
	[COLLECTIVE_EXSCAN] = {OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
};

/* OTF2 knows no neighborhood collectives, and wants to know who takes part. */
static bool has_record(const struct act *m)
{
	return m->comm != COMM_UNKNOWN && m->collective != COLLECTIVE_NEIGHBOR;
}

static void put_begin(OTF2_EvtWriter *w, uint64_t time, const struct act *m)
{
	if (m->comm == COMM_UNKNOWN && m->kind != ACT_RECV_BEGIN)
		return;
	switch (m->kind) {
	case ACT_SEND:
		OTF2_EvtWriter_MpiSend(w, NULL, time, m->local, m->comm, (uint32_t)m->tag, m->bytes);
		break;
	case ACT_SEND_BEGIN:
		OTF2_EvtWriter_MpiIsend(w, NULL, time, m->local, m->comm, (uint32_t)m->tag, m->bytes, m->request);
		break;
	case ACT_RECV_BEGIN:
		OTF2_EvtWriter_MpiIrecvRequest(w, NULL, time, m->request);
		break;
	case ACT_COLLECTIVE:
		if (has_record(m))
			OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, time);
		break;
	case ACT_COLLECTIVE_BEGIN:
		if (has_record(m))
			OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, time, m->request);
		break;
	default:
		break;
	}
}

/* On an intercommunicator ranks are those of the other group. */
static uint32_t root_of(const struct act *m)
{
	return m->bystander               ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
	       : m->local != RANK_UNKNOWN ? m->local
	       : m->root                  ? OTF2_COLLECTIVE_ROOT_SELF
	                                  : OTF2_COLLECTIVE_ROOT_NONE;
}

static void put_end(OTF2_EvtWriter *w, uint64_t time, const struct act *m)
{
	uint32_t root = root_of(m);
	switch (m->kind) {
	case ACT_SEND_END:
		if (m->comm != COMM_UNKNOWN)
			OTF2_EvtWriter_MpiIsendComplete(w, NULL, time, m->request);
		break;
	case ACT_RECV:
		if (m->comm != COMM_UNKNOWN)
			OTF2_EvtWriter_MpiRecv(w, NULL, time, m->local, m->comm, (uint32_t)m->tag, m->bytes);
		break;
	case ACT_RECV_END:
		if (m->comm != COMM_UNKNOWN)
			OTF2_EvtWriter_MpiIrecv(w, NULL, time, m->local, m->comm, (uint32_t)m->tag, m->bytes,
			                        m->request);
		else
			OTF2_EvtWriter_MpiRequestCancelled(w, NULL, time, m->request);
		break;
	case ACT_CANCELLED:
		OTF2_EvtWriter_MpiRequestCancelled(w, NULL, time, m->request);
		break;
	case ACT_COLLECTIVE:
		if (has_record(m))
			OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, time, operations[m->collective].op, m->comm, root,
			                                m->sent, m->received);
		break;
	case ACT_COLLECTIVE_END:
		if (has_record(m))
			OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, time, operations[m->collective].op,
			                                             m->comm, root, m->sent, m->received, m->request);
		break;
	default:
		break;
	}
}

/* A call that makes communicators, and what it made, if this rank is in one. */
static void put_comm_made(OTF2_EvtWriter *w, struct track *t, const struct call *c, bool begin)
{
	uint32_t parent = comms_find(t->export->comms, t->stream, call_value(&t->event, PARAMETER_COMM));
	bool all = parent != COMM_UNKNOWN && c->schema->at[PARAMETER_ERROR] < 0 &&
	           c->schema->mpi->form == FORM_BLOCKING && c->schema->mpi->scope == SCOPE_COMM;
	if (begin) {
		if (all)
			OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t->begin);
		return;
	}
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].kind == ACT_COMM_MADE && all)
			OTF2_EvtWriter_CommCreate(w, NULL, t->end, t->list[i].comm);
	if (all)
		OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t->end, OTF2_COLLECTIVE_OP_CREATE_HANDLE, parent,
		                                OTF2_UNDEFINED_UINT32, 0, 0);
}

static int put_event(struct archive *a, OTF2_EvtWriter *w, struct track *t)
{
	struct export *x = a->export;
	uint32_t region = x->trace->sites[t->event.site].function;
	const struct call *c = call_of(&x->calls, &t->event);
	if (x->paths[t->event.site][0])
		OTF2_AttributeList_AddStringRef(a->attributes, ATTRIBUTE_FROM, t->event.site);
	OTF2_EvtWriter_Enter(w, a->attributes, t->begin, region);
	for (size_t i = 0; i < t->count; i++)
		put_begin(w, t->begin, &t->list[i]);
	if (c->kind == CALL_COMM_MAKE) {
		put_comm_made(w, t, c, true);
		put_comm_made(w, t, c, false);
	}
	for (size_t i = 0; i < t->count; i++)
		put_end(w, t->end, &t->list[i]);
	OTF2_EvtWriter_Leave(w, NULL, t->end, region);
	a->last = t->end > a->last ? t->end : a->last;
	return x->error.text[0] ? -1 : 0;
}

/* The call that a killed rank was in, to its end: a region of its own. Its time is the mean of the ranks in it. */
static void put_unended(struct archive *a, OTF2_EvtWriter *w, const struct track *t)
{
	const struct trace *trace = a->export->trace;
	const struct trace_unended *u = unended_of(trace, t->stream);
	if (!u || !u->call)
		return;
	const uint32_t region = a->unended[trace->sites[u->site].function];
	const uint64_t end = t->end + u->sum / rankmap_size(&u->ranks);
	if (a->export->paths[u->site][0])
		OTF2_AttributeList_AddStringRef(a->attributes, ATTRIBUTE_FROM, u->site);
	OTF2_EvtWriter_Enter(w, a->attributes, t->end, region);
	OTF2_EvtWriter_Leave(w, NULL, end, region);
	a->last = end > a->last ? end : a->last;
}

static int put_stream(struct archive *a, uint32_t stream)
{
	struct track t;
	int rv = track_begin(&t, a->export, stream, true);
	OTF2_EvtWriter *w = rv == 0 ? OTF2_Archive_GetEvtWriter(a->handle, stream) : NULL;
	OTF2_DefWriter *definitions = NULL;
	while (w && rv == 0 && (rv = track_next(&t)) == 0)
		rv = put_event(a, w, &t);
	if (w && rv > 0)
		put_unended(a, w, &t);
	track_end(&t);
	if (w && rv > 0) {
		OTF2_EvtWriter_GetNumberOfEvents(w, &a->events[stream]);
		OTF2_Archive_CloseEvtWriter(a->handle, w);
	}
	if (rv > 0 && (definitions = OTF2_Archive_GetDefWriter(a->handle, stream)))
		OTF2_Archive_CloseDefWriter(a->handle, definitions);
	return rv > 0 && !a->export->error.text[0] ? 0 : -1;
}

/* A rank that is missing in the trace is a location without events: readers open its files all the same. */
static void put_missing(struct archive *a, uint32_t rank)
{
	OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a->handle, rank);
	OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(a->handle, rank);
	if (w)
		OTF2_Archive_CloseEvtWriter(a->handle, w);
	if (definitions)
		OTF2_Archive_CloseDefWriter(a->handle, definitions);
}

/* --- definitions --- */

static OTF2_StringRef text(struct archive *a, const char *s)
{
	char *visible = say_copy(s); /* readers print it as it is */
	OTF2_GlobalDefWriter_WriteString(a->definitions, a->strings, visible ? visible : "?");
	return free(visible), a->strings++;
}

static const char *meta_text(const struct archive *a, const char *key)
{
	const char *s = a->export->meta ? json_string_value(json_object_get(a->export->meta, key)) : NULL;
	return s ? s : "";
}

static OTF2_RegionRole role_of(const struct call *c)
{
	switch (c->kind) {
	case CALL_SEND:
	case CALL_RECV:
	case CALL_SENDRECV:
	case CALL_MPROBE:
	case CALL_MRECV:
	case CALL_START:
	case CALL_COMPLETE:
		return OTF2_REGION_ROLE_POINT2POINT;
	case CALL_COLLECTIVE:
		return c->collective == COLLECTIVE_NEIGHBOR ? OTF2_REGION_ROLE_COLL_OTHER
		                                            : operations[c->collective].role;
	case CALL_COMM_MAKE:
		return OTF2_REGION_ROLE_COLL_OTHER;
	default:
		return c->schema->mpi->class == MPI_CLASS_FILE ? OTF2_REGION_ROLE_FILE_IO
		       : c->schema->mpi->class == MPI_CLASS_WINDOW || c->schema->mpi->class == MPI_CLASS_ONE_SIDED
		               ? OTF2_REGION_ROLE_RMA
		               : OTF2_REGION_ROLE_FUNCTION;
	}
}

/* The machine, its nodes, and on them the ranks. */
static int define_places(struct archive *a)
{
	const struct trace *t = a->export->trace;
	char host[HOST_MAX], name[64];
	json_t *nodes = json_object();
	OTF2_SystemTreeNodeRef next = 0;
	const char *machine = meta_text(a, "cluster");
	OTF2_StringRef node_class = text(a, "node");
	OTF2_GlobalDefWriter_WriteSystemTreeNode(a->definitions, next, text(a, *machine ? machine : "machine"),
	                                         text(a, "machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(a->definitions, next++, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	if (!nodes)
		return error_set(&a->export->error, "no memory");
	for (uint32_t rank = 0; rank < t->size; rank++) {
		host_get(t, rank, host);
		json_t *known = json_object_get(nodes, host);
		uint32_t node = known ? (uint32_t)json_integer_value(known) : next;
		if (!known) {
			OTF2_GlobalDefWriter_WriteSystemTreeNode(a->definitions, node, text(a, host[0] ? host : "?"),
			                                         node_class, 0);
			OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(a->definitions, node,
			                                               OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
			if (json_object_set_new_nocheck(nodes, host, json_integer(next++)) != 0) {
				json_decref(nodes);
				return error_set(&a->export->error, "no memory");
			}
		}
		snprintf(name, sizeof name, "Rank %u", rank);
		OTF2_StringRef label = text(a, name);
		OTF2_GlobalDefWriter_WriteLocationGroup(a->definitions, rank, label, OTF2_LOCATION_GROUP_TYPE_PROCESS,
		                                        node, OTF2_UNDEFINED_LOCATION_GROUP);
		OTF2_GlobalDefWriter_WriteLocation(a->definitions, rank, label, OTF2_LOCATION_TYPE_CPU_THREAD,
		                                   a->events[rank], rank);
	}
	json_decref(nodes);
	int64_t unused;
	for (uint64_t stream = t->size; rankmap_next(&t->events, &stream, &unused); stream++) {
		snprintf(name, sizeof name, "Rank %u, thread %u", stream_rank(t, (uint32_t)stream),
		         stream_thread(t, (uint32_t)stream));
		OTF2_GlobalDefWriter_WriteLocation(a->definitions, stream, text(a, name), OTF2_LOCATION_TYPE_CPU_THREAD,
		                                   a->events[stream], stream_rank(t, (uint32_t)stream));
	}
	return 0;
}

/* more: behind its name. */
static void define_function(struct archive *a, uint32_t region, uint32_t function, const char *more,
                            OTF2_StringRef empty)
{
	const struct schema *s = &a->export->trace->functions[function].schema;
	char both[80];
	snprintf(both, sizeof both, "%.*s%s", (int)s->function_length, s->function, more);
	OTF2_StringRef name = text(a, both);
	OTF2_GlobalDefWriter_WriteRegion(a->definitions, region, name, name, empty,
	                                 role_of(&a->export->calls.items[function]), OTF2_PARADIGM_MPI,
	                                 OTF2_REGION_FLAG_NONE, empty, 0, 0);
}

/* Functions, and behind them those of calls that did not end. */
static void define_functions(struct archive *a, OTF2_StringRef empty)
{
	const struct trace *t = a->export->trace;
	for (uint32_t i = 0; i < t->function_count; i++)
		define_function(a, i, i, "", empty);
	for (uint32_t i = 0; i < t->function_count; i++)
		if (a->unended[i])
			define_function(a, a->unended[i], i, " (never ended)", empty);
}

/* Gives them their numbers. Returns 0, or -1 on no memory. */
static int number_unended(struct archive *a)
{
	const struct trace *t = a->export->trace;
	uint32_t next = t->function_count;
	a->unended = calloc((size_t)t->function_count + 1, sizeof *a->unended);
	for (uint32_t i = 0; a->unended && i < t->unended_count; i++)
		if (t->unended[i].call)
			a->unended[t->sites[t->unended[i].site].function] = 1;
	for (uint32_t i = 0; a->unended && i < t->function_count; i++)
		if (a->unended[i])
			a->unended[i] = next++;
	return a->unended ? 0 : -1;
}

static int define(struct archive *a)
{
	const struct trace *t = a->export->trace;
	const json_t *start = a->export->meta ? json_object_get(a->export->meta, "start_ns") : NULL;
	a->definitions = OTF2_Archive_GetGlobalDefWriter(a->handle);
	if (!a->definitions)
		return -1;
	int64_t origin;
	OTF2_GlobalDefWriter_WriteClockProperties(a->definitions, 1000000000, 0, a->last,
	                                          event_clock_origin(t, &origin) ? (uint64_t)origin
	                                          : json_is_integer(start)       ? (uint64_t)json_integer_value(start)
	                                                                         : OTF2_UNDEFINED_TIMESTAMP);
	for (uint32_t i = 0; i < t->site_count; i++) /* strings 0, 1, ...: the sites' call paths */
		text(a, a->export->paths[i]);
	OTF2_StringRef empty = text(a, "");
	OTF2_GlobalDefWriter_WriteParadigm(a->definitions, OTF2_PARADIGM_MPI, text(a, "MPI"),
	                                   OTF2_PARADIGM_CLASS_PROCESS);
	OTF2_GlobalDefWriter_WriteAttribute(a->definitions, ATTRIBUTE_FROM, text(a, "from"),
	                                    text(a, "call path, the innermost frame first"), OTF2_TYPE_STRING);
	define_functions(a, empty);
	return define_places(a) != 0 || otf2_comms(a->definitions, a->export, empty, &a->strings) != 0 ||
	                       a->export->error.text[0]
	               ? -1
	               : 0;
}

/* --- the archive --- */

/* The library keeps a file of every location open. */
static void allow_files(uint64_t locations)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * locations + 64) {
		limit.rlim_cur = limit.rlim_max < 2 * locations + 64 ? limit.rlim_max : 2 * locations + 64;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int fill(struct archive *a)
{
	static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
	const struct rankmap *streams = &a->export->trace->events;
	const char *machine = meta_text(a, "cluster"), *command = meta_text(a, "exe");
	char times[EVENT_CLOCK_SAYS];
	int64_t unused;
	int rv = 0;
	if (OTF2_Archive_SetFlushCallbacks(a->handle, &callbacks, NULL) != OTF2_SUCCESS ||
	    OTF2_Archive_SetSerialCollectiveCallbacks(a->handle) != OTF2_SUCCESS ||
	    OTF2_Archive_SetCreator(a->handle, "spoor " PACKAGE_VERSION) != OTF2_SUCCESS)
		return -1;
	OTF2_Archive_SetProperty(a->handle, "SPOOR::TIMES", event_clock_says(a->export->trace, times), true);
	if (*machine)
		OTF2_Archive_SetMachineName(a->handle, machine);
	if (*command)
		OTF2_Archive_SetDescription(a->handle, command);
	if (OTF2_Archive_OpenEvtFiles(a->handle) != OTF2_SUCCESS ||
	    OTF2_Archive_OpenDefFiles(a->handle) != OTF2_SUCCESS)
		return -1;
	for (uint64_t stream = 0; rv == 0 && rankmap_next(streams, &stream, &unused); stream++)
		rv = put_stream(a, (uint32_t)stream);
	for (uint32_t rank = 0; rv == 0 && rank < a->export->trace->size; rank++)
		if (!rankmap_get(streams, rank, &unused))
			put_missing(a, rank);
	if (rv == 0 && (OTF2_Archive_CloseEvtFiles(a->handle) != OTF2_SUCCESS ||
	                OTF2_Archive_CloseDefFiles(a->handle) != OTF2_SUCCESS))
		rv = -1;
	return rv == 0 ? define(a) : -1;
}

int export_otf2(struct export *x, const char *folder)
{
	struct output out;
	struct archive a = {.export = x};
	const struct trace *t = x->trace;
	uint64_t locations = t->size;
	if (!rankmap_empty(&t->events) && rankmap_last(&t->events) >= locations)
		locations = (uint64_t)rankmap_last(&t->events) + 1;
	int rv = output_folder(&out, folder, &x->error);
	if (rv != 0)
		return -1;
	allow_files(locations);
	OTF2_Error_RegisterCallback(complain, x);
	a.events = calloc(locations + 1, sizeof *a.events);
	a.attributes = OTF2_AttributeList_New();
	a.handle = OTF2_Archive_Open(out.temporary, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS, CHUNK_DEFINITIONS,
	                             OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	rv = a.events && a.attributes && a.handle && number_unended(&a) == 0 ? fill(&a) : -1;
	if (a.handle && OTF2_Archive_Close(a.handle) != OTF2_SUCCESS)
		rv = -1;
	OTF2_AttributeList_Delete(a.attributes);
	OTF2_Error_RegisterCallback(NULL, NULL);
	free(a.events);
	free(a.unended);
	if (rv == 0 && !x->error.text[0])
		rv = output_finish(&out, &x->error);
	else
		rv = x->error.text[0] ? -1 : error_set(&x->error, "OTF2: cannot be written");
	output_discard(&out);
	return rv;
}
