/* SPDX-License-Identifier: BSD-3-Clause
 * output - a file or a folder that is there whole or not at all
 */
#define _XOPEN_SOURCE 700
#include "cmd/export/output.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/base/stage.h"

static int output_temporary(struct output *o, const char *name, struct error *error)
{
	*o = (struct output){.name = name};
	if (stage_allowed(name, error) != 0)
		return -1;
	const char *path = stage_path(name);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n == 0 ||
	    snprintf(o->temporary, sizeof o->temporary, "%.*s.XXXXXX", (int)n, path) >= (int)sizeof o->temporary) {
		o->temporary[0] = '\0';
		return error_set(error, "\"%s\": not a name that can be written to", name);
	}
	return 0;
}

int output_file(struct output *o, const char *name, struct error *error)
{
	struct stat st;
	*o = (struct output){.name = name};
	if (strcmp(name, "-") == 0) {
		o->file = stdout;
		return 0;
	}
	if (stat(stage_path(name), &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(error, "%s: is a folder; a file is to be written", name);
	if (lstat(stage_path(name), &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISLNK(st.st_mode)) /* a device would be replaced by a file */
		return error_set(error, "%s: is no regular file; FILE - is standard output", name);
	if (output_temporary(o, name, error) != 0)
		return -1;
	int fd = mkstemp(o->temporary);
	mode_t mask = umask(0);
	umask(mask);
	if (fd < 0 || fchmod(fd, 0666 & ~mask) != 0 || !(o->file = fdopen(fd, "w"))) {
		int number = errno;
		if (fd >= 0) {
			close(fd);
			unlink(o->temporary);
		}
		o->temporary[0] = '\0';
		return error_set(error, "%s: cannot be written: %s", name, strerror(number));
	}
	setvbuf(o->file, NULL, _IOFBF, 1 << 16);
	return 0;
}

int output_folder(struct output *o, const char *name, struct error *error)
{
	if (output_temporary(o, name, error) != 0)
		return -1;
	struct stat st;
	if (lstat(stage_path(name), &st) == 0 &&
	    (!S_ISDIR(st.st_mode) ||
	     rmdir(stage_path(name)) != 0)) { /* an empty one is in the way of the rename on some file systems */
		o->temporary[0] = '\0';
		return error_set(error, "%s: exists already: give the name of a new folder, or remove it first", name);
	}
	if (!mkdtemp(o->temporary)) {
		int number = errno;
		o->temporary[0] = '\0';
		return error_set(error, "%s: cannot be made: %s", name, strerror(number));
	}
	mode_t mask = umask(0);
	umask(mask);
	chmod(o->temporary, 0777 & ~mask);
	o->folder = true;
	return 0;
}

int output_finish(struct output *o, struct error *error)
{
	int number = 0;
	if (o->file == stdout) {
		o->file = NULL;
		return fflush(stdout) != 0 || ferror(stdout) ? error_set(error, "standard output: %s", strerror(errno))
		                                             : 0;
	}
	if (o->file) {
		if (fflush(o->file) != 0 || ferror(o->file))
			number = errno ? errno : EIO;
		if (fclose(o->file) != 0 && !number)
			number = errno;
		o->file = NULL;
	}
	if (!number && rename(o->temporary, stage_path(o->name)) != 0)
		number = errno;
	if (number) {
		output_discard(o);
		return error_set(error, "%s: cannot be written: %s", o->name, strerror(number));
	}
	o->temporary[0] = '\0';
	return 0;
}

static int output_drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void output_discard(struct output *o)
{
	if (o->file && o->file != stdout)
		fclose(o->file);
	o->file = NULL;
	if (!o->temporary[0])
		return;
	if (o->folder)
		nftw(o->temporary, output_drop, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	else
		unlink(o->temporary);
	o->temporary[0] = '\0';
}
