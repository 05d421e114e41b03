/* SPDX-License-Identifier: BSD-3-Clause
 * open - the trace that a command's argument names
 */
#include "cmd/open.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/codec_zstd.h"

int open_trace(const char *file_or_job, const char *archive, struct container **container, struct trace *trace)
{
	char path[PATH_MAX];
	struct error error = {""};
	*container = NULL;
	*trace = (struct trace){.size = 0};
	if (archive_resolve(file_or_job, archive, path, sizeof path, &error) == 0 &&
	    container_open(container, path, &codec_zstd, &error) == 0 && trace_decode(trace, *container, &error) == 0)
		return 0;
	fprintf(stderr, "spoor: %s\n", error.text);
	trace_free(trace);
	container_destroy(*container);
	*container = NULL;
	return -1;
}

int parse_time(const char *text, double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	double v = strtod(text, &end);
	if (end == text || !(v >= 0 && v < 1e12))
		return -1;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].name) == 0) {
			*ns = v * units[i].ns;
			return 0;
		}
	return -1;
}
