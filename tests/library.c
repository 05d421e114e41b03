/* SPDX-License-Identifier: BSD-3-Clause
 * library - with libspoor's header and nothing else: library FILE RANK prints the events of a rank, as `spoor dump`
 * does; library FILE RANK time those of all its threads, as `spoor dump --by-time` does; library FILE prints all times
 * and counts, as tests/reader.py does
 */
#include "lib/spoor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char b = (unsigned char)*text;
		if (b == '"' || b == '\\')
			printf("\\%c", b);
		else if (b < 0x20 || b == 0x7f)
			printf("\\x%02x", b);
		else
			putchar(b);
	}
	putchar('"');
}

static void print_value(const struct spoor_trace *t, const struct spoor_value *v)
{
	struct spoor_value element;

	switch (v->kind) {
	case SPOOR_ABSENT:
		putchar('-');
		break;
	case SPOOR_INTEGER:
		printf("%" PRId64, v->integer);
		break;
	case SPOOR_CONSTANT:
		fputs(v->text, stdout);
		break;
	case SPOOR_SYMBOL:
		printf("%c%" PRId64, v->letter, v->integer);
		if (v->count > 0)
			printf("@%" PRIu32, v->count - 1);
		break;
	case SPOOR_TEXT:
		print_text(v->text);
		break;
	case SPOOR_UNKNOWN:
		putchar('?');
		break;
	case SPOOR_ARRAY:
		putchar('[');
		for (uint32_t i = 0; spoor_element(t, v, i, &element) == 0; i++) {
			if (i > 0)
				putchar(',');
			print_value(t, &element);
		}
		putchar(']');
		break;
	}
}

static void print_stream(uint32_t rank, uint32_t thread)
{
	printf(thread > 0 ? " %u.%u" : " %u", rank, thread);
}

static void print_histogram(const char *what, const struct spoor_trace *t, uint32_t site, uint32_t edge,
                            const struct spoor_histogram *h)
{
	struct spoor_bin bin;
	uint64_t inside = 0;

	if (h->count == 0)
		return;
	printf("%s %u ", what, site);
	if (edge == SPOOR_CALLS)
		putchar('-');
	else
		printf("%u", spoor_edge_to(t, site, edge));
	printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, h->count, h->sum, h->min);
	print_stream(h->min_rank, h->min_thread);
	printf(" %" PRIu64 " %" PRIu64, h->min_visit, h->max);
	print_stream(h->max_rank, h->max_thread);
	printf(" %" PRIu64, h->max_visit);
	for (uint32_t i = 0; spoor_bin(h, i, &bin) == 0; i++) {
		if (h->bins > 1)
			printf(" %" PRIu64 "*%" PRIu64 "..%" PRIu64, bin.count, bin.min, bin.max);
		inside += bin.mean >= (double)bin.min && bin.mean <= (double)bin.max && bin.deviation >= 0 ? bin.count
		                                                                                           : 0;
	}
	puts(inside == (h->bins > 0 ? h->count : 0) && h->mean >= (double)h->min && h->mean <= (double)h->max &&
	                     h->deviation >= 0
	             ? ""
	             : " wrong");
}

/* The times of events of all threads. */
static int print_events(const struct spoor_trace *t, char *error)
{
	static struct spoor_event e;
	struct spoor_timing timing;
	uint64_t begin, end;
	int rv = 0;

	for (uint32_t i = 0; i < spoor_threads(t) * spoor_ranks(t) && rv >= 0; i++) {
		uint32_t rank = i % spoor_ranks(t), thread = i / spoor_ranks(t);
		if (spoor_timing(t, rank, thread, &timing))
			continue;
		struct spoor_walk *w = spoor_walk_begin_thread(t, rank, thread, error);
		for (rv = w ? 0 : -1; rv == 0 && (rv = spoor_walk_next(w, &e, error)) == 0 &&
		                      (rv = spoor_walk_times(w, &begin, &end, error)) == 0;) {
			printf("event");
			print_stream(rank, thread);
			printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", e.number, begin, end);
		}
		if (rv > 0 && (timing.events != spoor_thread_events(t, rank, thread) || timing.start <= 0 ||
		               spoor_walk_times(w, &begin, &end, error) != 1))
			puts("wrong");
		spoor_walk_end(w);
	}
	return rv < 0 ? -1 : 0;
}

