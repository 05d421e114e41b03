/* SPDX-License-Identifier: BSD-3-Clause
 * condition - what rules can ask of a job
 */
#include "policy/condition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"
#include "trace/base/number.h"

const struct condition_row condition_table[CONDITIONS] = {
	[IF_USER] = {"user", "user", CONDITION_TEXT, false, false, OF_BOTH, FROM_SLURM},
	[IF_GROUP] = {"group", "groups", CONDITION_TEXT, true, false, OF_RULES, FROM_SLURM},
	[IF_ACCOUNT] = {"account", "account", CONDITION_TEXT, false, false, OF_BOTH, FROM_CLAIM},
	[IF_PARTITION] = {"partition", "partition", CONDITION_TEXT, true, false, OF_BOTH, FROM_CLAIM},
	[IF_QOS] = {"qos", "qos", CONDITION_TEXT, false, false, OF_BOTH, FROM_CLAIM},
	[IF_JOB_NAME] = {"job_name", "job_name", CONDITION_TEXT, false, false, OF_BOTH, FROM_ENVIRONMENT},
	[IF_EXECUTABLE] = {"executable", "executable", CONDITION_TEXT, false, true, OF_BOTH, FROM_PROCESS},
	[IF_RESERVATION] = {"reservation", "reservation", CONDITION_TEXT, true, false, OF_BOTH, FROM_CLAIM},
	[IF_CONTAINER] = {"container", "container", CONDITION_TEXT, false, false, OF_BOTH, FROM_ENVIRONMENT},
	[IF_WEEKDAY] = {"weekday", "weekday", CONDITION_TEXT, false, false, OF_RULES, FROM_CLAIM},
	[IF_NODES] = {"nodes", "nodes", CONDITION_RANGE, false, false, OF_BOTH, FROM_SLURM},
	[IF_TASKS] = {"tasks", "tasks", CONDITION_RANGE, false, false, OF_BOTH, FROM_SLURM},
	[IF_RANKS] = {"ranks", "ranks", CONDITION_RANGE, false, true, OF_BOTH, FROM_PROCESS},
	[IF_TIME_LIMIT] = {"time_limit", "time_limit", CONDITION_RANGE, false, false, OF_RULES, FROM_CLAIM},
	[IF_TIME] = {"time", "time", CONDITION_TIME, false, false, OF_RULES, FROM_CLAIM},
	[IF_SAMPLE] = {"sample", "job", CONDITION_SHARE, false, false, OF_BOTH, FROM_CLAIM},
	[IF_STATE] = {"state", "state", CONDITION_TEXT, false, false, OF_HOOKS, FROM_TRACE},
	[IF_REASON] = {"reason", "reason", CONDITION_TEXT, false, false, OF_HOOKS, FROM_TRACE},
	[IF_CAUSE] = {"cause", "cause", CONDITION_TEXT, false, false, OF_HOOKS, FROM_TRACE},
	[IF_ELAPSED] = {"elapsed", "elapsed", CONDITION_RANGE, false, false, OF_HOOKS, FROM_TRACE},
#define CONDITION_NEVER

#define CONDITION_IF(ID, name) [IF_FIGURE_##ID] = {#name, #name, CONDITION_RANGE, false, false, OF_HOOKS, FROM_TRACE},

#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, ...) CONDITION_##condition
#include "insight/figures.def"
};

int condition_add_glob(struct condition *c, const char *pattern)
{
	char **more = realloc(c->globs, (c->glob_count + 1) * sizeof *more);

	c->globs = more ? more : c->globs;
	if (!more || !(more[c->glob_count] = strdup(pattern)))
		return -1;
	c->glob_count++;
	return 0;
}

int condition_add_span(struct condition *c, int from, int to)
{
	struct span *more = realloc(c->spans, (c->span_count + 1) * sizeof *more);

	if (!more)
		return -1;
	c->spans = more;
	more[c->span_count++] = (struct span){from, to};
	return 0;
}

void condition_clear(struct condition *c)
{
	for (size_t i = 0; i < c->glob_count; i++)
		free(c->globs[i]);
	free(c->globs);
	free(c->spans);
	*c = (struct condition){0};
}

/* --- values of facts --- */

