/* SPDX-License-Identifier: BSD-3-Clause
 * open - the trace that a command's argument names
 */
#include "cmd/open.h"

#include <limits.h>
#include <stdio.h>

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
