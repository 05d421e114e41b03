/* SPDX-License-Identifier: BSD-3-Clause
 * anonymise - a trace in which nothing says who, where, or what
 */
#include "cmd/export/anonymise.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "trace/model/host.h"

#define KEY_MIN 16
#define KEY_MAX 4096
#define WORD    12 /* letters of a pseudonym: 56 bits */

/* The names of the MPI standard, sorted: made of preload/mpi.table. */
static const char *const mpi_names[] = {
#include "cmd/export/mpi_names.h"
};

struct anonymiser {
	struct hmac_sha256_ctx context; /* with the key */
};

static int read_key(const char *from, uint8_t key[KEY_MAX], size_t *n, struct error *error)
{
	if (strncmp(from, "env:", 4) == 0) {
		const char *value = getenv(from + 4);
		if (!value)
			return error_set(error, "--anonymise %s: the variable is not set", from);
		*n = strlen(value) < KEY_MAX ? strlen(value) : KEY_MAX;
		memcpy(key, value, *n);
	} else {
		FILE *file = fopen(from, "r");
		if (!file)
			return error_set(error, "--anonymise %s: cannot open the file with the key: %s", from,
			                 strerror(errno));
		*n = fread(key, 1, KEY_MAX, file);
		int number = ferror(file) ? errno : 0;
		fclose(file);
		if (number)
			return error_set(error, "--anonymise %s: %s", from, strerror(number));
	}
	while (*n > 0 && (key[*n - 1] == '\n' || key[*n - 1] == '\r'))
		(*n)--;
	if (*n < KEY_MIN)
		return error_set(error,
		                 "--anonymise %s: a key of %zu bytes can be guessed; at least %d are needed, like "
		                 "those of: openssl rand -hex 32",
		                 from, *n, KEY_MIN);
	return 0;
}

int anonymiser_create(struct anonymiser **out, const char *from, struct error *error)
{
	uint8_t key[KEY_MAX];
	size_t n;
	*out = NULL;
	if (read_key(from, key, &n, error) != 0)
		return -1;
	if (!(*out = calloc(1, sizeof **out)))
		return error_set(error, "no memory");
	hmac_sha256_set_key(&(*out)->context, n, key);
	explicit_bzero(key, sizeof key);
	return 0;
}

void anonymiser_destroy(struct anonymiser *a)
{
	if (a)
		explicit_bzero(a, sizeof *a);
	free(a);
}

static void digest(struct anonymiser *a, const void *bytes, size_t n, uint8_t out[SHA256_DIGEST_SIZE])
{
	hmac_sha256_update(&a->context, n, bytes);
	hmac_sha256_digest(&a->context, SHA256_DIGEST_SIZE, out); /* and the context is as it was with the key */
}

static void put_word(struct anonymiser *a, const void *bytes, size_t n, FILE *out)
{
	uint8_t d[SHA256_DIGEST_SIZE];
	uint64_t v;
	digest(a, bytes, n, d);
	memcpy(&v, d, sizeof v);
	char word[WORD];
	for (int i = 0; i < WORD; i++, v /= 26)
		word[i] = (char)('a' + v % 26);
	sink_bytes(out, word, WORD);
}

static void put_path(struct anonymiser *a, const char *text, size_t n, FILE *out)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && text[end] != '/';)
			end++;
		if (end > i)
			put_word(a, text + i, end - i, out);
		if (end < n) {
			sink_bytes(out, "/", 1);
			end++;
		}
	}
}

