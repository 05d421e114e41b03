/* SPDX-License-Identifier: BSD-3-Clause
 * metadata - the facts of a job as a JSON object
 */
#include "archive/metadata.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "trace/base/index.h"
#include "trace/base/number.h"
#include "trace/base/path.h"
#include "trace/base/regular.h"
#include "trace/base/utf8.h"
#include "trace/file/container.h"

enum kind {
	TEXT,
	NUMBER,
	NAMES,     /* a,b: a list of texts */
	NUMBERS,   /* 4,4: a list of numbers */
	ARGUMENTS, /* a list of texts, separated by FACT_SEPARATOR */
	HIDDEN,    /* on the way only */
};

/* In the order in which they are written. */
static const struct {
	const char *name;
	enum kind kind;
} known[] = {
	{"job", NUMBER},
	{"step", TEXT},
	{"array_job", NUMBER},
	{"array_task", NUMBER},
	{"het_job_id", NUMBER},
	{"het_component", NUMBER},
	{"het_size", NUMBER},
	{"restart", NUMBER},
	{"cluster", TEXT},
	{"job_name", TEXT},
	{"user", TEXT},
	{"uid", NUMBER},
	{"account", TEXT},
	{"partition", TEXT},
	{"qos", TEXT},
	{"node_list", TEXT},
	{"nodes", NUMBER},
	{"tasks", NUMBER},
	{"tasks_per_node", TEXT},
	{"node", TEXT},
	{"exit_code", NUMBER},
	{"signal", NUMBER},
	{"exit_task", NUMBER},
	{"first_task", NUMBER},
	{"first_status", NUMBER},
	{"partial", NUMBER},
	{"reason", TEXT},
	{"unended", TEXT},
	{"ranks_missing", NUMBER},
	{"ranks_unfinished", NUMBER},
	{"part", TEXT},
	{"mode", TEXT},
	{"rule", TEXT},
	{"rule_where", TEXT},
	{"rule_reason", TEXT},
	{"notes", ARGUMENTS},
	{"site_tolerance", NUMBER},
	{"site_ignore", TEXT},
	{"ranks", NUMBER},
	{"threads", NUMBER},
	{"hosts", NAMES},
	{"ranks_per_node", NUMBERS},
	{"command", ARGUMENTS},
	{"exe", TEXT},
	{"exe_build_id", TEXT},
	{"mpi_library", TEXT},
	{"mpi_version", TEXT},
	{"thread_level", NUMBER},
	{"world", TEXT},
	{"parent_world", TEXT},
	{"parent_rank", NUMBER},
	{"start_ns", NUMBER},
	{"end_ns", NUMBER},
	{"step_start", NUMBER},
	{"step_end", NUMBER},
	{"spoor_version", TEXT},
	{"slurm_version", TEXT},
	{"reservation", TEXT},
	{"container", TEXT},
	{"retention", NUMBER},
	{"step_end_ns", HIDDEN},
	{"task_exits", HIDDEN},
	{"slurm_conf", HIDDEN},
	{"slurm_bin", HIDDEN},
	{"gids", HIDDEN},
	{"local_tasks", HIDDEN},
	{"job_start", HIDDEN},
	{"job_end", HIDDEN},
	{"gid", HIDDEN},
	{"node_index", HIDDEN},
	{"groups", HIDDEN},
	{"aborted", HIDDEN},
	{"ending", HIDDEN},
	{"swept", HIDDEN},
	{"spool", HIDDEN},
	{"day", HIDDEN},
	{"folders", HIDDEN},
};
#define KNOWN (sizeof known / sizeof known[0])

/* A byte that is no UTF-8 becomes U+FFFD: a command line may hold any bytes, JSON may not. */
static json_t *text_new(const char *text)
{
	json_t *string = json_string(text);
	const char *end = text + strlen(text);
	char *copy = string ? NULL : malloc(3 * strlen(text) + 1), *out = copy;

	for (const char *p = text; copy && *p;) {
		size_t n = utf8_length(p, (size_t)(end - p));
		memcpy(out, n ? p : "\xef\xbf\xbd", n ? n : 3);
		out += n ? n : 3;
		p += n ? n : 1;
	}
	if (copy) {
		*out = '\0';
		string = json_string(copy);
	}
	free(copy);
	return string;
}

