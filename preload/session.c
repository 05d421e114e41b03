/* SPDX-License-Identifier: BSD-3-Clause
 * session - the life of the tracer in one process
 *
 * A process that never calls MPI never comes here. What goes wrong here is told in a note in the step's spool folder,
 * which whoever collects the traces passes on to the node's log; the application sees nothing.
 */
#include "preload/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/merge.h"
#include "merge/world.h"
#include "preload/call.h"
#include "preload/clock.h"
#include "preload/counters.h"
#include "preload/launcher.h"
#include "preload/lock.h"
#include "preload/module.h"
#include "preload/neighbours.h"
#include "preload/node_clock.h"
#include "preload/own/memory.h"
#include "preload/process_facts.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/request.h"
#include "preload/thread.h"
#include "preload/tree.h"
#include "spank/handoff.h"
#include "trace/base/arena.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/base/limits.h"
#include "trace/base/number.h"
#include "trace/base/publish.h"
#include "trace/base/quiet.h"
#include "trace/record/record.h"

enum state { ASLEEP, AWAKE, OFF };

static struct session {
	enum state state; /* atomic; ASLEEP -> AWAKE | OFF once, AWAKE -> OFF */
	struct handoff handoff;
	char arena[1200];
	int size;
	uint64_t world;
	int choice;   /* which alternative of the handoff; -1: it has none */
	bool against; /* that captures nothing */
	bool initialized;
	uint64_t finalizing; /* CLOCK_MONOTONIC */
	bool world_made;     /* MPI_Init was called: there is an MPI_COMM_WORLD */
	uint32_t host;
	uint64_t queued; /* process_queued, in MPI_Init */
	pid_t pid;
} session;
int session_rank;

static struct lock waking;

/* Says what went wrong where the administrator's side looks for it. */
static void write_note(const char *kind, const char *text)
{
	char path[1200];
	struct limits limits;
	struct stat st;
	size_t n = strlen(text);
	limits_read(&limits);
	snprintf(path, sizeof path, "%s/%s-%ld", session.handoff.spool, kind, (long)getpid());
	int fd = limits.file > n ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)
	                         : -1;
	if (fd < 0)
		return;
	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size >= limits.file - n || write(fd, text, n) < 0 ||
	    write(fd, "\n", 1) < 0) {
		/* there is nobody left to tell */
	}
	close(fd);
}

static void note_reason(const char *text)
{
	write_note("note", text);
}

void session_forked(void)
{
	recorder_fork_ends(true);
	recorder_stop(false);
	__atomic_store_n(&session.state, OFF, __ATOMIC_RELEASE);
}

static void in_parent(void)
{
	recorder_fork_ends(false);
}

/* `spoor run` says why there is no trace: MPI is in this process, which ends, and was not initialised where the tracer
 * sees it. Elsewhere nobody asks: many programs load MPI and do not use it. */
