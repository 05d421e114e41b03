/* SPDX-License-Identifier: BSD-3-Clause
 * recorder - the life of the recorder
 */
#include "preload/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/absence.h"
#include "preload/clock.h"
#include "preload/detail.h"
#include "preload/ignored.h"
#include "preload/pool.h"
#include "preload/stand_in.h"
#include "preload/thread.h"
#include "trace/base/arena_file.h"

bool clock_is_counter;
struct recorder *recorder_current;

static uint64_t sites_room(uint64_t size)
{
	return size / SITES_PART < SITES_ROOM ? size / SITES_PART : SITES_ROOM;
}

struct recorder *recorder_create(const char *path, uint64_t memory, uint64_t *shared, struct error *error)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r) {
		error_set(error, "no memory for the recorder");
		return NULL;
	}
	if (arena_create_shared(&r->arena, path, memory, shared, error) != 0)
		goto fail;
	if (columns_init(&r->columns, &r->arena) != 0 || memo_init(&r->memo) != 0 || stand_in_init(r) != 0 ||
	    !(r->unwinder = unwinder_create()) || !(r->record = record_create(&r->arena))) {
		error_set(error, "no memory for the recorder");
		goto fail;
	}
	r->arena.mind = unwinder_mind(r->unwinder);
	*r->arena.mind = (struct arena_mind){.calm = true, .ours = true};
	r->columns.record = r->record;
	r->last = &call_nowhere;
	r->away.least = UINT64_MAX;
	r->arena.held = COUNTED_ROOM + (shared ? 0 : sites_room(r->arena.size));
	r->unknown = UINT32_MAX;
	r->unknown = pool_string(r, "?", 1);
	r->record->threshold = UINT64_MAX;
	return r;
fail:
	memo_free(&r->memo);
	stand_in_free(r);
	unwinder_free(r->unwinder);
	columns_free(&r->columns);
	arena_close(&r->arena);
	free(r);
	return NULL;
}

/* Ticks and the clocks at one moment. Whoever loses the processor in between reads them again: the narrowest counts. */
static void read_clocks(struct record *r, int which, int64_t *realtime)
{
	enum { TRIES = 4 };
	uint64_t width = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = clock_ticks(), ns = clock_ns(CLOCK_MONOTONIC);
		int64_t real = realtime ? (int64_t)clock_ns(CLOCK_REALTIME) : 0;
		uint64_t took = clock_ticks() - before;
		if (took >= width)
			continue;
		width = took;
		r->clock_ticks[which] = before + took / 2;
		r->clock_ns[which] = ns;
		if (realtime)
			*realtime = real;
	}
}

int recorder_start(const char *path, uint64_t memory, struct error *error)
{
	clock_is_counter = clock_has_counter();
	struct recorder *r = recorder_create(path, memory, NULL, error);
	if (!r)
		return -1;
	r->shared = true;
	read_clocks(r->record, 0, &r->record->realtime_ns);
	__atomic_store_n(&recorder_current, r, __ATOMIC_RELEASE);
	return 0;
}

int recorder_rename(const char *path)
{
	return recorder_current ? arena_rename(&recorder_current->arena, path) : -1;
}

void recorder_lossy(uint64_t threshold, bool structure)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	r->columns.threshold = r->record->threshold = threshold;
	r->columns.structure = structure;
	r->record->structure = structure;
}

void recorder_bins(uint32_t bins)
{
	struct recorder *r = recorder_current;
	if (r)
		r->record->bins = bins;
}

void recorder_detail(const char *counters, bool times, uint64_t millionths)
{
	if (recorder_current)
		detail_start(recorder_current, counters, times, millionths);
}

char *recorder_detail_notes(char separator, char *out, size_t size)
{
	out[0] = '\0';
	return recorder_current ? detail_notes(recorder_current, separator, out, size) : out;
}

/* Is another thread in an event? While the call itself is under way nothing is written, so that it may be left alone:
 * it would have to be one that goes on in MPI while MPI_Finalize is called. */
static bool in_event(const struct recorder *r)
{
	return __atomic_load_n(&r->record->at.in_flight, __ATOMIC_RELAXED) != 0;
}

void recorder_stop(bool wait)
{
	/* calls of other threads that are under way end in their arenas, which are never unmapped */
	struct recorder *first = recorder_current, *r;
	const struct timespec moment = {.tv_nsec = 1000000};
	__atomic_store_n(&recorder_current, NULL, __ATOMIC_RELEASE);
	if (first)
		/* whoever is ready for another call asks, and finds that there is no recorder */
		arena_notice(&first->arena);
	for (uint32_t i = 1; i < thread_count(); i++)
		if ((r = thread_at(i)))
			arena_notice(&r->arena);
	for (uint32_t i = 1, moments = 0; wait && i < thread_count() && moments < 20;)
		if ((r = thread_at(i)) && in_event(r) && ++moments)
			nanosleep(&moment, NULL);
		else
			i++;
	recording.ready = NULL;
}

/* The arena as it was before the fork of a thread that is inside of a call. */
static struct {
	struct recorder *of; /* NULL: there is none */
	void *bytes;
	uint64_t size;
} copy;

