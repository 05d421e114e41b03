/* SPDX-License-Identifier: BSD-3-Clause
 * unended_file - the stored form of what ranks were doing when they were killed: the chunk OPEN
 *
 * Invariant: sites ascend, and of one site the calls come before the computations; least <= mean <= most.
 */
#include "trace/file/unended_file.h"

#include "trace/file/rankmap_file.h"
#include "trace/model/packed.h"

static void put_passed(struct writer *w, struct diagram_file *maps, const struct trace_unended *u)
{
	writer_uint(w, u->passed.count);
	for (uint32_t i = 0; i < u->passed.count; i++) {
		const struct passed_value *v = &u->passed.each[i];
		writer_uint(w, v->column);
		writer_uint(w, v->element);
		rankmap_file_put_ranks(w, maps, &v->value, &u->ranks);
		rankmap_file_put(w, maps, &v->value);
	}
}

void unended_put(struct writer *w, struct diagram_file *maps, const struct trace *t)
{
	writer_uint(w, t->unended_count);
	for (uint32_t i = 0; i < t->unended_count; i++) {
		const struct trace_unended *u = &t->unended[i];
		writer_uint(w, u->site);
		writer_uint(w, !u->call);
		rankmap_file_put_ranks(w, maps, &u->ranks, &t->events);
		writer_uint(w, u->sum);
		writer_uint(w, u->min);
		writer_uint(w, u->max - u->min);
		writer_uint(w, u->min_rank);
		writer_uint(w, u->max_rank);
		if (u->call)
			put_passed(w, maps, u);
	}
}

static int get_value(struct reader *r, const struct diagram_file *maps, const struct schema *s,
                     const struct trace_unended *u, struct passed_value *v)
{
	struct rankmap ranks = {.level = 0};
	uint64_t column = reader_uint(r), element = reader_uint(r);
	const struct passed_value *before = u->passed.count ? &u->passed.each[u->passed.count - 1] : NULL;
	int rv = -1;
	if (r->bad || column >= s->count || element >= (s->column[column].vector ? PASSED_ELEMENTS : 1) ||
	    (before && (before->column > column || (before->column == column && before->element >= element))))
		return -1;
	v->column = (uint32_t)column;
	v->element = (uint32_t)element;
	if (rankmap_file_get_ranks(r, maps, &ranks, &u->ranks) == 0 && !rankmap_empty(&ranks))
		rv = rankmap_file_get(r, maps, &v->value, &ranks, false);
	rankmap_free(&ranks);
	return rv;
}

static int get_passed(struct reader *r, const struct diagram_file *maps, const struct trace *t, struct trace_unended *u)
{
	uint32_t function, node;
	packed_key(t, u->site, &function, &node);
	for (size_t n = reader_count(r); n > 0; n--) {
		struct passed_value v = {.column = 0};
		if (get_value(r, maps, &t->functions[function].schema, u, &v) != 0 ||
		    passed_add_take(&u->passed, &v) != 0) {
			rankmap_free(&v.value);
			return -1;
		}
	}
	return r->bad ? -1 : 0;
}

static bool unended_ok(const struct trace *t, const struct trace_unended *u)
{
	uint64_t ranks = rankmap_size(&u->ranks);
	int64_t unused;
	if (ranks == 0 || u->max > UNENDED_SANE || u->min > u->max || u->sum >> 62 ||
	    !rankmap_get(&u->ranks, u->min_rank, &unused) || !rankmap_get(&u->ranks, u->max_rank, &unused) ||
	    u->sum / ranks < u->min || u->sum / ranks > u->max)
		return false;
	const struct trace_unended *before = t->unended_count ? &t->unended[t->unended_count - 1] : NULL;
	return !before || before->site < u->site || (before->site == u->site && before->call && !u->call);
}

static int get_unended(struct reader *r, const struct diagram_file *maps, struct trace *t, struct trace_unended *u)
{
	uint64_t site = reader_uint(r), computes = reader_uint(r);
	if (r->bad || site >= t->site_count || computes > 1 ||
	    rankmap_file_get_ranks(r, maps, &u->ranks, &t->events) != 0)
		return -1;
	u->site = (uint32_t)site;
	u->call = !computes;
	u->sum = reader_uint(r);
	u->min = reader_uint(r);
	uint64_t more = reader_uint(r), min_rank = reader_uint(r), max_rank = reader_uint(r);
	if (r->bad || __builtin_add_overflow(u->min, more, &u->max) || min_rank > UINT32_MAX || max_rank > UINT32_MAX)
		return -1;
	u->min_rank = (uint32_t)min_rank;
	u->max_rank = (uint32_t)max_rank;
	if (!unended_ok(t, u))
		return -1;
	return u->call ? get_passed(r, maps, t, u) : 0;
}

int unended_get(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	for (size_t n = reader_count(r); n > 0; n--) {
		struct trace_unended u = {.site = 0};
		if (get_unended(r, maps, t, &u) != 0 || unended_add_take(t, &u) != 0) {
			rankmap_free(&u.ranks);
			passed_free(&u.passed);
			return -1;
		}
	}
	return r->bad || r->at != r->end ? -1 : 0;
}
