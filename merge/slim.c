/* SPDX-License-Identifier: BSD-3-Clause
 * slim - how large the file of a lossy trace may be
 */
#include "merge/slim.h"

#include <stdlib.h>

#include "merge/merge.h"
#include "merge/path_cut.h"

/* For lossy:30, and everything below that; in proportion to the threshold above it. */
enum { BYTES = 16384, BYTES_SITE = 40, THRESHOLD = 30 };

size_t slim_bytes(const struct trace *t)
{
	if (!t->loss.lossy || !t->loss.structure || !trace_is_final(t))
		return SIZE_MAX;
	uint64_t bytes = BYTES + (uint64_t)BYTES_SITE * t->site_count, threshold = t->loss.threshold;
	if (threshold <= THRESHOLD)
		return bytes;
	return threshold < SIZE_MAX / bytes ? bytes * threshold / THRESHOLD : SIZE_MAX;
}

/* All values are the mean. The mean may be between two numbers. */
static void make_mean(struct histogram *h)
{
	if (h->count < 2 || h->bin_count == 0)
		return;
	h->min = h->sum / h->count;
	h->max = h->min + (h->sum % h->count != 0);
	h->max_rank = h->min_rank;
	h->min_visit = h->max_visit = 0;
	h->squares = (uint128)h->sum * h->sum / h->count;
	h->bins[0] = (struct histogram_bin){h->count, h->min, h->max, h->sum, h->squares};
	h->bin_count = 1;
}

static int compare_sums(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* What a computation takes in all at most, if those that take no longer are together no more than 1/part of all.
 * Returns 0, or -1 on no memory. */
static int find_least(const struct trace *t, uint64_t part, uint64_t *least)
{
	size_t n = 0, count = 0;
	uint64_t all = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		n += t->sites[i].edge_count;
	uint64_t *sums = malloc((n + 1) * sizeof *sums);
	if (!sums)
		return -1;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			all += sums[count++] = t->sites[i].edges[k].compute.sum;
	qsort(sums, count, sizeof *sums, compare_sums);
	*least = 0;
	for (uint64_t i = 0, together = 0; i < count && (together += sums[i]) <= all / part; i++)
		*least = sums[i];
	free(sums);
	return 0;
}

static int make_means(struct trace *t, uint64_t part)
{
	uint64_t least;
	if (find_least(t, part, &least) != 0)
		return -1;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (t->sites[i].edges[k].compute.sum <= least)
				make_mean(&t->sites[i].edges[k].compute);
	return 1;
}

/* Whatever varies has no order any more, as with lossy:0. */
static int give_up_order(struct trace *t)
{
	struct error error;
	struct trace_loss loss = t->loss;
	t->loss.threshold = 0;
	int rv = merge_finish(t, &error);
	t->loss = loss;
	return rv == 0 ? 1 : -1;
}

static int cut_paths(struct trace *t)
{
	struct error error;
	int rv = path_cut(t);
	return rv == 1 && merge_finish(t, &error) != 0 ? -1 : rv;
}

static int take_step(struct trace *t, unsigned step)
{
	switch (step) {
	case 0:
		return make_means(t, 100);
	case 1:
		return make_means(t, 10);
	case 2:
		return make_means(t, 1);
	case 3:
		return give_up_order(t);
	case 4:
		return cut_paths(t);
	default:
		return 0;
	}
}

int slim_shrink(struct trace *t, unsigned step)
{
	int rv = take_step(t, step);
	if (rv == 1 && t->loss.slim < step + 1)
		t->loss.slim = step + 1;
	return rv;
}

const char *slim_given_up(const struct trace *t)
{
	static const char *const texts[SLIM_STEPS + 1] = {
		NULL,
		"computations that took 1 % of the time are only means",
		"computations that took 10 % of the time are only means",
		"computations are only means",
		"computations are only means, and what varies has no order",
		"computations are only means, what varies has no order, and call paths have only the frames that tell "
		"them apart",
	};
	return texts[t->loss.slim];
}

int slim_encode(struct trace *t, const struct chunk *meta, const struct codec *codec, uint8_t **bytes, size_t *size)
{
	int rv = 0;
	const size_t most = slim_bytes(t);
	for (unsigned step = 0; *size > most && rv == 0; step++) {
		int shrunk = slim_shrink(t, step);
		if (shrunk == 0)
			break;
		free(*bytes);
		*bytes = NULL;
		rv = shrunk < 0 ? -1 : trace_encode(t, meta, 1, codec, bytes, size);
	}
	return rv;
}
