/* SPDX-License-Identifier: BSD-3-Clause
 * mail - the page of an archive as a mail: a short text, and the page itself
 */
#include "archive/aggregate.h"
#include "cmd/base/cell.h"
#include "cmd/base/sink.h"
#include "cmd/report/site.h"

#define TOP 5
/* Ends no line of the text, and is in no base64. */
#define BOUNDARY "=-=spoor=-="

/* In lines of 76 characters: mail has no longer ones than 998, and pages do. */
static void put_base64(FILE *out, const char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		unsigned v = 0;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < n ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			say_to(out, "%c", k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
		if (i % 57 == 54)
			say_to(out, "\n");
	}
	say_to(out, "\n");
}

/* Those of the groups that have most of a sum in node hours. */
static int put_top(FILE *out, struct catalog *c, const struct catalog_filter *filter, enum aggregate_by by,
                   enum figure_column column, const char *title, struct error *error)
{
	struct aggregate *a;
	char name[64];

	if (aggregate_make(&a, c, filter, by, NULL, error) != 0)
		return -1;
	aggregate_sort(a, column, false);
	for (size_t i = 0; i < a->count && i < TOP; i++) {
		double hours = aggregate_value(a, a->groups[i], column);
		if (!(hours > 0))
			break;
		if (i == 0)
			say_to(out, "\n%s\n", title);
		say_to(out, "  %-24.24s %10.1f of %10.1f node hours\n", cell_text(name, a->groups[i]->key), hours,
		       aggregate_value(a, a->groups[i], COLUMN_HOURS));
	}
	aggregate_destroy(a);
	return 0;
}

static int put_summary(FILE *out, const char *to, struct catalog *c, const struct catalog_filter *filter,
                       struct error *error)
{
	struct aggregate *a;

	if (aggregate_make(&a, c, filter, AGGREGATE_ALL, NULL, error) != 0)
		return -1;
	double hours = aggregate_value(a, &a->total, COLUMN_HOURS), mpi = aggregate_value(a, &a->total, COLUMN_MPI);
	double jobs = aggregate_value(a, &a->total, COLUMN_JOBS);
	say_to(out,
	       "To: %s\nSubject: MPI jobs: %.0f jobs, %.1f node hours\nMIME-Version: 1.0\n"
	       "Content-Type: multipart/alternative; boundary=\"" BOUNDARY "\"\n\n--" BOUNDARY
	       "\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n",
	       to, jobs, hours);
	say_to(out,
	       "%.0f jobs, %.1f node hours, %.0f %% of the ranks' time in MPI.\n"
	       "Waiting for other ranks: %.1f node hours; in calls that never ended: %.1f.\n"
	       "Traces of jobs that did not come to their end: %.0f.\n",
	       jobs, hours, mpi > 0 ? 100 * mpi : 0, aggregate_value(a, &a->total, COLUMN_WAIT),
	       aggregate_value(a, &a->total, COLUMN_UNENDED), aggregate_value(a, &a->total, COLUMN_PARTIAL));
	aggregate_destroy(a);
	return put_top(out, c, filter, AGGREGATE_USER, COLUMN_WAIT, "Users whose ranks wait most:", error) ||
	                       put_top(out, c, filter, AGGREGATE_APPLICATION, COLUMN_IDLE,
	                               "Programs that would gain from balancing:", error)
	               ? -1
	               : 0;
}

int mail_write(FILE *out, const char *to, struct catalog *c, const struct catalog_filter *filter, const char *page,
               size_t size, struct error *error)
{
	for (const char *p = to; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return error_set(error, "an address of a mail has no control characters");
	if (put_summary(out, to, c, filter, error) != 0)
		return -1;
	say_to(out, "\nspoor trend says which applications became slower, spoor why JOB why a job is slow.\n"
	            "\n--" BOUNDARY "\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n");
	put_base64(out, page, size);
	say_to(out, "--" BOUNDARY "--\n");
	return 0;
}
