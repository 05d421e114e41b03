/* SPDX-License-Identifier: BSD-3-Clause
 * waited - the jobs whose ranks waited most, without looking at all the others
 *
 * Index trace_waited has the job of each trace, its start and what it waited. Where a filter asks for nothing but
 * times, no row is looked at.
 */
#include "archive/waited.h"

#include <sqlite3.h>

#include "archive/query.h"

int waited_narrow(struct catalog_filter *filter, struct catalog *c, size_t most, struct error *error)
{
	struct query q = {.used = 0};
	struct job_ids jobs = {.count = 0};
	sqlite3_stmt *s;
	int rc;

	if (filter->jobs.count)
		return 0;
	most = most < JOB_IDS_MOST ? most : JOB_IDS_MOST;
	query_append(&q, "SELECT t.job FROM trace t WHERE t.waited_ns > 0");
	query_filter(&q, filter);
	/* total() and not sum(): that ends with an error where numbers become too large */
	query_append(&q, " GROUP BY t.job ORDER BY total(t.waited_ns) DESC LIMIT %zu", most);
	if (query_prepare(&q, c, &s, error) != 0)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW)
		jobs.items[jobs.count++] =
			(struct job_id){.job = sqlite3_column_int64(s, 0), .task = -1, .component = -1};
	int rv = rc == SQLITE_DONE ? 0 : query_failed(c, error);
	sqlite3_finalize(s);
	if (rv == 0)
		filter->jobs = jobs;
	return rv;
}
