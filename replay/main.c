/* SPDX-License-Identifier: BSD-3-Clause
 * main - spoor-replay: one rank of a replay, an MPI program
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "replay/compute.h"
#include "replay/draw.h"
#include "cmd/replay_options.h"
#include "replay/plan.h"
#include "replay/scout.h"
#include "replay/team.h"
#include "trace/file/container.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"

struct replay {
	const char *file;
	enum compute_mode compute;
	double scale;
	uint64_t seed;
	const char *scratch;
	bool partial, verbose, plan;

	struct container *container;
	struct trace trace;
	struct plan *plans;
	uint32_t rank;
	uint32_t stream;        /* of the thread that has this copy of it all */
	struct team *team;      /* NULL: the rank has one thread */
	struct replay *further; /* copies for its other threads */
	pthread_t thread;
	bool initialized;
	struct play play;
	struct scout *scout;
	struct compute *time;
	struct draw *draw; /* of a trace without order, as the next one */
	struct follow *follow;
	char folder[4096];
	bool remove_folder;
	uint64_t events, different; /* calls that ended otherwise than they did */
	char first_difference[200];
	struct error error;
};

/* ---- before MPI_Init: everything that can be known ---- */

/* A number that a launcher tells its processes. */
static bool told(const char *const *names, uint32_t *value)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		char *end;

		if (!text || !*text)
			continue;
		errno = 0;
		unsigned long n = strtoul(text, &end, 10);

		if (!errno && !*end && n <= UINT32_MAX) {
			*value = (uint32_t)n;
			return true;
		}
	}
	return false;
}

static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};

/* One of the ranks says it, if they know who they are. */
static int refuse(const struct replay *r, const char *text)
{
	if (r->rank == 0)
		fprintf(stderr, "spoor-replay: %s: %s\n", r->file, text);
	return -1;
}

static int wrong_size(const struct replay *r, uint32_t size)
{
	char text[200];

	snprintf(text, sizeof text, "the trace has %u ranks, but this is a run of %u: start it with -n %u",
	         r->trace.size, size, r->trace.size);
	return refuse(r, text);
}

static int load(struct replay *r)
{
	char text[PLAN_TEXT], whole[PLAN_TEXT + 100], *missing = NULL;
	uint32_t size;

	told(rank_names, &r->rank);
	if (trace_open(&r->trace, &r->container, r->file, &codec_zstd, &r->error) != 0) {
		if (r->rank == 0)
			fprintf(stderr, "spoor-replay: %s\n", r->error.text);
		return -1;
	}
	if (!r->plan && told(size_names, &size) && size != r->trace.size)
		return wrong_size(r, size);
	const char *why = team_impossible(&r->trace, r->partial, text, sizeof text);

	if (why)
		return refuse(r, why);
	if (!r->partial && plan_partial(&r->trace, text)) {
		snprintf(whole, sizeof whole, "this is no whole run: %s (--partial replays what there is)", text);
		return refuse(r, whole);
	}
	replay_outcome.lossy = trace_has_lossy(&r->trace);
	if (replay_outcome.lossy && draw_possible(&r->trace, &r->error) != 0)
		return refuse(r, r->error.text);
	r->plans = plan_create(&r->trace, &missing);
	for (uint32_t i = 0; r->plans && i < r->trace.function_count; i++)
		replay_outcome.placed |= r->plans[i].placed;
	if (r->plans)
		return 0;
	if (r->rank == 0)
		fprintf(stderr, "spoor-replay: %s: %s%s\n", r->file,
		        missing ? "calls in this trace that cannot be replayed here:\n" : "no memory",
		        missing ? missing : "");
	free(missing);
	return -1;
}

/* ---- the scratch folder ---- */

