/* SPDX-License-Identifier: BSD-3-Clause
 * verdict - does a job hang, and why
 */
#include "insight/verdict.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/unended.h"
#include "insight/blocked.h"
#include "insight/mismatch.h"
#include "insight/phrase.h"

#define TOLD           4                    /* steps of a proof in the text */
#define POLLS          100                  /* one after another, before it is said that somebody does nothing else */
#define ENDED_PATIENCE UINT64_C(1000000000) /* ns */
#define ENDED_CALL     UINT64_C(20000000)
/* Open MPI's MPI_ERR_TRUNCATE. */
#define OPENMPI_TRUNCATE 15

const char *verdict_name(enum verdict_kind kind)
{
	static const char *const names[VERDICT_KINDS] = {"none", "deadlock", "mismatch", "gone",
	                                                 "slow", "ended",    "unknown"};
	return names[kind];
}

const char *verdict_way_name(enum verdict_way way)
{
	static const char *const names[] = {
		[VERDICT_ABORTED] = "aborted",
		[VERDICT_CRASHED] = "crashed",
		[VERDICT_LEFT] = "left",
		[VERDICT_FAILED] = "mpi-error",
	};
	return names[way];
}

#define verdict_put(v, ...)                                                   \
	do {                                                                  \
		struct phrase x_ = phrase_behind((v)->text, sizeof(v)->text); \
		phrase_put(&x_, __VA_ARGS__);                                 \
	} while (0)

static const char *stream_text(const struct blocked *b, uint32_t number, char out[STREAM_NAME])
{
	return stream_name(b->state.trace, b->state.streams[number].stream, out);
}

static const char *duration(char out[32], uint64_t ns)
{
	double s = (double)ns * 1e-9;
	if (s < 120)
		snprintf(out, 32, "%.3g s", s);
	else if (s < 7200)
		snprintf(out, 32, "%.0f minutes", s / 60);
	else
		snprintf(out, 32, "%.1f hours", s / 3600);
	return out;
}

/* --- a proof --- */

/* One step from each stream on the path to the next one; of its cycle alone, if it has one. */
static void add_steps(struct verdict *v, const struct blocked *b, const uint32_t *path, size_t n, size_t cycle)
{
	struct verdict_step *before = NULL;
	for (size_t i = cycle < n ? cycle : 0; i < n; i++) {
		uint32_t stream = path[i] < b->state.stream_count ? b->state.streams[path[i]].stream : UINT32_MAX;
		if (stream == UINT32_MAX && before && path[i] >= b->parts &&
		    wait_graph_kind(b->graph, path[i]) == WAIT_FOR_ANY)
			before->any += wait_graph_targets(b->graph, path[i]);
		if (stream == UINT32_MAX)
			continue;
		if (before)
			before->waits_for = stream;
		before = NULL;
		if (v->length++ >= VERDICT_STEPS)
			continue;
		before = &v->steps[v->step_count++];
		*before = (struct verdict_step){stream, b->streams[path[i]].site, UINT32_MAX, 0, ""};
		mismatch_call(before->call, sizeof before->call, b, path[i]);
	}
	if (before && cycle < n)
		before->waits_for = v->steps[0].stream;
}

/* "rank 0 waits for rank 3 in MPI_Recv source=3 tag=7, rank 3 for rank 0 in MPI_Barrier" */
static void put_steps(struct verdict *v, const struct blocked *b)
{
	char name[STREAM_NAME];
	uint32_t told = v->length > TOLD ? TOLD - 1 : v->step_count;
	for (uint32_t i = 0; i < told; i++) {
		const struct verdict_step *s = &v->steps[i];
		verdict_put(v, "%s rank %s", i ? "," : "", stream_name(b->state.trace, s->stream, name));
		verdict_put(v, i ? " for " : " waits for ");
		if (s->waits_for == UINT32_MAX)
			verdict_put(v, "nobody who could come");
		else if (s->waits_for == s->stream)
			verdict_put(v, "itself");
		else
			verdict_put(v, "rank %s", stream_name(b->state.trace, s->waits_for, name));
		if (s->any > 1)
			verdict_put(v, ", or %" PRIu32 " other%s,", s->any - 1, s->any == 2 ? "" : "s");
		verdict_put(v, " in %s", s->call);
	}
	if (told < v->length)
		verdict_put(v, ", and so on to rank %s: %" PRIu64 " in a circle",
		            stream_name(b->state.trace, v->steps[0].stream, name), v->length);
	verdict_put(v, ".");
}

