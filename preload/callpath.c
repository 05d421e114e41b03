/* SPDX-License-Identifier: BSD-3-Clause
 * callpath - which call path led to this call
 */
#include "preload/callpath.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#include "trace/record.h"

struct unwinding {
	struct callpath *path;
	uintptr_t first_address, first_cfa;
	bool found;
};

/* Called from the innermost frame outwards. The CFA that the unwinder reports for a frame is where its callee's frame ends: the
 * return address into the frame is the word below it (x86-64, and every ABI that pushes it). */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
	struct unwinding *u = argument;
	struct callpath *path = u->path;
	uintptr_t address = _Unwind_GetIP(context), cfa = _Unwind_GetCFA(context);
	if (!u->found) {
		if (cfa < u->first_cfa)
			return _URC_NO_REASON; /* our own frames */
		if (cfa != u->first_cfa || address != u->first_address)
			return _URC_END_OF_STACK;
		u->found = true;
	}
	if (address == 0) {
		path->gap = 0;
		return _URC_END_OF_STACK;
	}
	if (path->count == CALLPATH_MAX) {
		path->gap = GAP_TOO_DEEP;
		return _URC_END_OF_STACK;
	}
	path->frame[path->count].slot = (const uintptr_t *)cfa - 1;
	path->frame[path->count++].address = address;
	return _URC_NO_REASON;
}

void callpath_unwind(struct callpath *path, void *return_address, void *cfa)
{
	struct unwinding u = {.path = path, .first_address = (uintptr_t)return_address, .first_cfa = (uintptr_t)cfa};
	path->count = 0;
	path->gap = GAP_NO_UNWIND; /* until the outermost frame (address 0) was seen */
	_Unwind_Backtrace(on_frame, &u);
	if (!u.found) {
		path->frame[0] = (struct callpath_frame){(const uintptr_t *)cfa - 1, (uintptr_t)return_address};
		path->count = 1;
		path->gap = GAP_NO_UNWIND;
	}
}

/* Entries are of different lengths, one behind the other in a pool of this size; about 20,000 call paths of 8 frames. */
#define POOL_SIZE (UINT64_C(4) << 20)

/* No call is this one: no return address is 0. */
static struct memo_entry nothing = {.followed = &nothing};

#define HEADS 4096

static size_t hash_of(uint32_t key, uintptr_t address, uintptr_t cfa)
{
	uint64_t h = (address ^ cfa << 17 ^ (uint64_t)key << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 52);
}

struct memo *memo_create(void)
{
	struct memo *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->heads = calloc(HEADS, sizeof *m->heads);
	m->pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!m->heads || m->pool == MAP_FAILED) {
		m->pool = m->pool == MAP_FAILED ? NULL : m->pool;
		memo_destroy(m);
		return NULL;
	}
	memo_clear(m);
	return m;
}

void memo_destroy(struct memo *m)
{
	if (!m)
		return;
	if (m->pool)
		munmap(m->pool, POOL_SIZE);
	free(m->heads);
	free(m);
}

void memo_clear(struct memo *m)
{
	memset(m->heads, 0, HEADS * sizeof *m->heads);
	m->at = (struct memo_entry *)(void *)m->pool; /* stands for "before the first" */
	*m->at = nothing;
	m->used = sizeof *m->at;
}

void *memo_search(struct memo *m, uint32_t key, uintptr_t address, uintptr_t cfa)
{
	for (struct memo_entry *e = m->heads[hash_of(key, address, cfa)]; e; e = e->next)
		if (memo_is(e, key, address, cfa)) {
			m->at->followed = e;
			m->at = e;
			return e->value;
		}
	return NULL;
}

void memo_add(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa)
{
#if defined(__x86_64__) || defined(__i386__)
	size_t size = sizeof(struct memo_entry) + (path->count - 1) * sizeof(struct callpath_frame);
	if (m->used + size > POOL_SIZE)
		memo_clear(m);
	struct memo_entry *e = (struct memo_entry *)(void *)(m->pool + m->used);
	m->used += size;
	*e = (struct memo_entry){
	        .key = key,
	        .slots = (uint32_t)path->count - 1, /* the innermost return address is part of the key */
	        .address = path->frame[0].address,
	        .cfa = (uintptr_t)cfa,
	        .value = value,
	        .followed = &nothing,
	};
	memcpy(e->slot, path->frame + 1, e->slots * sizeof *e->slot);
	struct memo_entry **head = &m->heads[hash_of(key, e->address, e->cfa)];
	e->next = *head;
	*head = e;
	m->at->followed = e;
	m->at = e;
#else
	/* Elsewhere return addresses live in a register first; where they are saved is not known here. Every call is unwound. */
	(void)m, (void)key, (void)path, (void)value, (void)cfa;
#endif
}
