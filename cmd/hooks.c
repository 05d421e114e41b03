/* SPDX-License-Identifier: BSD-3-Clause
 * hooks - runs the programs that the policy names for traces that have arrived in the archive
 *
 * When a file arrived is its ctime, which its user can make later, and not earlier. Traces from a time on are looked
 * at, and those for which a hook was run since then are known (hook_state.h). This time follows the clock, at a
 * distance (BEHIND): clocks of file servers differ, and lists of folders are late. It waits for what is still to be
 * done, but no longer than a week.
 *
 * A user can put any number of files into the archive. So a user's traces get at most USER_MOST runs in that time, and
 * whose traces got fewest come first.
 */
#include "cmd/hooks.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/arrivals.h"
#include "archive/join.h"
#include "archive/metadata.h"
#include "cmd/base/sink.h"
#include "process/process.h"
#include "trace/base/index.h"
#include "trace/base/repeated.h"

#define SECOND       INT64_C(1000000000)
#define BEHIND       (7200 * SECOND)
#define WAIT_MOST    (7 * 86400 * SECOND)
#define PART_WAITS   (3600 * SECOND)     /* for the other parts of its world */
#define WORLD_KEPT   (JOIN_AGE * SECOND) /* its parts may be joined so much later: that is a new file */
#define TRIES        3
#define HOOK_SECONDS 60
#define PASS_SECONDS 600
#define USER_MOST    100
#define WORLDS_MOST  1000 /* of a user, that are kept */
#define PASS_MOST    1000 /* runs */
#define TEXT_MOST    1000 /* bytes of a text of the JSON */

struct due {
	struct hook_entry entry;
	int64_t arrived;
	size_t hook, order; /* order: how many runs of this user come before */
	char *name, *json;
};

struct hook_pass {
	struct hooks *h;
	const char *archive;
	struct due *due;
	size_t count;
	int64_t waits; /* when the first trace arrived that is not done */
};

/* --- before rights are given up --- */

/* Whoever can write the program could run anything with the rights of the admin group. */
static int check_program(const struct policy_hook *hook, struct error *error)
{
	struct stat st;
	if (stat(hook->run, &st) != 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
		return error_set(error, "hook \"%s\": %s: there is no such program", hook->name, hook->run);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & 022)
		return error_set(error, "hook \"%s\": %s: others can write it; chown root, and chmod go-w", hook->name,
		                 hook->run);
	return 0;
}

int hooks_open(struct hooks *h, const char *policy, const char *state, struct error *error)
{
	struct problems problems = {0};
	int rv = 0;
	*h = (struct hooks){.state = {.fd = -1}, .began = (int64_t)time(NULL) * SECOND};
	h->policy = policy_load(policy, true, &problems);
	if (!h->policy)
		rv = error_set(error, "%.400s", problems.text ? problems.text : policy);
	problems_clear(&problems);
	for (size_t i = 0; rv == 0 && i < policy_hook_count(h->policy); i++) {
		struct policy_hook hook = policy_hook(h->policy, i);
		rv = check_program(&hook, error);
	}
	if (rv == 0 && policy_hook_count(h->policy))
		rv = hook_state_open(&h->state, state, error);
	return rv;
}

void hooks_close(struct hooks *h)
{
	policy_destroy(h->policy);
	hook_state_close(&h->state);
}

/* --- what is asked of a trace --- */

static void set_figure(struct facts *facts, const char *name, double value)
{
	if (value >= 0 && value < 1e15)
		facts_format(facts, name, "%" PRIu64, (uint64_t)value);
}

/* Shares in percent. */
static double asked_figure(const struct arrival *a, int column)
{
	return figure_columns[column].unit == UNIT_SHARE ? 100 * a->figures[column] : a->figures[column];
}

/* What conditions look at. */
static void set_facts(struct facts *facts, const struct arrival *a)
{
	static const char *const texts[] = {"account", "partition", "qos", "job_name", "state", "reason"};
	static const char *const numbers[] = {"nodes", "tasks", "ranks", "job", "het_job_id"};
	facts_set(facts, "user", a->user);
	facts_set(facts, "executable", metadata_text(a->metadata, "exe", NULL));
	facts_set(facts, "container", metadata_text(a->metadata, "container", ""));
	facts_set(facts, "reservation", metadata_text(a->metadata, "reservation", ""));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		facts_set(facts, texts[i], metadata_text(a->metadata, texts[i], NULL));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (metadata_number(a->metadata, numbers[i], -1) >= 0)
			facts_format(facts, numbers[i], "%" PRId64, metadata_number(a->metadata, numbers[i], -1));
	facts_set(facts, "cause", a->cause);
	set_figure(facts, "elapsed", a->elapsed / 60);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (figure_columns[i].condition)
			set_figure(facts, figure_columns[i].condition, asked_figure(a, i));
}

