/* SPDX-License-Identifier: BSD-3-Clause
 * handoff - what whoever switches tracing on tells the tracer, as one environment variable
 */
#include "spank/handoff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/escape.h"

static const char *const mode_names[] = {
	[HANDOFF_OFF] = "off", [HANDOFF_LOSSLESS] = "lossless", [HANDOFF_LOSSY] = "lossy"};

void handoff_default(struct handoff *h)
{
	memset(h, 0, sizeof *h);
	settings_default(&h->set);
}

int handoff_encode(const struct handoff *h, char *out, size_t size)
{
	char spool[3 * sizeof h->spool];

	if (escape_write(spool, sizeof spool, h->spool) < 0)
		return -1;
	int n = snprintf(out, size, "1;mode=%s;threshold=%" PRIu64 ";spool=%s", mode_names[h->mode], h->threshold, spool);
	for (size_t i = 0; i < setting_count && n >= 0 && (size_t)n < size; i++) {
		const struct setting *s = &setting_table[i];
		char value[SETTING_TEXT_SIZE], word[3 * SETTING_TEXT_SIZE];
		if (s->tracer && escape_write(word, sizeof word, setting_format(s, &h->set, value)) >= 0)
			n += snprintf(out + n, size - (size_t)n, ";%s=%s", s->name, word);
	}
	return n < 0 || (size_t)n >= size ? -1 : n;
}

/* A decimal number that fits limit; -1 otherwise. Not strtoull: it takes signs and blanks. */
static int read_number(uint64_t *out, const char *text, uint64_t limit)
{
	uint64_t v = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		uint64_t digit = (uint64_t)(*text - '0');
		if (v > (limit - digit) / 10)
			return -1;
		v = 10 * v + digit;
	}
	*out = v;
	return 0;
}

static int read_mode(enum handoff_mode *mode, const char *text)
{
	for (size_t i = 0; i < sizeof mode_names / sizeof mode_names[0]; i++) {
		if (!strcmp(text, mode_names[i])) {
			*mode = (enum handoff_mode)i;
			return 0;
		}
	}
	return -1;
}

static int read_field(struct handoff *h, const char *key, size_t key_size, const char *value, struct error *error)
{
	const struct setting *setting = setting_find(key, key_size);
	char expected[SETTING_EXPECTED_SIZE];

#define IS(name) (key_size == sizeof(name) - 1 && !memcmp(key, name, key_size))
	if (IS("mode")) {
		if (read_mode(&h->mode, value))
			return error_set(error, HANDOFF_VARIABLE ": mode=%s: expected off, lossless or lossy", value);
	} else if (IS("threshold")) {
		if (read_number(&h->threshold, value, UINT64_MAX))
			return error_set(error, HANDOFF_VARIABLE ": threshold=%s: expected a number", value);
	} else if (IS("spool")) {
		if (value[0] != '/')
			return error_set(error, HANDOFF_VARIABLE ": spool=%s: expected an absolute path", value);
		if ((size_t)snprintf(h->spool, sizeof h->spool, "%s", value) >= sizeof h->spool)
			return error_set(error, HANDOFF_VARIABLE ": spool: longer than %zu bytes", sizeof h->spool - 1);
	} else if (setting && setting->tracer && setting_parse(setting, &h->set, value)) {
		return error_set(error, HANDOFF_VARIABLE ": %s=%s: expected %s", setting->name, value, setting_expected(setting, expected));
	}
#undef IS
	return 0;
}

static int decode(struct handoff *h, const char *text, struct error *error)
{
	char value[4096]; /* also of keys that are not known here */

	if (strncmp(text, "1;", 2))
		return error_set(error, HANDOFF_VARIABLE ": starts with \"%.16s\": expected version \"1;\"", text);
	for (const char *field = text + 2; *field;) {
		size_t n = strcspn(field, ";");
		const char *equals = memchr(field, '=', n);
		if (!equals)
			return error_set(error, HANDOFF_VARIABLE ": \"%.*s\": expected KEY=VALUE", (int)(n < 64 ? n : 64),
			                 field);
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
	if (!decode(h, text, error))
		return 0;
	handoff_default(h);
	return -1;
}
