/* SPDX-License-Identifier: BSD-3-Clause
 * job - of `spoor where`: asks the nodes of a job that runs
 *
 * One `srun --overlap` starts `spoor where --node` on each node, as the job's user, whose arenas are there. slurmctld
 * takes a step of the job's user only, not of root. So root becomes that user, for good, before it looks at anything;
 * who is neither is refused. Nobody reads with more rights than the job has. srun gets nothing of root's (process.h),
 * and its user cannot look into it (identity.h, `apart`).
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/base/status.h"
#include "cmd/base/sink.h"
#include "cmd/where/view.h"
#include "deliver/controller.h"
#include "process/process.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/base/number.h"

#define ANSWER_SIZE   (1 << 20)
#define LINE_SIZE     2048
#define NODES_MOST    65536
#define TRACES_MOST   1024         /* of one node */
#define MESSAGES_MOST 20           /* lines of srun */
#define HEARD_MOST    (1ULL << 30) /* bytes of all nodes: anybody can send more */

/* What slurmctld says of a job, of one task of an array, or of one part of a heterogeneous job. */
struct job_line {
	uint64_t number, uid;
	char id[64]; /* 4711; 4711_3: of an array; 4711+1: of a heterogeneous job */
	char state[32];
	const char *nodes;
};

/* A trace that is not complete yet. */
struct node_trace {
	char number[16], step[64];
	uint8_t *bytes;
	size_t size, capacity;
};

struct node_traces {
	char name[128];
	bool answered;
	struct node_trace *traces;
	uint32_t count, capacity;
};

struct hearing {
	struct where_worlds *worlds;
	uint64_t job;
	struct node_traces *nodes;
	size_t node_count, answered;
	struct index by_name;
	uint64_t heard; /* bytes of all traces */
	char line[LINE_SIZE];
	size_t used;
};

/* --- what nodes say --- */

struct node_name {
	const struct hearing *h;
	const char *name;
};

static bool is_node(const void *context, uint32_t number)
{
	const struct node_name *n = context;
	return !strcmp(n->h->nodes[number].name, n->name);
}

/* Once all of them are there: nodes that have the same name are one. */
static void index_nodes(struct hearing *h)
{
	for (uint32_t i = 0; i < h->node_count; i++)
		if (index_add(&h->by_name, hash_bytes(h->nodes[i].name, strlen(h->nodes[i].name)), i) != 0)
			break;
}

/* NULL: the job has no such node. */
static struct node_traces *node_named(const struct hearing *h, const char *name)
{
	struct node_name n = {h, name};
	uint32_t number = index_find(&h->by_name, hash_bytes(name, strlen(name)), is_node, &n);
	return number == INDEX_NONE ? NULL : &h->nodes[number];
}

static struct node_trace *trace_of_node(struct node_traces *n, const char *number)
{
	for (uint32_t i = n->count; i-- > 0;) /* what comes now is of the last one */
		if (!strcmp(n->traces[i].number, number))
			return &n->traces[i];
	if (n->count == TRACES_MOST || !budget_grow(&n->traces, n->count, &n->capacity, sizeof *n->traces))
		return NULL;
	struct node_trace *t = &n->traces[n->count++];
	*t = (struct node_trace){.size = 0};
	snprintf(t->number, sizeof t->number, "%s", number);
	return t;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void hear_bytes(struct hearing *h, struct node_trace *t, const char *hex)
{
	size_t n = strlen(hex) / 2;
	if ((h->heard += n) > HEARD_MOST)
		return;
	if (t->size + n > t->capacity) {
		size_t capacity = 2 * (t->size + n);
		uint8_t *more = realloc(t->bytes, capacity);
		if (!more)
			return;
		t->bytes = more;
		t->capacity = capacity;
	}
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
		t->bytes[t->size++] = (uint8_t)(high < 0 || low < 0 ? 0 : high << 4 | low);
	}
}

static void forget_traces(struct node_traces *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		free(n->traces[i].bytes);
	budget_free(n->traces);
	n->traces = NULL;
	n->count = n->capacity = 0;
}

