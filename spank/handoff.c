/* SPDX-License-Identifier: BSD-3-Clause
 * handoff - what whoever switches tracing on tells the tracer, as one environment variable
 */
#include "spank/handoff.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/mode.h"
#include "trace/base/escape.h"
#include "trace/base/number.h"

static const char *const mode_names[] = {
	[HANDOFF_OFF] = "off", [HANDOFF_LOSSLESS] = "lossless", [HANDOFF_LOSSY] = "lossy"};

void handoff_default(struct handoff *h)
{
	memset(h, 0, sizeof *h);
	settings_default(&h->set);
}

int handoff_encode(const struct handoff *h, char *out, size_t size)
{
	char spool[3 * sizeof h->spool], topology[3 * sizeof h->topology], papi[3 * sizeof h->papi];

	if (escape_write(spool, sizeof spool, h->spool) < 0 ||
	    escape_write(topology, sizeof topology, h->topology) < 0 || escape_write(papi, sizeof papi, h->papi) < 0)
		return -1;
	int n = snprintf(out, size, "1;mode=%s;threshold=%" PRIu64 "%s%s%s%s%s%s", mode_names[h->mode], h->threshold,
	                 spool[0] ? ";spool=" : "", spool, topology[0] ? ";topology=" : "", topology,
	                 papi[0] ? ";papi=" : "", papi);
	for (size_t i = 0; i < setting_count && n >= 0 && (size_t)n < size; i++) {
		const struct setting *s = &setting_table[i];
		char value[SETTING_TEXT_SIZE], word[3 * SETTING_TEXT_SIZE];
		if (s->tracer && escape_write(word, sizeof word, setting_format(s, &h->set, value)) >= 0)
			n += snprintf(out + n, size - (size_t)n, ";%s=%s", s->name, word);
	}
	for (const char *one = h->alternatives; *one && n >= 0 && (size_t)n < size;) {
		char line[4096], word[3 * sizeof line];
		size_t length = strcspn(one, "\n");
		snprintf(line, sizeof line, "%.*s", (int)length, one);
		if (length >= sizeof line || escape_write(word, sizeof word, line) < 0)
			return -1;
		n += snprintf(out + n, size - (size_t)n, ";alt=%s", word);
		one += length + (one[length] == '\n');
	}
	return n < 0 || (size_t)n >= size ? -1 : n;
}

static int read_mode_name(enum handoff_mode *mode, const char *text)
{
	for (size_t i = 0; i < sizeof mode_names / sizeof mode_names[0]; i++) {
		if (!strcmp(text, mode_names[i])) {
			*mode = (enum handoff_mode)i;
			return 0;
		}
	}
	return -1;
}

/* What there is no more room for is left out. */
static void add_note(struct handoff *h, const char *key, const char *value, const char *expected, const char *instead)
{
	size_t used = strlen(h->notes), room = sizeof h->notes - used;
	int n = snprintf(h->notes + used, room, "%s%s=%.60s: expected %s; %s is used",
	                 used ? (char[]){HANDOFF_SEPARATOR, '\0'} : "", key, value, expected,
	                 *instead ? instead : "none");

	if (n < 0 || (size_t)n >= room)
		h->notes[used] = '\0';
}

/* What is wrong with a setting must not cost the trace: another version of spoor, or somebody's hand, wrote it. */
static void take_setting(struct handoff *h, const struct setting *s, const char *value)
{
	char expected[SETTING_EXPECTED_SIZE], instead[SETTING_TEXT_SIZE];

	if (setting_parse(s, &h->set, value))
		add_note(h, s->name, value, setting_expected(s, expected), setting_format(s, &h->set, instead));
}

static void take_threshold(struct handoff *h, const char *value)
{
	char instead[32];

	if (!number_parse(value, UINT64_MAX, &h->threshold))
		return;
	h->threshold = MODE_THRESHOLD;
	snprintf(instead, sizeof instead, "%d", MODE_THRESHOLD);
	add_note(h, "threshold", value, "a number of tokens", instead);
}

static int read_field(struct handoff *h, const char *key, size_t key_size, const char *value, struct error *error)
{
	const struct setting *setting = setting_find(key, key_size);

#define IS(name) (key_size == sizeof(name) - 1 && !memcmp(key, name, key_size))
	if (IS("mode")) {
		if (read_mode_name(&h->mode, value))
			return error_set(error, HANDOFF_VARIABLE ": mode=%s: expected off, lossless or lossy", value);
	} else if (IS("threshold")) {
		take_threshold(h, value);
	} else if (IS("spool")) {
		if (value[0] != '/')
			return error_set(error, HANDOFF_VARIABLE ": spool=%s: expected an absolute path", value);
		if ((size_t)snprintf(h->spool, sizeof h->spool, "%s", value) >= sizeof h->spool)
			return error_set(error, HANDOFF_VARIABLE ": spool: longer than %zu bytes", sizeof h->spool - 1);
	} else if (IS("topology")) { /* one that is too long is not taken */
		if ((size_t)snprintf(h->topology, sizeof h->topology, "%s", value) >= sizeof h->topology)
			h->topology[0] = '\0';
	} else if (IS("papi")) {
		if ((size_t)snprintf(h->papi, sizeof h->papi, "%s", value) >= sizeof h->papi)
			h->papi[0] = '\0';
	} else if (IS("alt")) {
		size_t used = strlen(h->alternatives), room = sizeof h->alternatives - used;
		if (strchr(value, '\n') ||
		    (size_t)snprintf(h->alternatives + used, room, "%s%s", used ? "\n" : "", value) >= room)
			return error_set(error, HANDOFF_VARIABLE ": alt: more than %zu bytes",
			                 sizeof h->alternatives - 1);
	} else if (setting && setting->tracer) {
		take_setting(h, setting, value);
	}
#undef IS
	return 0;
}