int condition_minutes(const char *text, size_t length)
{
	if (length != 5 || text[2] != ':')
		return -1;
	for (size_t i = 0; i < 5; i++) {
		if (i != 2 && (text[i] < '0' || text[i] > '9'))
			return -1;
	}
	int hours = (text[0] - '0') * 10 + text[1] - '0', minutes = (text[3] - '0') * 10 + text[4] - '0';
	return hours < 24 ? (minutes < 60 ? 60 * hours + minutes : -1) : hours == 24 && minutes == 0 ? 1440 : -1;
}

int64_t condition_time_limit(const char *text)
{
	uint64_t part[3] = {0}, days = 0, number;
	size_t n = 0;

	if (!strcmp(text, "UNLIMITED"))
		return INT64_MAX;
	for (const char *p = text;; p++) {
		bool first = p == text;
		if (n == 3 || number_read(&p, 999999999, &number) != 0)
			return -1;
		if (*p == '-' && first) {
			days = number;
			continue;
		}
		part[n++] = number;
		if (!*p)
			break;
		if (*p != ':')
			return -1;
	}
	if (strchr(text, '-')) /* days-hours[:minutes[:seconds]] */
		return (int64_t)(days * 1440 + part[0] * 60 + part[1] + (part[2] > 0));
	if (n == 1) /* minutes */
		return (int64_t)part[0];
	return n == 2 ? (int64_t)(part[0] + (part[1] > 0)) : (int64_t)(part[0] * 60 + part[1] + (part[2] > 0));
}

/* splitmix64's finish: every bit of the job's number counts for every bit of the result. */
uint32_t condition_hash(uint64_t job)
{
	uint64_t h = job + UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((h ^ h >> 31) >> 32);
}

/* The values of a fact. A list is cut at its commas, in a copy. */
static void split_values(struct subject *s, size_t what, size_t *n, char **room)
{
	bool several = condition_table[what].several;
	char *values = *room;

	s->first[what] = (uint32_t)*n;
	strcpy(values, s->text[what]);
	*room += strlen(values) + 1;
	while (values) {
		s->values[(*n)++] = several ? strsep(&values, ",") : values;
		values = several ? values : NULL;
	}
	s->count[what] = (uint32_t)*n - s->first[what];
}

int subject_read(struct subject *s, const struct facts *facts)
{
	size_t n = 0, size = 1, most = 0;

	*s = (struct subject){.facts = facts, .minutes = -1};
	for (size_t i = 0; i < CONDITIONS; i++) {
		s->text[i] = facts_get(facts, condition_table[i].fact);
		s->number[i] = -1;
		size += s->text[i] ? strlen(s->text[i]) + 1 : 0;
		most += s->text[i] != NULL;
		for (const char *p = s->text[i]; p && (p = strchr(p, ',')); p++)
			most++;
	}
	s->values = malloc(most * sizeof *s->values + size);
	if (!s->values)
		return -1;
	char *room = (char *)&s->values[most];
	for (size_t i = 0; i < CONDITIONS; i++) {
		if (s->text[i] && condition_table[i].kind == CONDITION_TEXT)
			split_values(s, i, &n, &room);
		else if (s->text[i] && condition_table[i].kind == CONDITION_RANGE)
			s->number[i] = facts_number(facts, condition_table[i].fact, -1);
	}
	if (s->text[IF_TIME_LIMIT])
		s->number[IF_TIME_LIMIT] = condition_time_limit(s->text[IF_TIME_LIMIT]);
	if (s->text[IF_TIME])
		s->minutes = condition_minutes(s->text[IF_TIME], strlen(s->text[IF_TIME]));
	/* The components of a heterogeneous job have numbers of their own, and are one job. */
	int64_t job = facts_number(facts, "het_job_id", facts_number(facts, "job", -1));
	s->has_job = job >= 0;
	s->hash = condition_hash((uint64_t)job);
	return 0;
}

void subject_free(struct subject *s)
{
	free(s->values);
	s->values = NULL;
}

/* --- holding --- */

static bool globs_match(const struct condition *c, const char *value)
{
	for (size_t i = 0; i < c->glob_count; i++) {
		if (glob_matches(c->globs[i], value))
			return true;
	}
	return false;
}

