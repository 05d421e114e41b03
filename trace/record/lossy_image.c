/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_image - what a column of an arena holds that gave up its order
 */

#include "trace/base/budget.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"
#include "trace/model/trace.h"

bool lossy_add_vector(struct tally *lengths, struct tally *elements, const int64_t *values, size_t n, uint64_t times)
{
	if (n == SIZE_MAX)
		return tally_add(lengths, *values, times) == 0;
	if (tally_add(lengths, (int64_t)n, times) != 0)
		return false;
	for (size_t i = 0; i < n;) {
		size_t k = i + 1;
		while (k < n && values[k] == values[i])
			k++;
		if (tally_add(elements, values[i], (k - i) * times) != 0)
			return false;
		i = k;
	}
	return true;
}

static int take_tally(const struct columns *x, const struct lossy_tally *t, struct tally *out)
{
	if (t->count == 0)
		return 0;
	if (!arena_valid(x->arena, t->bins, t->count * (uint64_t)sizeof(struct tally_bin)))
		return -1;
	struct tally v = {arena_at(x->arena, struct tally_bin, t->bins), t->count, t->count};
	for (uint32_t i = 0; i < v.count; i++) {
		const struct tally_bin *b = &v.bins[i];
		if (b->count == 0 || b->max < b->min || (value_is_constant(b->min) && b->min != b->max) ||
		    b->min == VALUE_LOSSY || (i > 0 && b->min <= v.bins[i - 1].max))
			return -1;
	}
	return tally_copy(out, &v);
}

/* The vector under way, `run` times. */
static int take_vector(const struct columns *x, const struct lossy *l, uint64_t run, struct lossy_image *out)
{
	ref at = l->vector[l->which & 1].at;
	if (!at) {
		out->others[0] += run;
		return 0;
	}
	if (!arena_valid(x->arena, at, sizeof(struct record_vector)))
		return -1;
	const struct record_vector *v = arena_at(x->arena, struct record_vector, at);
	if (!arena_valid(x->arena, at, sizeof *v + v->count * (uint64_t)sizeof *v->values))
		return -1;
	return lossy_add_vector(&out->values, &out->elements, v->values, v->count, run) ? 0 : -1;
}

/* What is counted of a run. */
static int take_run(const struct column *c, struct lossy_image *out, int64_t value, uint64_t length)
{
	if (value == VALUE_NONE || value == VALUE_LOSSY)
		return -1;
	if ((c->role & ROLE_KINDS) != ROLE_NEXT)
		return tally_add(&out->values, value, length);
	size_t i = 0;
	while (i < out->next_count && out->next[i].to != (uint64_t)value)
		i++;
	if (i == out->next_count)
		out->next[out->next_count++].to = (uint32_t)value;
	return out->next[i].to == (uint64_t)value ? tally_add(&out->next[i].runs, (int64_t)length, 1) : -1;
}

/* The vectors that wait, and the one under way, up to `visits`. */
static int take_vectors(const struct column *c, const struct lossy *l, const int64_t *q, uint64_t visits,
                        struct lossy_image *out)
{
	const uint64_t header = sizeof(struct lossy_waiting) / sizeof *q;
	for (uint64_t at = l->counted, after; at + header < c->queued + UINT64_C(1); at = after) {
		const struct lossy_waiting *w = (const struct lossy_waiting *)(const void *)(q + at), *next;
		uint64_t n = w->count == SIZE_MAX ? 1 : w->count;
		if (w->visit >= visits)
			return 0;
		if (n > LOSSY_QUEUE_WORDS || at + header + n > c->queued)
			return -1;
		after = at + header + n;
		next = (const struct lossy_waiting *)(const void *)(q + after);
		uint64_t end = after + header <= c->queued && next->visit < visits ? next->visit : visits;
		if (end <= w->visit ||
		    !lossy_add_vector(&out->values, &out->elements, w->values, w->count, end - w->visit))
			return -1;
	}
	return 0;
}

