/* SPDX-License-Identifier: BSD-3-Clause
 * what_if_platform - a machine's network from a file
 */
#include "cmd/what_if_platform.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/suggest.h"

/* No platform is larger, in bytes. */
#define FILE_MOST (1 << 20)
/* No machine is slower, or faster: ns, bytes a second, and times. */
#define NS_MOST        1e12
#define RATE_LEAST     1.0
#define RATE_MOST      1e15
#define COMPUTING_MOST 1e6

struct platform_file {
	const char *path;
	struct error *error;
};

static const char *type_name(const json_t *value)
{
	static const char *const names[] = {"an object", "an array", "a text", "a number",
	                                    "a number",  "true",     "false",  "null"};
	return value ? names[json_typeof(value)] : "nothing";
}

/* where: "levels.node"; "": the file's object. */
static int wrong(const struct platform_file *r, const char *where, const char *key, const char *expected,
                 const json_t *found)
{
	return error_set(r->error, "%s: %s%s%s: expected %s, found %s", r->path, where, *where && *key ? "." : "", key,
	                 expected, type_name(found));
}

/* Keys that nobody knows are mistakes. */
static int check_keys(const struct platform_file *r, const char *where, json_t *object, const char *const *keys,
                      size_t n)
{
	const char *key;
	json_t *value;
	if (!json_is_object(object))
		return wrong(r, where, "", "an object", object);
	json_object_foreach(object, key, value)
	{
		size_t i = 0;
		while (i < n && strcmp(key, keys[i]))
			i++;
		const char *near = i < n ? NULL : suggest(key, keys, n);
		if (i == n)
			return error_set(r->error, "%s: %s%sthere is no key \"%.40s\"%s%s%s", r->path, where,
			                 *where ? ": " : "", key, near ? "; did you mean \"" : "", near ? near : "",
			                 near ? "\"?" : "");
	}
	return 0;
}

/* A number from least to most; otherwise: what it is without one; negative: it has to be there. */
static int platform_number(const struct platform_file *r, const char *where, json_t *object, const char *key,
                           double least, double most, double otherwise, double *to)
{
	json_t *value = json_object_get(object, key);
	char expected[80];
	if (!value && otherwise >= 0) {
		*to = otherwise;
		return 0;
	}
	*to = json_number_value(value);
	if (json_is_number(value) && *to >= least && *to <= most)
		return 0;
	snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
	if (json_is_number(value))
		return error_set(r->error, "%s: %s%s%s: expected %s, found %g", r->path, where, *where ? "." : "", key,
		                 expected, *to);
	return wrong(r, where, key, expected, value);
}

/* Bytes a second; *byte: ns for each. */
static int read_rate(const struct platform_file *r, const char *where, json_t *object, double *byte)
{
	double rate;
	if (platform_number(r, where, object, "bytes_per_s", RATE_LEAST, RATE_MOST, -1, &rate) != 0)
		return -1;
	*byte = 1e9 / rate;
	return 0;
}

static int read_level(const struct platform_file *r, const char *where, json_t *object, struct network_level *to)
{
	static const char *const keys[] = {"latency_ns", "overhead_ns", "gap_ns", "bytes_per_s"};
	return check_keys(r, where, object, keys, sizeof keys / sizeof *keys) != 0 ||
	                       platform_number(r, where, object, keys[0], 0, NS_MOST, -1, &to->latency) != 0 ||
	                       platform_number(r, where, object, keys[1], 0, NS_MOST, -1, &to->overhead) != 0 ||
	                       platform_number(r, where, object, keys[2], 0, NS_MOST, to->overhead, &to->gap) != 0
	               ? -1
	               : read_rate(r, where, object, &to->byte);
}

/* What is not there is as the next farther one. */
static int read_levels(const struct platform_file *r, json_t *levels, struct network *to)
{
	static const char *const keys[NETWORK_LEVELS] = {"socket", "node", "switch"};
	char where[40];
	if (check_keys(r, "levels", levels, keys, NETWORK_LEVELS) != 0)
		return -1;
	for (int i = NETWORK_LEVELS - 1; i >= 0; i--) {
		json_t *level = json_object_get(levels, keys[i]);
		snprintf(where, sizeof where, "levels.%s", keys[i]);
		if (!level && i < NETWORK_LEVELS - 1)
			to->levels[i] = to->levels[i + 1];
		else if (read_level(r, where, level, &to->levels[i]) != 0)
			return -1;
	}
	return 0;
}

