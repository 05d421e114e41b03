/* SPDX-License-Identifier: BSD-3-Clause
 * suite_index - runs that are alike are one, with the node time of all of them; who does not count
 */
#include "archive/suite_index.h"

#include <math.h>

#include "archive/digest.h"
#include "archive/query.h"
#include "tests/unit/catalog.h"

static struct catalog *c;
static struct suite_group groups[SUITE_RUNS];
static struct suite_run runs[SUITE_RUNS];

static void put_run(const char *exe, int ranks, int nodes, const char *more, double hours, double computed)
{
	static int jobs;
	char name[64], json[1024];
	struct error error = {""};
	jobs++;
	snprintf(name, sizeof name, "%d.0.0.spoor", jobs);
	snprintf(json, sizeof json,
	         "{\"job\": %d, \"step\": \"0\", \"uid\": %d, \"user\": \"u\", \"exe\": \"%s\", \"command\": [\"%s\"], "
	         "\"ranks\": %d, \"nodes\": %d, \"start_ns\": %d000000000%s}",
	         jobs, CATALOG_OWNER, exe, exe, ranks, nodes, jobs, more);
	if (catalog_put(c, name, json, CATALOG_OWNER, &error) != 0)
		printf("# %s\n", error.text);
	int64_t id = query_number(c, "SELECT max(id) FROM trace", 0), all = (int64_t)(hours * ranks * 3.6e12);
	query_execute(c, &error,
	              "INSERT INTO summary (id, version, run_ns, events, ranks, compute_ns, mpi_ns, messages, bytes, "
	              "computed_ns, compute_peak_ns) VALUES (?, ?, ?, 1000, ?, ?, ?, 10, 10240, 1, 2)",
	              "iiiiii", id, (int64_t)digest_version(), (int64_t)(hours * 3.6e12), (int64_t)ranks,
	              (int64_t)((double)all * computed), (int64_t)((double)all * (1 - computed)));
}

int main(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	double all;
	c = catalog_empty();
	ok(suite_index_read(c, &f, groups, runs, &all, &error) == 0 && all == 0, "an empty archive");
	put_run("/opt/a", 8, 2, "", 1, 0.75);
	put_run("/opt/a", 8, 2, "", 3, 0.25);
	put_run("/opt/a", 16, 4, "", 1, 0.5);
	put_run("/opt/b", 8, 2, ", \"partial\": 1", 100, 0.5);
	put_run("/opt/b", 8, 2, ", \"state\": \"FAILED\"", 100, 0.5);
	int n = suite_index_read(c, &f, groups, runs, &all, &error);
	ok(n == 2 && fabs(all - 12) < 1e-9, "two groups of %d, %g node hours: %s", n, all, error.text);
	ok(!strcmp(groups[0].application, "a") && groups[0].ranks == 8 && groups[0].nodes == 2 && groups[0].runs == 2 &&
	           fabs(runs[0].weight - 8) < 1e-9,
	   "that with most node hours first, of all its runs");
	ok(fabs(runs[0].features[0] - 0.25) < 1e-9, "it is the longest of them that stands for it: %g",
	   runs[0].features[0]);
	ok(fabs(runs[0].features[2] - log2(1025) / 24) < 1e-9 && runs[0].features[6] == 0.5, "sizes and balance");
	query_execute(c, NULL, "DROP TABLE summary", "");
	ok(suite_index_read(c, &f, groups, runs, &all, &error) == -1 && error.text[0], "a damaged index: %s",
	   error.text);
	catalog_close(c);
	return tap_end();
}
