/* SPDX-License-Identifier: BSD-3-Clause
 * runs - an index of runs that tests put there
 */
#ifndef SPOOR_TEST_RUNS_H
#define SPOOR_TEST_RUNS_H

#include "archive/digest.h"
#include "archive/query.h"
#include "tests/unit/catalog.h"

static struct catalog *c;
static int jobs;

/* A trace in the index, and its digest. Returns its id. */
static int64_t put_run(const char *exe, const char *arguments, int ranks, const char *more, double seconds,
                       int64_t events)
{
	char name[64], json[1024];
	struct error error = {""};
	jobs++;
	snprintf(name, sizeof name, "%d.0.0.spoor", jobs);
	snprintf(json, sizeof json,
	         "{\"job\": %d, \"step\": \"0\", \"uid\": %d, \"user\": \"u\", \"exe\": "
	         "\"%s\", \"command\": [\"%s\"%s], \"ranks\": %d, \"start_ns\": %d000000000%s}",
	         jobs, CATALOG_OWNER, exe, exe, arguments, ranks, jobs, more);
	if (catalog_put(c, name, json, CATALOG_OWNER, &error) != 0)
		printf("# %s\n", error.text);
	int64_t id = query_number(c, "SELECT max(id) FROM trace", 0);
	query_execute(
		c, &error,
		"INSERT INTO summary (id, version, run_ns, events, ranks, streams, compute_ns) VALUES (?, ?, ?, ?, "
		"?, ?, ?)",
		"iiiiiii", id, (int64_t)digest_version(), (int64_t)(seconds * 1e9), events, (int64_t)ranks,
		(int64_t)ranks, (int64_t)(ranks * 1e9));
	return id;
}

#endif
