/* SPDX-License-Identifier: BSD-3-Clause
 * metadata - JSON that is no metadata, files that are somebody else's; bytes of a command line that are no text
 */
#include "archive/metadata.h"

#include <fcntl.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/file/container.h"

static void refused(const char *what, const char *text, size_t n)
{
	struct error error = {""};
	json_t *m = metadata_parse("x", text, n, &error);
	bool plain = error.text[0] != '\0';
	for (const char *p = error.text; *p; p++) /* it goes to a terminal */
		plain &= *p >= ' ' && *p < 0x7f;
	ok(!m && plain, "refused: %s: %s", what, plain ? error.text : "(bytes that are no text)");
	json_decref(m);
}

static void test_bad(void)
{
	char deep[4000];
	memset(deep, '[', sizeof deep);
	refused("nothing", "", 0);
	refused("a list", "[]", 2);
	refused("a name twice", "{\"job\": 1, \"job\": 2}", 20);
	refused("text behind the end", "{} x", 4);
	refused("text that is no UTF-8", "{\"a\": \"\xff\"}", 10);
	refused("an end that is missing", "{\"job\": 1", 9);
	refused("lists in lists", deep, sizeof deep);
	refused("a NUL", "{\"a\": \"\0\"}", 10);
	refused("control characters of a terminal", "{} \"\xc2\x9b\x32J\"", 9);
	refused("the same in a name", "{\"\xc2\x9b\x32J\": 1, \"\xc2\x9b\x32J\": 2}", 22);
}

static void test_values(void)
{
	static const char text[] = "{\"a\": 1.5, \"b\": 1e300, \"c\": \"7\", \"d\": 9007199254740993}";
	json_t *m = metadata_parse("x", text, strlen(text), NULL);
	ok(m && metadata_number(m, "a", -1) == 1 && metadata_number(m, "b", -1) == -1 &&
	           metadata_number(m, "c", -1) == -1 && metadata_number(m, "d", -1) == INT64_C(9007199254740993) &&
	           metadata_number(m, "e", 3) == 3,
	   "numbers, and what is none");
	ok(!strcmp(metadata_text(m, "c", "-"), "7") && !strcmp(metadata_text(m, "d", "-"), "-"), "texts");
	json_decref(m);
}

/* What facts become. The JSON is compared as text; NULL: it is not there. */
static void becomes(const char *name, const char *value, const char *wanted)
{
	struct facts f = {.count = 0};
	facts_set(&f, name, value);
	char *text = metadata_encode(&f);
	json_t *m = text ? metadata_parse("x", text, strlen(text), NULL) : NULL;
	json_t *got = json_object_get(m, name);
	char *found = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	ok(m && (wanted ? found && !strcmp(found, wanted) : !found), "%s: %s", name, found ? found : "-");
	free(found);
	free(text);
	json_decref(m);
	facts_clear(&f);
}

/* A program of a step, with these facts: what is said of it. */
static void described(const char *step, const char *facts, const char *state, int64_t exit_code, int64_t nodes)
{
	struct facts f = {.count = 0};
	facts_set(&f, "step", step);
	facts_set(&f, "nodes", "4");
	facts_set(&f, "tasks", "16");
	facts_set(&f, "exit_code", "0");
	facts_set(&f, "hosts", "a,b");
	facts_set(&f, "ranks", "2");
	char more[256], *rest = more;
	snprintf(more, sizeof more, "%s", facts);
	for (char *one; (one = strsep(&rest, " "));) {
		char *value = one;
		char *name = strsep(&value, "=");
		facts_set(&f, name, value);
	}
	char *text = metadata_encode(&f);
	json_t *m = text ? metadata_parse("x", text, strlen(text), NULL) : NULL;
	ok(m && !strcmp(metadata_text(m, "state", "-"), state) && metadata_number(m, "exit_code", -1) == exit_code &&
	           metadata_number(m, "nodes", -1) == nodes && metadata_number(m, "tasks", -1) == (nodes == 2 ? 2 : 16),
	   "step %s, %s: %s", step, facts, text ? text : "-");
	free(text);
	json_decref(m);
	facts_clear(&f);
}

/* A script ends well although its mpirun did not, and its step has other nodes and tasks than the program. */
static void test_world(void)
{
	described("0", "ranks_missing=0", "COMPLETED", 0, 4);
	described("0", "partial=1 reason=exit ranks_unfinished=2 ranks=16", "COMPLETED", 0, 4);
	described("0", "partial=1 reason=exit ranks_unfinished=2", "FAILED", -1, 4);
	described("0", "partial=1 reason=abort ranks=16", "FAILED", -1, 4);
	described("batch", "ranks_missing=0", "COMPLETED", 0, 2);
	described("batch", "exit_code=3", "FAILED", 3, 2);
	described("batch", "partial=1 reason=exit ranks_unfinished=2", "FAILED", -1, 2);
	described("batch", "partial=1 reason=abort", "FAILED", -1, 2);
	described("batch", "partial=1 reason=time-limit signal=15 ranks_unfinished=2", "KILLED", 0, 2);
	described("batch", "partial=1 reason=deadline ranks_missing=1", "COMPLETED", 0, 4);
	described("interactive", "partial=1 reason=exit ranks_unfinished=1", "FAILED", -1, 2);
}

