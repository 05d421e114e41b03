/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * Resolving an array walks each list once, by a cursor in the slot that is valid for this array only (its epoch).
 */
#include "preload/request_table.h"

#include <errno.h>

/* The number of a request in another thread's events. */
static int64_t number_in(const struct request_table *t, int32_t number)
{
	return t == request_table_own() || number < 0 ? number : ((int64_t)t->thread + 1) << 32 | number;
}

/* The oldest request with that handle is over, if nobody means it now. */
static void end_oldest(struct request_table *t, uint64_t bits)
{
	struct request_ref ref = {.bits = bits, .number = -1};
	if (!request_table_lock(t))
		return;
	const struct request_slot *s = request_table_find(t, bits);
	if (s && (!handle_locking || !t->nodes[request_first_of(s)].claimed))
		ref.number = number_in(t, request_first_of(s));
	request_table_unlock(t);
	request_end_slowly(&ref);
}

int64_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits)
{
	struct request_table *t = request_table_own();
	struct request_slot *s;
	int32_t number;

	if (bits == null)
		return REQUEST_NONE;
	if (!bits)
		return REQUEST_UNKNOWN;
	if (__builtin_expect(t->behind >= REQUEST_BEHIND, 0))
		end_oldest(t, bits);
	if (t->free && (s = request_home(t, bits))->key == bits) { /* as with MPI_PROC_NULL */
		number = (int32_t)t->base + __builtin_ctzll(t->free);
		t->free &= t->free - 1;
		request_table_append(t, s, number, traits);
		return number;
	}
	if (!request_table_lock(t))
		return REQUEST_UNKNOWN;
	number = request_table_add(t, bits, traits);
	request_table_unlock(t);
	return number;
}

bool request_next_shared(struct request_table *t, struct request_slot *s, int64_t number, uint32_t *traits)
{
	if (!(s->number & REQUEST_SHARED))
		return false;
	if (s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->cursor = request_first_of(s);
	}
	if (s->cursor < 0 || s->cursor != number)
		return false;
	*traits = t->nodes[number].traits;
	s->cursor = t->nodes[number].next;
	return true;
}

/* Takes the oldest one off, if it is that. */
bool request_end_shared(struct request_table *t, struct request_slot *s, int64_t number)
{
	int32_t next;

	if (!(s->number & REQUEST_SHARED) || request_first_of(s) != number)
		return false;
	next = t->nodes[number].next;
	t->behind--;
	t->ends++;
	s->number = (uint64_t)next | (next == s->last ? 0 : REQUEST_SHARED);
	s->traits = t->nodes[next].traits;
	return true;
}

/* Looks in the tables of all other threads, in their order. Returns whether it was found; it is claimed then. *all:
 * there was none that could not be looked at. */
static bool find_elsewhere(struct request_ref *ref, bool *all)
{
	struct request_table *t;

	*all = true;
	for (uint32_t i = 0; handle_locking && i < request_tables(); i++) {
		const struct request_slot *s;
		int32_t number = -1;

		if (!(t = request_table_of(i)) || t == request_table_own())
			continue;
		if (!request_table_lock(t)) {
			*all = false;
			continue;
		}
		s = request_table_find(t, ref->bits);
		if (s)
			number = request_table_claim(t, request_first_of(s));
		if (number >= 0)
			ref->traits = t->nodes[number].traits;
		request_table_unlock(t);
		if (number >= 0) {
			ref->number = number_in(t, number);
			return true;
		}
	}
	return false;
}

/* It is not in the calling thread's table. */
static void find_other(struct request_ref *ref, bool may_be_new)
{
	struct request_table *t = request_table_own();
	bool all;

	if (find_elsewhere(ref, &all))
		return;
	ref->number = REQUEST_UNKNOWN;
	if (!may_be_new || !all || !request_table_lock(t))
		return;
	ref->number = request_table_add(t, ref->bits, 0);
	if (ref->number >= 0)
		ref->number = request_table_claim(t, (int32_t)ref->number);
	request_table_unlock(t);
}

struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new)
{
	struct request_ref ref = {.bits = bits, .number = REQUEST_NONE};
	struct request_table *t = request_table_own();
	const struct request_slot *s;

	if (bits == null)
		return ref;
	ref.number = REQUEST_UNKNOWN;
	if (!bits || !request_table_lock(t))
		return ref;
	s = request_table_find(t, bits);
	ref.number = s ? request_table_claim(t, request_first_of(s)) : REQUEST_NONE;
	if (ref.number >= 0) {
		request_table_need_node(t, s);
		ref.traits = t->nodes[ref.number].traits;
	}
	request_table_unlock(t);
	if (ref.number < 0)
		find_other(&ref, may_be_new);
	return ref;
}

/* The number of the oldest request in a table that has these bits, of those that are claimed or those that are not; -1:
 * none. */
static int32_t look_in(struct request_table *t, struct request_ref *ref, bool claimed)
{
	const struct request_slot *s;
	int32_t number = -1;

	if (!request_table_lock(t))
		return -1;
	s = request_table_find(t, ref->bits);
	if (s)
		request_table_need_node(t, s);
	for (number = s ? request_first_of(s) : -1; number >= 0 && t->nodes[number].claimed != claimed;
	     number = t->nodes[number].next)
		;
	if (number >= 0) {
		ref->traits = t->nodes[number].traits;
		ref->number = number_in(t, number);
	}
	request_table_unlock(t);
	return number;
}

struct request_ref request_look(uint64_t bits, uint64_t null)
{
	struct request_ref ref = {.bits = bits, .number = bits == null ? REQUEST_NONE : REQUEST_UNKNOWN};
	struct request_table *t;