static int prepare_folder(struct replay *r)
{
	const char *temporary = getenv("TMPDIR");

	if (!plan_calls(&r->trace, "MPI_File_"))
		return 0;
	if (r->scratch) {
		snprintf(r->folder, sizeof r->folder, "%s", r->scratch);
	} else {
		if (r->rank == 0) {
			snprintf(r->folder, sizeof r->folder, "%s/spoor-replay.XXXXXX",
			         temporary && *temporary == '/' ? temporary : "/tmp");
			if (!mkdtemp(r->folder))
				r->folder[0] = '\0';
		}
		PMPI_Bcast(r->folder, sizeof r->folder, MPI_CHAR, 0, MPI_COMM_WORLD);
		r->remove_folder = true;
	}
	if (!r->folder[0] || (mkdir(r->folder, 0700) != 0 && errno != EEXIST))
		return refuse(r, "no scratch folder for the application's files; --scratch names one");
	replay_outcome.scratch = r->folder;
	return 0;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s, (void)kind, (void)f;
	remove(path);
	return 0;
}

static void remove_folder(struct replay *r)
{
	if (!r->remove_folder)
		return;
	PMPI_Barrier(MPI_COMM_WORLD);
	nftw(r->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the replay ---- */

static struct fate next_fate(void *context, int source)
{
	struct replay *r = context;
	int from;

	if (source != MPI_ANY_SOURCE && !replay_outcome.every)
		return (struct fate){FATE_NATURAL, source};
	if (scout_next(r->scout, &from, &r->error) != 0) {
		fprintf(stderr, "spoor-replay: %s: %s\n", r->file, r->error.text);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (from == SCOUT_NEVER)
		return (struct fate){FATE_NEVER, source};
	return from >= 0 ? (struct fate){FATE_SOURCE, from} : (struct fate){FATE_NATURAL, source};
}

/* MPI is up. */
static int started(struct replay *r)
{
	int rank, size;
	int64_t host = 0;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	r->initialized = true;
	if ((uint32_t)size != r->trace.size) {
		r->rank = (uint32_t)rank;
		return wrong_size(r, (uint32_t)size);
	}
	if ((uint32_t)rank != r->rank) {
		fprintf(stderr,
		        "spoor-replay: this launcher does not tell a process its rank before MPI_Init (looked for %s, "
		        "...)\n",
		        rank_names[0]);
		return -1;
	}
	if (stream_threads(&r->trace) > 1) {
		int provided = MPI_THREAD_SINGLE;

		PMPI_Query_thread(&provided);
		if (provided != MPI_THREAD_MULTIPLE)
			return refuse(r, "ranks of the trace called MPI in several threads, but this MPI library does "
			                 "not provide MPI_THREAD_MULTIPLE here");
	}
	if (r->partial || r->draw) {
		PMPI_Comm_dup(MPI_COMM_WORLD, &replay_outcome.own);
		replay_outcome.out = &r->play.out;
		replay_outcome.polling = true;
	}
	if (r->draw) {
		lossy_comm(MPI_COMM_SELF, NULL);
		follow_comm(r->follow, FOLLOW_WORLD, MPI_COMM_WORLD);
		r->play.follow = r->follow;
		replay_outcome.service = lossy_service;
		replay_outcome.arrived = follow_arrived;
		replay_outcome.forgive = follow_forgive;
		replay_outcome.following = r->follow;
	}
	/* equal for ranks of one node */
	int64_t number = 0;
	rankmap_get(&r->trace.host, r->rank, &host);
	rankmap_get(&r->trace.host_number, r->rank, &number);
	replay_outcome.node = (int)(hash_mix((uint64_t)host + 1, (uint64_t)number) & INT32_MAX);
	return prepare_folder(r);
}

static const char *class_name(int class)
{
	for (size_t i = 0; i < play_name_count; i++)
		if (play_names[i].kind == PLAY_ERROR && play_names[i].value == class)
			return play_names[i].name;
	return class == MPI_SUCCESS ? "success" : "an error";
}

static void compare(struct replay *r, const struct event *e, int rc)
{
	int class = rc;

	if (rc != MPI_SUCCESS)
		PMPI_Error_class(rc, &class);
	if (__builtin_expect(class == replay_outcome.error, 1) || (class && replay_outcome.error == MPI_ERR_UNKNOWN))
		return;
	if (r->different++ == 0)
		snprintf(r->first_difference, sizeof r->first_difference,
		         "event %" PRIu64 ", %.*s: ended with %s, was recorded with %s", e->number,
		         (int)e->schema->function_length, e->schema->function, class_name(class),
		         class_name(replay_outcome.error));
}

/* The error class that the event ended with. */
static int recorded_error(struct replay *r, const struct plan *plan, const struct event *e)
{
	if (plan->error < 0)
		return MPI_SUCCESS;
	int64_t v = e->values[plan->error];
	const struct play_constant *c =
		value_is_constant(v) ? &r->play.constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT] : NULL;

	return c && c->kind == PLAY_ERROR ? (int)c->value : MPI_ERR_UNKNOWN;
}

/* Values that are not known; how many requests an array has; how long a receive may wait. */
static void draw(struct replay *r, struct event *e)
{
	const struct trace_time *t = &r->trace.sites[e->site].communicate;

	draw_event(r->draw, &r->play, e);
	r->play.request_count = 0;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];

		if (c->kind == 'r' && c->vector)
			for (size_t k = 0; k < i; k++)
				if (e->schema->column[k].kind == 'i' && !value_is_constant(e->values[k])) {
					if (e->values[i] != VALUE_LOSSY && !value_is_constant(e->values[i]))
						e->values[k] =
							(int64_t)(event_vector(&r->trace, e, e->values[i])->size /
						                  sizeof(int64_t));
					r->play.request_count = (int)e->values[k];
				}
	}
	replay_outcome.sure = draw_sure(r->draw, e);
	replay_outcome.patience = r->compute == COMPUTE_NONE || !t->count
	                                  ? 0
	                                  : (long long)(2 * r->scale * (double)t->sum / (double)t->count);
	follow_event(r->follow, e);
}

