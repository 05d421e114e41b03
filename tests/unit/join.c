/* SPDX-License-Identifier: BSD-3-Clause
 * join - unit test of archive/join.c: parts that are not of one another, and what becomes of their metadata
 */
#include "archive/join.h"

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/regular.h"

enum { RANKS = 3 };

struct joined_part {
	uint32_t rank, size;
	const char *json;
};

static int join_part(struct join *j, const struct joined_part *p, struct error *error)
{
	*error = (struct error){""};
	struct trace t = {.size = 0};
	sample_trace(&t, p->rank, p->size, 0);
	json_t *m = metadata_parse("part", p->json, strlen(p->json), NULL);
	int rv = join_add_take(j, "part", &t, m ? m : json_object(), error);
	return t.sites ? -2 : rv; /* it is used up in any case */
}

/* The text of the chunk META of what was joined, sorted; "" if there is none. The caller frees it. */
static char *joined_meta(const uint8_t *bytes, size_t n)
{
	struct container *k = NULL;
	if (container_parse(&k, "joined", bytes, n, &codec_zstd, NULL) != 0)
		abort();
	const struct chunk *chunk = container_find(k, "META");
	json_t *m = chunk ? metadata_parse("joined", chunk->data, chunk->size, NULL) : NULL;
	char *text = m ? json_dumps(m, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6)) : strdup("");
	json_decref(m);
	container_destroy(k);
	return text;
}

/* Joins parts, and compares the metadata and how many ranks are missing. */
static void gives(const char *what, const struct joined_part *parts, size_t n, uint64_t lacking, const char *wanted)
{
	struct join j;
	struct error error = {""};
	uint8_t *bytes = NULL;
	size_t size = 0;
	uint64_t missing = 99;
	int rv = join_init(&j);
	for (size_t i = 0; i < n && rv == 0; i++)
		rv = join_part(&j, &parts[i], &error);
	if (rv == 0)
		rv = join_encode(&j, &bytes, &size, &missing, &error);
	char *text = rv == 0 ? joined_meta(bytes, size) : NULL;
	ok(text && !strcmp(text, wanted) && missing == lacking, "%s: %s%s", what, text ? text : "-", error.text);
	free(text);
	free(bytes);
	join_free(&j);
}

#define PART(...) "{\"world\":\"w\"," __VA_ARGS__ "}"

static void test_metadata(void)
{
	static const struct joined_part whole[] = {
		{2, 3, PART("\"job\":2,\"part\":\"b\",\"end_ns\":4000000000,\"exit_task\":2,\"signal\":9")},
		{0, 3,
	         PART("\"job\":1,\"part\":\"c\",\"start_ns\":1000000000,\"end_ns\":2000000000,\"partial\":1,"
	              "\"reason\":\"exit\",\"ranks_missing\":2")},
		{1, 3, PART("\"job\":3,\"parts\":[\"d\",1,{},\"a\"],\"end_ns\":3000000000,\"exit_code\":1")}};
	static const struct joined_part some[] = {
		{3, 5, PART("\"reason\":\"signal\",\"ranks_unfinished\":1")},
		{1, 5, PART("\"reason\":\"oom\",\"ranks_unfinished\":2,\"start_ns\":7000000000,\"end_ns\":1")},
		{4, 5, PART("\"reason\":\"something\",\"ranks_unfinished\":4")}};
	static const struct joined_part killed[] = {{1, 2, PART("\"ranks_unfinished\":1")},
	                                            {0, 2, PART("\"part\":\"a\"")}};
	gives("without metadata", (struct joined_part[]){{0, 3, "{}"}}, 1, 2, "");
	gives("one alone stays as it is", &whole[1], 1, 2,
	      "{\"end_ns\":2000000000,\"job\":1,\"part\":\"c\",\"partial\":1,\"ranks_missing\":2,\"reason\":\"exit\","
	      "\"start_ns\":1000000000,\"world\":\"w\"}");
	gives("all", whole, 3, 0,
	      "{\"elapsed\":3.0,\"end\":\"1970-01-01T00:00:04Z\",\"end_ns\":4000000000,\"exit_task\":2,"
	      "\"hosts\":[\"node00\",\"node01\"],\"job\":1,\"parts\":[\"a\",\"b\",\"c\",\"d\"],"
	      "\"ranks_per_node\":[2,1],\"signal\":9,\"start\":\"1970-01-01T00:00:01Z\",\"start_ns\":1000000000,"
	      "\"state\":\"KILLED\",\"world\":\"w\"}");
	gives("some", some, 3, 2,
	      "{\"end_ns\":1,\"hosts\":[\"node00\",\"node01\",\"node02\"],\"partial\":1,\"ranks_missing\":2,"
	      "\"ranks_per_node\":[1,1,1],\"ranks_unfinished\":7,\"reason\":\"oom\",\"start_ns\":7000000000,"
	      "\"world\":\"w\"}");
	gives("all, one of them killed", killed, 2, 0,
	      "{\"hosts\":[\"node00\"],\"partial\":1,\"parts\":[\"a\"],\"ranks_missing\":0,\"ranks_per_node\":[2],"
	      "\"ranks_unfinished\":1,\"reason\":\"exit\",\"world\":\"w\"}");
}

