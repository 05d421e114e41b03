/* SPDX-License-Identifier: BSD-3-Clause
 * lossy - columns of an arena that gave up their order: tallies in place of pattern and dictionary
 *
 *     ROLE_VALUE   how often each value came; the run under way (expect, since visit start) is not in the tally yet
 *     ROLE_STRING  the same, of numbers of strings
 *     ROLE_NEXT    for each successor, the lengths of its runs; the run under way is not in it yet
 *     ROLE_VECTOR  lengths and elements; the run under way is of the constant `expect`, or of the vector in
 *                  `vector[which]`
 *
 * So whatever is cut off in the middle of a put (arena.h), a reader who knows how many visits count finds a tally of
 * just these: the run under way is as long as the visits say. A put, with the tally of the run that it ends, is one
 * operation of the arena.
 *
 * Counting costs several cache lines and the journal's protection of each word, so that a column whose runs are short
 * has a *queue* (lossy_queue.c): the value of each visit waits there, from visit `start` on, until there are
 * LOSSY_QUEUE of them, which are counted at once. Nothing is expected then, so that each visit comes with its value.
 * What stands there needs no protection: values of visits that do not count are none. Vectors wait one behind the
 * other, each with the visit that it began at.
 *
 * Tallies grow to the log-linear form of trace/model/tally.h and no further: at most about 120 bins for values up to
 * 10^6, 500 for any. Without memory, or beyond columns.bins, neighbouring bins are joined; counts and sums stay exact.
 * Nothing here fails: where there is not even memory for one bin, values are counted as `others`, and a column that
 * cannot become lossy is forgotten: it has so many values, and no more is known.
 *
 * Where memory was the reason, the first values may be kept in order besides (prefix.h), until memory is short again.
 */
#ifndef SPOOR_LOSSY_H
#define SPOOR_LOSSY_H

#include "trace/record/column.h"
#include "trace/model/tally.h"

struct lossy_tally {
	ref bins; /* struct tally_bin */
	uint32_t count;
	uint32_t capacity; /* bytes */
	/* a second block for as many, or 0: nothing that counts is in it. Bins change by turns here and there, instead
	 * of one by one in the journal */
	ref other;
};

struct lossy_next {
	uint32_t to, unused;
	struct lossy_tally runs;
};

/* Values that wait, and words of vectors that do. */
#define LOSSY_QUEUE       128
#define LOSSY_QUEUE_WORDS 256
/* column.token of a column with a queue of values. */
#define TOKEN_WAITS UINT32_MAX

/* A vector in a queue: it came at the visits from here up to that of the next one. */
struct lossy_waiting {
	uint64_t visit;
	uint64_t count; /* SIZE_MAX: one value, a constant in place of a vector */
	int64_t values[];
};

#define LOSSY_HINTS 64

struct lossy {
	uint32_t why;       /* enum trace_why */
	uint32_t which;     /* of the two vectors, the one under way */
	uint64_t since;     /* number of the event */
	uint64_t others[2]; /* how many values (lengths), and elements, are in no bin */
	struct lossy_tally tally;
	struct lossy_tally elements;
	struct lossy_vector {
		ref at;            /* struct record_vector */
		uint32_t capacity; /* bytes */
	} vector[2];
	ref next; /* ROLE_NEXT: struct lossy_next, one for each successor */
	uint32_t next_count;
	uint64_t next_capacity; /* bytes */
	/* Where values like this one were found the last time; a guess. Those of tallies are never beyond the bins that
	 * they were made for. */
	uint8_t hint[LOSSY_HINTS], element_hint[LOSSY_HINTS];
	uint64_t hinted, element_hinted; /* ref and count of the bins */
	/* While a queue is being emptied: how many values of it (words of it) are in the tally already. */
	uint64_t counted;
	/* ROLE_NEXT: the run that goes on in the queue, or ends where it begins; length 0: there is none */
	int64_t run_value;
	uint64_t run_length;
	uint64_t last; /* of vectors in a queue: where the last one is; a guess */
	uint32_t unused;
	ref prefix; /* struct column: the first values, in order (trace/record/prefix.h); 0: none */
};

/* column.lossy of a column that was forgotten. */
#define LOSSY_FORGOTTEN 8

/* Takes the order from a column with `visits` values, and gives its memory back to the arena. False, and nothing is
 * changed, if there is no memory. */
