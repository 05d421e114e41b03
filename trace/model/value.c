/* SPDX-License-Identifier: BSD-3-Clause
 * value - the stored form of a value
 *
 * The low bits of a `uint` say what it is: 2 * zigzag(v) is the number v; 4 * s + 1 is the constant whose name is
 * string s; 3 says that the zigzag of a number of more than 62 bits follows. So -3 is the byte 0a, the constant of
 * string 2 is 09.
 */
#include "trace/model/value.h"

#define MARK_CONSTANT 1
#define MARK_LONG     3

void value_put(struct writer *w, int64_t v)
{
	uint64_t u = zigzag(v);
	if (value_is_constant(v)) {
		writer_uint(w, ((uint64_t)v - (uint64_t)VALUE_CONSTANT) << 2 | MARK_CONSTANT);
	} else if (u < UINT64_C(1) << 62) {
		writer_uint(w, u << 1);
	} else {
		writer_uint(w, MARK_LONG);
		writer_uint(w, u);
	}
}

int64_t value_get(struct reader *r)
{
	uint64_t u = reader_uint(r);
	if (!(u & 1))
		return unzigzag(u >> 1);
	if (u & 2) {
		int64_t v = unzigzag(reader_uint(r));
		r->bad |= value_is_constant(v);
		return v;
	}
	if (u >> 2 > UINT32_MAX)
		r->bad = true;
	return (int64_t)((uint64_t)VALUE_CONSTANT + (u >> 2 & UINT32_MAX));
}
