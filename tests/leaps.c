/* SPDX-License-Identifier: BSD-3-Clause
 * leaps - counts who sent how much to whom in both ways, with each event looked at and with turns of loops left out,
 * and compares all of it
 *
 *     leaps TRACE...       a line for each: events, and those that were looked at
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "insight/traffic.h"
#include "trace/file/container.h"

static const char *differ(const struct traffic *a, const struct traffic *b)
{
	if (a->count != b->count || (a->count && memcmp(a->cells, b->cells, a->count * sizeof *a->cells) != 0))
		return "pairs";
	if (a->file_count != b->file_count ||
	    (a->file_count && memcmp(a->files, b->files, a->file_count * sizeof *a->files) != 0))
		return "files";
	if (memcmp(&a->sums, &b->sums, sizeof a->sums) != 0)
		return "sums";
	return a->unordered != b->unordered ? "events without an order" : NULL;
}

static int compare(const char *path, const struct trace *t, struct error *error)
{
	struct traffic each, leaps = {.count = 0};
	int rv = traffic_make(&each, t, &(struct traffic_wish){.passed = true, .each = true}, error);
	if (rv == 0)
		rv = traffic_make(&leaps, t, &(struct traffic_wish){.passed = true}, error);
	const char *wrong = rv == 0 ? differ(&each, &leaps) : NULL;
	printf("%s: %" PRIu64 " events, %" PRIu64 " walked%s%s\n", path, each.walked, leaps.walked,
	       wrong ? ", not equal: " : "", wrong ? wrong : "");
	traffic_free(&each);
	traffic_free(&leaps);
	return wrong ? 1 : rv;
}

int main(int argc, char **argv)
{
	int wrong = 0;
	for (int i = 1; i < argc; i++) {
		struct error error = {""};
		struct container *c = NULL;
		struct trace t = {.size = 0};
		int rv = container_open(&c, argv[i], &codec_zstd, &error);
		if (rv == 0)
			rv = trace_decode(&t, c, &error);
		if (rv == 0)
			rv = compare(argv[i], &t, &error);
		if (rv < 0)
			fprintf(stderr, "leaps: %s: %s\n", argv[i], error.text);
		wrong |= rv != 0;
		trace_free(&t);
		container_destroy(c);
	}
	return wrong;
}