static void replay_event(struct replay *r, const struct plan *plan, struct event *e)
{
	int64_t values[SCHEMA_MAX];
	const int64_t *v = e->values;

	play_next(&r->play, e, plan->error >= 0);
	if (r->draw)
		draw(r, e);
	if (!plan->same) {
		for (size_t i = 0; i < plan->columns; i++)
			values[i] = plan->from[i] < 0 ? 0 : e->values[plan->from[i]];
		v = values;
	}
	if ((r->play.placed = plan->placed))
		for (int i = 0; i < PLAY_PLACES; i++)
			r->play.places[i] = plan->places[i] < 0 ? VALUE_LOSSY : e->values[plan->places[i]];
	replay_outcome.error = recorded_error(r, plan, e);
	replay_outcome.natural = replay_outcome.error != MPI_SUCCESS;
	compute_before(r->time, e->site);
	int rc = plan->call->call(&r->play, v);

	compute_after(r->time, e->site);
	if (r->follow)
		follow_leave(r->follow, e);
	compare(r, e, rc);
}

/* All messages are received. */
static void end_messages(struct replay *r)
{
	long long own[2], all[2];
	int more = 0;

	lossy_drain(MPI_COMM_NULL);
	lossy_counts(&own[0], &own[1]);
	PMPI_Allreduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (all[0] != all[1] && r->rank == 0)
		fprintf(stderr, "spoor-replay: %s: %lld messages were sent, %lld received\n", r->file, all[0], all[1]);
	else if (r->verbose && r->rank == 0)
		fprintf(stderr,
		        "spoor-replay: %lld messages were sent, and all of them received; rank 0 followed %d ranks "
		        "(and %d not); %lld times all ranks waited\n",
		        all[0], follow_contexts(r->follow, &more), more, replay_outcome.released);
	r->different += all[0] != all[1];
	replay_outcome.polling = false;
}

static int replay_all(struct replay *r);

static void report_different(const struct replay *r)
{
	char name[STREAM_NAME];

	if (r->different)
		fprintf(stderr,
		        "spoor-replay: %s: rank %s: %" PRIu64
		        " calls ended otherwise than they were recorded; the first one is %s\n",
		        r->file, stream_name(&r->trace, r->stream, name), r->different, r->first_difference);
}