/* A pseudonym of text, malloc'ed; NULL on no memory. */
static char *pseudonym(struct anonymiser *a, const char *prefix, const void *bytes, size_t n, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	if (!out)
		return NULL;
	sink_bytes(out, prefix, strlen(prefix));
	if (!*prefix && memchr(bytes, '/', n))
		put_path(a, bytes, n, out);
	else
		put_word(a, bytes, n, out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- the trace --- */

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

/* A name of the standard, or several with | between; what stands where nothing is. */
static bool is_standard(const struct pool_item *s)
{
	static const char *const others[] = {"",         "-",          "?",           "native",
	                                     "internal", "external32", "mpi://WORLD", "mpi://SELF"};
	char text[1024];
	if (s->size >= sizeof text || memchr(s->bytes, 0, s->size))
		return false;
	memcpy(text, s->bytes, s->size);
	text[s->size] = '\0';
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(others[i], text) == 0)
			return true;
	char *rest = text;
	for (char *name; (name = strsep(&rest, "|"));)
		if (!bsearch(name, mpi_names, sizeof mpi_names / sizeof *mpi_names, sizeof *mpi_names, compare_names))
			return false;
	return true;
}

static int replace_name(struct pool_item *s, char *text, size_t n)
{
	if (!text)
		return -1;
	free(s->bytes);
	s->bytes = (uint8_t *)text;
	s->size = n;
	return 0;
}

/* As many bytes as before. */
static int replace_id(struct anonymiser *a, struct pool_item *s)
{
	uint8_t d[SHA256_DIGEST_SIZE];
	digest(a, s->bytes, s->size, d);
	for (size_t i = 0; i < s->size; i++)
		s->bytes[i] = i < sizeof d ? d[i] : 0;
	return 0;
}

/* Each rank's host by its whole name: a number in a name would say which node it was. */
static int replace_hosts(struct anonymiser *a, struct trace *t)
{
	struct rankmap_builder b = {.references = true};
	char host[HOST_MAX], last[HOST_MAX] = "";
	int64_t unused;
	uint32_t string = 0;
	struct rankmap map;
	for (uint64_t rank = 0; rankmap_next(&t->host, &rank, &unused); rank++) {
		size_t n;
		host_get(t, (uint32_t)rank, host);
		if (string == 0 || strcmp(host, last) != 0) {
			char *name = pseudonym(a, "host-", host, strlen(host), &n);
			string = name ? pool_intern(&t->strings, name, n) : UINT32_MAX;
			free(name);
			if (string == UINT32_MAX)
				return -1;
			memcpy(last, host, sizeof last);
		}
		rankmap_add(&b, (struct rank_piece){.first = (uint32_t)rank, .count = 1, .step = 1, .value = string});
	}
	if (rankmap_take(&b, &map) != 0)
		return -1;
	rankmap_free(&t->host);
	rankmap_free(&t->host_number);
	t->host = map;
	t->host_number = (struct rankmap){.nodes = NULL};
	return 0;
}

enum string_kind { NAME, KEEP, ID };

static void keep_strings(const struct rankmap *m, enum string_kind *kind)
{
	int64_t string;
	for (uint64_t rank = 0; rankmap_next(m, &rank, &string); rank++)
		kind[string] = KEEP;
}

int anonymise_trace(struct anonymiser *a, struct trace *t, struct error *error)
{
	uint32_t before = t->strings.count;
	enum string_kind *kind = calloc((size_t)before + 1, sizeof *kind);
	int rv = kind ? 0 : -1;
	for (uint32_t i = 0; rv == 0 && i < t->function_count; i++)
		kind[t->functions[i].string] = KEEP;
	for (uint32_t i = 0; rv == 0 && i < t->module_count; i++)
		if (t->modules[i].build_id)
			kind[t->modules[i].build_id] = ID;
	if (rv == 0) { /* where ranks sat names nobody */
		keep_strings(&t->cpus, kind);
		keep_strings(&t->topology, kind);
		rv = replace_hosts(a, t);
	}
	for (uint32_t i = 1; rv == 0 && i < before; i++) {
		struct pool_item *s = &t->strings.items[i];
		size_t n = 0;
		if (kind[i] == ID)
			rv = replace_id(a, s);
		else if (kind[i] == NAME && !is_standard(s)) {
			char *text = pseudonym(a, "", s->bytes, s->size, &n);
			rv = replace_name(s, text, n);
		}
	}
	free(kind);
	return rv == 0 ? 0 : error_set(error, "no memory");
}

/* --- metadata --- */

enum meta_kind { META_NAME, META_KEEP, META_HOST, META_NUMBER, META_HEX, META_LIBRARY, META_DROP };

static enum meta_kind meta_kind(const char *key)
{
	static const struct {
		const char *key;
		enum meta_kind kind;
	} kinds[] = {{"state", META_KEEP},
	             {"start", META_KEEP},
	             {"end", META_KEEP},
	             {"step", META_KEEP},
	             {"mode", META_KEEP},
	             {"reason", META_KEEP},
	             {"mpi_version", META_KEEP},
	             {"spoor_version", META_KEEP},
	             {"slurm_version", META_KEEP},
	             {"finalize_ns", META_KEEP},
	             {"clocks_apart_ns", META_KEEP},
	             {"clocks_error_ns", META_KEEP},
	             {"node", META_HOST},
	             {"hosts", META_HOST},
	             {"job", META_NUMBER},
	             {"array_job", META_NUMBER},
	             {"het_job_id", META_NUMBER},
	             {"exe_build_id", META_HEX},
	             {"world", META_HEX},
	             {"parent_world", META_HEX},
	             {"mpi_library", META_LIBRARY},
	             {"uid", META_DROP},
	             {"gid", META_DROP}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].key, key) == 0)
			return kinds[i].kind;
	return META_NAME;
}