static int print_times(const char *path, char *error)
{
	struct spoor_trace *t = spoor_open(path, error);
	struct spoor_counter c = {"time", "", 0, 0};
	struct spoor_histogram h;

	if (!t)
		return -1;
	for (uint32_t counter = UINT32_MAX; counter == UINT32_MAX || spoor_counter(t, counter, &c) == 0; counter++)
		for (uint32_t site = 0; site < spoor_sites(t); site++)
			for (uint32_t edge = SPOOR_CALLS; edge == SPOOR_CALLS || edge < spoor_site_edges(t, site);
			     edge++)
				if ((counter == UINT32_MAX ? spoor_time(t, site, edge, &h)
				                           : spoor_count(t, site, edge, counter, &h)) == 0)
					print_histogram(c.name, t, site, edge, &h);
	for (uint32_t i = 0; spoor_counter(t, i, &c) == 0; i++)
		printf("counter %s %" PRIu64 " %" PRIu64 "%s%s\n", c.name, c.ranks, c.missing, *c.reason ? " " : "",
		       c.reason);
	int rv = print_events(t, error);
	static const char *const names[] = {"compute", "elapsed", "overhead"};
	struct spoor_total total;
	for (int kind = SPOOR_COMPUTE; spoor_total(t, (enum spoor_total_kind)kind, &total) == 0; kind++) {
		uint64_t ns = 0, known = 0;
		for (uint32_t i = 0; i < spoor_threads(t) * spoor_ranks(t); i++)
			known += spoor_rank_total(t, (enum spoor_total_kind)kind, i % spoor_ranks(t),
			                          i / spoor_ranks(t), &ns) == 0 &&
			         ns >= total.min && ns <= total.max;
		fprintf(stderr,
		        "%s %" PRIu64 " ranks, %" PRIu64 " known, %" PRIu64 " in all, %" PRIu64 "..%" PRIu64 "\n",
		        names[kind], total.ranks, known, total.sum, total.min, total.max);
	}
	/* what is not there */
	if (spoor_time(t, spoor_sites(t), SPOOR_CALLS, &h) != -1 || spoor_time(t, 0, 1000000, &h) != -1 ||
	    spoor_count(t, 0, SPOOR_CALLS, 99, &h) != -1 || spoor_edge_to(t, 0, 1000000) != UINT32_MAX ||
	    spoor_site_edges(t, UINT32_MAX) != 0 || spoor_timing(t, spoor_ranks(t), 0, &(struct spoor_timing){0}) != 1)
		puts("wrong");
	spoor_close(t);
	return rv;
}

int main(int argc, char **argv)
{
	char error[SPOOR_ERROR_SIZE] = "";
	static struct spoor_event e;
	int rv = -1;

	if (argc == 2) {
		if ((rv = print_times(argv[1], error)))
			fprintf(stderr, "library: %s\n", error);
		return rv ? 1 : 0;
	}
	struct spoor_trace *t = argc == 3 || argc == 4 ? spoor_open(argv[1], error) : NULL;
	struct spoor_walk *w =
		t ? (argc == 4 ? spoor_walk_begin_time : spoor_walk_begin)(t, (uint32_t)atoi(argv[2]), error) : NULL;
	while (w && (rv = spoor_walk_next(w, &e, error)) == 0) {
		if (argc == 4 && spoor_threads(t) > 1) {
			printf("%s%s", spoor_walk_exact(w) ? "" : "~", argv[2]);
			if (spoor_walk_thread(w) > 0)
				printf(".%" PRIu32, spoor_walk_thread(w));
			printf(": ");
		}
		printf("%" PRIu64 " %s", e.number, e.function);
		for (uint32_t i = 0; i < e.count; i++) {
			printf(" %s=", e.names[i]);
			print_value(t, &e.values[i]);
		}
		putchar('\n');
	}
	if (w && rv > 0) {
		const char *module = "", *metadata = spoor_metadata(t);
		uint64_t offset = 0;
		int gap = spoor_site_frame(t, e.site, 0, &module, &offset);
		fprintf(stderr, "%s %u ranks, %" PRIu64 " events, %s, %s, frame %d %s, metadata %c\n", spoor_version(),
		        spoor_ranks(t), spoor_events(t, (uint32_t)atoi(argv[2])), spoor_site_function(t, e.site),
		        spoor_host(t, 0), gap, module, metadata[0]);
	}
	if (rv < 0)
		fprintf(stderr, "library: %s\n", error);
	spoor_walk_end(w);
	spoor_close(t);
	return rv > 0 ? 0 : 1;
}
