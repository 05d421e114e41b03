/* SPDX-License-Identifier: BSD-3-Clause
 * timing_file - the stored form of the times of all events: the chunk FULL
 *
 * A flow is codes as numbers. In a part they stand as they are; in a final trace each is coded with the size of the one
 * before as its context, for times of one place are alike: after 5 (three bits), 4 is expected to be short, too.
 *
 * Invariant: a flow has `count` numbers, and no bytes but theirs; ranks ascend.
 */
#include "trace/file/timing_file.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/entropy.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

static unsigned bits_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static unsigned context_of(uint64_t before)
{
	unsigned bits = bits_of(before);
	return bits < ENTROPY_CONTEXTS ? bits : ENTROPY_CONTEXTS - 1;
}

static void put_coded(struct writer *w, const struct trace_timing *r)
{
	struct entropy_block *b = entropy_block_new();
	for (uint32_t k = 0; b && k < r->flow_count; k++) {
		struct reader in = reader_of(r->flows[k].bytes, r->flows[k].size);
		uint64_t before = 0;
		for (uint64_t n = 0; n < r->flows[k].count; n++) {
			uint64_t v = reader_uint(&in);
			entropy_put_number(&b->coder, context_of(before), 63, v);
			before = v;
		}
		w->failed |= in.bad;
	}
	entropy_block_put(w, b);
}

void timing_put(struct writer *w, const struct trace *t, bool final)
{
	writer_uint(w, t->timing_count);
	for (uint32_t i = 0; i < t->timing_count; i++) {
		const struct trace_timing *r = &t->timing[i];
		writer_uint(w, r->rank);
		writer_uint(w, r->digits);
		writer_uint(w, r->events);
		writer_uint(w, r->cut);
		writer_uint(w, r->ticks);
		writer_uint(w, r->ns);
		writer_int(w, r->start);
		writer_uint(w, r->flow_count);
		for (uint32_t k = 0; k < r->flow_count; k++) {
			const struct trace_flow *f = &r->flows[k];
			writer_uint(w, f->from);
			writer_uint(w, f->to == TIMING_CALLS ? 0 : f->to + UINT64_C(1));
			writer_uint(w, f->count);
			if (!final) {
				writer_uint(w, f->size);
				writer_bytes(w, f->bytes, f->size);
			}
		}
		if (final)
			put_coded(w, r);
	}
}

/* No value takes less of the coded bytes than 1/107: seven bits that are as likely as can be. */
#define VALUES_PER_BYTE 128

static int get_coded(struct reader *r, struct trace_timing *to)
{
	int rv = 0;
	struct entropy_source *s = entropy_source_new(r);
	if (!s)
		return -1;
	uint64_t left = ((uint64_t)s->size + 8) * VALUES_PER_BYTE;
	for (uint32_t k = 0; rv == 0 && k < to->flow_count; k++) {
		struct trace_flow *f = &to->flows[k];
		struct writer out = {0};
		uint64_t before = 0;
		if (f->count > left) {
			rv = -1;
			break;
		}
		left -= f->count;
		for (uint64_t n = 0; n < f->count && !s->in.bad; n++) {
			before = entropy_number(&s->coder, context_of(before), 63);
			writer_uint(&out, before);
		}
		f->bytes = out.data;
		f->size = out.size;
		rv = out.failed || s->in.bad ? -1 : 0;
	}
	return entropy_source_end(s) != 0 ? -1 : rv;
}

static int get_flow(struct reader *r, const struct trace *t, struct trace_timing *to, bool final)
{
	uint64_t from = reader_uint(r), next = reader_uint(r);
	struct trace_flow f = {.count = reader_uint(r)};
	if (r->bad || from >= t->site_count || next > t->site_count)
		return -1;
	f.from = (uint32_t)from;
	f.to = next ? (uint32_t)next - 1 : TIMING_CALLS;
	if (!final) {
		size_t size = reader_count(r);
		const uint8_t *bytes = reader_bytes(r, size);
		f.bytes = bytes ? budget_malloc(size + 1) : NULL;
		if (!f.bytes)
			return -1;
		memcpy(f.bytes, bytes, size);
		f.size = size;
		struct reader check = reader_of(bytes, size);
		for (uint64_t n = 0; n < f.count && !check.bad; n++)
			reader_uint(&check);
		if (check.bad || check.at != check.end) {
			budget_free(f.bytes);
			return -1;
		}
	}
	return timing_add_flow_take(to, &f);
}

int timing_get(struct reader *r, struct trace *t, bool final)
{
	for (size_t n = reader_count(r); n > 0; n--) {
		uint64_t rank = reader_uint(r), digits = reader_uint(r);
		struct trace_timing head = {
			.rank = (uint32_t)rank, .digits = (uint32_t)digits, .events = reader_uint(r)};
		int64_t events;
		head.cut = reader_uint(r) != 0;
		head.ticks = reader_uint(r);
		head.ns = reader_uint(r);
		head.start = reader_int(r);
		size_t flows = reader_count(r);
		if (r->bad || rank > UINT32_MAX || (digits != FLOW_EXACT && digits > FLOW_DIGITS_MAX) ||
		    head.ticks == 0 || head.ticks >> 62 || head.ns >> 62 || !rankmap_get(&t->events, rank, &events) ||
		    head.events > (uint64_t)events || (t->timing_count && t->timing[t->timing_count - 1].rank >= rank))
			return -1;
		struct trace_timing *to = timing_add(t, &head);
		for (; to && flows > 0; flows--)
			if (get_flow(r, t, to, final) != 0)
				return -1;
		if (!to || (final && get_coded(r, to) != 0))
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}
