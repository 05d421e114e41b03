/* SPDX-License-Identifier: BSD-3-Clause
 * library - prints the events of a rank, as `spoor dump` does, with libspoor's header and nothing else: library FILE RANK
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

int main(int argc, char **argv)
{
	char error[SPOOR_ERROR_SIZE] = "";
	static struct spoor_event e;
	int rv = -1;

	struct spoor_trace *t = argc == 3 ? spoor_open(argv[1], error) : NULL;
	struct spoor_walk *w = t ? spoor_walk_begin(t, (uint32_t)atoi(argv[2]), error) : NULL;
	while (w && (rv = spoor_walk_next(w, &e, error)) == 0) {
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
		fprintf(stderr, "%s %u ranks, %" PRIu64 " events, %s, %s, frame %d %s, metadata %c\n", spoor_version(), spoor_ranks(t),
		        spoor_events(t, (uint32_t)atoi(argv[2])), spoor_site_function(t, e.site), spoor_host(t, 0), gap, module, metadata[0]);
	}
	if (rv < 0)
		fprintf(stderr, "library: %s\n", error);
	spoor_walk_end(w);
	spoor_close(t);
	return rv > 0 ? 0 : 1;
}