static void test_strangers(void)
{
	struct join j;
	struct error error = {""};
	struct trace none;
	uint8_t *bytes = (uint8_t *)&j;
	size_t n;
	uint64_t missing;
	if (join_init(&j) != 0 || trace_init(&none) != 0)
		abort();
	ok(join_encode(&j, &bytes, &n, &missing, &error) == -1 && !bytes && error.text[0], "nothing: %s", error.text);
	error = (struct error){""};
	ok(join_add_take(&j, "none", &none, json_object(), &error) == -1 && strstr(error.text, "none: "), "%s",
	   error.text);
	ok(join_part(&j, &(struct joined_part){0, 3, PART("\"job\":1")}, &error) == 0 && j.count == 1, "the first");
	ok(join_part(&j, &(struct joined_part){1, 3, "{\"world\":\"v\"}"}, &error) == -1 &&
	           strstr(error.text, "(v of 3 ranks, not w of 3)"),
	   "another world: %s", error.text);
	ok(join_part(&j, &(struct joined_part){1, 3, "{}"}, &error) == -1 && strstr(error.text, "(unknown of 3"),
	   "of no world: %s", error.text);
	ok(join_part(&j, &(struct joined_part){1, 4, PART("\"job\":1")}, &error) == -1 &&
	           strstr(error.text, "(w of 4 ranks, not w of 3)"),
	   "another size: %s", error.text);
	ok(join_part(&j, &(struct joined_part){1, 3, PART("\"job\":1")}, &error) == 0 && j.count == 2,
	   "what was refused left no trace");
	ok(join_part(&j, &(struct joined_part){0, 3, PART("\"job\":1")}, &error) == -1 && j.count == 2,
	   "a rank twice: %s", error.text);
	join_free(&j);
}

/* The file of all ranks is that of the merged trace, in whatever order they came. */
static void test_orders(void)
{
	static const uint32_t orders[][RANKS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const char meta[] = "{\"world\":\"w\",\"hosts\":[\"node00\",\"node01\"],\"ranks_per_node\":[2,1]}";
	struct chunk chunk = {.id = "META", .data = (const uint8_t *)meta, .size = sizeof meta - 1};
	struct trace t;
	uint8_t *wanted, *bytes;
	size_t n, size;
	uint64_t missing;
	struct error error;
	sample_merged(&t, RANKS, 0);
	if (trace_encode(&t, &chunk, 1, &codec_zstd, &wanted, &n) != 0)
		abort();
	trace_free(&t);
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		struct join j;
		bool good = join_init(&j) == 0;
		for (int k = 0; k < RANKS; k++)
			good &= join_part(&j, &(struct joined_part){orders[i][k], RANKS, "{\"world\":\"w\"}"},
			                  &error) == 0;
		good = good && join_encode(&j, &bytes, &size, &missing, NULL) == 0;
		ok(good && size == n && !memcmp(bytes, wanted, n) && missing == 0, "order %zu", i);
		free(bytes);
		join_free(&j);
	}
	free(wanted);
}