/* A number that is none (or does not fit) stays the text that it is. */
static json_t *number_new(const char *text)
{
	char *end;
	long long number = strtoll(text, &end, 10);
	char again[32];
	snprintf(again, sizeof again, "%lld", number);
	return *text && !*end && !strcmp(again, text) ? json_integer(number) : text_new(text);
}

static json_t *list_new(const char *text, char separator, json_t *(*element_new)(const char *))
{
	json_t *list = json_array();
	char *copy = strdup(text), *rest = copy, delimiters[2] = {separator, '\0'};

	for (char *item; list && *text && (item = strsep(&rest, delimiters));)
		json_array_append_new(list, element_new(item));
	free(copy);
	return list;
}

static json_t *value_new(enum kind kind, const char *text)
{
	switch (kind) {
	case NUMBER:
		return number_new(text);
	case NAMES:
		return list_new(text, ',', text_new);
	case NUMBERS:
		return list_new(text, ',', number_new);
	case ARGUMENTS:
		return list_new(text, FACT_SEPARATOR, text_new);
	default:
		return text_new(text);
	}
}

/* --- times, and how it ended --- */

/* "2026-03-01T12:00:00Z" */
static json_t *time_new(int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[40];

	if (!gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return json_string(text);
}

void metadata_set_times(json_t *object, int64_t start_ns, int64_t end_ns)
{
	if (start_ns >= 0)
		json_object_set_new(object, "start", time_new(start_ns));
	if (end_ns >= 0)
		json_object_set_new(object, "end", time_new(end_ns));
	if (start_ns >= 0 && end_ns >= start_ns)
		json_object_set_new(object, "elapsed", json_real((double)((end_ns - start_ns) / 1000000) / 1000.0));
}

static const char *state_of(int64_t exit_code, int64_t signal)
{
	return signal > 0 ? "KILLED" : exit_code != 0 ? "FAILED" : "COMPLETED";
}

int64_t metadata_severity(const json_t *m)
{
	return facts_severity(metadata_number(m, "exit_code", 0), metadata_number(m, "signal", 0));
}

void metadata_take_worse(json_t *m, const json_t *other)
{
	static const char *const keys[] = {"exit_code", "signal", "exit_task"};

	if (metadata_severity(other) <= metadata_severity(m))
		return;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (json_is_integer(json_object_get(other, keys[i])))
			json_object_set(m, keys[i], json_object_get(other, keys[i]));
	}
	json_object_set_new(m, "state",
	                    json_string(state_of(metadata_number(m, "exit_code", 0), metadata_number(m, "signal", 0))));
}

void metadata_set_world(json_t *m)
{
	const char *step = metadata_text(m, "step", "");
	size_t hosts = json_array_size(json_object_get(m, "hosts"));
	bool script = step[0] < '0' || step[0] > '9', aborted = !strcmp(metadata_text(m, "reason", ""), "abort");
	/* The tasks of a step may be the daemons of mpirun. */
	bool others = script || metadata_number(m, "tasks", 0) != metadata_number(m, "ranks", 0);

	if (script && *step && hosts && metadata_number(m, "ranks_missing", 0) == 0) {
		json_object_set_new(m, "nodes", json_integer((json_int_t)hosts));
		json_object_set(m, "tasks", json_object_get(m, "ranks"));
	}
	if ((aborted || (others && metadata_number(m, "ranks_unfinished", 0) > 0)) &&
	    !strcmp(metadata_text(m, "state", ""), "COMPLETED")) {
		json_object_set_new(m, "state", json_string("FAILED"));
		json_object_del(m, "exit_code");
		json_object_del(m, "signal");
	}
}

/* --- writing --- */

static void add_unknown(json_t *object, const struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		size_t k = 0;
		while (k < KNOWN && strcmp(known[k].name, facts->items[i].name))
			k++;
		if (k == KNOWN && !json_object_get(object, facts->items[i].name))
			json_object_set_new(object, facts->items[i].name, text_new(facts->items[i].value));
	}
}

