/* SPDX-License-Identifier: BSD-3-Clause
 * recorder - the life of the recorder
 */
#include "preload/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "preload/pool.h"

bool clock_is_counter;
struct recorder *recorder_current;

int recorder_start(const char *path, uint64_t memory, struct error *error)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r)
		return error_set(error, "no memory for the recorder");
	if (arena_create(&r->arena, path, memory, error) != 0)
		goto fail;
	if (columns_init(&r->columns, &r->arena) != 0 || memo_init(&r->memo) != 0 || !(r->record = record_create(&r->arena))) {
		error_set(error, "no memory for the recorder");
		goto fail;
	}
	r->columns.record = r->record;
	r->last = &call_nowhere;
	r->arena.held = HELD_ROOM;
	r->unknown = UINT32_MAX;
	r->unknown = pool_string(r, "?", 1);
	r->record->threshold = UINT64_MAX;
	clock_is_counter = clock_has_counter();
	pthread_mutex_init(&r->lock, NULL);
	r->record->clock_ticks[0] = clock_ticks();
	r->record->clock_ns[0] = clock_ns(CLOCK_MONOTONIC);
	r->record->realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	__atomic_store_n(&recorder_current, r, __ATOMIC_RELEASE);
	return 0;
fail:
	memo_free(&r->memo);
	columns_free(&r->columns);
	arena_close(&r->arena);
	free(r);
	return -1;
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

void recorder_stop(void)
{
	/* calls of other threads that are under way end in the arena: it is never unmapped */
	struct recorder *r = recorder_current;
	__atomic_store_n(&recorder_current, NULL, __ATOMIC_RELEASE);
	if (r)
		r->limit = 0; /* whoever is ready for another call asks, and finds that there is no recorder */
	recording.ready = NULL;
}

void recorder_tolerate(unsigned frames)
{
	if (recorder_current)
		recorder_current->tolerance = frames;
}

void recorder_unloaded(void)
{
	struct recorder *r = __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE);
	if (!r)
		return;
	__atomic_store_n(&r->unloaded, true, __ATOMIC_RELEASE);
	r->limit = 0; /* the next call asks */
}

void recorder_calibrate(void)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	r->record->clock_ticks[1] = clock_ticks();
	r->record->clock_ns[1] = clock_ns(CLOCK_MONOTONIC);
}

void recorder_identify(uint32_t rank, uint32_t size, uint64_t world, bool threads)
{
	struct recorder *r = recorder_current;
	if (!r)
		return;
	r->record->rank = rank;
	r->record->size = size;
	r->record->world = world;
	r->shared = threads;
	arena_barrier();
	r->record->state = RECORD_INITIALIZED;
	r->sample_at = 0; /* what this call's wrapper does besides recording is not cheap */
	recorder_calibrate();
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
	struct recorder *r = recorder_current;
	if (!r)
		return;
	recorder_calibrate();
	r->record->state = RECORD_FINALIZED;
}