static bool text_holds(enum condition_name what, const struct condition *c, const struct subject *s)
{
	for (uint32_t i = 0; i < s->count[what]; i++) {
		const char *value = s->values[s->first[what] + i];
		if (globs_match(c, value))
			return true;
		/* An executable is known by its path, and by its name. */
		const char *slash = what == IF_EXECUTABLE ? strrchr(value, '/') : NULL;
		if (slash && globs_match(c, slash + 1))
			return true;
	}
	return false;
}

/* From the first minute on, until before the second; over midnight if that is smaller. */
static bool time_holds(const struct condition *c, int minutes)
{
	for (size_t i = 0; i < c->span_count; i++) {
		int from = c->spans[i].from, to = c->spans[i].to;
		if (from < to ? minutes >= from && minutes < to : minutes >= from || minutes < to)
			return true;
	}
	return false;
}

static bool is_known(enum condition_name what, const struct subject *s)
{
	switch (condition_table[what].kind) {
	case CONDITION_SHARE:
		return s->has_job;
	case CONDITION_TIME:
		return s->minutes >= 0;
	case CONDITION_RANGE:
		return s->number[what] >= 0;
	default:
		return s->text[what] != NULL;
	}
}

static void explain_condition(enum condition_name what, const struct condition *c, const struct subject *s,
                              struct error *why)
{
	const struct condition_row *row = &condition_table[what];
	const char *text = s->text[what];

	switch (row->kind) {
	case CONDITION_TEXT:
		error_set(why, "%s is \"%.150s\", not \"%.100s\"%s", row->fact, text, c->globs[0],
		          c->glob_count > 1 ? " or another of the list" : "");
		break;
	case CONDITION_RANGE:
		if ((uint64_t)s->number[what] < c->least)
			error_set(why, "%s is %" PRId64 ", less than %" PRIu64, row->fact, s->number[what], c->least);
		else
			error_set(why, "%s is %s, more than %" PRIu64, row->fact, text, c->most);
		break;
	case CONDITION_TIME:
		error_set(why, "time is %s, outside of what is named", text);
		break;
	default:
		error_set(why, "job %s is not in the sample (its place is %.6f, and the sample ends at %.6f)", text,
		          (double)s->hash / 4294967296.0, (double)c->share / 4294967296.0);
	}
}

enum verdict condition_holds(enum condition_name what, const struct condition *c, const struct subject *s,
                             struct error *why)
{
	uint64_t number = (uint64_t)s->number[what];
	bool holds = false;

	if (!is_known(what, s)) {
		if (condition_table[what].late)
			return UNKNOWN;
		if (why)
			error_set(why, "%s is not known", condition_table[what].fact);
		return HOLDS_NOT;
	}
	switch (condition_table[what].kind) {
	case CONDITION_TEXT:
		holds = text_holds(what, c, s);
		break;
	case CONDITION_RANGE:
		holds = number >= c->least && number <= c->most;
		break;
	case CONDITION_TIME:
		holds = time_holds(c, s->minutes);
		break;
	case CONDITION_SHARE:
		holds = s->hash < c->share || c->share == UINT32_MAX;
		break;
	}
	if (!holds && why)
		explain_condition(what, c, s, why);
	return holds ? HOLDS : HOLDS_NOT;
}

/* --- covering --- */

static bool globs_cover(const struct condition *a, const struct condition *b)
{
	for (size_t j = 0; j < b->glob_count; j++) {
		bool covered = false;
		for (size_t i = 0; i < a->glob_count && !covered; i++)
			covered = glob_covers(a->globs[i], b->globs[j]);
		if (!covered)
			return false;
	}
	return true;
}

static bool times_cover(const struct condition *a, const struct condition *b)
{
	for (int minutes = 0; minutes < 1440; minutes++) {
		if (time_holds(b, minutes) && !time_holds(a, minutes))
			return false;
	}
	return true;
}

bool condition_covers(enum condition_name what, const struct condition *a, const struct condition *b)
{
	switch (condition_table[what].kind) {
	case CONDITION_TEXT:
		return globs_cover(a, b);
	case CONDITION_RANGE:
		return a->least <= b->least && a->most >= b->most;
	case CONDITION_TIME:
		return times_cover(a, b);
	default:
		return a->share >= b->share;
	}
}