/* What waits to be counted, and what is under way, up to `visits`. */
static int take_queue(const struct columns *x, const struct column *c, const struct lossy *l, uint64_t visits,
                      struct lossy_image *out)
{
	if (!arena_valid(x->arena, c->queue, lossy_queue_bytes(c)) || c->queued > LOSSY_QUEUE_WORDS)
		return -1;
	const int64_t *q = arena_at(x->arena, int64_t, c->queue);
	if ((c->role & ROLE_KINDS) == ROLE_VECTOR)
		return take_vectors(c, l, q, visits, out);
	uint64_t n = visits > c->start ? visits - c->start : 0, length = l->run_length;
	int64_t value = l->run_value;
	if (n > LOSSY_QUEUE)
		return -1;
	for (uint64_t i = l->counted; i < n; i++) {
		if (length > 0 && q[i] != value) {
			if (take_run(c, out, value, length) != 0)
				return -1;
			length = 0;
		}
		value = q[i];
		length++;
	}
	return length > 0 ? take_run(c, out, value, length) : 0;
}

/* Of each successor, and room for those in the queue. */
static int take_next(const struct columns *x, const struct lossy *l, struct lossy_image *out)
{
	if (l->next_count && !arena_valid(x->arena, l->next, l->next_count * (uint64_t)sizeof(struct lossy_next)))
		return -1;
	out->next = budget_calloc(l->next_count + UINT64_C(1) + LOSSY_QUEUE, sizeof *out->next);
	if (!out->next)
		return -1;
	for (uint32_t i = 0; i < l->next_count; i++) {
		const struct lossy_next *next = &arena_at(x->arena, struct lossy_next, l->next)[i];
		struct lossy_runs *r = &out->next[out->next_count++];
		r->to = next->to;
		if (take_tally(x, &next->runs, &r->runs) != 0)
			return -1;
	}
	return 0;
}

/* Successors that there was no memory to count runs of. */
static void drop_empty(struct lossy_image *out)
{
	size_t n = 0;
	for (size_t i = 0; i < out->next_count; i++)
		if (out->next[i].runs.count > 0)
			out->next[n++] = out->next[i];
		else
			tally_free(&out->next[i].runs);
	out->next_count = n;
}

int lossy_extract(struct columns *x, struct column *c, uint64_t visits, struct lossy_image *out)
{
	*out = (struct lossy_image){.why = WHY_MEMORY};
	if (c->lossy == LOSSY_FORGOTTEN) {
		out->others[0] = visits;
		return 0;
	}
	if (!arena_valid(x->arena, c->lossy, sizeof(struct lossy)))
		return -1;
	const struct lossy *l = arena_at(x->arena, struct lossy, c->lossy);
	uint64_t run = visits > c->start ? visits - c->start : 0;
	int role = c->role & ROLE_KINDS, rv = 0;
	out->why = l->why;
	out->since = l->since;
	out->others[0] = l->others[0];
	out->others[1] = l->others[1];
	if (l->prefix && !arena_valid(x->arena, l->prefix, sizeof *out->prefix))
		return -1;
	out->prefix = lossy_prefix(x, c);
	if (out->prefix && (out->prefix->lossy || out->prefix->start > visits))
		return -1;
	if ((role == ROLE_NEXT ? take_next(x, l, out) : take_tally(x, &l->tally, &out->values)) != 0 ||
	    take_tally(x, &l->elements, &out->elements) != 0)
		return -1;
	if (c->queue)
		rv = take_queue(x, c, l, visits, out);
	else if (run && c->expect != VALUE_NONE)
		rv = take_run(c, out, c->expect, run);
	else if (run && role == ROLE_VECTOR)
		rv = take_vector(x, l, run, out);
	drop_empty(out);
	return rv;
}

void lossy_image_free(struct lossy_image *image)
{
	tally_free(&image->values);
	tally_free(&image->elements);
	for (size_t i = 0; i < image->next_count; i++)
		tally_free(&image->next[i].runs);
	budget_free(image->next);
	*image = (struct lossy_image){0};
}
