/* SPDX-License-Identifier: BSD-3-Clause
 * arena - the memory of one rank's recorder: a file mapped MAP_SHARED, inside which all references are offsets
 *
 * The file outlives the process: whatever kills a rank, the arena can be read afterwards. What must hold for that:
 *
 *  - A change of one aligned word is atomic, and words change in program order (the process that dies does not lose
 *    stores that it has made; only the compiler may reorder them, hence arena_barrier()). Simple structures order their
 *    stores so that every prefix of them leaves a valid state.
 *  - A change of several words that must be all or nothing is an *operation*: each word goes through arena_set*(),
 *    which first saves the old word in the journal; arena_commit() empties the journal. A reader that finds the journal
 *    not empty puts the old words back (arena_recover).
 *
 * The file is as long as there is storage for it, and grows; the mapping is as long as it may ever get. No descriptor
 * stays open: an application that closes one too many, or all, or has none for its standard output, would meet it. So
 * the file is opened again by its name whenever it grows, and left as it is if that is another one now. The lock that
 * says that somebody records is the mapping's, too, and goes with it.
 *
 * Memory is handed out by a bump pointer and never returned to the system; blocks of a power of two that are given back
 * are reused. Nothing fails in the middle of an event: a recorder asks arena_room() before it starts one.
 */
#ifndef SPOOR_ARENA_H
#define SPOOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

typedef uint32_t ref; /* offset from the arena's first byte, a multiple of 8; 0 is nothing */

#define ARENA_MIN_SIZE (UINT64_C(1) << 20)
#define ARENA_MAX_SIZE (UINT64_C(1) << 31)
/* The journal must hold the words that one operation changes. Grammar operations cascade, but each step makes the
 * grammar smaller; the most that was seen on random input is 331. An operation that does not fit goes on unprotected
 * (arena_header.overflows). */
#define ARENA_JOURNAL 2048
#define ARENA_CLASSES 32
#define ARENA_SLACK   (UINT64_C(16) << 20)

struct arena_header {
	char magic[8];           /* "spoorar" and a NUL; written last when the arena is created */
	uint64_t layout;         /* arena_layout() of who made it: nobody else can read it */
	uint64_t size;           /* bytes that storage backs: what lies behind must not be touched */
	uint64_t used;           /* bump pointer */
	ref root;                /* struct record (trace/record/record.h) */
	uint32_t overflows;      /* operations that did not fit the journal */
	ref free[ARENA_CLASSES]; /* given back blocks of 2^i bytes, linked by their first word */
	struct {
		uint64_t state, choice;
	} meeting; /* of the processes of a node that come to an end: theirs (preload/meeting.h), and of no recorder */
	uint64_t journal_count;
	struct {
		uint64_t where, old;
	} journal[ARENA_JOURNAL];
};

/* A fingerprint of all structures in an arena: another build may have others. (trace/record/layout.c, which knows
 * them.) */
uint64_t arena_layout(void);

struct arena {
	uint8_t *base;
	struct arena_header *header;
	uint64_t size;
	char *path;             /* NULL: a private arena */
	uint64_t device, inode; /* of its file */
	uint64_t *
		/* atomic: bytes of storage that this arena may still take, together with others; NULL: up to its size
		 * */
		shared;
	bool full;           /* no more storage backs it than does now, whatever size is */
	uint64_t free_bytes; /* in free blocks */
	uint64_t mapped;     /* bytes of the file that arena_open_own has mapped; 0: it is no such arena */
	uint64_t held;   /* bytes at the end that are not handed out, for what must not fail when the rest is used up */
	uint64_t notice; /* bytes; when more are used, something is to be asked (arena_notice); the owner sets it */
	struct arena_mind *mind;
};

/* What the owner looks at before each event. */
struct arena_mind {
	bool calm; /* atomic: nothing is to be asked first; others may make it false */
	bool ours; /* false in a process that was made of the owner's, in whatever way (recorder.c) */
};

/* Something is to be asked before the next event. */
static inline void arena_notice(const struct arena *a)
{
	__atomic_store_n(&a->mind->calm, false, __ATOMIC_RELAXED);
}

/* Creates the file (which must not exist; mode 0600), locked (flock) for as long as it is mapped, to grow up to the
 * given size (clamped to MIN..MAX, and to a share of what the process may still map: ARENA_LEFT), and maps it. path
 * (absolute) may be NULL: a private arena in anonymous memory, all of it. Returns 0, or -1 with error set and nothing
 * left behind. */
#define ARENA_LEFT 256
int arena_create(struct arena *a, const char *path, uint64_t size, struct error *error);
/* The same, of several arenas that take storage from one allowance: what is left of it is in *shared. Each has
 * ARENA_FIRST bytes in any case. */
