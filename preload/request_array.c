/* SPDX-License-Identifier: BSD-3-Clause
 * request_array - what the handles of an array mean, where most of them meant it the last time
 */
#include "preload/request_array.h"

#include "trace/base/differ.h"

struct request_array request_array;

/* In place of the handle of a request that ended: no request has it. */
#define ENDED UINT64_MAX

static bool keep(struct request_array *a, size_t i, uint64_t bits)
{
	const struct request_ref *ref = &a->refs[i];

	a->bits[i] = bits;
	a->values[i] = ref->number == REQUEST_NONE ? a->null : ref->number;
	a->traits |= ref->traits;
	return ref->number != REQUEST_UNKNOWN && bits != ENDED;
}

static bool find_whole(struct request_array *a, const uint64_t *bits, size_t n, uint64_t null)
{
	unsigned traits;
	bool known = true;

	if (!request_find_fast(a->refs, bits, n, null, &traits))
		request_find_all(a->refs, bits, n, null);
	a->traits = 0;
	for (size_t i = 0; i < n; i++)
		known &= keep(a, i, bits[i]);
	return known;
}

/* What is known has the same length, and no request of it ended without its being told. */
static bool find_again(struct request_array *a, const uint64_t *bits, size_t n, uint64_t null)
{
	bool known = true;

	for (size_t i = 0; (i = differ_next(bits, a->bits, i, n)) < n; i++) {
		if (!request_find_one(&a->refs[i], bits[i]))
			a->refs[i] = request_find(bits[i], null, true);
		known &= keep(a, i, bits[i]);
	}
	return known;
}

bool request_array_find(const uint64_t *bits, size_t n, uint64_t null)
{
	struct request_array *a = &request_array;
	bool again = n == a->n && a->ends == request_table.ends, known;

	a->n = 0;
	if (n == 0 || n > REQUEST_ARRAY_MOST || handle_locking || request_table.behind)
		return false;
	known = again ? find_again(a, bits, n, null) : find_whole(a, bits, n, null);
	if (!known || request_table.behind) /* it has one twice */
		return false;
	a->n = n;
	a->ends = request_table.ends;
	return true;
}

void request_array_set_null(int64_t value)
{
	struct request_array *a = &request_array;

	a->null = value;
	for (size_t i = 0; i < a->n; i++)
		if (a->refs[i].number == REQUEST_NONE)
			a->values[i] = value;
}

static void end_null(struct request_array *a, size_t i, const uint64_t *now, uint64_t null)
{
	if (now[i] != null || a->refs[i].number < 0)
		return;
	request_end(&a->refs[i]);
	a->bits[i] = ENDED;
}

void request_array_end(const uint64_t *now, uint64_t null)
{
	struct request_array *a = &request_array;
	const bool told = a->ends == request_table.ends;

	for (size_t i = 0; (i = differ_next(now, a->bits, i, a->n)) < a->n; i++)
		end_null(a, i, now, null);
	if (told)
		a->ends = request_table.ends;
}

void request_array_end_one(size_t i, const uint64_t *now, uint64_t null)
{
	struct request_array *a = &request_array;
	const bool told = a->ends == request_table.ends;

	end_null(a, i, now, null);
	if (told)
		a->ends = request_table.ends;
}
