/* SPDX-License-Identifier: BSD-3-Clause
 * mutated - included before all else where chunks are written: each number goes through here on its way to the bytes
 */
#ifndef SPOOR_MUTATED_H
#define SPOOR_MUTATED_H

#include "trace/base/entropy.h"
#include "trace/base/varint.h"

void mutated_uint(struct writer *w, uint64_t v);
void mutated_int(struct writer *w, int64_t v);
void mutated_number(struct entropy_writer *e, unsigned context, unsigned digits, uint64_t v);
void mutated_bits(struct entropy_writer *e, unsigned bits, uint64_t v);

#ifndef MUTATED_INSIDE
#define writer_uint(w, v)                         mutated_uint(w, v)
#define writer_int(w, v)                          mutated_int(w, v)
#define entropy_put_number(e, context, digits, v) mutated_number(e, context, digits, v)
#define entropy_put_bits(e, bits, v)              mutated_bits(e, bits, v)
#endif

#endif