/* The bytes as a file, which is added to a join of its own. */
static void file_is(const char *what, const void *bytes, size_t n, int64_t owner, const char *words)
{
	struct join j;
	struct error error = {""};
	FILE *f = bytes ? fopen("file", "w") : NULL;
	if (join_init(&j) != 0 || (bytes && (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)))
		abort();
	int rv = join_add_file(&j, "file", owner, &error);
	ok(words ? rv == -1 && strstr(error.text, words) && j.count == 0 : rv == 0 && j.count == 1, "file, %s: %s",
	   what, error.text);
	join_free(&j);
	unlink("file");
}

static void test_part_files(void)
{
	struct chunk list = {.id = "META", .data = (const uint8_t *)"[]", .size = 2};
	struct trace t;
	uint8_t *bytes, *odd;
	size_t n, odd_n;
	sample_merged(&t, RANKS, SAMPLE_PART);
	if (trace_encode(&t, NULL, 0, &codec_zstd, &bytes, &n) != 0 ||
	    trace_encode(&t, &list, 1, &codec_zstd, &odd, &odd_n) != 0)
		abort();
	scratch_enter();
	file_is("none", NULL, 0, REGULAR_ANYBODY, "file");
	file_is("empty", "", 0, REGULAR_ANYBODY, "file");
	file_is("half", bytes, n / 2, REGULAR_ANYBODY, "file");
	file_is("another owner's", bytes, n, (int64_t)getuid() + 1, "file");
	file_is("metadata that is a list", odd, odd_n, REGULAR_ANYBODY, "not an object");
	file_is("good", bytes, n, getuid(), NULL);
	free(bytes);
	free(odd);
	trace_free(&t);
}

/* Joins copies of two traces. */
static int join_two(void *context)
{
	const struct chunk *files = context;
	struct join j;
	uint8_t *bytes = NULL;
	size_t n;
	uint64_t missing;
	int rv = join_init(&j);
	for (int i = 0; i < 2 && rv == 0; i++) {
		struct container *k = NULL;
		struct trace t = {.size = 0};
		rv = container_parse(&k, "x", files[i].data, files[i].size, NULL, NULL);
		rv = rv || trace_decode(&t, k, NULL) ? -1 : 0;
		container_destroy(k);
		json_t *m = json_pack("{s:s, s:s}", "world", "w", "part", i ? "a" : "b");
		if (rv == 0)
			rv = join_add_take(&j, "x", &t, m, NULL);
		else
			json_decref(m), trace_free(&t);
	}
	if (rv == 0)
		rv = join_encode(&j, &bytes, &n, &missing, NULL);
	free(bytes);
	join_free(&j);
	return rv;
}

static void test_join_memory(void)
{
	struct chunk files[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct trace t = {.size = 0};
		uint8_t *bytes;
		sample_trace(&t, i, 2, 0);
		if (trace_encode(&t, NULL, 0, NULL, &bytes, &files[i].size) != 0)
			abort();
		files[i].data = bytes;
		trace_free(&t);
	}
	json_set_alloc_funcs(malloc, free); /* counted, and failing, too */
	ok(fails_well(join_two, files), "no memory");
	free((void *)(uintptr_t)files[0].data);
	free((void *)(uintptr_t)files[1].data);
}

int main(void)
{
	test_strangers();
	test_metadata();
	test_orders();
	test_part_files();
	test_join_memory();
	return tap_end();
}