static int prepare(struct replay *r)
{
	bool every;

	r->time = compute_create(&r->trace, r->stream, r->compute, r->scale, r->seed);
	if (!r->time || play_begin(&r->play, &r->trace, r->stream, &r->error) != 0)
		return error_set(&r->error, "no memory");
	r->play.team = r->team;
	if (r->team)
		team_join(r->team, &r->play);
	if (r->draw || replay_outcome.lossy || !scout_needed(&r->trace, &every))
		return 0;
	replay_outcome.fate = next_fate;
	replay_outcome.context = r;
	replay_outcome.every = every;
	return scout_begin(&r->scout, &r->trace, r->stream, every, 0, &r->error);
}

struct beginning {
	struct replay *own;
	const struct outcome *outcome;
	pthread_barrier_t *there;
};

static void *thread_main(void *argument)
{
	struct beginning *b = argument;
	struct replay *r = b->own;

	replay_outcome = *b->outcome;
	int rv = prepare(r);

	pthread_barrier_wait(b->there);
	if (rv != 0 || replay_all(r) != 0) {
		fprintf(stderr, "spoor-replay: %s: %s\n", r->file, r->error.text);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	team_leave_all(r->team);
	return NULL;
}

/* MPI is up: the other threads of the rank begin. */
static int start_threads(struct replay *r)
{
	int n = team_count(r->team);
	struct beginning *b = n ? calloc((size_t)n, sizeof *b) : NULL;
	pthread_barrier_t there;

	if (n == 0 || r->further)
		return 0;
	r->further = calloc((size_t)n, sizeof *r->further);
	if (!b || !r->further || pthread_barrier_init(&there, NULL, (unsigned)n + 1) != 0)
		return error_set(&r->error, "no memory");
	for (int i = 0; i < n; i++) {
		r->further[i] = *r;
		r->further[i].stream = team_stream(r->team, i);
		r->further[i].scout = NULL;
		r->further[i].events = r->further[i].different = 0;
		b[i] = (struct beginning){&r->further[i], &replay_outcome, &there};
		if (pthread_create(&r->further[i].thread, NULL, thread_main, &b[i]) != 0)
			return error_set(&r->error, "rank %u: no thread can be made", r->rank);
	}
	pthread_barrier_wait(&there);
	pthread_barrier_destroy(&there);
	free(b);
	return 0;
}

/* They have come to their ends. */
static void join_threads(struct replay *r)
{
	for (int i = 0; r->further && i < team_count(r->team); i++) {
		struct replay *f = &r->further[i];

		pthread_join(f->thread, NULL);
		report_different(f);
		r->events += f->events;
		r->different += f->different;
		if (f->different && !r->first_difference[0])
			memcpy(r->first_difference, f->first_difference, sizeof r->first_difference);
		scout_end(f->scout);
		compute_destroy(f->time);
	}
}

static int replay_all(struct replay *r)
{
	struct walk *walk;
	struct event e;
	int rv = walk_begin(&walk, &r->trace, r->stream, &r->error);

	switch (setjmp(r->play.out)) {
	case 0:
		break;
	case POLL_STUCK: /* nobody goes on: this was all that there is */
		if (!r->draw || r->partial)
			return 0;
		return error_set(&r->error, "rank %u, event %" PRIu64 ", %.*s: all ranks wait for each other", r->rank,
		                 r->play.event->number, (int)r->play.event->schema->function_length,
		                 r->play.event->schema->function);
	default: /* an event that cannot be replayed */
		return -1;
	}

	while (rv == 0 && (rv = walk_next(walk, &e, &r->error)) == 0) {
		const struct plan *plan = &r->plans[r->trace.sites[e.site].function];

		if (plan->special == PLAN_ABORT)
			break;
		if (r->team)
			team_enter(r->team, &e);
		if (plan->special == PLAN_FINALIZE) {
			join_threads(r);
			if (r->partial) /* others have not come here */
				break;
			if (r->draw)
				end_messages(r);
			remove_folder(r);
			r->initialized = false;
		}
		replay_event(r, plan, &e);
		if (r->team)
			team_leave(r->team, &e);
		replay_outcome.progress = (long long)++r->events;
		if (plan->special == PLAN_INIT && started(r) != 0) {
			PMPI_Finalize();
			exit(2);
		}
		if (plan->special == PLAN_INIT && start_threads(r) != 0)
			rv = -1;
	}
	walk_end(walk);
	return rv < 0 ? -1 : 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The end of what there is: the others may need answers still. Then MPI ends, which is not an event of the trace. */
static void end_partial(struct replay *r)
{
	poll_linger();
	replay_outcome.polling = false;
	PMPI_Barrier(replay_outcome.own);
	remove_folder(r);
	PMPI_Finalize();
}

/* A rank that left no events, or not even that of MPI_Init: the others need it to begin. */
static int join(struct replay *r)
{
	MPI_Init(NULL, NULL);
	return started(r);
}

static int run(struct replay *r)
{
	int64_t events = 0;
	double begin = seconds();
	bool there = rankmap_get(&r->trace.events, r->rank, &events) && events > 0;

	r->stream = r->rank;
	if (replay_outcome.lossy && (draw_begin(&r->draw, &r->trace, r->rank, r->seed, &r->error) != 0 ||
	                             follow_begin(&r->follow, &r->trace, r->rank, r->seed, &r->error) != 0))
		return refuse(r, r->error.text);
	if ((there && team_create(&r->team, &r->trace, r->rank, &r->error) != 0) || prepare(r) != 0)
		return refuse(r, r->error.text);
	if (there ? replay_all(r) != 0 : join(r) != 0) {
		fprintf(stderr, "spoor-replay: %s: %s\n", r->file, r->error.text);
		if (r->initialized)
			PMPI_Abort(MPI_COMM_WORLD, 1);
		return -1;
	}
	if (r->initialized) /* no call of MPI_Finalize is recorded */
		end_partial(r);
	report_different(r);
	if (r->verbose && r->rank == 0)
		fprintf(stderr, "spoor-replay: rank 0: %" PRIu64 " events in %.6f s\n", r->events, seconds() - begin);
	return r->different ? -1 : 0;
}

/* Can the threads of all ranks be replayed? */
static int plan_threads(struct replay *r)
{
	int rv = 0;

	for (uint32_t rank = 0; rank < r->trace.size && rv == 0 && stream_threads(&r->trace) > 1; rank++) {
		struct team *m = NULL;

		if (team_create(&m, &r->trace, rank, &r->error) != 0)
			rv = refuse(r, r->error.text);
		team_destroy(m);
	}
	return rv;
}

/* ---- the command line ---- */

static int parse_replay(struct replay *r, int argc, char **argv, int *status)
{
	struct replay_options o = REPLAY_OPTIONS_DEFAULT;
	const struct option_line lines[] = {REPLAY_OPTION_LINES(&o),
	                                    OPTION_FLAG("plan", 0, &r->plan, "only say whether it can be replayed"),
	                                    OPTION_END};
	const struct options options = {"spoor-replay",
	                                "FILE",
	                                "Replays a trace as one of the ranks of an MPI program: every recorded call, "
	                                "with the recorded sizes and "
	                                "outcomes. `spoor replay FILE` starts it.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};

	if (!options_read(&options, argc, argv, status))
		return -1;
	while (o.compute && strcmp(o.compute, REPLAY_COMPUTE_WORDS[r->compute]) != 0)
		r->compute++;
	r->scale = o.scale;
	r->seed = (uint64_t)o.seed;
	r->scratch = o.scratch;
	r->partial = o.partial;
	r->verbose = o.verbose;
	r->file = argv[optind];
	return 0;
}

int main(int argc, char **argv)
{
	static struct replay r;
	int status;

	if (parse_replay(&r, argc, argv, &status) != 0)
		return status;
	if (load(&r) != 0)
		return 2;
	int rv = r.plan ? plan_threads(&r) : run(&r);

	scout_end(r.scout);
	for (int i = 0; r.further && i < team_count(r.team); i++)
		play_end(&r.further[i].play);
	free(r.further);
	team_destroy(r.team);
	draw_end(r.draw);
	follow_end(r.follow);
	compute_destroy(r.time);
	if (r.play.trace)
		play_end(&r.play);
	free(r.plans);
	trace_free(&r.trace);
	container_destroy(r.container);
	return rv == 0 ? 0 : 1;
}
