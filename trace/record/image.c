/* SPDX-License-Identifier: BSD-3-Clause
 * image - a column when it is taken out of its arena
 */
#include "trace/record/image.h"

#include "trace/base/budget.h"
#include "trace/model/pattern.h"
#include "trace/record/edited.h"
#include "trace/record/raw_image.h"

void column_image_free(struct column_image *image)
{
	writer_free(&image->pattern);
	budget_free(image->dict);
	budget_free(image->edits);
	*image = (struct column_image){0};
}

static bool image_add(struct column_image *image, size_t *capacity, struct dict_run r)
{
	if (image->dict_count == *capacity) {
		size_t more = *capacity ? *capacity * 2 : 4;
		struct dict_run *dict = budget_realloc(image->dict, more * sizeof *dict);
		if (!dict)
			return false;
		image->dict = dict;
		*capacity = more;
	}
	image->dict[image->dict_count++] = r;
	return true;
}

/* Adds a stretch as its single values. */
static bool image_add_single(struct column_image *image, size_t *capacity, const struct dict_run *r)
{
	for (uint64_t k = 0; k < r->count; k++)
		if (!image_add(image, capacity,
		               (struct dict_run){.start = (int64_t)((uint64_t)r->start + (uint64_t)r->stride * k),
		                                 .count = 1}))
			return false;
	return true;
}

/* Cuts the first `count` values of the dictionary into canonical stretches: from left to right, as long as possible, a
 * stretch of fewer than DICT_STRETCH values as single values; named constants and references always as single values.
 * Depends on the values alone, not on how the recorder had cut them. */
static bool image_dict(struct column_image *image, const struct dict_run *runs, uint32_t n, uint64_t count,
                       bool references)
{
	size_t capacity = 0;
	struct dict_run now = {0};
	for (uint32_t i = 0; i < n && count > 0; i++) {
		uint64_t take = runs[i].count < count ? runs[i].count : count;
		count -= take;
		for (uint64_t k = 0; k < take;) {
			int64_t value = (int64_t)((uint64_t)runs[i].start + (uint64_t)runs[i].stride * k);
			bool single = references || value_is_constant(value);
			if (now.count > 1 && !single &&
			    value == (int64_t)((uint64_t)now.start + (uint64_t)now.stride * now.count)) {
				/* the rest of this stretch follows at once if it has the same stride */
				uint64_t step = runs[i].stride == now.stride ? take - k : 1;
				now.count += step;
				k += step;
			} else if (now.count == 1 && !single && !value_is_constant(now.start)) {
				now.stride = (int64_t)((uint64_t)value - (uint64_t)now.start);
				now.count = 2;
				k++;
			} else if (now.count > 1 && now.count < DICT_STRETCH && !single) {
				/* too short: its first value is single, and what is left may be longer with this one */
				if (!image_add(image, &capacity, (struct dict_run){.start = now.start, .count = 1}))
					return false;
				now.start = (int64_t)((uint64_t)now.start + (uint64_t)now.stride);
				now.count--;
			} else {
				bool whole = now.count >= DICT_STRETCH;
				if (whole ? !image_add(image, &capacity, now)
				          : !image_add_single(image, &capacity, &now))
					return false;
				now = (struct dict_run){.start = value, .count = 1};
				k++;
			}
		}
	}
	if (now.count >= DICT_STRETCH ? !image_add(image, &capacity, now) : !image_add_single(image, &capacity, &now))
		return false;
	return count == 0;
}

