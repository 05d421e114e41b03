/* SPDX-License-Identifier: BSD-3-Clause
 * mutate - writes a trace again and again, each time with two numbers swapped that follow each other
 *
 *     mutate FILE
 *
 * To standard output: the number of files; of each file its size (both 8 bytes, as this machine has them), and the
 * file. The first one is as it should be. In the next ones the numbers n and m are swapped, where m is the next number
 * of the same kind behind n in the same buffer, and another one: what a writer does that has mixed up two fields.
 */
#define MUTATED_INSIDE
#include "tests/mutation/mutated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "trace/file/container.h"
#include "trace/model/trace.h"

enum kind { UINT, INT, NUMBER, BITS };

/* A number that was written. */
struct written {
	const void *to;
	enum kind kind;
	unsigned how; /* context and digits, or bits: only such numbers can be swapped */
	uint64_t value;
};

static struct written *list;
static size_t count, capacity, next;
static bool records;
static size_t first = SIZE_MAX, second = SIZE_MAX; /* these two are swapped */

static uint64_t passed(const void *to, enum kind kind, unsigned how, uint64_t value)
{
	if (records) {
		if (count == capacity) {
			capacity = capacity ? 2 * capacity : 4096;
			if (!(list = realloc(list, capacity * sizeof *list)))
				abort();
		}
		list[count++] = (struct written){to, kind, how, value};
		return value;
	}
	size_t n = next++;
	return n == first ? list[second].value : n == second ? list[first].value : value;
}

void mutated_uint(struct writer *w, uint64_t v)
{
	writer_uint(w, passed(w, UINT, 0, v));
}

void mutated_int(struct writer *w, int64_t v)
{
	writer_int(w, (int64_t)passed(w, INT, 0, (uint64_t)v));
}

void mutated_number(struct entropy_writer *e, unsigned context, unsigned digits, uint64_t v)
{
	entropy_put_number(e, context, digits, passed(e, NUMBER, context << 8 | digits, v));
}

void mutated_bits(struct entropy_writer *e, unsigned bits, uint64_t v)
{
	entropy_put_bits(e, bits, passed(e, BITS, bits, v & ((UINT64_C(2) << (bits ? bits - 1 : 0)) - 1)));
}

/* The number to swap with; SIZE_MAX: there is none. */
static size_t partner(size_t n)
{
	for (size_t m = n + 1; m < count && m < n + 1000; m++)
		if (list[m].to == list[n].to && list[m].kind == list[n].kind && list[m].how == list[n].how)
			return list[m].value == list[n].value ? SIZE_MAX : m;
	return SIZE_MAX;
}

static void put_number(uint64_t v)
{
	fwrite(&v, sizeof v, 1, stdout);
}

static void encode(const struct trace *t, const struct chunk *further, size_t n, bool prints)
{
	uint8_t *bytes;
	size_t size;
	next = 0;
	if (trace_encode(t, further, n, NULL, &bytes, &size) != 0)
		abort();
	if (prints) {
		put_number(size);
		fwrite(bytes, size, 1, stdout);
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	struct error error;
	struct trace t = {.size = 0};
	struct container *c;
	struct chunk further[2];
	size_t n = 0, pairs = 0;
	if (argc != 2 || container_open(&c, argv[1], &codec_zstd, &error) != 0 || trace_decode(&t, c, &error) != 0) {
		fprintf(stderr, "mutate: %s\n", argc == 2 ? error.text : "one file, please");
		return 1;
	}
	for (size_t i = 0; i < container_count(c); i++)
		if (!strcmp(container_at(c, i)->id, "FACT") || !strcmp(container_at(c, i)->id, "META"))
			further[n++] = *container_at(c, i);
	records = true;
	encode(&t, further, n, false);
	records = false;
	for (size_t i = 0; i < count; i++)
		pairs += partner(i) != SIZE_MAX;
	put_number(pairs + 1);
	encode(&t, further, n, true);
	for (size_t i = 0; i < count; i++) {
		first = i;
		second = partner(i);
		if (second != SIZE_MAX)
			encode(&t, further, n, true);
	}
	trace_free(&t);
	container_destroy(c);
	free(list);
	return 0;
}