/* All of a node is here: its traces are complete. */
static void hear_end(struct hearing *h, struct node_traces *n, size_t arenas, size_t early, size_t unread,
                     const char *why)
{
	h->answered += !n->answered;
	n->answered = true;
	h->worlds->arenas += arenas;
	h->worlds->early += early;
	if (unread && h->worlds->unread == 0)
		snprintf(h->worlds->first, sizeof h->worlds->first, "%s", why);
	h->worlds->unread += unread;
}

/* In the order of the nodes, as the ranks mostly are: then those that are merged are a few intervals at any time. */
static void merge_nodes(struct hearing *h)
{
	for (size_t i = 0; i < h->node_count; i++) {
		struct node_traces *n = &h->nodes[i];
		for (uint32_t k = 0; n->answered && k < n->count; k++) {
			struct node_trace *t = &n->traces[k];
			struct error error = {""};
			if (where_add(h->worlds, t->step, t->bytes, t->size, &error) != 0)
				say_to(stderr, "spoor where: node %s: %s\n", n->name, error.text);
		}
		forget_traces(n);
	}
}

static void hear_line(struct hearing *h, const char *line)
{
	char node[128], step[64], number[16], hex[LINE_SIZE], why[400];
	size_t arenas, early, unread;
	struct node_traces *n;
	if (sscanf(line, "W %127s %63s %15s %2047s", node, step, number, hex) == 4 && (n = node_named(h, node))) {
		struct node_trace *t = trace_of_node(n, number);
		if (t) {
			snprintf(t->step, sizeof t->step, "%llu.%.40s", (unsigned long long)h->job, step);
			hear_bytes(h, t, hex);
		}
	} else if (sscanf(line, "E %127s %zu %zu %zu %399[^\n]", node, &arenas, &early, &unread, why) == 5 &&
	           (n = node_named(h, node))) {
		hear_end(h, n, arenas, early, unread, why);
	}
}

static void hear(struct hearing *h, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			h->line[h->used] = bytes[i];
			h->used += h->used < sizeof h->line - 1;
			continue;
		}
		h->line[h->used] = '\0';
		h->used = 0;
		hear_line(h, h->line);
	}
}

/* --- srun --- */

/* What srun is told. A part of a heterogeneous job is asked for by the number of its first one. */
struct srun_words {
	char program[PATH_MAX], self[PATH_MAX], conf[PATH_MAX + 16];
	char id[128], group[64], job[32], count[64], tasks[64];
	const char *argv[24], *environment[3];
};

static int say_step(struct srun_words *w, const struct job_line *j, const char *step, size_t nodes, struct error *error)
{
	const char *own = getenv("SLURM_CONF");
	ssize_t n = readlink("/proc/self/exe", w->self, sizeof w->self - 1);
	if (n <= 0 || !process_find("srun", w->program))
		return error_set(error, "srun is in no folder of PATH that root may trust");
	w->self[n] = '\0';
	size_t first = strcspn(j->id, "+");
	snprintf(w->job, sizeof w->job, "%llu", (unsigned long long)j->number);
	if (j->id[first])
		snprintf(w->id, sizeof w->id, "--jobid=%.*s", (int)first, j->id);
	else
		snprintf(w->id, sizeof w->id, "--jobid=%s", w->job);
	snprintf(w->group, sizeof w->group, "--het-group=%.32s", j->id[first] ? j->id + first + 1 : "0");
	snprintf(w->count, sizeof w->count, "--nodes=%zu", nodes);
	snprintf(w->tasks, sizeof w->tasks, "--ntasks=%zu", nodes);
	snprintf(w->conf, sizeof w->conf, "SLURM_CONF=%s", own ? own : "");
	const char *argv[] = {w->program,
	                      w->id,
	                      w->count,
	                      w->tasks,
	                      "--ntasks-per-node=1",
	                      "--overlap",
	                      "--mem=0",
	                      "--mpi=none",
	                      "--input=none",
	                      "--quiet",
	                      "--kill-on-bad-exit=0",
	                      "--chdir=/",
	                      "--export=SPOOR_TRACE=off",
	                      j->id[first] ? w->group : "--overlap",
	                      w->self,
	                      "where",
	                      "--node",
	                      "--step",
	                      step ? step : "all",
	                      w->job,
	                      NULL};
	memcpy(w->argv, argv, sizeof argv);
	w->environment[0] = "SPOOR_TRACE=off";
	w->environment[1] = own ? w->conf : NULL;
	return 0;
}