static void note_without_calls(void)
{
	const char *text = getenv(HANDOFF_VARIABLE);
	int initialized = 0;
	if (real_owner && *real_owner && *real_owner != &real) /* it is not asked about this library */
		return;
	if (session.initialized || !text || handoff_decode(&session.handoff, text, NULL) != 0 ||
	    session.handoff.facts[0] || session.handoff.mode == HANDOFF_OFF || !real.MPI_Initialized)
		return;
	struct quiet before = quiet_begin();
	if (real.MPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
		write_note("unused", "MPI was initialized by a call that did not pass the tracer: of PMPI_Init, or "
		                     "in another tool");
	else
		write_note("unused", "the program has an MPI library, and never called MPI_Init");
	quiet_end(before);
}

/* A process that asked MPI something and never initialised it leaves nothing behind. */
static __attribute__((destructor)) void on_unload(void)
{
	if (session.state == ASLEEP || (session.state == AWAKE && session.pid == getpid()))
		note_without_calls();
	if (session.state == AWAKE && !session.initialized && session.pid == getpid()) {
		recorder_stop(true);
		unlink(session.arena);
	} else if (session.state == AWAKE && !session.world_made && session.pid == getpid()) {
		recorder_finalized(); /* sessions only: the arenas are merged by whoever collects them */
	}
}

/* Where the policy asks what the program is. Another executable of the same MPI program may say that all are captured,
 * so that one that would not be goes on for now. */
static void choose_rule(struct handoff *h)
{
	module_begin();
	session.choice = handoff_choose(h, module_executable(), launcher_ranks());
	session.against = session.choice >= 0 && h->mode == HANDOFF_OFF;
	if (session.against)
		handoff_take(h, handoff_first_capture(h));
}

static bool wake_session(void)
{
	struct error error = {""};
	struct handoff *h = &session.handoff;
	const char *text = getenv(HANDOFF_VARIABLE);
	session.choice = -1;
	if (!text || handoff_decode(h, text, &error) != 0)
		return false;
	choose_rule(h);
	if (h->mode == HANDOFF_OFF)
		return false;
	session.pid = getpid();
	memory_reserve((uint64_t)h->set.memory);
	snprintf(session.arena, sizeof session.arena, "%s/" NEIGHBOURS_ARENA_EARLY, h->spool, (long)session.pid,
	         (unsigned long long)clock_ns(CLOCK_REALTIME));
	if (recorder_start(session.arena, h->set.memory, &error) != 0) {
		note_reason(error.text);
		return false;
	}
	recorder_bins(h->set.timing == 0 ? 1 : (uint32_t)h->set.bins);
	counters_papi(h->papi);
	recorder_detail(h->set.counters, h->set.timing >= 2, setting_error(h->set.timing));
	if (h->mode == HANDOFF_LOSSY)
		recorder_lossy(h->threshold, h->set.structure == 0);
	recorder_tolerate((unsigned)h->set.site_tolerance);
	recorder_ignore(h->set.site_ignore);
	pthread_atfork(recorder_fork_begins, in_parent, session_forked);
	return true;
}

bool session_wake(void)
{
	if (__atomic_load_n(&session.state, __ATOMIC_ACQUIRE) == OFF)
		return false;
	struct quiet before = quiet_begin();
	if (!lock_await(&waking)) {
		quiet_end(before);
		return false;
	}
	if (session.state == ASLEEP)
		__atomic_store_n(&session.state, wake_session() ? AWAKE : OFF, __ATOMIC_RELEASE);
	bool awake = session.state == AWAKE;
	lock_give(&waking);
	quiet_end(before);
	return awake;
}

void session_remark(const char *why)
{
	struct quiet before = quiet_begin();
	const char *text = getenv(HANDOFF_VARIABLE);

	if (lock_await(&waking)) {
		if (session.state == ASLEEP && text && handoff_decode(&session.handoff, text, NULL) == 0 &&
		    session.handoff.mode != HANDOFF_OFF)
			note_reason(why);
		lock_give(&waking);
	}
	quiet_end(before);
}

void session_refuse(const char *why)
{
	session_remark(why);
	enum state asleep = ASLEEP;
	__atomic_compare_exchange_n(&session.state, &asleep, OFF, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* By its new name the other ranks of the node know that it is here. It is not renamed where a filter may forbid that:
 * nobody will look for it then (session_finalize). */
static void rename_arena(void)
{
	char path[sizeof session.arena];
	struct limits limits;
	limits_read(&limits);
	if (limits.filtered)
		return;
	int n = snprintf(path, sizeof path, "%s/" NEIGHBOURS_ARENA, session.handoff.spool,
	                 (unsigned long long)session.world, (unsigned)session_rank, session.host);
	if (n > 0 && (size_t)n < sizeof path && access(path, F_OK) != 0 && recorder_rename(path) == 0)
		strcpy(session.arena, path);
}

/* The arenas of further threads: nobody finds this rank by those. */
static void begin_threads(void)
{
	char prefix[sizeof session.arena];

	snprintf(prefix, sizeof prefix, "%s/rank-%016" PRIx64 "-%u-%08x-%" PRIx64 "-", session.handoff.spool,
	         session.world, (unsigned)session_rank, session.host, clock_ns(CLOCK_REALTIME));
	thread_begin(prefix, request_thread);
}

/* All ranks do what the first rule says that is for any of them. Ranks are not asked before MPI_Finalize
 * (preload/tree.h), so that a rank whose own rule is against it only goes on if another one may have another
 * executable. */
static bool settle_choice(void)
{
	return !session.against || (session.size > 1 && launcher_executables() > 1);
}

/* Nothing is captured after all. */
static void drop_session(void)
{
	recorder_stop(true);
	__atomic_store_n(&session.state, OFF, __ATOMIC_RELEASE);
	unlink(session.arena);
}

/* What the first rule of all ranks says. False: nothing is captured. */
static bool all_agreed(const struct tree *tree)
{
	if (session.choice < 0 || tree->first_choice == INT64_MAX)
		return true;
	return handoff_take(&session.handoff, (int)tree->first_choice) != 0 || session.handoff.mode != HANDOFF_OFF;
}

/* What the node has was read on the node that the handoff was written on: only there is it true. */
static void place_rank(void)
{
	char host[256] = "", cpus[512];
	const char *topology = session.handoff.topology, *colon = strchr(topology, ':');
	process_cpus(cpus, sizeof cpus);
	gethostname(host, sizeof host - 1);
	bool here = colon && strlen(host) == (size_t)(colon - topology) && !memcmp(host, topology, strlen(host));
	recorder_place(cpus, here ? colon + 1 : "");
}

static void watch_process(void)
{
	struct limits limits;
	limits_read(&limits);
	recorder_watch(limits.filtered, limits.filtered ? 0 : process_age());
	session.queued = limits.filtered ? 0 : process_queued();
}

/* Rank, size and world are known. */
static void identify_rank(int thread_level)
{
	char host[256];
	launcher_node(host, sizeof host);
	session.host = (uint32_t)hash_bytes(host, strlen(host));
	char *text = process_facts(&session.handoff, session.size, thread_level);
	recorder_identify((uint32_t)session_rank, (uint32_t)session.size, session.world);
	if (!text || recorder_describe(text, strlen(text), host) != 0)
		note_reason("no memory for the facts of the process");
	free(text);
	place_rank();
	watch_process();
	rename_arena();
	if (thread_level == MPI_THREAD_MULTIPLE)
		begin_threads();
	else
		recorder_reserve();
	call_buffers = session.handoff.set.buffers;
	memory_quiet(true);
	session.initialized = true;
}

void session_initialized(int thread_level)
{
	if (session.state != AWAKE)
		return;
	struct quiet before = quiet_begin();
	if (real.MPI_Comm_rank(MPI_COMM_WORLD, &session_rank) != MPI_SUCCESS ||
	    real.MPI_Comm_size(MPI_COMM_WORLD, &session.size) != MPI_SUCCESS) {
		note_reason("cannot learn the rank");
		quiet_end(before);
		return;
	}
	session.world_made = true;
	if (!settle_choice()) {
		drop_session();
	} else {
		if (!session.initialized)
			session.world = launcher_world(session.size, session.pid);
		identify_rank(thread_level);
	}
	quiet_end(before);
}

void session_opened(int rank, int size, int thread_level)
{
	if (session.state != AWAKE || session.initialized)
		return;
	struct quiet before = quiet_begin();
	session_rank = rank;
	session.size = size;
	session.world = launcher_world(session.size, session.pid);
	if (session.choice >= 0) /* its own: there is nobody to agree with */
		handoff_take(&session.handoff, session.choice);
	if (session.handoff.mode == HANDOFF_OFF)
		drop_session();
	else
		identify_rank(thread_level);
	quiet_end(before);
}

/* Rank 0: the whole trace, which is used up, becomes a file in the spool, unless nobody waits for that any more. */
static int keep_trace(struct world *w, uint64_t deadline, struct error *error)
{
	int rv = -1;
	char path[1200];
	uint8_t *bytes = NULL;
	size_t size;
	/* until now: what is left is to encode and to write */
	facts_format(&w->facts, "finalize_ns", "%" PRIu64, (uint64_t)(clock_ns(CLOCK_MONOTONIC) - session.finalizing));
	if (world_encode(w, 0, &bytes, &size, error) != 0)
		return -1;
	snprintf(path, sizeof path, "%s/world-%016" PRIx64 ".spoor", session.handoff.spool, session.world);
	if (clock_ns(CLOCK_MONOTONIC) > deadline)
		error_set(error, "the trace was not put together within the deadline");
	else if (publish_unsynced(path, 0600, bytes, size) != 0)
		error_set(error, "%s: cannot write the trace: %s", path, strerror(errno));
	else
		rv = 0;
	free(bytes);
	return rv;
}

/* One arena's events; w: NULL, or what gets the facts of the process. Another thread that is still in MPI, which it
 * should not be, may write to it just now, unless it is quiet: it is read again then. */
static int read_arena(struct trace *t, struct world *w, const char *path, bool quiet, struct error *error)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct error why = {""};
	struct arena a;

	for (int tries = 0; tries < 3; tries++) {
		if (tries > 0)
			nanosleep(&moment, NULL);
		why.text[0] = '\0';
		if ((quiet && tries == 0 ? arena_open_own : arena_open)(&a, path, &why) != 0)
			continue;
		int rv = trace_extract_packed(t, &a, &why);
		if (rv == 0 && w)
			world_add_process(w, &a);
		if (rv == 0)
			node_clock_set(arena_at(&a, struct record, a.header->root));
		arena_close(&a);
		if (rv == 0)
			return 0;
		trace_free(t);
	}
	return error_set(error, "%s", why.text);
}

/* What the rank's further threads recorded is added to its trace. */
static int add_threads(struct trace *t, struct error *error)
{
	for (uint32_t i = 1; i < thread_count(); i++) {
		char path[sizeof session.arena + 32];
		struct trace one = {.size = 0};

		if (!thread_at(i))
			continue;
		thread_arena(i, path, sizeof path);
		if (read_arena(&one, NULL, path, false, error) != 0)
			return -1;
		int rv = merge_take(t, &one, error);
		trace_free(&one);
		if (rv != 0)
			return -1;
	}
	return 0;
}

/* Whatever had no memory: what to do about it is the same. */
static void tell_spent(const struct budget *b, struct error *error)
{
	error->text[0] = '\0';
	error_set(error,
	          "putting the trace together takes more than %" PRIu64 " MiB, which is what `memory` (%" PRIu64
	          " MiB) allows: it is done when the step has ended; to have it done in MPI_Finalize, set `memory` "
	          "higher",
	          b->memory >> 20, (uint64_t)session.handoff.set.memory >> 20);
}

static void unlink_arenas(void)
{
	char path[sizeof session.arena + 32];

	unlink(session.arena);
	for (uint32_t i = 1; i < thread_count(); i++) {
		thread_arena(i, path, sizeof path);
		unlink(path);
	}
}

void session_finalize(void)
{
	struct quiet before = quiet_begin();
	struct limits limits;
	struct error error = {""};
	struct world w = {.id = session.world, .facts_rank = UINT32_MAX};
	if (session.state != AWAKE || !session.initialized || !session.world_made) {
		quiet_end(before);
		return;
	}
	limits_read(&limits);
	session.finalizing = clock_ns(CLOCK_MONOTONIC);
	struct tree tree = {.rank = session_rank,
	                    .size = session.size,
	                    .deadline = session.finalizing + (uint64_t)session.handoff.set.deadline * 1000000000,
	                    .choice = session.choice < 0 ? INT64_MAX : session.choice,
	                    .folder = session.handoff.spool,
	                    .world = session.world,
	                    .host = session.host,
	                    .expected = launcher_local_ranks(session.size)};
	tree.first_choice = tree.choice; /* until others are met */
	if (!limits.filtered)
		recorder_queued(process_queued() - session.queued);
	recorder_finalized();
	if (!limits.filtered)
		recorder_rest();
	recorder_stop(true);
	memory_quiet(limits.filtered);
	bool quiet = !limits.filtered && recorder_forget();
	__atomic_store_n(&session.state, OFF, __ATOMIC_RELEASE);
	struct budget budget = world_budget((uint64_t)session.handoff.set.memory);
	budget_begin(&budget);
	if (thread_failed())
		note_reason(thread_failed());
	/* Merging takes calls of the system that a filter may not let through, by killing the process: the arenas are
	 * left to whoever collects them. Nobody is met then, either: by its name this rank's arena is nobody's, so that
	 * ranks under filters would wait for each other to be named. */
	bool open = !limits.filtered && read_arena(&w.trace, &w, session.arena, quiet, &error) == 0;
	bool good = open && add_threads(&w.trace, &error) == 0;
	bool met = !limits.filtered && tree_meet(&tree, good, &error) == 0;
	good = met && all_agreed(&tree) && tree_merge(&tree, &w.trace, &error) == 0;
	if (good && tree.clocks_apart >= 0) {
		facts_format(&w.facts, "clocks_apart_ns", "%" PRId64, tree.clocks_apart);
		facts_format(&w.facts, "clocks_error_ns", "%" PRId64, tree.clocks_error);
	}
	bool kept = good && session_rank == 0 && keep_trace(&w, tree.deadline, &error) == 0;
	if (budget.spent)
		tell_spent(&budget, &error);
	bool settled = met && all_agreed(&tree) && tree_settle(&tree, kept) == 0;
	if (settled || !all_agreed(&tree))
		unlink_arenas();
	else if (error.text[0] && !limits.filtered)
		note_reason(error.text);
	world_free(&w);
	budget_end(&budget);
	memory_rest();
	tree_end(&tree, good && settled);
	quiet_end(before);
}
