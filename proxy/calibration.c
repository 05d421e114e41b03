/* SPDX-License-Identifier: BSD-3-Clause
 * calibration - how long a turn of each block takes on this machine, and what the machine's counters say of it
 */
#include "proxy/calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME      "ns"
#define OF_BLOCKS "blocks" /* of the first line: of which version of the blocks the others are */
#define ANEW      "\"spoor proxy --calibrate\" measures them anew" /* in errors: what to do */

int calibration_path(char *path, size_t size, struct error *error)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (cache && cache[0] == '/')
		n = snprintf(path, size, "%s/spoor/blocks", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.cache/spoor/blocks", home);
	return n > 0 && (size_t)n < size
	               ? 0
	               : error_set(error, "no folder to keep measurements in: neither XDG_CACHE_HOME nor HOME is set");
}

const struct calibration_counter *calibration_find(const struct calibration *c, const char *name)
{
	for (size_t i = 0; i < c->counter_count; i++)
		if (!strcmp(c->counters[i].name, name))
			return &c->counters[i];
	return NULL;
}

static double *add_numbers(double *numbers)
{
	for (int b = 0; b < BLOCKS_MEASURED; b++)
		numbers[b] = NAN;
	return numbers;
}

/* Its numbers, made if they are not there: not measured; NULL: there are too many. */
static double *counter_numbers(struct calibration *c, const char *name)
{
	if (!strcmp(name, TIME))
		return c->ns;
	for (size_t i = 0; i < c->counter_count; i++)
		if (!strcmp(c->counters[i].name, name))
			return c->counters[i].counts;
	if (c->counter_count == CALIBRATION_COUNTERS)
		return NULL;
	snprintf(c->counters[c->counter_count].name, CALIBRATION_NAME, "%s", name);
	return add_numbers(c->counters[c->counter_count++].counts);
}

/* The first line: are the others of the blocks that there are now? Else their names may be unknown. */
static int read_version(FILE *f, const char *path, struct error *error)
{
	char line[256], more;
	uint32_t version;
	if (!fgets(line, sizeof line, f) || sscanf(line, OF_BLOCKS " %" SCNx32 " %c", &version, &more) != 1)
		return error_set(error, "%s, line 1: expected \"" OF_BLOCKS " VERSION\"; " ANEW, path);
	if (version != blocks_version())
		return error_set(error,
		                 "%s: expected measurements of the blocks that this spoor has (%08" PRIx32
		                 "), found those of others (%08" PRIx32 "); " ANEW,
		                 path, blocks_version(), version);
	return 0;
}

static int read_line(struct calibration *c, const char *line)
{
	char name[CALIBRATION_NAME], block[CALIBRATION_NAME], more;
	double number;
	if (sscanf(line, "%63s %63s %lf %c", name, block, &number, &more) != 3 || !isfinite(number) || number < 0)
		return -1;
	for (int b = 0; b < BLOCKS_MEASURED; b++) {
		if (strcmp(block, blocks_name[b]) != 0)
			continue;
		double *numbers = counter_numbers(c, name);
		if (!numbers)
			return -1;
		numbers[b] = number;
		return 0;
	}
	return -1;
}

static int check_numbers(const char *path, const char *name, const double *numbers, struct error *error)
{
	for (int b = 0; b < BLOCKS_MEASURED; b++)
		if (isnan(numbers[b]))
			return error_set(error, "%s: expected %s of all blocks, but that of \"%s\" is not there; " ANEW,
			                 path, name, blocks_name[b]);
	return 0;
}

/* Are these numbers of all blocks? */
static int check_all(const struct calibration *c, const char *path, struct error *error)
{
	int rv = check_numbers(path, TIME, c->ns, error);
	for (size_t i = 0; rv == 0 && i < c->counter_count; i++)
		rv = check_numbers(path, c->counters[i].name, c->counters[i].counts, error);
	return rv;
}

int calibration_read(struct calibration *c, const char *path, struct error *error)
{
	char line[256];
	FILE *f = fopen(path, "re");
	*c = (struct calibration){0};
	if (!f)
		return errno == ENOENT ? 1 : error_set(error, "%s: %s", path, strerror(errno));
	add_numbers(c->ns);
	int rv = read_version(f, path, error);
	for (unsigned n = 2; rv == 0 && fgets(line, sizeof line, f); n++)
		if (read_line(c, line) != 0)
			rv = error_set(error, "%s, line %u: expected COUNTER BLOCK NUMBER; " ANEW, path, n);
	fclose(f);
	return rv ? rv : check_all(c, path, error);
}

static void write_numbers(FILE *f, const char *name, const double *numbers)
{
	for (int b = 0; b < BLOCKS_MEASURED; b++)
		fprintf(f, "%s %s %.6g\n", name, blocks_name[b], numbers[b]);
}

/* The folders above a file. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

int calibration_write(const struct calibration *c, const char *path, struct error *error)
{
	char name[4096];
	if ((size_t)snprintf(name, sizeof name, "%s.XXXXXX", path) >= sizeof name)
		return error_set(error, "%s: the name is too long", path);
	make_folders(name);
	int fd = mkstemp(name);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f)
		return error_set(error, "%s: %s", name, strerror(errno));
	fprintf(f, OF_BLOCKS " %08" PRIx32 "\n", blocks_version());
	write_numbers(f, TIME, c->ns);
	for (size_t i = 0; i < c->counter_count; i++)
		write_numbers(f, c->counters[i].name, c->counters[i].counts);
	int failed = ferror(f);
	if (fclose(f) != 0 || failed || rename(name, path) != 0) {
		error_set(error, "%s: %s", path, strerror(errno));
		unlink(name);
		return -1;
	}
	return 0;
}