char *metadata_dump(const json_t *metadata)
{
	return json_dumps(metadata, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
}

static char *dump_free(json_t *object)
{
	char *text = metadata_dump(object);
	json_decref(object);
	return text;
}

char *metadata_encode(const struct facts *facts)
{
	json_t *object = json_object();

	json_object_set_new(object, "version", json_integer(1));
	json_object_set_new(
		object, "state",
		json_string(state_of(facts_number(facts, "exit_code", 0), facts_number(facts, "signal", 0))));
	metadata_set_times(object, facts_number(facts, "start_ns", -1), facts_number(facts, "end_ns", -1));
	for (size_t i = 0; i < KNOWN; i++) {
		const char *value = facts_get(facts, known[i].name);
		if (value && known[i].kind != HIDDEN)
			json_object_set_new(object, known[i].name, value_new(known[i].kind, value));
	}
	add_unknown(object, facts);
	metadata_set_world(object);
	return dump_free(object);
}

char *metadata_encode_note(const struct facts *facts)
{
	static const char *const names[] = {"job", "step", "node", "exit_code", "signal", "exit_task"};
	json_t *object = json_object();

	json_object_set_new(object, "version", json_integer(1));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = facts_get(facts, names[i]);
		bool text = !strcmp(names[i], "node") || !strcmp(names[i], "step");
		if (value)
			json_object_set_new(object, names[i], value_new(text ? TEXT : NUMBER, value));
	}
	return dump_free(object);
}

/* --- reading --- */

const char *metadata_text(const json_t *metadata, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(metadata, key));
	return text ? text : otherwise;
}

int64_t metadata_number(const json_t *metadata, const char *key, int64_t otherwise)
{
	const json_t *number = json_object_get(metadata, key);
	if (json_is_integer(number))
		return json_integer_value(
			number); /* not by way of a double: 53 bits do not hold the nanoseconds of our time */
	double real = json_is_real(number) ? json_real_value(number) : NAN;
	return real > -0x1p63 && real < 0x1p63 ? (int64_t)real : otherwise;
}

json_t *metadata_parse(const char *name, const void *text, size_t n, struct error *error)
{
	json_error_t json;
	json_t *metadata = json_loadb(text, n, JSON_REJECT_DUPLICATES, &json);

	if (metadata && json_is_object(metadata))
		return metadata;
	error_set(error, "%s: chunk META: %s", name, metadata ? "not an object" : json.text);
	json_decref(metadata);
	return NULL;
}

json_t *metadata_read(const char *path, const char *name, unsigned long uid, struct error *error)
{
	uint8_t *text = NULL;
	uint64_t job;
	size_t n = 0;

	int fd = regular_open(AT_FDCWD, path, (int64_t)uid, NULL, error);
	if (fd < 0)
		return NULL;
	int rv = container_read_chunk(fd, path, "META", &codec_zstd, &text, &n, error);
	close(fd);
	if (rv) {
		if (rv > 0)
			error_set(error, "%s: has no metadata (chunk META)", path);
		return NULL;
	}
	json_t *metadata = metadata_parse(path, text, n, error);
	free(text);
	if (metadata &&
	    (number_read(&name, INT64_MAX, &job) != 0 || metadata_number(metadata, "job", -1) != (int64_t)job))
		error_set(error, "%s: its metadata is of job %lld", path,
		          (long long)metadata_number(metadata, "job", -1));
	else if (metadata && metadata_number(metadata, "uid", (int64_t)uid) != (int64_t)uid)
		error_set(error, "%s: its metadata is of user %lld, the file of user %lu", path,
		          (long long)metadata_number(metadata, "uid", -1), uid);
	else
		return metadata;
	json_decref(metadata);
	return NULL;
}

void metadata_set_sure(json_t *metadata, const char *key, const char *sure)
{
	json_t *own = json_incref(json_object_get(metadata, key));
	char name[32];

	snprintf(name, sizeof name, "claimed_%s", key);
	json_object_del(metadata, name);
	json_object_del(metadata, key);
	if (own && strcmp(json_is_string(own) ? json_string_value(own) : "", sure))
		json_object_set(metadata, name, own);
	if (*sure)
		json_object_set_new(metadata, key, json_string(sure));
	json_decref(own);
}

json_t *metadata_read_noted(const char *path, const char *name, int64_t uid, const struct metadata_sure *sure,
                            const char *note, struct error *error)
{
	json_t *metadata = metadata_read(path, name, (unsigned long)uid, error);
	json_t *other = metadata && *note ? json_loads(note, 0, NULL) : NULL;

	if (metadata) {
		metadata_set_sure(metadata, "user", sure->user);
		metadata_set_sure(metadata, "account", sure->account);
		metadata_set_sure(metadata, "partition", sure->partition);
		metadata_set_sure(metadata, "qos", sure->qos);
		json_object_set_new(metadata, "uid", json_integer(uid));
	}
	if (other)
		metadata_take_worse(metadata, other);
	json_decref(other);
	return metadata;
}