static void test_encode(void)
{
	becomes("job", "17", "17");
	becomes("job", "017", "\"017\"");
	becomes("job", "99999999999999999999", "\"99999999999999999999\"");
	becomes("job", "", "\"\"");
	becomes("hosts", "a,b", "[\"a\",\"b\"]");
	becomes("hosts", "", "[]");
	becomes("ranks_per_node", "4,x", "[4,\"x\"]");
	becomes("command", "a b\x1f-c", "[\"a b\",\"-c\"]");
	becomes("slurm_conf", "/etc", NULL);
	becomes("something", "else", "\"else\"");
	becomes("user", "j\xc3\xbcrgen", "\"j\xc3\xbcrgen\"");
	becomes("user", "\xff|\xc3|\xe2\x82|\xed\xa0\x80|\xf4\x90\x80\x80|\xf0\x9f\x98\x80|\xc0\x80",
	        "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
	        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xf0\x9f\x98\x80|\xef\xbf\xbd\xef\xbf\xbd\"");
	becomes("start_ns", "1500000000", "1500000000");
	becomes("version", "2", "1");
}

static json_t *ending(int code, int sig)
{
	return json_pack("{s:i, s:i, s:i}", "exit_code", code, "signal", sig, "exit_task", code + sig);
}

static void test_endings(void)
{
	json_t *good = ending(0, 0), *failed = ending(3, 0), *killed = ending(0, 9), *none = json_object();
	metadata_take_worse(good, failed);
	ok(metadata_number(good, "exit_code", 0) == 3 && !strcmp(metadata_text(good, "state", ""), "FAILED"),
	   "a worse ending is taken");
	metadata_take_worse(good, none);
	ok(metadata_number(good, "exit_code", 0) == 3, "a better one is not");
	metadata_take_worse(good, killed);
	ok(metadata_severity(killed) != metadata_severity(failed) && metadata_number(good, "exit_task", 0) == 9,
	   "a signal is worse than an exit code");
	metadata_set_times(none, INT64_C(86400000000000), INT64_C(86401500000000));
	ok(!strcmp(metadata_text(none, "start", ""), "1970-01-02T00:00:00Z") &&
	           json_real_value(json_object_get(none, "elapsed")) == 1.5,
	   "times that people read");
	metadata_set_times(none, INT64_MAX, 0);
	ok(json_real_value(json_object_get(none, "elapsed")) == 1.5, "no time between a start and an earlier end");
	json_decref(good);
	json_decref(failed);
	json_decref(killed);
	json_decref(none);
}

static bool read_as(const char *json, const char *name, unsigned long uid, const char *words)
{
	struct chunk chunk = {.id = "META", .data = (const uint8_t *)json, .size = json ? strlen(json) : 0};
	struct error error = {""};
	uint8_t *bytes;
	size_t n;
	if (container_encode(&chunk, json ? 1 : 0, 0, NULL, &bytes, &n) != 0)
		abort();
	FILE *f = fopen("file", "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
	free(bytes);
	json_t *m = metadata_read("file", name, uid, &error);
	bool as_wanted = words ? !m && strstr(error.text, words) : m != NULL;
	printf("# %s\n", error.text);
	json_decref(m);
	unlink("file");
	return as_wanted;
}

static void test_files(void)
{
	unsigned long uid = getuid();
	char own[60], other[60];
	snprintf(own, sizeof own, "{\"job\": 5, \"uid\": %lu}", uid);
	snprintf(other, sizeof other, "{\"job\": 5, \"uid\": %lu}", uid + 1);
	scratch_enter();
	ok(read_as(own, "5.0.0.spoor", uid, NULL) && read_as("{\"job\": 5}", "5.1.spoor", uid, NULL),
	   "a file's metadata");
	ok(read_as(NULL, "5.0.0.spoor", uid, "no metadata"), "refused: a file without");
	ok(read_as(own, "6.0.0.spoor", uid, "of job 5"), "refused: another job's");
	ok(read_as(other, "5.0.0.spoor", uid, "of user"), "refused: another user's");
	ok(read_as(own, "5.0.0.spoor", uid + 1, "file"), "refused: a file of another user");
	ok(read_as("[]", "5.0.0.spoor", uid, "not an object"), "refused: what is no metadata");
}

static int encode(void *context)
{
	char *text = metadata_encode(context), *note = text ? metadata_encode_note(context) : NULL;
	json_t *m = text ? metadata_parse("x", text, strlen(text), NULL) : NULL;
	int rv = text && note && m ? 0 : -1;
	json_decref(m);
	free(text);
	free(note);
	return rv;
}

static void test_memory(void)
{
	struct facts f = {.count = 0};
	static const char *const facts[] = {"job",        "7",    "hosts", "a,b", "command",
	                                    "x\x1fy\xff", "user", "\xc3",  "z",   "9"};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i += 2)
		facts_set(&f, facts[i], facts[i + 1]);
	json_set_alloc_funcs(malloc, free); /* counted, and failing, too */
	ok(fails_well(encode, &f), "no memory");
	facts_clear(&f);
}

int main(void)
{
	test_bad();
	test_values();
	test_encode();
	test_world();
	test_endings();
	test_files();
	test_memory();
	return tap_end();
}
