/* SPDX-License-Identifier: BSD-3-Clause
 * replayer - replays the events of a rank
 */
#include "replay/replayer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/calls.h"
#include "replay/lossy_messages.h"
#include "replay/poll.h"
#include "replay/say.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"

int replayer_refuse(const struct replayer *r, const char *text)
{
	if (r->rank == 0)
		replay_say(r->file, "%s", text);
	return -1;
}

int replayer_refuse_size(const struct replayer *r, uint32_t size)
{
	char text[200];
	snprintf(text, sizeof text, "the trace has %u ranks, but this is a run of %u: start it with -n %u",
	         r->trace.size, size, r->trace.size);
	return replayer_refuse(r, text);
}

static void say_error(const struct replayer *r)
{
	replay_say(r->file, "%s", r->error.text);
}

/* ---- MPI is up ---- */

/* A trace without order: messages are counted, and received as they come. */
static void start_lossy(struct replayer *r)
{
	lossy_add_comm(MPI_COMM_SELF, NULL);
	senders_add_comm(r->senders, SENDERS_WORLD, MPI_COMM_WORLD);
	r->args.made_comm = senders_add_comm;
	r->args.context = r->senders;
	replay_outcome.receive_pending = lossy_receive_pending;
	replay_outcome.arrived = senders_arrived;
	replay_outcome.stop_waiting = senders_stop_waiting;
	replay_outcome.senders = r->senders;
}

/* Is this run as the trace needs it? */
static int check_run(struct replayer *r)
{
	int rank, size, provided = MPI_THREAD_SINGLE;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if ((uint32_t)size != r->trace.size) {
		r->rank = (uint32_t)rank;
		return replayer_refuse_size(r, (uint32_t)size);
	}
	if ((uint32_t)rank != r->rank) {
		fputs("spoor-replay: this launcher does not tell a process its rank before MPI_Init (looked for "
		      "OMPI_COMM_WORLD_RANK, ...)\n",
		      stderr);
		return -1;
	}
	PMPI_Query_thread(&provided);
	if (stream_threads(&r->trace) > 1 && provided != MPI_THREAD_MULTIPLE)
		return replayer_refuse(r, "ranks of the trace called MPI in several threads, but this MPI library does "
		                          "not provide MPI_THREAD_MULTIPLE here");
	return 0;
}

static int mpi_started(struct replayer *r)
{
	int64_t host = 0, number = 0;
	r->initialized = true;
	if (check_run(r) != 0)
		return -1;
	if (r->options.partial || r->unrecorded) {
		PMPI_Comm_dup(MPI_COMM_WORLD, &replay_outcome.own);
		replay_outcome.out = &r->args.out;
		replay_outcome.polling = true;
	}
	if (r->unrecorded)
		start_lossy(r);
	/* equal for ranks of one node */
	rankmap_get(&r->trace.host, r->rank, &host);
	rankmap_get(&r->trace.host_number, r->rank, &number);
	replay_outcome.node = (int)(hash_mix((uint64_t)host + 1, (uint64_t)number) & INT32_MAX);
	if (!plan_uses_files(&r->trace))
		return 0;
	replay_outcome.scratch = r->folder.path;
	if (scratch_folder_create(&r->folder, r->options.scratch) != 0)
		return replayer_refuse(r, "no scratch folder for the application's files; --scratch names one");
	return 0;
}

/* ---- one event ---- */

static const char *error_name(int class)
{
	for (size_t i = 0; i < library_constant_count; i++)
		if (library_constants[i].kind == CONSTANT_ERROR && library_constants[i].value == class)
			return library_constants[i].name;
	return class == MPI_SUCCESS ? "success" : "an error";
}

/* Did the call end as it was recorded? */
static void compare_error(struct replayer *r, const struct event *e, int rc)
{
	int class = rc;
	if (rc != MPI_SUCCESS)
		PMPI_Error_class(rc, &class);
	if (__builtin_expect(class == replay_outcome.error, 1) || (class && replay_outcome.error == MPI_ERR_UNKNOWN))
		return;
	if (r->different++ == 0)
		snprintf(r->first_difference, sizeof r->first_difference,
		         "event %" PRIu64 ", %.*s: ended with %s, was recorded with %s", e->number,
		         (int)e->schema->function_length, e->schema->function, error_name(class),
		         error_name(replay_outcome.error));
}