/* --- what a program is told --- */

static void put_text(json_t *to, const char *key, const char *text)
{
	size_t n = text ? strnlen(text, TEXT_MOST + 1) : 0;
	if (n > TEXT_MOST)
		for (n = TEXT_MOST; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	if (n)
		json_object_set_new(to, key, json_stringn(text, n));
}

static void put_figure(json_t *to, const char *key, double value)
{
	if (value >= 0)
		json_object_set_new(to, key, json_real(value));
}

static void put_metadata(json_t *to, const json_t *metadata)
{
	static const char *const keys[] = {"job",       "step",    "uid",       "nodes", "ranks",     "state",
	                                   "exit_code", "signal",  "reason",    "exe",   "start",     "end",
	                                   "job_name",  "account", "partition", "qos",   "array_job", "array_task"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *value = json_object_get(metadata, keys[i]);
		if (json_is_integer(value))
			json_object_set(to, keys[i], value);
		else
			put_text(to, keys[i], json_string_value(value));
	}
}

static char *arrival_json(const char *archive, const struct arrival *a, const char *hook)
{
	json_t *to = json_object();
	char *path = NULL;
	put_text(to, "hook", hook);
	if (asprintf(&path, "%s/%s/%s.spoor", archive, a->folder, a->name) >= 0)
		json_object_set_new(to, "trace", json_string(path));
	free(path);
	put_text(to, "user", a->user);
	put_text(to, "application", a->application);
	put_metadata(to, a->metadata);
	put_figure(to, "elapsed", a->elapsed);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (figure_columns[i].condition)
			put_figure(to, figure_columns[i].condition, asked_figure(a, i));
	if (a->late_rank >= 0)
		json_object_set_new(to, "late_rank", json_integer(a->late_rank));
	put_text(to, "late_node", a->late_node);
	put_text(to, "verdict", a->verdict);
	put_text(to, "cause", a->cause);
	char *text = json_dumps(to, JSON_COMPACT);
	json_decref(to);
	return text;
}

/* --- which hooks are for which traces --- */

static bool has_parts(const json_t *metadata)
{
	return *metadata_text(metadata, "world", "") &&
	       (json_object_get(metadata, "part") || json_array_size(json_object_get(metadata, "parts")) > 0);
}

/* The parts of a world, and what was joined of them, are the same trace. */
static uint64_t key_of(const struct arrival *a, const char *hook)
{
	char job[32];
	bool parts = has_parts(a->metadata);
	snprintf(job, sizeof job, "%" PRId64, metadata_number(a->metadata, "job", -1));
	const char *words[] = {parts ? job : a->folder, parts ? metadata_text(a->metadata, "world", "") : a->name,
	                       hook};
	uint64_t h = parts;
	for (int i = 0; i < 3; i++)
		h = hash_mix(h, hash_bytes(words[i], strlen(words[i])));
	return h;
}

/* How many runs there are for this user: kept for long, or not. */
static size_t runs_of_user(const struct hook_pass *p, uint64_t uid, bool kept)
{
	size_t later = hook_state_count(&p->h->state, uid, p->h->began),
	       n = kept ? later : hook_state_count(&p->h->state, uid, 0) - later;
	for (size_t i = 0; i < p->count; i++)
		n += p->due[i].entry.uid == uid && (p->due[i].entry.arrived > p->h->began) == kept;
	return n;
}

static bool is_due(const struct hook_pass *p, const struct hook_entry *e)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->due[i].entry.key == e->key && p->due[i].entry.uid == e->uid)
			return true;
	return false;
}

/* Where a run is kept. If all places are taken, that of whoever has most before it, which waits: one user's many do not
 * come before another's first. NULL: this one waits. */
static struct due *take_place(struct hook_pass *p, size_t order)
{
	struct due *last = p->due;

	if (p->count < PASS_MOST)
		return &p->due[p->count++];
	for (size_t i = 1; i < p->count; i++)
		last = p->due[i].order > last->order ? &p->due[i] : last;
	if (last->order <= order)
		return NULL;
	p->waits = last->arrived < p->waits ? last->arrived : p->waits;
	free(last->name);
	free(last->json);
	return last;
}

/* Returns 0, 1 if it has to wait, or -1 without memory. */
static int add_due(struct hook_pass *p, const struct arrival *a, size_t hook)
{
	const char *name = policy_hook(p->h->policy, hook).name;
	bool parts = has_parts(a->metadata);
	struct hook_entry e = {a->arrived + (parts ? WORLD_KEPT : 0), (uint64_t)a->uid, key_of(a, name), TRIES};
	const struct hook_entry *old = hook_state_find(&p->h->state, e.uid, e.key);
	size_t order = runs_of_user(p, e.uid, parts);
	if ((old && old->left == 0) || is_due(p, &e))
		return 0;
	if (!old && order >= (parts ? WORLDS_MOST : USER_MOST)) {
		p->h->left_out++;
		return 0;
	}
	e.left = old ? old->left : TRIES;
	struct due *d = take_place(p, order);
	if (!d)
		return 1;
	*d = (struct due){e, a->arrived, hook, order, strdup(a->name), arrival_json(p->archive, a, name)};
	return d->name && d->json ? 0 : -1;
}