static int decode_values(struct handoff *h, const char *text, struct error *error)
{
	char value[4096]; /* also of keys that are not known here */

	if (strncmp(text, "1;", 2))
		return error_set(error, HANDOFF_VARIABLE ": starts with \"%.16s\": expected version \"1;\"", text);
	for (const char *field = text + 2; *field;) {
		size_t n = strcspn(field, ";");
		const char *equals = memchr(field, '=', n);
		if (!equals)
			return error_set(error, HANDOFF_VARIABLE ": \"%.*s\": expected KEY=VALUE",
			                 (int)(n < 64 ? n : 64), field);
		size_t key_size = (size_t)(equals - field);
		if (escape_read(value, sizeof value, equals + 1, n - key_size - 1, '\0') < 0)
			return error_set(error, HANDOFF_VARIABLE ": %.*s: too long, or not escaped as %%HH",
			                 (int)(key_size < 64 ? key_size : 64), field);
		if (read_field(h, field, key_size, value, error))
			return -1;
		field += n;
		field += *field == ';';
	}
	if (h->mode != HANDOFF_OFF && !h->spool[0])
		return error_set(error, HANDOFF_VARIABLE ": mode=%s without a spool", mode_names[h->mode]);
	return 0;
}

int handoff_decode(struct handoff *h, const char *text, struct error *error)
{
	handoff_default(h);
	if (!decode_values(h, text, error))
		return 0;
	handoff_default(h);
	return -1;
}

/* --- alternatives --- */

/* Calls visit for each field of the alternative, which is n bytes long; stops when it returns false, and returns that.
 * */
static bool walk_fields(const char *text, size_t n,
                        bool (*visit)(void *context, const char *key, size_t key_size, const char *value),
                        void *context)
{
	char value[4096];

	for (const char *field = text, *end = text + n; field < end;) {
		const char *semicolon = memchr(field, ';', (size_t)(end - field));
		size_t length = semicolon ? (size_t)(semicolon - field) : (size_t)(end - field);
		const char *equals = memchr(field, '=', length);
		size_t key_size = equals ? (size_t)(equals - field) : 0;
		if (!equals || escape_read(value, sizeof value, equals + 1, length - key_size - 1, '\0') < 0 ||
		    !visit(context, field, key_size, value))
			return false;
		field += length + 1;
	}
	return true;
}

/* What is asked for, and what was found of it. */
struct question {
	const char *executable, *name;
	uint64_t ranks;
	bool asks_executable, is_executable, is_ranks;
};

#define IS(key, size, word) ((size) == sizeof(word) - 1 && !memcmp(key, word, size))

static bool choose_line(void *context, const char *key, size_t key_size, const char *value)
{
	struct question *q = context;
	uint64_t least, most;
	char number[32];

	if (IS(key, key_size, "exe")) {
		q->asks_executable = true;
		q->is_executable = q->is_executable || !fnmatch(value, q->executable, 0) || !fnmatch(value, q->name, 0);
	} else if (IS(key, key_size, "ranks")) {
		size_t n = strcspn(value, "-");
		snprintf(number, sizeof number, "%.*s", (int)(n < 30 ? n : 30), value);
		q->is_ranks = value[n] && !number_parse(number, UINT64_MAX, &least) &&
		              !number_parse(value + n + 1, UINT64_MAX, &most) && q->ranks >= least && q->ranks <= most;
	}
	return true;
}

static bool apply(void *context, const char *key, size_t key_size, const char *value)
{
	struct handoff *h = context;
	const struct setting *setting = setting_find(key, key_size);
	char word[3072];

	if (IS(key, key_size, "mode"))
		return !read_mode_name(&h->mode, value);
	if (IS(key, key_size, "threshold"))
		take_threshold(h, value);
	else if (setting && setting->tracer)
		take_setting(h, setting, value);
	if (key_size > 5 && !memcmp(key, "fact.", 5) && escape_write(word, sizeof word, value) >= 0) {
		size_t used = strlen(h->facts), room = sizeof h->facts - used;
		if ((size_t)snprintf(h->facts + used, room, "%.*s=%s\n", (int)key_size - 5, key + 5, word) >= room)
			h->facts[used] = '\0';
	}
	return true;
}

int handoff_take(struct handoff *h, int number)
{
	static struct handoff result; /* it is large, and stacks of threads may be small; whoever asks is alone */
	const char *one = h->alternatives;

	result = *h;
	for (int i = 0; *one && i < number; i++) {
		one += strcspn(one, "\n");
		one += *one == '\n';
	}
	result.facts[0] = result.notes[0] = '\0';
	settings_default(&result.set);
	if (!*one || number < 0 || !walk_fields(one, strcspn(one, "\n"), apply, &result))
		return -1;
	*h = result;
	return 0;
}

int handoff_choose(struct handoff *h, const char *executable, uint64_t ranks)
{
	const char *slash = strrchr(executable, '/');
	int number = 0;

	for (const char *one = h->alternatives; *one; number++) {
		struct question q = {executable, slash ? slash + 1 : executable, ranks, false, false, true};
		size_t length = strcspn(one, "\n");
		if (walk_fields(one, length, choose_line, &q) && (!q.asks_executable || q.is_executable) && q.is_ranks)
			return handoff_take(h, number) ? -1 : number;
		one += length + (one[length] == '\n');
	}
	return -1;
}

int handoff_first_capture(const struct handoff *h)
{
	static struct handoff one; /* as above */

	for (int number = 0;; number++) {
		one = *h;
		if (handoff_take(&one, number))
			return -1;
		if (one.mode != HANDOFF_OFF)
			return number;
	}
}
