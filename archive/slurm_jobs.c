/* SPDX-License-Identifier: BSD-3-Clause
 * slurm_jobs - whose the jobs of the site's index are, and of which account, partition and QoS, as slurmdbd has it
 */
#include "archive/slurm_jobs.h"

#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/query.h"
#include "archive/text_table.h"
#include "process/process.h"
#include "trace/base/number.h"

#define JOBS_MOST 1000 /* of one question */
#define LINE_MOST 400
#define LATE      3600 /* s: slurmdbd knows of jobs later than the archive has their traces */
#define NOBODYS   (-1) /* uid of a job that Slurm does not know */

struct asked {
	int64_t job, cluster; /* the latter: as a number of table text */
	bool late, known;
};

struct jobs {
	struct catalog *c;
	struct asked list[JOBS_MOST];
	size_t count;
	char *answer;
	struct text_table texts;
};

/* --- which --- */

/* From the newest on: what was not answered is old in the end, and in nobody's way. */
static int list_jobs(struct jobs *j, int64_t before, int64_t *last, struct error *error)
{
	sqlite3_stmt *s = query_statement(j->c,
	                                  "SELECT t.job, t.cluster, f.ctime, u.id FROM unasked u CROSS JOIN "
	                                  "stored_trace t USING (id) JOIN stored_file f USING (id) WHERE u.id < ? "
	                                  "ORDER BY u.id DESC",
	                                  error);
	int64_t settled = ((int64_t)time(NULL) - LATE) * INT64_C(1000000000);

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, before);
	j->count = 0;
	while (j->count < JOBS_MOST && sqlite3_step(s) == SQLITE_ROW) {
		struct asked a = {sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
		                  sqlite3_column_int64(s, 2) < settled, false};
		const struct asked *same = j->count ? &j->list[j->count - 1] : NULL;
		*last = sqlite3_column_int64(s, 3);
		if (!same || same->job != a.job || same->cluster != a.cluster)
			j->list[j->count++] = a;
	}
	sqlite3_finalize(s);
	return 0;
}

/* --- asking --- */

/* Returns 0, or -1: sacct does not answer. */
static int ask_sacct(struct jobs *j, unsigned seconds)
{
	char program[PATH_MAX], conf[PATH_MAX + 16], *which = malloc(j->count * 24 + 16);
	const char *own = getenv("SLURM_CONF");
	struct error error = {""};
	size_t n = 0;

	if (!which || !process_find("sacct", program)) {
		free(which);
		return -1;
	}
	for (size_t i = 0; i < j->count; i++)
		n += (size_t)sprintf(which + n, "%s%" PRId64, i ? "," : "--jobs=", j->list[i].job);
	snprintf(conf, sizeof conf, "SLURM_CONF=%s", own ? own : "");
	const char *argv[] = {program,
	                      "--noheader",
	                      "--parsable2",
	                      which,
	                      "--allocations",
	                      "--allclusters",
	                      "--allusers",
	                      "--format=JobIDRaw,Cluster,UID,Account,Partition,QOS",
	                      NULL};
	struct process p = {.argv = argv,
	                    .environment = (const char *[]){own ? conf : NULL, NULL},
	                    .input = "",
	                    .seconds = seconds,
	                    .output = j->answer,
	                    .output_size = JOBS_MOST * LINE_MOST};
	int rv = process_run(&p, &error);
	free(which);
	return rv;
}

/* --- what it says --- */

static int store_job(struct jobs *j, int64_t job, int64_t cluster, int64_t uid, const char *const texts[3],
                     struct error *error)
{
	int64_t ids[3] = {0};

	for (int i = 0; i < 3; i++)
		if ((ids[i] = text_table_id(&j->texts, texts[i], error)) < 0)
			return -1;
	return query_execute(j->c, error, "INSERT OR REPLACE INTO slurm_job VALUES (?, ?, ?, ?, ?, ?)", "iiiiii", job,
	                     cluster, uid, ids[0], ids[1], ids[2]);
}

static int take_line(struct jobs *j, char *line, struct error *error)
{
	char *field[6];
	uint64_t job, uid;

	for (size_t i = 0; i < 6; i++)
		field[i] = strsep(&line, "|");
	if (!field[5] || number_parse(field[0], INT64_MAX, &job) || number_parse(field[2], UINT32_MAX, &uid))
		return 0;
	int64_t cluster = text_table_id(&j->texts, field[1], error);
	for (size_t i = 0; i < j->count && cluster >= 0; i++)
		j->list[i].known |= j->list[i].job == (int64_t)job && j->list[i].cluster == cluster;
	return cluster < 0 ? -1
	                   : store_job(j, (int64_t)job, cluster, (int64_t)uid,
	                               (const char *[]){field[3], field[4], field[5]}, error);
}

/* That it does not know a job counts only where it knows others: it may not tell whoever asks (PrivateData). */
static int put_unknown(struct jobs *j, struct error *error)
{
	bool answers = query_number(j->c, "SELECT EXISTS (SELECT 1 FROM slurm_job WHERE uid >= 0)", 0) == 1;
	int rv = 0;

	for (size_t i = 0; i < j->count && rv == 0 && answers; i++)
		if (!j->list[i].known && j->list[i].late)
			rv = store_job(j, j->list[i].job, j->list[i].cluster, NOBODYS, (const char *[]){"", "", ""},
			               error);
	return rv ? rv
	          : query_execute(j->c, error,
	                          "DELETE FROM unasked WHERE id IN (SELECT u.id FROM unasked u CROSS JOIN stored_trace "
	                          "t USING (id) JOIN slurm_job k ON k.job = t.job AND k.cluster = t.cluster)",
	                          "");
}

static int put_answer(struct jobs *j, struct error *error)
{
	char *rest = j->answer;

	if (query_execute(j->c, error, "BEGIN IMMEDIATE", ""))
		return -1;
	int rv = text_table_open(&j->texts, j->c, error);
	for (char *line; rv == 0 && (line = strsep(&rest, "\n"));)
		rv = take_line(j, line, error);
	rv = rv ? rv : put_unknown(j, error);
	text_table_close(&j->texts);
	return query_execute(j->c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}

/* Files are not read, and slurmdbd is not waited for, with the index locked. Returns 1 if there was nothing to ask, or
 * nobody who answers. */
static int learn_some(struct jobs *j, int64_t *before, unsigned seconds, struct error *error)
{
	if (catalog_lock(j->c, CATALOG_SHARE, 2000, error))
		return -1;
	int rv = list_jobs(j, *before, before, error);
	catalog_lock(j->c, CATALOG_UNLOCK, 0, NULL);
	if (rv || j->count == 0 || ask_sacct(j, seconds))
		return rv ? rv : 1;
	if (catalog_lock(j->c, CATALOG_CHANGE, 10000, error))
		return -1;
	rv = put_answer(j, error);
	catalog_lock(j->c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

int slurm_jobs_learn(struct catalog *c, unsigned seconds, struct error *error)
{
	struct jobs *j = calloc(1, sizeof *j);
	time_t until = time(NULL) + seconds;
	int64_t before = INT64_MAX;
	int rv = 0;

	if (j && c->writable && catalog_is_site(c)) {
		*j = (struct jobs){.c = c, .answer = malloc(JOBS_MOST * LINE_MOST)};
		for (time_t now; j->answer && rv == 0 && (now = time(NULL)) < until;)
			rv = learn_some(j, &before, (unsigned)(until - now), error);
		free(j->answer);
	}
	free(j);
	return rv < 0 ? -1 : 0;
}