/* The error class that the event ended with. */
static int recorded_error(struct replayer *r, const struct plan *plan, const struct event *e)
{
	if (plan->error < 0)
		return MPI_SUCCESS;
	int64_t v = e->values[plan->error];
	const struct args_constant *c =
		value_is_constant(v) ? &r->args.constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT] : NULL;
	return c && c->kind == CONSTANT_ERROR ? (int)c->value : MPI_ERR_UNKNOWN;
}

/* Errors that a library finds in the arguments, before it does anything. */
static bool error_refuses(int error)
{
	static const int errors[] = {MPI_ERR_ARG,        MPI_ERR_BUFFER,     MPI_ERR_COUNT,    MPI_ERR_TYPE,
	                             MPI_ERR_TAG,        MPI_ERR_COMM,       MPI_ERR_RANK,     MPI_ERR_ROOT,
	                             MPI_ERR_GROUP,      MPI_ERR_OP,         MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,
	                             MPI_ERR_REQUEST,    MPI_ERR_KEYVAL,     MPI_ERR_INFO,     MPI_ERR_INFO_KEY,
	                             MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_ERR_WIN,      MPI_ERR_DISP,
	                             MPI_ERR_SIZE,       MPI_ERR_LOCKTYPE,   MPI_ERR_ASSERT,   MPI_ERR_FILE};
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (error == errors[i])
			return true;
	return false;
}

/* Values that are not known; how long a receive may wait. */
static void fill_event(struct replayer *r, struct event *e)
{
	const struct histogram *t = &r->trace.sites[e->site].communicate;
	unrecorded_fill(r->unrecorded, &r->args, e);
	replay_outcome.has_message = unrecorded_has_message(r->unrecorded, e);
	replay_outcome.timeout = r->options.compute == COMPUTE_NONE || senders_all_followed(r->senders)
	                                 ? 0
	                                 : (long long)(2 * r->scales[e->site] * histogram_mean(t));
	senders_event_begins(r->senders, e);
}

/* A call that did not return: nothing is known of its arguments. A tracer sees it being left. */
static int leave_call(struct replayer *r, const struct plan *plan, const int64_t *v)
{
	jmp_buf left;
	replay_outcome.left = &left;
	if (setjmp(left) != 0) {
		replay_outcome.left = NULL;
		return replay_outcome.error;
	}
	int rc = plan->call->call(&r->args, v);
	replay_outcome.left = NULL;
	return rc;
}

static void replay_event(struct replayer *r, const struct plan *plan, struct event *e)
{
	int64_t values[SCHEMA_MAX];
	const int64_t *v = e->values;
	replay_outcome.refused = false;
	args_next_event(&r->args, e, plan->error >= 0);
	if (r->unrecorded)
		fill_event(r, e);
	if (!plan->same) {
		for (size_t i = 0; i < plan->columns; i++)
			values[i] = plan->from[i] < 0 ? 0 : e->values[plan->from[i]];
		v = values;
	}
	if ((r->args.known_buffers = plan->known_buffers))
		for (int i = 0; i < ARGS_BUFFERS; i++)
			r->args.buffers[i] = plan->buffers[i] < 0 ? VALUE_LOSSY : e->values[plan->buffers[i]];
	replay_outcome.error = recorded_error(r, plan, e);
	replay_outcome.by_library = replay_outcome.error != MPI_SUCCESS;
	bool left = plan->error >= 0 && trace_is_constant(&r->trace, e->values[plan->error], CONST_LEFT);
	replay_outcome.refused = left || error_refuses(replay_outcome.error);
	compute_wait(r->compute, e->site);
	int rc = left ? leave_call(r, plan, v) : plan->call->call(&r->args, v);
	compute_call_ended(r->compute, e->site);
	if (r->senders)
		senders_event_ended(r->senders, e);
	compare_error(r, e, rc);
}

/* ---- all events of a thread ---- */

