/* SPDX-License-Identifier: BSD-3-Clause
 * digest - files that are no traces, names that are not for a terminal, and the sums of a trace that is known
 */
#include "archive/digest.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/regular.h"

enum { RANKS = 4, SENDS = RANKS * SAMPLE_STEPS, GATHERS = RANKS * SAMPLE_STEPS / 4, UNKNOWNS = RANKS * 4 };

static void write_file(const void *bytes, size_t n)
{
	FILE *f = fopen("file", "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
}

static void refused(const char *what, const void *bytes, size_t n, int64_t owner)
{
	struct digest d;
	struct error error = {""};
	unlink("file");
	if (bytes)
		write_file(bytes, n);
	ok(digest_read(&d, "file", owner, &error) == -1 && error.text[0] && d.function_count == 0, "refused: %s: %s",
	   what, error.text);
	digest_free(&d);
}

static void test_files(void)
{
	struct digest d;
	size_t n;
	uint8_t *bytes = sample_bytes(RANKS, 0, &n);
	scratch_enter();
	refused("no file", NULL, 0, REGULAR_ANYBODY);
	refused("nothing", "", 0, REGULAR_ANYBODY);
	refused("half of a trace", bytes, n / 2, REGULAR_ANYBODY);
	refused("somebody else's", bytes, n, (int64_t)getuid() + 1);
	bytes[n - 1] ^= 1;
	refused("a damaged one", bytes, n, REGULAR_ANYBODY);
	bytes[n - 1] ^= 1;
	write_file(bytes, n);
	ok(digest_read(&d, "file", getuid(), NULL) == 0 && d.figures.ranks == RANKS, "a good one");
	digest_free(&d);
	unlink("file");
	free(bytes);
}

static const union figure_calls *calls_of(const struct digest *d, const char *name)
{
	for (size_t i = 0; i < d->function_count; i++)
		if (!strcmp(d->functions[i].name, name))
			return &d->functions[i].calls;
	return NULL;
}

static void test_sums(void)
{
	struct trace t;
	struct digest d;
	uint64_t bytes = 0, sizes = 0;
	for (int i = 0; i < SAMPLE_STEPS; i++)
		bytes += (uint64_t)RANKS * 4 * (100 + (uint64_t)i);
	sample_merged(&t, RANKS, 0);
	ok(digest_make(&d, &t, NULL) == 0 && d.figures.ranks == RANKS &&
	           d.figures.events == 2 * SENDS + GATHERS + UNKNOWNS && d.figures.lost == 0,
	   "ranks, events");
	ok(d.figures.messages == SENDS && d.figures.bytes == bytes && d.figures.unsized == 0, "messages, bytes");
	for (int i = 0; i < ACTIVITY_SIZES; i++)
		sizes += d.sizes[i];
	ok(sizes == SENDS && d.sizes[activity_class(400)] == SENDS, "and their sizes");
	const union figure_calls *send = calls_of(&d, "MPI_Send"), *gather = calls_of(&d, "MPI_Gather");
	bool ordered = d.function_count == SAMPLE_SITES;
	for (size_t i = 1; i < d.function_count; i++)
		ordered &= strcmp(d.functions[i - 1].name, d.functions[i].name) < 0;
	ok(ordered && send && send->calls == SENDS && send->bytes == bytes && gather && gather->calls == GATHERS,
	   "functions by name");
	ok(send->ns >= RANKS * SAMPLE_STEPS * 50 && send->peak_ns >= send->ns, "times");
	bool by_time = d.site_count == SAMPLE_SITES;
	for (size_t i = 1; i < d.site_count; i++)
		by_time &= d.sites[i - 1].calls.ns >= d.sites[i].calls.ns &&
		           d.sites[i - 1].identity != d.sites[i].identity;
	ok(by_time, "sites, most time first");
	digest_free(&d);
	ok(d.function_count == 0 && !d.sites, "empty afterwards");
	trace_free(&t);
}

/* Anybody makes modules, and names them. Of a long call path the innermost frames are kept. */
static void test_names(void)
{
	struct trace t;
	struct digest d = {.late_rank = -1};
	if (trace_init(&t) != 0)
		abort();
	t.size = 1;
	uint32_t string = pool_intern(&t.strings, "/a b/x\x1b[2J\xff\x7fy", 13), node = 0,
		 module = trace_module(&t, (struct trace_module){.name = string});
	for (uint64_t i = 0; i < 5; i++)
		node = trace_node(&t, (struct trace_node){node, module, 16 + i});
	uint32_t function = trace_function(&t, pool_intern(&t.strings, "MPI_Barrier comm:c", 18));
	trace_site(&t, function, node, false);
	struct trace_site *s = &t.sites[0];
	s->communicate = (struct histogram){.count = 1, .sum = UINT64_MAX, .min = 7, .max = 7};
	s->most = UINT64_MAX;
	rankmap_single(&s->visits, 0, 2, false);
	ok(digest_make(&d, &t, NULL) == 0 && d.site_count == 1 &&
	           !strcmp(d.sites[0].frames, "x?[2J??y+0x14 < x?[2J??y+0x13 < x?[2J??y+0x12 ..."),
	   "names for a terminal: %s", d.site_count ? d.sites[0].frames : "-");
	ok(d.site_count == 1 && d.sites[0].calls.peak_ns == UINT64_MAX, "sums that are too large stay the largest");
	digest_free(&d);
	trace_free(&t);
}

static int make(void *context)
{
	struct digest d;
	int rv = digest_make(&d, context, NULL);
	digest_free(&d);
	return rv;
}

int main(void)
{
	struct trace t;
	test_files();
	test_sums();
	test_names();
	sample_merged(&t, RANKS, SAMPLE_LOSSY);
	ok(fails_well(make, &t), "no memory");
	trace_free(&t);
	return tap_end();
}