static void prove(struct verdict *v, const struct blocked *b)
{
	uint32_t *path = NULL, from = UINT32_MAX;
	size_t cycle = 0, n = 0;
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		if (wait_graph_stuck(b->graph, i)) {
			v->ns = v->stuck++ == 0 || b->streams[i].ns < v->ns ? b->streams[i].ns : v->ns;
			from = from == UINT32_MAX ? i : from;
		}
	if (from != UINT32_MAX)
		n = wait_graph_path(b->graph, from, &path, &cycle);
	add_steps(v, b, path, n, cycle);
	budget_free(path);
}

/* May a thread that has called no MPI function do what all wait for? */
static bool may_have_threads(const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		int at = s->mpi->function == FN_MPI_Init_thread ? schema_column(s, "provided") : -1;
		for (uint32_t g = 0; at >= 0 && g < t->sites[i].columns[at].count; g++) {
			int64_t value;
			const struct trace_group *group = &t->sites[i].columns[at].groups[g];
			if (!rankmap_constant(trace_group_ranks(group), &value) || !value_is_constant(value) ||
			    trace_is_constant(t, value, CONST_MPI_THREAD_MULTIPLE))
				return true;
		}
	}
	return false;
}

static bool steps_are_of_one_thread(const struct verdict *v, const struct trace *t)
{
	for (uint32_t i = 0; i < v->step_count; i++) {
		uint32_t thread = 0, stream, threads = 0;
		for (; stream_next(t, stream_rank(t, v->steps[i].stream), &thread, &stream); thread++)
			threads++;
		if (threads <= 1)
			return true;
	}
	return false;
}

static void deadlock_found(struct verdict *v, const struct blocked *b)
{
	const struct trace *t = b->state.trace;
	bool doubt = may_have_threads(t) && steps_are_of_one_thread(v, t);
	v->kind = doubt ? VERDICT_UNKNOWN : VERDICT_DEADLOCK;
	verdict_put(v, "%s",
	            doubt ? "Unknown. It is a deadlock, unless a thread goes on that has called no MPI function yet:"
	                  : "Deadlock:");
	put_steps(v, b);
	if (v->stuck > v->length)
		verdict_put(v, " %" PRIu64 " of %" PRIu32 " %s can never go on.", v->stuck, b->state.stream_count,
		            stream_threads(t) > 1 ? "threads" : "ranks");
}

/* --- without a deadlock --- */

struct keepers {
	uint64_t waiting;          /* streams that wait for somebody */
	uint32_t computes, doubts; /* who keeps them: the one that computes longest; one of which it is not known */
	uint32_t absent;           /* a rank that left no trace */
	bool *seen;
};

static void note_keeper(struct keepers *k, const struct blocked *b, uint32_t number)
{
	const struct blocked_stream *s = &b->streams[number];
	if (s->kind == BLOCKED_COMPUTES && (k->computes == UINT32_MAX || s->ns > b->streams[k->computes].ns))
		k->computes = number;
	if ((s->kind == BLOCKED_DOUBT || s->kind == BLOCKED_UNKNOWN) && k->doubts == UINT32_MAX)
		k->doubts = number;
}

