/* SPDX-License-Identifier: BSD-3-Clause
 * calls - what the index keeps of the functions and call sites of a trace, as bytes
 *
 * A row for each of them would be three times as long. The bytes are one record for each function; numbers are uint of
 * doc/trace-format.md. doc/index.md is for other programs.
 *
 *     function:  id of table text, how many parts; each: place, [site,] numbers
 *                a part is a call site that is kept (digest.h), or at place 0 all other sites of the function together
 *     numbers:   calls * 2^flags + flags, ns, peak_ns - ns (signed), and the others of CALL_FIGURE
 *                (insight/figures.def): those that are not 0, with a flag each
 *
 * So the parts of a function together are the function.
 */
#ifndef SPOOR_CALLS_H
#define SPOOR_CALLS_H

#include "archive/digest.h"
#include "trace/base/varint.h"

struct calls_part {
	int64_t function; /* of table text */
	int64_t place;    /* of table place; 0: the other sites of the function */
	uint32_t site;    /* number in the trace; 0 at place 0 */
	union figure_calls calls;
};

/* Packs a digest. functions and places have the number of each of its functions and sites. The caller checks
 * out->failed, and frees it. */
void calls_pack(struct writer *out, const struct digest *d, const int64_t *functions, const int64_t *places);

struct calls_reader {
	struct reader r;
	int64_t function;
	uint64_t parts; /* of this function that follow */
};
struct calls_reader calls_reader_of(const void *bytes, size_t size);
/* Gets the next part. Returns 0; > 0: there are no more; < 0: these are no such bytes. */
int calls_next(struct calls_reader *r, struct calls_part *part);
/* The same for the next function as a whole, at place 0. Not after calls_next for a part of it. */
int calls_next_function(struct calls_reader *r, struct calls_part *sum);

#endif