static int read_injection(const struct platform_file *r, json_t *object, struct network *to)
{
	static const char *const keys[] = {"gap_ns", "bytes_per_s"};
	if (!object)
		return 0;
	return check_keys(r, "injection", object, keys, 2) != 0 ||
	                       platform_number(r, "injection", object, "gap_ns", 0, NS_MOST, 0, &to->node_gap) != 0
	               ? -1
	               : read_rate(r, "injection", object, &to->node_byte);
}

/* One rule of an operation. */
static int read_rule(const struct platform_file *r, const char *where, json_t *object, enum collective c,
                     struct network_rule *to)
{
	static const char *const keys[] = {"up_to_bytes", "algorithm"};
	double most;
	const char *name;
	if (check_keys(r, where, object, keys, 2) != 0 ||
	    platform_number(r, where, object, "up_to_bytes", 0, 0x1p62, 0x1p63, &most) != 0)
		return -1;
	to->most = most > 0x1p62 ? UINT64_MAX : (uint64_t)most;
	name = json_string_value(json_object_get(object, "algorithm"));
	if (!name)
		return wrong(r, where, "algorithm", "a text", json_object_get(object, "algorithm"));
	for (int i = 0; i < ALGORITHMS; i++)
		if (!strcmp(name, algorithm_name((enum algorithm)i)) && algorithm_fits(c, (enum algorithm)i)) {
			to->algorithm = (enum algorithm)i;
			return 0;
		}
	return error_set(r->error, "%s: %s: no algorithm of MPI's %s is named \"%.40s\" (spoor-what-if(1), Platforms)",
	                 r->path, where, collective_name(c), name);
}

static int read_rules(const struct platform_file *r, json_t *list, enum collective c, struct network *to)
{
	char where[64];
	snprintf(where, sizeof where, "collectives.%s", collective_name(c));
	if (!json_is_array(list) || json_array_size(list) > NETWORK_RULES)
		return error_set(r->error, "%s: %s: expected an array of at most %d rules", r->path, where,
		                 NETWORK_RULES);
	for (size_t i = 0; i < json_array_size(list); i++) {
		snprintf(where, sizeof where, "collectives.%s[%zu]", collective_name(c), i);
		if (read_rule(r, where, json_array_get(list, i), c, &to->rules[c][i]) != 0)
			return -1;
		to->rule_count[c]++;
	}
	return 0;
}

static int read_collectives(const struct platform_file *r, json_t *object, struct network *to)
{
	const char *keys[COLLECTIVES];
	for (int c = 0; c < COLLECTIVES; c++)
		keys[c] = collective_name((enum collective)c);
	if (!object)
		return 0;
	if (check_keys(r, "collectives", object, keys, COLLECTIVES) != 0)
		return -1;
	for (int c = 0; c < COLLECTIVES; c++) {
		json_t *list = json_object_get(object, keys[c]);
		if (list && read_rules(r, list, (enum collective)c, to) != 0)
			return -1;
	}
	return 0;
}

static int read_platform(const struct platform_file *r, json_t *root, struct network *to, char name[PLATFORM_NAME])
{
	static const char *const keys[] = {"name",   "source",    "computing",  "eager_bytes",
	                                   "levels", "injection", "collectives"};
	double eager;
	const char *said = json_string_value(json_object_get(root, "name"));
	if (check_keys(r, "", root, keys, sizeof keys / sizeof *keys) != 0)
		return -1;
	if (!said)
		return wrong(r, "", "name", "a text", json_object_get(root, "name"));
	snprintf(name, PLATFORM_NAME, "%s", said);
	if (platform_number(r, "", root, "computing", 0, COMPUTING_MOST, 1, &to->computing) != 0 ||
	    platform_number(r, "", root, "eager_bytes", 0, 0x1p62, 0x1p63, &eager) != 0)
		return -1;
	to->eager = eager > 0x1p62 ? UINT64_MAX : (uint64_t)eager;
	if (read_levels(r, json_object_get(root, "levels"), to) != 0)
		return -1;
	return read_injection(r, json_object_get(root, "injection"), to) != 0
	               ? -1
	               : read_collectives(r, json_object_get(root, "collectives"), to);
}

int platform_read(struct network *out, char name[PLATFORM_NAME], const char *path, struct error *error)
{
	const struct platform_file r = {.path = path, .error = error};
	json_error_t problem;
	struct stat st;
	*out = (struct network){.computing = 1};
	if (stat(path, &st) != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MOST)
		return error_set(error, "%s: expected a file of a platform, of at most %d bytes", path, FILE_MOST);
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
	if (!root)
		return error_set(error, "%s:%d:%d: %s", path, problem.line, problem.column, problem.text);
	int rv = read_platform(&r, root, out, name);
	json_decref(root);
	return rv;
}