/* Everybody that those who wait are waiting for, at the ends of all chains. */
static int find_keepers(struct keepers *k, const struct blocked *b)
{
	uint32_t count = 0, next, nodes = wait_graph_count(b->graph),
		 *queue = budget_malloc((nodes + 1) * sizeof *queue);
	*k = (struct keepers){0, UINT32_MAX, UINT32_MAX, UINT32_MAX, budget_calloc((size_t)nodes + 1, sizeof *k->seen)};
	for (uint32_t i = 0; queue && k->seen && i < b->state.stream_count; i++)
		if (b->streams[i].kind == BLOCKED_WAITS) {
			k->waiting++;
			k->seen[i] = true;
			queue[count++] = i;
		}
	for (uint32_t done = 0; queue && k->seen && done < count; done++) {
		uint32_t at = 0;
		while ((next = wait_graph_target(b->graph, queue[done], &at)) != WAIT_NODE_NONE)
			if (!k->seen[next]) {
				k->seen[next] = true;
				queue[count++] = next;
			}
		if (queue[done] < b->state.stream_count)
			note_keeper(k, b, queue[done]);
	}
	for (uint32_t rank = 0; k->seen && k->absent == UINT32_MAX && rank < b->state.trace->size; rank++)
		if (k->seen[b->rank_nodes[rank]] && !end_state_stream(&b->state, rank))
			k->absent = rank;
	budget_free(queue);
	return k->seen ? 0 : -1;
}

static void put_keeper(struct verdict *v, const struct blocked *b, const struct keepers *k, const struct run_end *end)
{
	char name[STREAM_NAME], time[32];
	const struct blocked_stream *s = &b->streams[k->computes];
	const struct schema *schema = trace_schema(b->state.trace, &b->state.trace->sites[s->site]);
	v->kind = s->ns >= b->patience ? VERDICT_GONE : VERDICT_SLOW;
	v->ns = v->kind == VERDICT_GONE ? s->ns : 0;
	verdict_put(v, "%s: rank %s has computed for %s after %.*s, or has ended, and %" PRIu64 " wait%s for it.",
	            v->kind == VERDICT_GONE ? "Rank gone"
	            : end                   ? "Not known to be stuck"
	                                    : "Slow, not stuck",
	            stream_text(b, k->computes, name), duration(time, s->ns), (int)schema->function_length,
	            schema->function, k->waiting, k->waiting == 1 ? "s" : "");
}

/* --- a rank that ended the run --- */

static void put_signal(struct verdict *v, int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
	             {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGSYS, "SIGSYS"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number) {
			verdict_put(v, "signal %d (%s)", number, names[i].name);
			return;
		}
	verdict_put(v, "signal %d", number);
}

static void put_run_end(struct verdict *v, const struct run_end *end)
{
	if (end->signal)
		put_signal(v, end->signal);
	else if (end->status)
		verdict_put(v, "exit status %d", end->status);
	else
		verdict_put(v, "a failure");
}

/* Where it was last, for who wants to name the place. */
static void add_place(struct verdict *v, const struct trace *t, uint32_t stream, uint32_t site)
{
	const struct schema *s = trace_schema(t, &t->sites[site]);
	v->steps[0] = (struct verdict_step){stream, site, UINT32_MAX, 0, ""};
	v->step_count = v->length = 1;
	snprintf(v->steps[0].call, VERDICT_CALL, "%.*s", (int)s->function_length, s->function);
}

/* The value of a column that was always the same on a stream. */
static bool always(const struct trace_site *s, int column, uint32_t stream, int64_t *value)
{
	for (uint32_t g = 0; column >= 0 && g < s->columns[column].count; g++) {
		const struct trace_group *group = &s->columns[column].groups[g];
		if (rankmap_get(trace_group_ranks(group), stream, value))
			return group->pattern == 0 && !group->lossy && group->count == 1 &&
			       !value_is_constant(*value) && *value > VALUE_LOSSY;
	}
	return false;
}

/* MPI_Abort does not return: whoever called it ended the run. */
static bool abort_found(struct verdict *v, const struct trace *t)
{
	char name[STREAM_NAME];
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		const struct schema *schema = trace_schema(t, s);
		int64_t visits, code;
		uint64_t stream = 0;
		if (schema->mpi->function != FN_MPI_Abort || !rankmap_next(&s->visits, &stream, &visits))
			continue;
		v->kind = VERDICT_ENDED;
		v->way = VERDICT_ABORTED;
		add_place(v, t, (uint32_t)stream, i);
		verdict_put(v, "Rank ended: rank %s called MPI_Abort", stream_name(t, (uint32_t)stream, name));
		if (always(s, schema_column(schema, "errorcode"), (uint32_t)stream, &code))
			verdict_put(v, " with code %" PRId64, code);
		if (rankmap_size(&s->visits) > 1)
			verdict_put(v, ", and so did %" PRIu64 " more", rankmap_size(&s->visits) - 1);
		verdict_put(v, ".");
		return true;
	}
	return false;
}