#define ARENA_FIRST (UINT64_C(1) << 18)
int arena_create_shared(struct arena *a, const char *path, uint64_t size, uint64_t *shared, struct error *error);
/* Gives the file another name, by which it is found when it grows. Returns 0, or -1 (errno) and it has its old one. */
int arena_rename(struct arena *a, const char *path);
/* Copies an existing arena to private memory, with ARENA_SLACK bytes of room to finish it: what is changed never
 * reaches the file. Checks header and journal against the file's size and puts an unfinished operation back. Everything
 * behind the header is still untrusted. Returns 0; 1 if its process was gone before it was initialised (then there is
 * nothing in it, and nothing is mapped); -1 with error set; ARENA_OTHER_BUILD with error set if another build of
 * spoor wrote it, which could read it. */
#define ARENA_OTHER_BUILD 2
int arena_open(struct arena *a, const char *path, struct error *error);
/* The same of an arena whose process may still record: the copy is what was there at one instant (snapshot.h).
 * ARENA_BUSY with error set: it changes faster than it can be read. */
#define ARENA_BUSY 3
int arena_open_running(struct arena *a, const char *path, struct error *error);
/* The same of an arena of this process that nobody writes to any more: it is not copied. What was read or changed of it
 * is in memory until arena_renew, behind which all is as when it was opened, at the same addresses. That returns 0, or
 * -1: it cannot be read any more. */
int arena_open_own(struct arena *a, const char *path, struct error *error);
int arena_renew(struct arena *a);
/* What is recorded stays in the file, and need not be in this process' memory any more. It comes back page by page if
 * somebody goes on recording. Only of an arena with a file. */
void arena_rest(struct arena *a);
/* Unmaps; the file stays. */
void arena_close(struct arena *a);

static inline void arena_barrier(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#define arena_at(a, type, r) ((type *)(void *)((a)->base + (r)))

static inline ref arena_ref(const struct arena *a, const void *p)
{
	return (ref)((const uint8_t *)p - a->base);
}

/* True if [r, r + n) is inside the used part and r is aligned: to be asked before an untrusted reference is followed.
 * */
static inline bool arena_valid(const struct arena *a, ref r, uint64_t n)
{
	return r >= sizeof(struct arena_header) && r % 8 == 0 && n <= a->header->used && r <= a->header->used - n;
}

/* True if n bytes can be allocated for sure: they are inside the budget and storage backs them, or a free block is that
 * large. */
bool arena_extend(struct arena *a, uint64_t n);
static inline bool arena_room(struct arena *a, uint64_t n)
{
	return __builtin_expect(a->header->used + a->held + n <= a->header->size, 1) || arena_extend(a, n);
}

/* About how many bytes can be had in all, in whatever pieces. */
static inline uint64_t arena_left(const struct arena *a)
{
	uint64_t end = a->full ? a->header->size : a->size, used = a->header->used + a->held;
	return (used < end ? end - used : 0) + a->free_bytes;
}
/* n bytes, zeroed, aligned to 8; 0 if there is no room. */
ref arena_alloc(struct arena *a, uint64_t n);
/* A block of at least n bytes from the free blocks or new, not zeroed; *capacity is its size (a power of two). */
ref arena_alloc_block(struct arena *a, uint64_t n, uint64_t *capacity);
/* Gives n bytes back that were allocated as one piece: used again after arena_compact at the latest. */
void arena_free_range(struct arena *a, ref r, uint64_t n);
/* Puts free blocks that are neighbours together, and cuts them into blocks as large as they can be. Nothing of it
 * matters to readers, who begin without free blocks. */
void arena_compact(struct arena *a);
/* Gives a block of arena_alloc_block back. */
void arena_free_block(struct arena *a, ref r, uint64_t capacity);

/* Saves the aligned word that holds p, as part of the operation under way. */
static inline void arena_save(struct arena *a, const void *p)
{
	struct arena_header *h = a->header;
	uint64_t where = (uint64_t)((const uint8_t *)p - a->base) & ~UINT64_C(7);
	if (__builtin_expect(h->journal_count < ARENA_JOURNAL, 1)) {
		h->journal[h->journal_count].where = where;
		h->journal[h->journal_count].old = *arena_at(a, uint64_t, where);
		arena_barrier();
		h->journal_count++;
		arena_barrier();
	} else {
		h->overflows++;
	}
}

#define arena_set(a, lvalue, value)         \
	do {                                \
		arena_save((a), &(lvalue)); \
		(lvalue) = (value);         \
	} while (0)

static inline void arena_commit(struct arena *a)
{
	arena_barrier();
	a->header->journal_count = 0;
	arena_barrier();
}

#endif