/* Is the calling thread inside of a call? It may be in a handler of a signal, or in a function that MPI calls. */
static bool is_in_call(void)
{
	return !recording.ready && (recording.known || recording.frame || recording.busy);
}

void recorder_fork_begins(void)
{
	struct recorder *r = recording.known ? recording.known : recorder_current;
	if (!r || !is_in_call())
		return;
	copy.size = r->arena.header->size;
	copy.bytes = mmap(NULL, copy.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy.bytes == MAP_FAILED)
		return;
	memcpy(copy.bytes, r->arena.base, r->arena.header->used);
	copy.of = r;
}

void recorder_fork_ends(bool child)
{
	struct recorder *r = copy.of;
	if (!r)
		return;
	copy.of = NULL;
	if (!child) {
		munmap(copy.bytes, copy.size);
		return;
	}
	mremap(copy.bytes, copy.size, copy.size, MREMAP_MAYMOVE | MREMAP_FIXED, r->arena.base);
	r->arena.full = true; /* what is behind is the file's */
}

void recorder_tolerate(unsigned frames)
{
	if (recorder_current)
		recorder_current->tolerance = frames;
}

void recorder_ignore(const char *names)
{
	if (recorder_current)
		recorder_current->ignored = ignored_create(names);
}

void recorder_unloaded(void)
{
	struct recorder *r = __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE);
	if (!r)
		return;
	for (uint32_t i = 0; i < thread_count(); i++) {
		if (i > 0 && !(r = thread_at(i)))
			continue;
		__atomic_store_n(&r->unloaded, true, __ATOMIC_RELEASE);
		arena_notice(&r->arena); /* the next call asks */
	}
}

void recorder_calibrate(struct recorder *r)
{
	read_clocks(r->record, 1, NULL);
}

void recorder_identify(uint32_t rank, uint32_t size, uint64_t world)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	r->record->rank = rank;
	r->record->size = size;
	r->record->world = world;
	r->turn = &recording;
	/* a step of another thread, of a call that began before, may be under way */
	if (r->shared) {
		if (recording.locked) { /* in a step of this thread's own call, MPI_Session_init */
			r->shared = false;
		} else {
			lock_await(&r->lock);
			r->shared = false;
			lock_give(&r->lock);
		}
		recording.known = r;
		recording.ready = recording.frame ? NULL : r; /* in the call that initialised MPI, commonly */
		thread_uses(r);
	}
	arena_barrier();
	r->record->state = RECORD_INITIALIZED;
	r->sample_at = 0; /* what this call's wrapper does besides recording is not cheap */
	recorder_calibrate(r);
}

void recorder_reserve(void)
{
	if (recorder_current)
		arena_reserve(&recorder_current->arena);
}

void recorder_place(const char *cpus, const char *topology)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	r->record->cpus = pool_string(r, cpus, strlen(cpus));
	r->record->topology = pool_string(r, topology, strlen(topology));
}

void recorder_watch(bool filtered, uint64_t age)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	absence_start(r, filtered);
	if (r->away.ticks_per_ms) {
		uint64_t now = clock_ticks(), begun = r->record->since,
			 ns = now > begun ? (now - begun) / r->away.ticks_per_ms * 1000000 : 0;
		r->record->before_ns = begun && age > ns ? age - ns : 0;
	}
}

void recorder_queued(uint64_t ns)
{
	if (recorder_current)
		recorder_current->record->queue_ns = ns;
}

int recorder_describe(const char *facts, size_t n, const char *host)
{
	struct recorder *r = recorder_current;
	if (!r)
		return -1;
	r->record->host = pool_string(r, host, strlen(host));
	ref at = arena_room(&r->arena, n + EVENT_ROOM) ? arena_alloc(&r->arena, sizeof(struct record_string) + n) : 0;
	arena_commit(&r->arena);
	if (!at)
		return -1;
	struct record_string *s = arena_at(&r->arena, struct record_string, at);
	s->length = (uint32_t)n;
	memcpy(s->bytes, facts, n);
	arena_barrier();
	r->record->facts = at;
	return 0;
}

void recorder_finalized(void)
{
	const struct recorder *first = recorder_current;
	struct recorder *r = recorder_current;
	if (!r)
		return;
	recorder_calibrate(r);
	for (uint32_t i = 0; i < thread_count(); i++) {
		if (!(r = thread_at(i)))
			continue;
		r->record->clock_ticks[1] = first->record->clock_ticks[1];
		r->record->clock_ns[1] = first->record->clock_ns[1];
		r->record->state = RECORD_FINALIZED;
	}
}

/* What things are found by: several MiB of a program with many call paths. Who came here all the same would find
 * nothing, and add it again. */
static void rest_tables(struct recorder *r)
{
	memo_rest(&r->memo);
	columns_rest(&r->columns);
	index_free(&r->strings);
	index_free(&r->vectors);
	index_free(&r->nodes);
	index_free(&r->sites);
	index_free(&r->edges);
}

bool recorder_forget(void)
{
	struct recorder *mine = recording.known;
	if (!mine || mine->shared || in_event(mine))
		return false;
	rest_tables(mine);
	return mine->record->thread == 0;
}

void recorder_rest(void)
{
	struct recorder *r;
	for (uint32_t i = 0; i < thread_count(); i++)
		if ((r = thread_at(i)))
			arena_rest(&r->arena);
}