bool lossy_make(struct columns *x, struct column *c, uint64_t visits, uint32_t why);
/* The same in need of memory: the column is forgotten if nothing else can be done. Tells `columns.since` of it. */
void lossy_force(struct columns *x, struct column *c, uint64_t visits);
/* Writes down that memory is short, and since when (record.stage). */
void lossy_note(struct columns *x);
/* Of a column that is lossy: gives all its memory back. */
void lossy_forget(struct columns *x, struct column *c, uint64_t visits);
/* Puts a value. */
void lossy_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value);
/* The plain case of it, for columns of any kind: the value waits in the queue. False: it is not plain, and nothing was
 * done. base: the arena's. */
static inline bool lossy_wait(uint8_t *base, struct column *c, uint64_t visits, int64_t value);
void lossy_put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n);
/* Joins bins until there are at most `bins` in a tally, to save memory. */
void lossy_shrink(struct columns *x, struct column *c, uint32_t bins);
/* Gives the prefix of a lossy column back. */
void lossy_drop_prefix(struct columns *x, struct column *c);
/* The struct column of a prefix; NULL: there is none. */
struct column *lossy_prefix(const struct columns *x, const struct column *c);
/* The bytes of the arena that a lossy column has, without its prefix. */
uint64_t lossy_size(const struct columns *x, const struct column *c);

/* Queues, for lossy.c. Of a column that has none: have so many of its runs, of which one has just ended, been so short
 * that there should be one? */
bool lossy_queue_due(struct column *c, uint64_t visits);
/* Makes one, if there is memory, with what was put last. */
void lossy_queue_begin(struct columns *x, struct column *c, uint64_t visits, int64_t value);
void lossy_queue_begin_vectors(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n);
/* Counts what waits. If runs have become long, there is no queue any more. */
void lossy_queue_empty(struct columns *x, struct column *c);
/* Puts a vector into a queue. False: it is too large for one; there is no queue any more. */
bool lossy_queue_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n);
/* The bytes of a queue. */
static inline uint64_t lossy_queue_bytes(const struct column *c)
{
	return ((c->role & ROLE_KINDS) == ROLE_VECTOR ? LOSSY_QUEUE_WORDS : LOSSY_QUEUE) * sizeof(int64_t);
}

/* What a column of an untrusted arena holds after `visits` values, in numbers of the arena. Returns 0, or -1: damaged,
 * or no memory. The caller frees the parts in any case. */
struct lossy_image {
	uint32_t why;
	uint64_t since;
	struct tally values, elements;
	uint64_t others
		/* values, and elements, that are in neither. (Successors that are not known are the visits that the
		 * runs do not have.) */
		[2];
	struct lossy_runs {
		uint32_t to;
		struct tally runs;
	} * next;
	size_t next_count;
	struct column *prefix; /* NULL: none; it has the first values, prefix->start of them */
};
/* Counts a vector `times` times; n is SIZE_MAX: *values is a constant in place of one. False: no memory. */
bool lossy_add_vector(struct tally *lengths, struct tally *elements, const int64_t *values, size_t n, uint64_t times);
int lossy_extract(struct columns *x, struct column *c, uint64_t visits, struct lossy_image *out);
void lossy_image_free(struct lossy_image *image);

/* What is counted in a pattern with a dictionary of n stretches, without writing it out. Both return 0, or -1 on no
 * memory or when take does. */
struct pattern;
/* take(context, start, stride, count, how often each of these values comes): all values, some in several calls. */
int pattern_each(const struct pattern *p, const struct dict_run *dict, size_t n,
                 int (*take)(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times),
                 void *context);
/* take(context, value, length of a run, how many runs of this length) for all runs but the last one, which is left in
 * *value, *length. */
int pattern_runs(const struct pattern *p, const struct dict_run *dict, size_t n,
                 int (*take)(void *context, int64_t value, uint64_t length, uint64_t runs), void *context,
                 int64_t *value, uint64_t *length);

/* ---- implementation ---- */

static inline bool lossy_wait(uint8_t *base, struct column *c, uint64_t visits, int64_t value)
{
	uint64_t i = visits - c->start;
	if (c->token != TOKEN_WAITS || i >= LOSSY_QUEUE)
		return false;
	((int64_t *)(void *)(base + c->queue))[i] = value;
	return true;
}

#endif
