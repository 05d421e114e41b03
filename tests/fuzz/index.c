/* SPDX-License-Identifier: BSD-3-Clause
 * index - fuzzes what the index of an archive takes from files of anybody: the metadata of a trace, and an exit note
 *
 * The input is the JSON of the metadata and, behind a NUL, that of the note. Both become files of an archive, which is
 * indexed in memory and listed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/catalog.h"
#include "archive/scan.h"
#include "tests/fuzz/fuzz.h"
#include "trace/file/container.h"

#define DAY    "2026/01/01"
#define NOBODY 65534

static char archive[200], trace_path[300], note_path[300];

static void clean_up(void)
{
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", archive);
	if (system(command) != 0)
		perror(archive);
}

/* The archive, and the user's folder in it, are nobody's: root becomes its owner when it opens the catalog. */
static void begin(void)
{
	static const char *const parts[] = {"", "/2026", "/2026/01", "/" DAY};
	unsigned long uid = geteuid() == 0 ? NOBODY : geteuid();
	const char *folder = getenv("TMPDIR");
	char path[300];

	snprintf(archive, sizeof archive, "%.100s/fuzz-index.XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(archive))
		abort();
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		snprintf(path, sizeof path, "%s%s", archive, parts[i]);
		if ((i > 0 && mkdir(path, 0755)) || (geteuid() == 0 && chown(path, NOBODY, NOBODY)))
			abort();
	}
	snprintf(path, sizeof path, "%s/" DAY "/%lu", archive, uid);
	if (mkdir(path, 0755) || chmod(path, 02750) || (geteuid() == 0 && chown(path, NOBODY, NOBODY)))
		abort();
	snprintf(trace_path, sizeof trace_path, "%s/" DAY "/%lu/1.0.0.spoor", archive, uid);
	snprintf(note_path, sizeof note_path, "%s/" DAY "/%lu/1.0.n1.exit", archive, uid);
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1); /* so that it is in memory */
	atexit(clean_up);
}

static int count(void *context, const struct catalog_row *row)
{
	*(size_t *)context += strlen(row->name);
	return 0;
}

static void ignore(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "we");
	if (!file || fwrite(bytes, 1, n, file) != n || fclose(file))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct catalog_filter all = CATALOG_FILTER_ALL;
	struct scan scan = {.full = true, .wait = -1};
	struct catalog *c = NULL;
	struct error error = {""};
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t first = end ? (size_t)(end - data) : size, rows = 0, unreadable, n;
	struct chunk chunk = {.id = "META", .data = data, .size = first};
	uint8_t *bytes;

	if (!archive[0]) {
		begin();
		if (catalog_open(&c, archive, (gid_t)-1, &error)) {
			fprintf(stderr, "%s\n", error.text);
			abort();
		}
		catalog_close(c);
	}
	if (container_encode(&chunk, 1, 0, NULL, &bytes, &n))
		abort();
	write_file(trace_path, bytes, n);
	free(bytes);
	if (end)
		write_file(note_path, end + 1, size - first - 1);
	else
		unlink(note_path);
	if (catalog_open(&c, archive, (gid_t)-1, &error) || scan_archive(c, &scan, &error) < 0 ||
	    catalog_list(c, &all, true, count, &rows, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort(); /* one file, whatever is in it, stops the index */
	}
	if (rows + catalog_troubles(c, 10, ignore, NULL, &unreadable) == 0)
		abort(); /* it is neither listed nor said to be damaged */
	catalog_close(c);
	return 0;
}
