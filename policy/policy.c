/* SPDX-License-Identifier: BSD-3-Clause
 * policy - what a site wants traced: reading it
 */
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/choice.h"
#include "policy/parse.h"
#include "policy/rule.h"
#include "policy/source.h"

const char *const policy_fact_names[POLICY_FACTS] = {
	"user",     "groups",     "account",      "partition",         "qos",
	"job_name", "executable", "reservation",  "container",         "weekday",
	"nodes",    "tasks",      "ranks",        "time_limit",        "time",
	"job",      "het_job_id", "trace_option", "trace_environment",
};
const size_t policy_fact_count = POLICY_FACTS;

void policy_default_decision(struct decision *d)
{
	*d = (struct decision){
		.mode = {MODE_OFF, 0},
		.archive = SPOOR_LOCALSTATEDIR "/lib/spoor/archive",
		.spool = SPOOR_LOCALSTATEDIR "/spool/spoor",
		.rule = "default",
	};
	settings_default(&d->set);
}

/* --- loading --- */

/* Numbers where messages say which file they are from: the policy itself is the last. */
static void read_files(struct policy *policy, const struct source *source, struct problems *problems)
{
	struct parser *parser = parser_create(policy, problems);
	const char *main = source->files[source->count - 1].path;

	for (size_t i = 0; i < source->count && parser; i++) {
		const struct source_file *f = &source->files[i];
		size_t size;
		char *text = f->fd >= 0 ? source_read(f, &size, problems) : NULL;
		if (text)
			parser_read(parser, f->path, i + 1 < source->count ? main : NULL, text, size);
		free(text);
	}
	parser_destroy(parser);
	policy->head.main_file = (uint32_t)source->count - 1;
	policy->head.source = image_add_text(policy, source->identity);
	if (!parser || policy->head.source == UINT32_MAX || image_index(policy))
		problems_add(problems, main, 1, 1, "out of memory");
}

static struct policy *load(const struct source *source, struct problems *problems)
{
	size_t before = problems->count;
	struct policy *policy = image_create();

	if (policy) {
		policy_default_decision(&policy->head.defaults);
		settings_default(&policy->head.cap);
		policy->head.mode_line = 1;
		read_files(policy, source, problems);
	} else {
		problems_add(problems, source->files[source->count - 1].path, 1, 1, "out of memory");
	}
	if (problems->count == before)
		return policy;
	image_destroy(policy);
	return NULL;
}

/* The cache's folder, or -1. */
static int open_cache(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -1;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022)) {
		close(fd);
		return -1;
	}
	return fd;
}

struct policy *policy_load_cached(const char *path, bool trusted, const char *cache, struct problems *problems)
{
	struct source source;
	struct policy *policy = NULL;
	size_t before = problems->count;
	char name[64];
	int folder = -1;

	if (source_open(&source, path, trusted, problems))
		problems_add(problems, path, 1, 1, "out of memory");
	if (problems->count > before) {
		for (size_t i = 0; i < source.count; i++) /* what else is wrong, in files that can be read */
			if (source.files[i].size > POLICY_SIZE_MAX)
				goto done;
		if (!trusted && source.count && source.size <= POLICY_SIZE_MAX && source.identity)
			image_destroy(load(&source, problems));
		goto done;
	}
	snprintf(name, sizeof name, "policy-%016" PRIx64, image_key(0, path, strlen(path)));
	if (cache && source.size >= POLICY_CACHE_MIN && (folder = open_cache(cache)) >= 0)
		policy = image_load(folder, name, source.identity);
	if (!policy) {
		policy = load(&source, problems);
		if (policy && folder >= 0)
			image_save(policy, folder, name); /* if it cannot be, it is parsed again next time */
	}
done:
	if (folder >= 0)
		close(folder);
	source_close(&source);
	return policy;
}

struct policy *policy_load(const char *path, bool trusted, struct problems *problems)
{
	return policy_load_cached(path, trusted, NULL, problems);
}

void policy_destroy(struct policy *p)
{
	image_destroy(p);
}

size_t policy_rule_count(const struct policy *p)
{
	return p->head.counts[PART_RULES];
}

/* --- what is asked of it --- */

bool policy_uses(const struct policy *p, const char *fact)
{
	for (size_t i = 0; i < CONDITIONS; i++) {
		if (!strcmp(condition_table[i].fact, fact))
			return p->head.used >> i & 1;
	}
	return false;
}

const char *policy_fact_problem(const char *name, const char *value)
{
	static char text[700];
	struct facts one = {0};
	struct choice choice;
	struct error error = {""};

	if (!strncmp(name, "trace_", 6)) {
		if (!choice_parse(&choice, value, &error))
			return NULL;
		snprintf(text, sizeof text, "%s", error.text);
		return text;
	}
	if (!strcmp(name, "time"))
		return condition_minutes(value, strlen(value)) < 0 ? "expected a time of the day such as 14:30" : NULL;
	if (!strcmp(name, "time_limit"))
		return condition_time_limit(value) < 0
		               ? "expected minutes, or a time as Slurm writes it, such as 1-12:00:00"
		               : NULL;
	bool number = !strcmp(name, "nodes") || !strcmp(name, "tasks") || !strcmp(name, "ranks") ||
	              !strcmp(name, "job") || !strcmp(name, "het_job_id");
	facts_set(&one, name, value);
	bool good = !number || facts_number(&one, name, -1) >= 0;
	facts_clear(&one);
	return good ? NULL : "expected a number";
}

/* --- what nobody can reach --- */

/* A bit for each rule that may cover this one: one that the index finds must begin as one of its patterns does. */
static void find_similar(const struct policy *p, const struct rule *rule, uint64_t *bits)
{
	memcpy(bits, p->always, p->head.counts[PART_ALWAYS] * sizeof *bits);
	for (uint32_t c = 0; c < rule->conditions; c++) {
		const struct condition *condition = &p->conditions[rule->condition + c];
		bool text = condition_table[condition->what].kind == CONDITION_TEXT && condition->globs;
		const struct glob *g = text ? &p->globs[condition->glob] : NULL;
		for (size_t n = 1; g && n <= g->prefix && n <= IMAGE_PREFIX; n++)
			image_find(p, image_key(condition->what, policy_text(p, g->text), n), bits);
	}
}

void policy_find_unreachable(const struct policy *p, struct problems *problems)
{
	uint64_t *asks = calloc(p->head.counts[PART_RULES] + 1, sizeof *asks); /* which conditions a rule has */
	uint64_t *bits = calloc(p->head.counts[PART_ALWAYS] + 1, sizeof *bits);

	for (size_t i = 0; asks && bits && i < p->head.counts[PART_RULES]; i++) {
		const struct rule *rule = &p->rules[i];
		for (uint32_t c = 0; c < rule->conditions; c++)
			asks[i] |= UINT64_C(1) << p->conditions[rule->condition + c].what;
		find_similar(p, rule, bits);
		for (size_t j = 0; j < i; j++) {
			const struct rule *before = &p->rules[j];
			if (!(bits[j / 64] >> j % 64 & 1) || (asks[j] & ~asks[i]) || !rule_covers(p, before, rule))
				continue;
			problems_add(problems, policy_text(p, p->files[rule->file]), rule->line, 1,
			             "rule \"%s\" is never reached: rule \"%s\" in line %" PRIu32
			             "%s%s matches all that it would",
			             policy_text(p, rule->name), policy_text(p, before->name), before->line,
			             before->file == rule->file ? "" : " of ",
			             before->file == rule->file ? "" : policy_text(p, p->files[before->file]));
			break;
		}
	}
	free(asks);
	free(bits);
}
