/* SPDX-License-Identifier: BSD-3-Clause
 * jobs - a folder of pages: of the newest jobs, of those that the page of the archive names, and a list of them
 */
#include "cmd/report/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/base/cell.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/sink.h"
#include "cmd/export/output.h"
#include "cmd/report/html.h"
#include "cmd/report/site.h"
#include "process/process.h"
#include "trace/base/path.h"

#define NEWEST 100

struct jobs_list {
	FILE *out;
	const char *folder, *archive;
	jobs_page *page;
	void *context;
	struct catalog *catalog;
	const struct catalog_filter *filter;
	const char *wanted; /* only a row of this name; NULL: any */
	struct error *error;
	struct jobs_row {
		char *folder, *name, *user, *job_name, *exe, *state;
		int64_t start_ns, end_ns, ranks, nodes;
		double mpi;
	} rows[NEWEST + 2 * SITE_TOP];
	size_t count;
};

static int take_row(void *context, const struct catalog_row *r)
{
	struct jobs_list *l = context;
	if (l->count == sizeof l->rows / sizeof *l->rows || (l->wanted && strcmp(l->wanted, r->name) != 0))
		return 0;
	struct jobs_row *to = &l->rows[l->count++];
	*to = (struct jobs_row){strdup(r->folder),
	                        strdup(r->name),
	                        strdup(r->user),
	                        strdup(r->job_name),
	                        strdup(*r->application ? r->application : path_name(r->exe)),
	                        strdup(r->state),
	                        r->start_ns,
	                        r->end_ns,
	                        r->ranks,
	                        r->nodes,
	                        r->figures[COLUMN_MPI]};
	return to->folder && to->name && to->user && to->job_name && to->exe && to->state ? 0 : 1;
}

/* Of a trace that the page of the archive names. */
static int take_named(void *context, const char *name)
{
	struct jobs_list *l = context;
	struct catalog_filter one = *l->filter;
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->rows[i].name, name) == 0)
			return 0;
	if (job_id_parse_list(&one.jobs, name) != 0)
		return 0;
	l->wanted = name;
	return catalog_list(l->catalog, &one, false, take_row, l, l->error);
}

static int later_first(const void *a, const void *b)
{
	int64_t x = ((const struct jobs_row *)a)->start_ns, y = ((const struct jobs_row *)b)->start_ns;
	return x < y ? 1 : x > y ? -1 : 0;
}

/* The newest, and those that the page of the archive names. */
static int take_rows(struct jobs_list *l)
{
	struct catalog_filter newest = *l->filter;
	newest.limit = NEWEST;
	int rv = catalog_list(l->catalog, &newest, false, take_row, l, l->error);
	size_t taken = l->count;
	if (rv == 0 && taken == NEWEST)
		rv = site_each_trace(l->catalog, l->filter, take_named, l, l->error);
	qsort(l->rows + taken, l->count - taken, sizeof *l->rows, later_first);
	return rv;
}

static void free_rows(struct jobs_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct jobs_row *r = &l->rows[i];
		free(r->folder);
		free(r->name);
		free(r->user);
		free(r->job_name);
		free(r->exe);
		free(r->state);
	}
}