/* Until all nodes have answered. */
static bool take_lines(void *context, const char *bytes, size_t n)
{
	struct hearing *h = context;
	hear(h, bytes, n);
	return h->answered < h->node_count;
}

/* srun says one thing of each node: the first lines do. */
static void print_messages(char *text)
{
	char *rest = text;
	for (int i = 0; i < MESSAGES_MOST && rest && *rest; i++) {
		char *line = strsep(&rest, "\n");
		process_clean(line);
		say_to(stderr, "%s\n", line);
	}
}

/* Until all nodes have answered, srun has ended, or the time is over. Returns -1 with error set: there is no srun. */
static int run_step(struct hearing *h, const struct job_line *j, const char *step, unsigned seconds,
                    struct error *error)
{
	struct srun_words w = {.argv = {NULL}};
	struct error unused = {""}; /* what it says itself is better */
	char messages[4096];
	if (say_step(&w, j, step, h->node_count, error) != 0)
		return -1;
	struct process p = {.argv = w.argv,
	                    .environment = w.environment,
	                    .input = "",
	                    .seconds = seconds,
	                    .messages = messages,
	                    .message_size = sizeof messages,
	                    .take = take_lines,
	                    .context = h,
	                    .polite = true};
	process_run(&p, &unused);
	print_messages(messages);
	return 0;
}

static void name_silent(const struct hearing *h)
{
	size_t named = 0;
	for (size_t i = 0; i < h->node_count; i++)
		if (!h->nodes[i].answered && named++ < 16)
			say_to(stderr, "spoor where: node %s did not answer\n", h->nodes[i].name);
	if (named > 16)
		say_to(stderr, "spoor where: %zu more nodes did not answer\n", named - 16);
}

/* --- the job --- */

/* n[1-3,7],m2: each name of a list of nodes. Returns how many, at most NODES_MOST. */
static size_t nodes_named(const char *list, struct node_traces *nodes, size_t most)
{
	size_t count = 0;
	while (*list && count < most) {
		size_t head = strcspn(list, "[,");
		if (list[head] != '[') {
			snprintf(nodes[count++].name, sizeof nodes->name, "%.*s", (int)head, list);
			list += head + (list[head] == ',');
			continue;
		}
		const char *p = list + head + 1;
		while (*p && *p != ']' && count < most) {
			uint64_t first, last;
			const char *digits = p;
			if (number_read(&p, UINT32_MAX, &first) != 0)
				return count;
			int width = (int)(p - digits);
			last = first;
			if (*p == '-' && (p++, number_read(&p, UINT32_MAX, &last) != 0))
				return count;
			for (; first <= last && count < most; first++)
				snprintf(nodes[count++].name, sizeof nodes->name, "%.*s%0*llu", (int)head, list, width,
				         (unsigned long long)first);
			p += *p == ',';
		}
		list = p + (*p == ']');
		list += *list == ',';
	}
	return count;
}

/* "4711 1000 4711 RUNNING n[1-4]": nothing in it is what a user wrote. */
static bool job_line_read(struct job_line *j, char *line)
{
	const char *p = line;
	int n = 0;
	if (number_read(&p, UINT32_MAX, &j->number) != 0 || *p++ != ' ' || number_read(&p, UINT32_MAX, &j->uid) != 0 ||
	    sscanf(p, " %63s %31s %n", j->id, j->state, &n) != 2 || n == 0)
		return false;
	j->nodes = p + n;
	return true;
}