/* --- what ran --- */

const char *metadata_application(const json_t *metadata, char out[METADATA_APPLICATION])
{
	static const char *const interpreters[] = {"python*", "pypy*", "R", "Rscript", "julia*"};
	const json_t *command = json_object_get(metadata, "command"), *word;
	const char *name = path_name(metadata_text(metadata, "exe", ""));
	bool interpreted = false;
	size_t i;

	for (i = 0; i < sizeof interpreters / sizeof *interpreters; i++)
		interpreted = interpreted || fnmatch(interpreters[i], name, 0) == 0;
	for (i = 1; interpreted && i < json_array_size(command); i++) {
		word = json_array_get(command, i);
		const char *text = json_is_string(word) ? json_string_value(word) : "-";
		if (strncmp(text, "--file=", 7) == 0) /* as Rscript says it to R */
			text += 7;
		if (*text == '-')
			continue;
		/* an option's value may come first: a script has an ending, or a path */
		if (strchr(text, '.') || strchr(text, '/')) {
			name = path_name(text);
			break;
		}
	}
	snprintf(out, METADATA_APPLICATION, "%s", name);
	return out;
}

uint64_t metadata_arguments(const json_t *metadata)
{
	const json_t *command = json_object_get(metadata, "command");
	uint64_t h = 0;

	for (size_t i = 1; i < json_array_size(command); i++) {
		const json_t *word = json_array_get(command, i);
		const char *text = json_is_string(word) ? json_string_value(word) : "";
		h = hash_mix(h, hash_bytes(text, strlen(text)));
	}
	return h;
}

/* Signals that a program brings upon itself. Others are sent to it, or come from a timer. */
static bool is_own_fault(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGSYS || number == SIGTRAP;
}

bool metadata_run_end(const json_t *metadata, struct run_end *end)
{
	static const char *const others[] = {"oom", "node-lost", "time-limit", "preempted", "cancelled"};
	const char *reason = metadata_text(metadata, "reason", "");
	int64_t number = metadata_number(metadata, "signal", 0), status = metadata_number(metadata, "exit_code", 0),
		first = metadata_number(metadata, "first_status", 0);

	/* who was ended last, by a signal that the launcher sent, is not who ended the run */
	if (first > 0 && !is_own_fault((int)number)) {
		status = first;
		number = 0;
	}
	if (number <= 0 && status > 128 && status <= 128 + 64) /* as a shell or mpirun says it */
		number = status - 128;
	number = number > 0 && number < 128 ? number : 0;
	*end = (struct run_end){.signal = (int)number,
	                        .status = (int)(status & 255),
	                        .partial = metadata_number(metadata, "partial", 0) > 0};
	snprintf(end->reason, sizeof end->reason, "%s", reason);
	end->itself = number ? is_own_fault((int)number) : end->status && status != 124; /* of timeout(1) */
	/* of what a script starts the exit code is not known, only that ranks did not come to MPI_Finalize */
	if (!json_object_get(metadata, "exit_code") && strcmp(reason, "exit") == 0)
		end->itself = true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		end->itself &= strcmp(reason, others[i]) != 0;
	/* ranks that come to MPI_Finalize at very different times go on */
	return (*metadata_text(metadata, "state", "") != '\0' && json_object_get(metadata, "exit_code")) ||
	       (metadata_number(metadata, "partial", 0) > 0 && *reason != '\0' && strcmp(reason, "deadline") != 0);
}

struct figure_run metadata_figure_run(const json_t *metadata)
{
	int64_t start = metadata_number(metadata, "start_ns", 0), end = metadata_number(metadata, "end_ns", 0),
		nodes = metadata_number(metadata, "nodes", 0);
	return (struct figure_run){.nodes = nodes > 0 ? (uint64_t)nodes : 0,
	                           .wall_ns = start > 0 && end > start ? (uint64_t)end - (uint64_t)start : 0,
	                           .partial = metadata_number(metadata, "partial", 0) > 0};
}