/* Is there a page that is not older than its trace? Else makes it, in a process that may use up its budget. */
static bool has_page(const struct jobs_list *l, const struct jobs_row *r)
{
	char trace[2 * PATH_MAX], page[2 * PATH_MAX];
	struct stat made, st;
	int status = -1;
	snprintf(trace, sizeof trace, "%s/%s/%s.spoor", l->archive, r->folder, r->name);
	snprintf(page, sizeof page, "%s/%s.html", l->folder, r->name);
	if (stat(trace, &st) != 0)
		return false;
	if (stat(page, &made) == 0 && made.st_mtime >= st.st_ctime)
		return true;
	pid_t child = process_child();
	if (child == 0)
		_exit(l->page(l->context, trace, page) == 0 ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void put_cell(FILE *out, const char *kind, const char *text)
{
	html_print(out, "<td class=\"%s\">", kind);
	html_text(out, text);
	html_print(out, "</td>");
}

static void put_job(struct jobs_list *l, const struct jobs_row *r)
{
	char start[32], elapsed[32];
	FILE *out = l->out;
	html_print(out, "<tr><th scope=\"row\" class=\"l\">");
	if (has_page(l, r)) {
		html_print(out, "<a href=\"");
		html_text(out, r->name);
		html_print(out, ".html\">");
		html_text(out, r->name);
		html_print(out, "</a></th>");
	} else {
		html_text(out, r->name);
		html_print(out, "</th>");
	}
	put_cell(out, "l n", cell_start(start, r->start_ns));
	put_cell(out, "l", r->job_name);
	put_cell(out, "l", r->exe);
	put_cell(out, "l n", r->user);
	put_cell(out, "l n", r->state);
	html_print(out, "<td>%" PRId64 "</td><td>%" PRId64 "</td><td>%s</td><td>", r->nodes, r->ranks,
	           cell_elapsed(elapsed, r->start_ns, r->end_ns));
	html_share(out, NULL, r->mpi);
	html_print(out, "</td></tr>\n");
}

static int put_list(struct jobs_list *l, struct error *error)
{
	static const char *const headings[] = {"Started", "Name", "Program", "User", "State"};
	struct output out;
	char name[2 * PATH_MAX];
	snprintf(name, sizeof name, "%s/index.html", l->folder);
	if (output_file(&out, name, error) != 0)
		return -1;
	l->out = out.file;
	html_head(l->out, "spoor: MPI jobs");
	html_print(l->out,
	           "<header>\n<h1>MPI jobs</h1>\n<p class=\"dim\">%zu with a trace: the newest, and those that wait "
	           "most or have the dearest call sites. Each has a page that says where its time went. <code>spoor "
	           "list</code> has all.</p>\n</header>\n<main>\n<section>\n"
	           "<div class=\"wide\" tabindex=\"0\"><table class=\"list\">\n<thead><tr><th scope=\"col\" "
	           "class=\"l\">Job</th>",
	           l->count);
	for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
		html_print(l->out, "<th scope=\"col\" class=\"l\">%s</th>", headings[i]);
	html_print(l->out, "<th scope=\"col\">Nodes</th><th scope=\"col\">Ranks</th><th scope=\"col\">Elapsed</th>"
	                   "<th scope=\"col\">In MPI</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < l->count; i++)
		put_job(l, &l->rows[i]);
	html_print(l->out, "</tbody></table></div>\n</section>\n</main>\n");
	html_foot(l->out);
	int rv = output_finish(&out, error);
	output_discard(&out);
	return rv;
}

int jobs_write(const char *folder, const char *archive, const struct catalog_filter *filter, jobs_page *page,
               void *context, struct error *error)
{
	struct catalog *c = NULL;
	if (geteuid() == 0)
		return error_set(error, "--jobs is not for root: whoever is to see the pages makes them");
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return error_set(error, "%s: %s", folder, strerror(errno));
	struct jobs_list *l = calloc(1, sizeof *l);
	int rv = l ? fresh_index(&c, archive, true, true, error) : error_set(error, "out of memory");
	if (rv == 0)
		rv = fresh_index_read(c, true, error);
	if (rv == 0)
		rv = catalog_lock(c, CATALOG_SHARE, 10000, error);
	if (rv == 0) {
		l->catalog = c;
		l->filter = filter;
		l->error = error;
		if (take_rows(l) != 0)
			rv = error->text[0] ? -1 : error_set(error, "out of memory");
	}
	if (c)
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (rv == 0) {
		l->folder = folder;
		l->archive = c->archive;
		l->page = page;
		l->context = context;
		rv = put_list(l, error);
	}
	if (l)
		free_rows(l);
	catalog_close(c);
	free(l);
	return rv;
}