static json_t *take_string(char *text)
{
	json_t *s = text ? json_string(text) : NULL;
	free(text);
	return s;
}

/* Words that mean the same for everybody: nothing else may stand where they are expected. */
static bool is_plain_byte(const char *text)
{
	return strlen(text) <= 40 &&
	       text[strspn(text, "0123456789:.+-_ ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] == '\0';
}

/* Hexadecimal digits stand for bytes: the same bytes in the trace have the same pseudonym. */
static json_t *hex(struct anonymiser *a, const char *text)
{
	uint8_t bytes[SHA256_DIGEST_SIZE], d[SHA256_DIGEST_SIZE];
	char out[2 * SHA256_DIGEST_SIZE + 1];
	size_t n = strlen(text) / 2;
	if (n > sizeof bytes)
		n = sizeof bytes;
	for (size_t i = 0; i < n; i++) {
		char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
		bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	digest(a, bytes, n, d);
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", d[i]);
	out[2 * n] = '\0';
	return json_string(out);
}

/* "Open MPI v4.1.4": what comes behind may name whoever built it. */
static json_t *library(const char *text)
{
	static const char *const names[] = {"Open MPI v", "MPICH Version:", "Intel(R) MPI Library "};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (strncmp(text, names[i], n) == 0)
			return json_stringn(text, n + strspn(text + n, "0123456789."));
	}
	return json_string("?");
}

static json_t *member(struct anonymiser *a, enum meta_kind kind, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t n;
	if (json_is_array(value)) {
		json_t *list = json_array();
		for (size_t i = 0; list && i < json_array_size(value); i++)
			json_array_append_new(list, member(a, kind, json_array_get(value, i)));
		return list;
	}
	if (json_is_object(value))
		return anonymise_meta(a, value);
	if (json_is_integer(value) && kind == META_NUMBER) {
		uint8_t d[SHA256_DIGEST_SIZE];
		char digits[32];
		snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		digest(a, digits, strlen(digits), d);
		return json_integer(1 + (((json_int_t)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3]) & 0x3fffffff));
	}
	if (!text)
		return json_deep_copy(value);
	switch (kind) {
	case META_KEEP:
		if (is_plain_byte(text))
			return json_string(text);
		break;
	case META_HOST:
		return take_string(pseudonym(a, "host-", text, strlen(text), &n));
	case META_HEX:
		return hex(a, text);
	case META_LIBRARY:
		return library(text);
	case META_NAME:
	case META_NUMBER:
	case META_DROP:
		break;
	}
	return *text ? take_string(pseudonym(a, "", text, strlen(text), &n)) : json_string("");
}

json_t *anonymise_meta(struct anonymiser *a, const json_t *meta)
{
	json_t *out = meta ? json_object() : NULL;
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)meta, key, value)
	{
		enum meta_kind kind = meta_kind(key);
		bool name = key[strspn(key, "abcdefghijklmnopqrstuvwxyz_")] != '\0' ||
		            strlen(key) > 40; /* not one of ours */
		if (!out || kind == META_DROP || name)
			continue;
		json_object_set_new(out, key, member(a, kind, value));
	}
	return out;
}

int anonymise(struct trace *t, json_t **meta, const char *key, const char *command)
{
	struct anonymiser *a;
	struct error error = {""};
	int rv = anonymiser_create(&a, key, &error);
	if (rv == 0)
		rv = anonymise_trace(a, t, &error);
	if (rv == 0 && *meta) {
		json_t *without = anonymise_meta(a, *meta);
		json_decref(*meta);
		*meta = without;
		rv = without ? 0 : error_set(&error, "no memory");
	}
	if (rv != 0)
		say_to(stderr, "%s: %s\n", command, error.text);
	anonymiser_destroy(a);
	return rv;
}