/* What a column of an untrusted arena refers to is inside the arena. */
static bool column_valid(struct columns *x, struct column *c)
{
	struct arena *a = x->arena;
	if (c->dict ? !arena_valid(a, c->dict, (uint64_t)c->dict_count * sizeof(struct dict_run)) : c->dict_count > 1)
		return false;
	const struct dict_run *runs = column_dict(x, c);
	uint64_t first = 0;
	for (uint32_t i = 0; i < c->dict_count; i++) {
		if (runs[i].first != first || runs[i].count == 0 || runs[i].count > INT64_MAX - first)
			return false;
		first += runs[i].count;
	}
	if (c->period_length &&
	    (!c->grammar || !arena_valid(a, c->period, (uint64_t)c->period_length * sizeof(struct period_run)) ||
	     (uint32_t)c->loop >= c->period_length || c->flushed > (uint32_t)c->loop))
		return false;
	if (c->grammar && grammar_index_add(&x->grammars, c->grammar) != 0)
		return false;
	/* a loop's rule must still be one of the grammar's: it is what the grammar ends with */
	if (c->period_length && c->loop >> 32 && grammar_loop(&x->grammars, c->grammar) != c->rule)
		return false;
	return true;
}

/* The pattern of a column that is not constant, all of it. */
static int image_pattern(struct columns *x, struct column *c, uint64_t run, struct writer *out)
{
	if (!c->grammar) {
		uint64_t counts[2] = {c->lead, run};
		uint64_t tokens[2] = {0, c->token};
		unsigned from = c->lead ? 0 : 1, end = run ? 2 : 1;
		if (from < end && end - from == 2 &&
		    tokens[1] == 0) { /* a crash between two stores: the lead again, as the run */
			from = 1;
			counts[1] += counts[0];
		}
		writer_uint(out, 1);
		writer_uint(out, end - from);
		for (unsigned i = from; i < end; i++) {
			writer_uint(out, tokens[i] << 2 | (counts[i] > 1));
			if (counts[i] > 1)
				writer_uint(out, counts[i]);
		}
		return out->failed ? -1 : 0;
	}
	if (run && column_close(x, c, run) != 0)
		return -1;
	return grammar_write(&x->grammars, c->grammar, out);
}

/* Replays the first `visits` values of a pattern and its dictionary into a new column, and takes that out. */
static int extract_prefix(const struct pattern *p, const struct dict_run *runs, uint32_t n, uint64_t visits,
                          bool references, struct column_image *out)
{
	int rv = -1;
	struct arena scratch;
	struct columns x;
	struct pattern_cursor cursor = {0};
	uint32_t token, stretch = 0;
	uint64_t count, known = 0, done = 0;
	if (arena_create(&scratch, NULL, UINT64_C(1) << 28, NULL) != 0)
		return -1;
	ref r = arena_alloc(&scratch, sizeof(struct column));
	if (columns_init(&x, &scratch) != 0 || pattern_begin(&cursor, p) != 0)
		goto done;
	struct column *c = arena_at(&scratch, struct column, r);
	column_init(c);
	while (done < visits && pattern_next(&cursor, &token, &count) == 0) {
		for (; count > 0 && done < visits; count--, done++) {
			if (!budget_step(1))
				goto done;
			uint64_t index = token == PATTERN_NEW ? known++ : token - 1;
			/* stretches are walked forward for new values, and searched for old ones */
			uint32_t at = index < runs[stretch].first ? 0 : stretch;
			while (at < n && index >= runs[at].first + runs[at].count)
				at++;
			if (at == n)
				goto done;
			if (token == PATTERN_NEW)
				stretch = at;
			column_put(&x, c, done,
			           (int64_t)((uint64_t)runs[at].start +
			                     (uint64_t)runs[at].stride * (index - runs[at].first)));
			arena_commit(&scratch);
		}
	}
	if (done == visits && !x.failed)
		rv = column_extract(&x, c, visits, references, out);
done:
	pattern_end(&cursor);
	columns_free(&x);
	arena_close(&scratch);
	return rv;
}

/* Checks what is behind the raw values, and ends what is under way in it. Returns 0 or -1. */
static int image_begin(struct columns *x, struct column *c, uint64_t run)
{
	if (!column_valid(x, c) || c->dict_count == 0)
		return -1;
	if (run > c->synced && run - c->synced > INT64_MAX / 2 - column_dict(x, c)[c->dict_count - 1].first)
		return -1;
	return column_settle(x, c, run);
}