static struct match match_next(void *context, int source)
{
	struct replayer *r = context;
	int from;
	if (source != MPI_ANY_SOURCE && !replay_outcome.match_all)
		return (struct match){MATCH_ANY, source};
	if (prescan_next(r->prescan, &from, &r->error) != 0) {
		say_error(r);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (from == PRESCAN_NONE)
		return (struct match){MATCH_NONE, source};
	return from >= 0 ? (struct match){MATCH_SOURCE, from} : (struct match){MATCH_ANY, source};
}

static int prepare_thread(struct replayer *r)
{
	bool every;
	r->compute = compute_create(&r->trace, r->stream, r->options.compute, r->scales, !replay_outcome.lossy,
	                            r->options.seed);
	if (!r->compute || args_begin(&r->args, &r->trace, r->stream, &r->error) != 0)
		return error_set(&r->error, "no memory");
	if (r->threads)
		thread_order_join(r->threads, &r->args.handles, r->stream);
	if (replay_outcome.lossy || !prescan_needed(&r->trace, &every))
		return 0;
	replay_outcome.match = match_next;
	replay_outcome.context = r;
	replay_outcome.match_all = every;
	return prescan_create(&r->prescan, &r->trace, r->stream, every, &r->error);
}

static void report_different(const struct replayer *r)
{
	char name[STREAM_NAME];
	if (r->different)
		replay_say(r->file,
		           "rank %s: %" PRIu64 " calls ended otherwise than they were recorded; the first one is %s",
		           stream_name(&r->trace, r->stream, name), r->different, r->first_difference);
}

/* They have come to their ends. */
static void join_threads(struct replayer *r)
{
	for (int i = 0; r->further && i < thread_order_count(r->threads); i++) {
		struct replayer *f = &r->further[i];
		pthread_join(f->thread, NULL);
		report_different(f);
		r->events += f->events;
		r->different += f->different;
		if (f->different && !r->first_difference[0])
			memcpy(r->first_difference, f->first_difference, sizeof r->first_difference);
		prescan_destroy(f->prescan);
		compute_destroy(f->compute);
	}
}

static int start_threads(struct replayer *r);

/* All messages of a trace without order are received. */
static void end_messages(struct replayer *r)
{
	long long own[2], all[2];
	int more = 0;
	lossy_drain(MPI_COMM_NULL);
	lossy_counts(&own[0], &own[1]);
	PMPI_Allreduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (all[0] != all[1] && r->rank == 0)
		replay_say(r->file, "%lld messages were sent, %lld received", all[0], all[1]);
	else if (r->options.verbose && r->rank == 0)
		replay_say(NULL,
		           "%lld messages were sent, and all of them received; rank 0 followed %d ranks (and %d not); "
		           "%lld times all ranks waited",
		           all[0], senders_count(r->senders, &more), more, replay_outcome.released);
	r->different += all[0] != all[1];
	replay_outcome.polling = false;
}

/* Before MPI_Finalize. Returns false if it is not to be called now: others have not come here. */
static bool end_mpi(struct replayer *r)
{
	join_threads(r);
	if (r->options.partial)
		return false;
	if (r->unrecorded)
		end_messages(r);
	scratch_folder_remove(&r->folder);
	r->initialized = false;
	return true;
}

/* Returns 0; 1 if the events end here, whatever follows; -1 with error set. */
static int replay_next(struct replayer *r, struct event *e)
{
	const struct plan *plan = &r->plans[r->trace.sites[e->site].function];
	if (plan->special == PLAN_ABORT)
		return 1;
	if (r->threads)
		thread_order_before(r->threads, e);
	if (plan->special == PLAN_FINALIZE && !end_mpi(r))
		return 1;
	replay_event(r, plan, e);
	if (r->threads)
		thread_order_after(r->threads, e);
	replay_outcome.progress = (long long)++r->events;
	if (plan->special != PLAN_INIT)
		return 0;
	if (mpi_started(r) != 0) {
		PMPI_Finalize();
		exit(2);
	}
	return start_threads(r);
}

static int replay_thread(struct replayer *r)
{
	struct walk *walk;
	struct event e;
	int rv = walk_begin(&walk, &r->trace, r->stream, &r->error);
	switch (setjmp(r->args.out)) {
	case 0:
		break;
	case POLL_STUCK: /* nobody goes on: this was all that there is */
		if (!r->unrecorded || r->options.partial)
			return 0;
		return error_set(&r->error, "rank %u, event %" PRIu64 ", %.*s: all ranks wait for each other", r->rank,
		                 r->args.event->number, (int)r->args.event->schema->function_length,
		                 r->args.event->schema->function);
	default: /* an event that cannot be replayed */
		return -1;
	}
	while (rv == 0 && (rv = walk_next(walk, &e, &r->error)) == 0)
		rv = replay_next(r, &e);
	walk_end(walk);
	return rv < 0 ? -1 : 0;
}

/* ---- further threads ---- */

struct thread_start {
	struct replayer *own;
	const struct outcome *outcome;
	pthread_barrier_t *ready;
};

static void *thread_main(void *argument)
{
	struct thread_start *s = argument;
	struct replayer *r = s->own;
	replay_outcome = *s->outcome;
	int rv = prepare_thread(r);
	pthread_barrier_wait(s->ready);
	if (rv != 0 || replay_thread(r) != 0) {
		say_error(r);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	thread_order_end(r->threads);
	return NULL;
}

static int start_threads(struct replayer *r)
{
	int n = thread_order_count(r->threads);
	if (n == 0 || r->further)
		return 0;
	struct thread_start *starts = calloc((size_t)n, sizeof *starts);
	pthread_barrier_t ready;
	r->further = calloc((size_t)n, sizeof *r->further);
	if (!starts || !r->further || pthread_barrier_init(&ready, NULL, (unsigned)n + 1) != 0)
		return error_set(&r->error, "no memory");
	for (int i = 0; i < n; i++) {
		r->further[i] = *r;
		r->further[i].stream = thread_order_stream(r->threads, i);
		r->further[i].prescan = NULL;
		r->further[i].events = r->further[i].different = 0;
		starts[i] = (struct thread_start){&r->further[i], &replay_outcome, &ready};
		if (pthread_create(&r->further[i].thread, NULL, thread_main, &starts[i]) != 0)
			return error_set(&r->error, "rank %u: no thread can be made", r->rank);
	}
	pthread_barrier_wait(&ready);
	pthread_barrier_destroy(&ready);
	free(starts);
	return 0;
}

/* ---- a rank ---- */

static double now_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The end of what there is: the others may need answers still. Then MPI ends, which is not an event of the trace. */
static void end_partial(struct replayer *r)
{
	poll_linger();
	replay_outcome.polling = false;
	PMPI_Barrier(replay_outcome.own);
	scratch_folder_remove(&r->folder);
	PMPI_Finalize();
}

/* A rank that left no events, or not even that of MPI_Init: the others need it to begin. */
static int replay_without_events(struct replayer *r)
{
	MPI_Init(NULL, NULL);
	return mpi_started(r);
}

int replayer_run(struct replayer *r)
{
	int64_t events = 0;
	double begin = now_seconds();
	bool there = rankmap_get(&r->trace.events, r->rank, &events) && events > 0;
	r->stream = r->rank;
	if (replay_outcome.lossy &&
	    (unrecorded_create(&r->unrecorded, &r->trace, r->rank, r->options.seed, &r->error) != 0 ||
	     senders_create(&r->senders, &r->trace, r->rank, r->options.seed, &r->error) != 0))
		return replayer_refuse(r, r->error.text);
	if ((there && thread_order_create(&r->threads, &r->trace, r->rank, &r->error) != 0) || prepare_thread(r) != 0)
		return replayer_refuse(r, r->error.text);
	if (there ? replay_thread(r) != 0 : replay_without_events(r) != 0) {
		say_error(r);
		if (r->initialized)
			PMPI_Abort(MPI_COMM_WORLD, 1);
		return -1;
	}
	if (r->initialized) /* no call of MPI_Finalize is recorded */
		end_partial(r);
	handles_end_sessions(&r->args.handles);
	report_different(r);
	if (r->options.verbose && r->rank == 0)
		replay_say(NULL, "rank 0: %" PRIu64 " events in %.6f s", r->events, now_seconds() - begin);
	return r->different ? -1 : 0;
}

void replayer_free(struct replayer *r)
{
	prescan_destroy(r->prescan);
	for (int i = 0; r->further && i < thread_order_count(r->threads); i++)
		args_end(&r->further[i].args);
	free(r->further);
	thread_order_destroy(r->threads);
	unrecorded_destroy(r->unrecorded);
	senders_destroy(r->senders);
	compute_destroy(r->compute);
	if (r->args.trace)
		args_end(&r->args);
}