/* The run ended by itself, and others wait for ranks that were in no call. */
static void put_ended(struct verdict *v, const struct blocked *b, const struct keepers *k, const struct run_end *end)
{
	char name[STREAM_NAME];
	uint32_t outside = 0;
	const struct blocked_stream *s = &b->streams[k->computes];
	const struct schema *schema = trace_schema(b->state.trace, &b->state.trace->sites[s->site]);
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		outside += b->streams[i].kind == BLOCKED_COMPUTES;
	v->kind = VERDICT_ENDED;
	v->way = end->signal ? VERDICT_CRASHED : VERDICT_LEFT;
	add_place(v, b->state.trace, b->state.streams[k->computes].stream, s->site);
	verdict_put(v, "Rank ended: rank %s", stream_text(b, k->computes, name));
	if (outside > 1)
		verdict_put(v, ", or another of %" PRIu32 " that were in no call,", outside);
	/* whose status a launcher ends with differs, and whether it says a signal's number instead */
	verdict_put(v, " ended after %.*s, and %" PRIu64 " waited for it. The run ended with ",
	            (int)schema->function_length, schema->function, k->waiting);
	put_run_end(v, end);
	verdict_put(v, ".");
}

static bool receives(const struct schema *s)
{
	return s && s->mpi->class == MPI_CLASS_POINT_TO_POINT && s->at[PARAMETER_SOURCE] >= 0;
}

/* An error of MPI ends the run in the call, unless the program has said otherwise: under Open MPI with the error's
 * class as its exit status. No receive takes so long for a message that is there; of several the one that has lasted
 * longest is told. */
static bool error_found(struct verdict *v, const struct blocked *b, const struct run_end *end)
{
	char name[STREAM_NAME], call[VERDICT_CALL];
	uint32_t found = UINT32_MAX;
	uint64_t longest = end->status == OPENMPI_TRUNCATE ? 0 : ENDED_CALL;
	for (uint32_t i = 0; end->signal == 0 && i < b->state.stream_count; i++)
		if (b->streams[i].kind == BLOCKED_GOES_ON && receives(b->streams[i].call.schema) &&
		    b->streams[i].ns > longest) {
			longest = b->streams[i].ns;
			found = i;
		}
	if (found == UINT32_MAX)
		return false;
	v->kind = VERDICT_ENDED;
	v->way = VERDICT_FAILED;
	add_place(v, b->state.trace, b->state.streams[found].stream, b->streams[found].site);
	mismatch_call(call, sizeof call, b, found);
	verdict_put(v,
	            "Rank ended: rank %s did not come back from %s, though what it waited for was there, and the run "
	            "ended with ",
	            stream_text(b, found, name), call);
	put_run_end(v, end);
	verdict_put(v, ". So ends a run in which that call fails.");
	return true;
}

static uint64_t least_wait(const struct blocked *b)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		least = b->streams[i].kind == BLOCKED_WAITS && b->streams[i].ns < least ? b->streams[i].ns : least;
	return least == UINT64_MAX ? 0 : least;
}