/* Of a pattern and a dictionary in `out` and runs: the first `visits` values. */
static int image_end(struct column_image *out, const struct dict_run *runs, uint32_t n, uint64_t visits,
                     bool references)
{
	int rv = -1;
	struct pattern pattern = {0};
	if (pattern_parse(&pattern, out->pattern.data, out->pattern.size) != 0 || !pattern_whole(&pattern) ||
	    pattern_length(&pattern) < visits)
		goto done;
	if (pattern_length(&pattern) == visits) {
		rv = image_dict(out, runs, n, pattern_news(&pattern), references) ? 0 : -1;
	} else {
		writer_free(&out->pattern);
		rv = extract_prefix(&pattern, runs, n, visits, references, out);
	}
done:
	pattern_free(&pattern);
	return rv;
}

static int take_edit(void *context, int64_t number)
{
	struct column_image *out = context;
	if (number == VALUE_NONE || number == VALUE_LOSSY)
		return -1;
	out->edits[out->edit_count++] = number;
	return 0;
}

/* All of its values are edits: it never becomes anything else. */
static int extract_edited(struct columns *x, struct column *c, uint64_t visits, struct column_image *out)
{
	uint64_t n = edited_values(x->arena, c->raw, visits);
	if (n > SIZE_MAX / sizeof *out->edits || !budget_step(n) ||
	    !(out->edits = budget_malloc(n * sizeof *out->edits)))
		return -1;
	return raw_each(x->arena, c->raw, n, take_edit, out);
}

static int extract_raw(struct columns *x, struct column *c, uint64_t visits, bool references, struct column_image *out)
{
	int rv = -1;
	const uint64_t run = visits > c->start ? visits - c->start : 0;
	struct raw_image image = {0};
	struct writer rest = {0};
	if (!arena_valid(x->arena, c->raw, sizeof(struct raw)))
		return -1;
	if (edited_is(x, c))
		return (c->role & ROLE_KINDS) == ROLE_VECTOR ? extract_edited(x, c, visits, out) : -1;
	uint64_t raw = raw_count(x, c, visits);
	if (raw == 0 || raw_image_take(&image, x->arena, c->raw, raw) != 0)
		goto done;
	if (raw == visits) { /* what there is to know of the pattern is known: it may be long */
		if (image.dict_count > 1 && raw_image_write(&image, &out->pattern) != 0)
			goto done;
		rv = image_dict(out, image.dict, (uint32_t)image.dict_count, image.dict_count, references) ? 0 : -1;
		goto done;
	}
	if (image_begin(x, c, run) == 0 && image_pattern(x, c, run, &rest) == 0 &&
	    raw_image_append(&image, &rest, column_dict(x, c), c->dict_count) == 0 &&
	    raw_image_write(&image, &out->pattern) == 0)
		rv = image_end(out, image.dict, (uint32_t)image.dict_count, visits, references);
done:
	writer_free(&rest);
	raw_image_free(&image);
	return rv;
}

int column_extract(struct columns *x, struct column *c, uint64_t visits, bool references, struct column_image *out)
{
	*out = (struct column_image){.visits = visits};
	if (visits == 0)
		return 0;
	if (c->raw)
		return extract_raw(x, c, visits, references, out);
	uint64_t run = visits > c->start ? visits - c->start : 0;
	if (image_begin(x, c, run) != 0)
		return -1;
	if (!c->grammar && c->lead <= 1 && (visits == 1 || (c->lead == 1 && c->token == 1 && run >= visits - 1)))
		return image_dict(out, column_dict(x, c), c->dict_count, 1, references) ? 0
		                                                                        : -1; /* constant: no pattern */
	if (image_pattern(x, c, run, &out->pattern) != 0)
		return -1;
	return image_end(out, column_dict(x, c), c->dict_count, visits, references);
}