int where_squeue(const char *which, const char *states, const char *format, char *answer, size_t size,
                 struct error *error)
{
	char conf[PATH_MAX + 16], program[PATH_MAX];
	const char *own = getenv("SLURM_CONF");
	snprintf(conf, sizeof conf, "SLURM_CONF=%s", own ? own : "");
	if (!process_find("squeue", program))
		return error_set(error, "squeue is in no folder of PATH that root may trust");
	const char *argv[] = {program, "--noheader", which, states, format, NULL};
	struct process p = {.argv = argv,
	                    .environment = (const char *[]){own ? conf : NULL, NULL},
	                    .input = "",
	                    .seconds = CONTROLLER_SECONDS,
	                    .output = answer,
	                    .output_size = size};
	return process_run(&p, error);
}

/* Root becomes the job's user, so apart that the user cannot look into srun. Returns 0, or -1 after a message. */
static int become_owner(const struct job_line *j)
{
	struct error error = {""};
	const struct passwd *pw = getpwuid((uid_t)j->uid);
	const struct identity owner = {.uid = (uid_t)j->uid, .gid = pw ? pw->pw_gid : (gid_t)j->uid, .apart = true};
	if (identity_become(&owner, &error) != 0) {
		say_to(stderr, "spoor where: %s\n", error.text);
		return -1;
	}
	if (geteuid() == j->uid)
		return 0;
	say_to(stderr, "spoor where: job %llu is %s's: only that user, or root, may look into it\n",
	       (unsigned long long)j->number, pw ? pw->pw_name : "another user");
	return -1;
}

static int ask_nodes(struct where_worlds *w, const struct job_line *j, const char *step, unsigned seconds)
{
	int rv = -1;
	struct error error = {""};
	struct hearing *h = calloc(1, sizeof *h);
	if (h && (h->nodes = calloc(NODES_MOST, sizeof *h->nodes))) {
		h->worlds = w;
		h->job = j->number;
		h->node_count = nodes_named(j->nodes, h->nodes, NODES_MOST);
		index_nodes(h);
		rv = run_step(h, j, step, seconds, &error);
		index_free(&h->by_name);
	} else {
		error_set(&error, "no memory");
	}
	if (rv == 0) {
		name_silent(h);
		merge_nodes(h);
	} else {
		say_to(stderr, "spoor where: job %s: %s\n", j->id, error.text);
	}
	if (h)
		free(h->nodes);
	free(h);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

int where_job(struct where_worlds *w, const char *job, const char *step, unsigned seconds)
{
	static char answer[ANSWER_SIZE];
	struct error error = {""};
	struct job_line j = {.state = "unknown to slurmctld"};
	bool found = false;
	char which[80];
	snprintf(which, sizeof which, "--jobs=%s", job);
	if (where_squeue(which, "--states=all", "--format=%A %U %i %T %N", answer, sizeof answer, &error) != 0) {
		say_to(stderr,
		       "spoor where: job %s: squeue does not know it: %s; if it has ended, `spoor why %s` says how\n",
		       job, error.text, job);
		return CMD_FAILED;
	}
	for (char *line = answer, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end ? (*end = '\0', 1) : 0;
		if (!job_line_read(&j, line) || (strcmp(j.state, "RUNNING") != 0 && strcmp(j.state, "SUSPENDED") != 0))
			continue;
		found = true;
		if (become_owner(&j) != 0 || ask_nodes(w, &j, step, seconds) != CMD_OK)
			return CMD_FAILED;
	}
	if (found)
		return CMD_OK;
	if (!strcmp(j.state, "PENDING"))
		say_to(stderr, "spoor where: job %s does not run yet (PENDING)\n", job);
	else
		say_to(stderr,
		       "spoor where: job %s does not run (%s); when its trace is in the archive, `spoor why %s` says "
		       "how it ended, and `spoor show --last %s` where its ranks were\n",
		       job, j.state, job, job);
	return CMD_FAILED;
}