/* Nobody is stuck for certain. */
static void without_deadlock(struct verdict *v, const struct blocked *b, const struct run_end *end)
{
	struct keepers k;
	char name[STREAM_NAME], call[VERDICT_CALL];
	uint32_t doubt = UINT32_MAX, in_calls = 0;
	if (find_keepers(&k, b) != 0) {
		budget_free(k.seen);
		return;
	}
	for (uint32_t i = 0; i < b->state.stream_count; i++) {
		in_calls += b->streams[i].call.schema != NULL;
		if (b->streams[i].kind == BLOCKED_DOUBT && b->streams[i].ns >= b->patience && doubt == UINT32_MAX)
			doubt = i;
	}
	doubt = k.doubts != UINT32_MAX ? k.doubts : doubt;
	bool itself = end && end->itself;
	if (itself && error_found(v, b, end)) {
		/* whoever computes was ended for it */
	} else if (k.computes != UINT32_MAX && itself) {
		put_ended(v, b, &k, end);
	} else if (k.computes != UINT32_MAX) {
		put_keeper(v, b, &k, end);
	} else if (k.absent != UINT32_MAX) {
		v->kind = VERDICT_GONE;
		verdict_put(v, "Rank gone: rank %" PRIu32 " left no trace, and %" PRIu64 " wait for it.", k.absent,
		            k.waiting);
		v->ns = least_wait(b);
	} else if (doubt != UINT32_MAX) {
		v->kind = VERDICT_UNKNOWN;
		mismatch_call(call, sizeof call, b, doubt);
		verdict_put(v, "Unknown: rank %s is in %s, and %s.", stream_text(b, doubt, name), call,
		            b->streams[doubt].doubt ? b->streams[doubt].doubt : "it is not known where it is");
	} else if (in_calls > 0) {
		v->kind = VERDICT_SLOW;
		verdict_put(v, "%s",
		            end ? "Not known to be stuck: of what the calls waited for nothing was missing for long."
		                : "Slow, not stuck: what the calls wait for is there, or can still come.");
	}
	budget_free(k.seen);
}

static bool anybody_polls(const struct blocked *b)
{
	for (uint32_t i = 0; i < b->state.stream_count; i++)
		if (b->streams[i].kind == BLOCKED_POLLS)
			return true;
	return false;
}

/* Would it be a deadlock if those that poll did nothing else? */
static void with_polls(struct verdict *v, const struct trace *t, uint64_t patience)
{
	struct blocked b;
	struct error unused;
	struct verdict found = {.kind = VERDICT_NONE};
	char name[STREAM_NAME];
	if (blocked_make(&b, t, patience, true, &unused) == 0)
		prove(&found, &b);
	for (uint32_t i = 0; found.stuck > 0 && i < b.state.stream_count; i++) {
		const struct end_stream *s = &b.state.streams[i];
		if (b.streams[i].kind != BLOCKED_POLLS || s->polls < POLLS || !wait_graph_stuck(b.graph, i))
			continue;
		found.kind = VERDICT_UNKNOWN;
		verdict_put(&found,
		            "Unknown. It is a deadlock, if rank %s does nothing else than call %.*s, which has found "
		            "nothing %" PRIu64 " times:",
		            stream_text(&b, i, name), (int)s->polled.schema->function_length,
		            s->polled.schema->function, s->polls);
		put_steps(&found, &b);
		*v = found;
		break;
	}
	blocked_free(&b);
}

static bool find_mismatch(struct verdict *v, const struct blocked *b)
{
	struct phrase x = phrase_behind(v->text, sizeof v->text);
	uint32_t number;
	if (!mismatch_find(&x, b, &number))
		return false;
	v->kind = VERDICT_MISMATCH;
	v->ns = b->streams[number].ns;
	return true;
}

void verdict_find(struct verdict *v, const struct trace *t, uint64_t patience, const struct run_end *end)
{
	struct blocked b;
	struct error why;
	*v = (struct verdict){.kind = VERDICT_NONE};
	if (t->unended_count == 0 || abort_found(v, t))
		return;
	int rv = blocked_make(&b, t, end && patience > ENDED_PATIENCE ? ENDED_PATIENCE : patience, false, &why);
	b.patience = patience; /* of those that compute */
	if (rv != 0) {
		v->kind = VERDICT_UNKNOWN;
		verdict_put(v, "Unknown: %s.",
		            rv > 0 ? "the trace has too many ranks, events or messages to count them" : why.text);
	} else {
		prove(v, &b);
		if (!find_mismatch(v, &b) && v->stuck > 0)
			deadlock_found(v, &b);
		else if (v->kind == VERDICT_NONE)
			without_deadlock(v, &b, end);
	}
	bool polls = rv == 0 && v->kind != VERDICT_DEADLOCK && v->kind != VERDICT_MISMATCH && anybody_polls(&b);
	blocked_free(&b);
	if (polls)
		with_polls(v, t, patience);
}