static int look_at_arrival(void *context, const struct arrival *a)
{
	struct hook_pass *p = context;
	struct facts facts = {0};
	bool waits = !a->known || (json_object_get(a->metadata, "part") && a->arrived > p->h->began - PART_WAITS);
	int rv = 0;
	set_facts(&facts, a);
	for (size_t i = 0; !waits && rv == 0 && i < policy_hook_count(p->h->policy); i++)
		if (policy_hook_holds(p->h->policy, i, &facts))
			rv = add_due(p, a, i);
	facts_clear(&facts);
	if ((waits || rv > 0) && a->arrived < p->waits)
		p->waits = a->arrived;
	return rv < 0 ? 1 : 0;
}

static int find_due(struct hook_pass *p, struct catalog *c, struct error *error)
{
	int rv = arrivals_each(c, p->h->state.since, look_at_arrival, p, error);
	return rv > 0 ? error_set(error, "out of memory") : rv;
}

/* --- running them --- */

static int compare_due(const void *a, const void *b)
{
	const struct due *x = a, *y = b;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->arrived > y->arrived) - (x->arrived < y->arrived);
}

static int run_program(const struct due *d, const char *program, struct error *error)
{
	char said[PROCESS_LINE + 1] = "", conf[PATH_MAX + 16];
	const char *own = getenv("SLURM_CONF");
	snprintf(conf, sizeof conf, "SLURM_CONF=%s", own ? own : "");
	const char *argv[] = {"/usr/bin/env", own ? conf : "LC_ALL=C", program, NULL};
	struct process p = {
		.argv = argv, .input = d->json, .seconds = HOOK_SECONDS, .messages = said, .message_size = sizeof said};
	struct error why = {""};
	if (process_run(&p, &why) == 0)
		return 0;
	process_clean(said);
	return error_set(error, "%s: %.200s%s%.200s", program,
	                 strchr(why.text, ':') ? strrchr(why.text, ':') + 2 : why.text, *said ? ": " : "", said);
}

/* Returns 0, or -1 with error set: nothing more can be written down. */
static int run_due(struct hook_pass *p, struct due *d, struct error *error)
{
	struct policy_hook hook = policy_hook(p->h->policy, d->hook);
	struct error why = {""};
	d->entry.left--;
	if (hook_state_put(&p->h->state, &d->entry, error) != 0)
		return -1;
	p->h->run++;
	if (run_program(d, hook.run, &why) == 0) {
		d->entry.left = 0;
		return hook_state_put(&p->h->state, &d->entry, error);
	}
	if (repeated_next(&p->h->failed))
		say_to(stderr, "spoor index: hook \"%s\" for %s: %s; %s\n", hook.name, d->name, why.text,
		       d->entry.left ? "the next `spoor index --hooks` tries again" : "given up");
	return 0;
}

static int run_all_due(struct hook_pass *p, struct error *error)
{
	int64_t until = (int64_t)time(NULL) + PASS_SECONDS;
	int rv = 0;
	qsort(p->due, p->count, sizeof *p->due, compare_due);
	for (size_t i = 0; i < p->count; i++) {
		struct due *d = &p->due[i];
		bool runs = rv == 0 && (int64_t)time(NULL) < until;
		if (runs)
			rv = run_due(p, d, error);
		if (d->entry.left > 0 || rv != 0) {
			p->h->waiting++;
			p->waits = d->arrived < p->waits ? d->arrived : p->waits;
		}
	}
	return rv;
}

int hooks_run(struct hooks *h, struct catalog *c, struct error *error)
{
	struct hook_pass p = {.h = h, .archive = c->archive, .waits = h->began - BEHIND};
	if (policy_hook_count(h->policy) == 0)
		return 0;
	p.due = calloc(PASS_MOST, sizeof *p.due);
	int rv = p.due ? catalog_lock(c, CATALOG_SHARE, 10000, error) : error_set(error, "out of memory");
	if (rv == 0)
		rv = find_due(&p, c, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (rv == 0)
		rv = run_all_due(&p, error);
	if (p.waits < h->began - WAIT_MOST)
		p.waits = h->began - WAIT_MOST;
	if (rv == 0 && p.waits > h->state.since)
		rv = hook_state_advance(&h->state, p.waits, error);
	for (size_t i = 0; i < p.count; i++) {
		free(p.due[i].name);
		free(p.due[i].json);
	}
	free(p.due);
	return rv;
}