	for (int claimed = 0; claimed <= (handle_locking ? 1 : 0) && bits != null && bits; claimed++) {
		if (look_in(request_table_own(), &ref, claimed) >= 0)
			return ref;
		for (uint32_t i = 0; handle_locking && i < request_tables(); i++)
			if ((t = request_table_of(i)) && t != request_table_own() && look_in(t, &ref, claimed) >= 0)
				return ref;
	}
	return ref;
}

/* Not in the calling thread's table: to be looked for when that is not locked. */
#define ELSEWHERE (-3)

static struct request_ref find_next(struct request_table *t, uint64_t bits, uint64_t null)
{
	struct request_ref ref = {.bits = bits, .number = bits == null ? REQUEST_NONE : REQUEST_UNKNOWN};
	struct request_slot *s;

	if (bits == null || !bits)
		return ref;
	s = request_table_find(t, bits);
	if (s && s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->cursor = request_first_of(s);
		request_table_need_node(t, s);
	}
	ref.number = s ? request_table_claim(t, s->cursor) : REQUEST_NONE;
	if (ref.number < 0) {
		if (handle_locking) {
			ref.number = ELSEWHERE;
			return ref;
		}
		ref.number = request_table_add(t, bits, 0);
		s = request_table_find(t, bits);
		if (ref.number < 0)
			return ref;
		s->epoch = t->epoch;
	}
	ref.traits = t->nodes[ref.number].traits;
	s->cursor = t->nodes[ref.number].next;
	return ref;
}

void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null)
{
	struct request_table *t = request_table_own();
	bool elsewhere = false;

	if (!request_table_lock(t)) {
		for (size_t i = 0; i < n; i++)
			refs[i] = (struct request_ref){.bits = bits[i],
			                               .number = bits[i] == null ? REQUEST_NONE : REQUEST_UNKNOWN};
		return;
	}
	request_table_next_epoch(t);
	for (size_t i = 0; i < n; i++) {
		refs[i] = find_next(t, bits[i], null);
		elsewhere |= refs[i].number == ELSEWHERE;
	}
	request_table_unlock(t);
	for (size_t i = 0; elsewhere && i < n; i++)
		if (refs[i].number == ELSEWHERE)
			find_other(&refs[i], true);
}

/* What is to be done to a request when the table is free. */
enum late { LATE_NOTHING, LATE_IS_WRITTEN, LATE_END, LATE_RELEASE };

static void do_later(struct request_table *t, const struct request_ref *ref, enum late what)
{
	for (int i = 0; i < REQUEST_LATE; i++) {
		struct request_late *l = &t->late[i];
		uint8_t nothing = LATE_NOTHING;

		if (!__atomic_compare_exchange_n(&l->state, &nothing, LATE_IS_WRITTEN, false, __ATOMIC_ACQUIRE,
		                                 __ATOMIC_RELAXED))
			continue;
		l->bits = ref->bits;
		l->number = (int32_t)ref->number;
		__atomic_store_n(&l->state, (uint8_t)what, __ATOMIC_RELEASE);
		__atomic_fetch_add(&t->late_count, 1, __ATOMIC_RELEASE);
		return;
	}
}

/* With the lock. */
static void end_request(struct request_table *t, uint64_t bits, int32_t number)
{
	struct request_slot *s = request_table_find(t, bits);
	int32_t before = -1;
	int saved = errno;

	if (!s)
		return;
	request_table_need_node(t, s);
	for (int32_t at = request_first_of(s); at != number;
	     at = t->nodes[at].next) { /* nearly always it is the first */
		before = at;
		if (t->nodes[at].next < 0)
			return;
	}
	int32_t next = t->nodes[number].next, first = before < 0 ? next : request_first_of(s);

	t->changes++;
	t->ends++;
	if (first < 0) {
		request_table_remove(t, s);
	} else {
		int32_t last = next < 0 ? before : s->last;

		t->behind--;
		if (before >= 0)
			t->nodes[before].next = next;
		s->number = (uint64_t)first | (first == last ? 0 : REQUEST_SHARED);
		s->last = last;
		s->traits = t->nodes[first].traits;
	}
	request_table_put_back(t);
	numbering_give(&t->numbers, number);
	t->live--;
	request_table_take_out(t);
	errno = saved;
}

void request_end_late(struct request_table *t)
{
	for (int i = 0; i < REQUEST_LATE; i++) {
		struct request_late *l = &t->late[i];
		uint8_t state = __atomic_load_n(&l->state, __ATOMIC_ACQUIRE);

		if (state == LATE_END)
			end_request(t, l->bits, l->number);
		else if (state == LATE_RELEASE)
			t->nodes[l->number].claimed = false;
		else
			continue;
		__atomic_fetch_sub(&t->late_count, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&l->state, LATE_NOTHING, __ATOMIC_RELEASE);
	}
}

void request_end_slowly(const struct request_ref *ref)
{
	struct request_table *t = request_table_owner(ref);

	if (ref->number < 0 || !t)
		return;
	if (!request_table_lock(t)) {
		do_later(t, ref, LATE_END);
		return;
	}
	end_request(t, ref->bits, (int32_t)ref->number);
	request_table_unlock(t);
}

void request_release_slowly(const struct request_ref *ref)
{
	struct request_table *t = request_table_owner(ref);

	if (ref->number < 0 || !t)
		return;
	if (!request_table_lock(t)) {
		do_later(t, ref, LATE_RELEASE);
		return;
	}
	t->nodes[(int32_t)ref->number].claimed = false;
	request_table_unlock(t);
}
