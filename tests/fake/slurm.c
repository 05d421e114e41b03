/* SPDX-License-Identifier: BSD-3-Clause
 * slurm - the functions that Slurm has for plugins
 */
#include "tests/fake/slurm.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *environment[64][2];
struct job job;
int calls, failing = -1;
spank_err_t failure;
int told_user, told_log;
char last_log[4096];
struct spank_option *options[8];
int option_count;

static char **variable(const char *name)
{
	for (size_t i = 0; i < COUNT(environment); i++) {
		if (environment[i][0] && !strcmp(environment[i][0], name))
			return environment[i];
	}
	return NULL;
}

const char *value_of(const char *name)
{
	char **v = variable(name);
	return v ? v[1] : NULL;
}

void put(const char *name, const char *value)
{
	char **v = variable(name);
	for (size_t i = 0; !v && i < COUNT(environment); i++)
		v = environment[i][0] ? NULL : environment[i];
	if (!v)
		abort();
	v[0] = strdup(name);
	v[1] = strdup(value);
}

static bool fails(spank_err_t *rc)
{
	if (calls++ != failing)
		return false;
	*rc = failure;
	return true;
}

spank_context_t spank_context(void)
{
	return job.context;
}

int spank_remote(spank_t spank)
{
	(void)spank;
	return job.context == S_CTX_REMOTE;
}

const char *spank_strerror(spank_err_t rc)
{
	return rc == ESPANK_SUCCESS ? "Success" : "a failure of the test";
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	spank_err_t rc;
	(void)spank;
	if (fails(&rc))
		return rc;
	if (option_count < (int)COUNT(options))
		options[option_count++] = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *out, int size)
{
	spank_err_t rc;
	const char *value = value_of(name);

	(void)spank;
	if (fails(&rc))
		return rc;
	if (job.context != S_CTX_REMOTE)
		return ESPANK_NOT_REMOTE;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	return snprintf(out, (size_t)size, "%s", value) >= size ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	spank_err_t rc;
	(void)spank;
	if (fails(&rc))
		return rc;
	if (job.context != S_CTX_REMOTE)
		return ESPANK_NOT_REMOTE;
	if (value_of(name) && !overwrite)
		return ESPANK_ENV_EXISTS;
	put(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	spank_err_t rc;
	char **v = variable(name);
	(void)spank;
	if (fails(&rc))
		return rc;
	if (v)
		v[0] = NULL;
	return ESPANK_SUCCESS;
}

static spank_err_t get_item(spank_item_t item, va_list ap)
{
	static gid_t groups[] = {0, 65534};
	static char *arguments[] = {"./program", NULL};

	switch (item) {
	case S_JOB_ID:
	case S_JOB_ARRAY_ID:
		*va_arg(ap, uint32_t *) = job.job;
		break;
	case S_JOB_ARRAY_TASK_ID:
		*va_arg(ap, uint32_t *) = NO_VAL;
		break;
	case S_JOB_STEPID:
		*va_arg(ap, uint32_t *) = job.step;
		break;
	case S_JOB_UID:
		*va_arg(ap, uid_t *) = job.uid;
		break;
	case S_JOB_GID:
		*va_arg(ap, gid_t *) = job.uid;
		break;
	case S_JOB_NNODES:
		*va_arg(ap, uint32_t *) = 1;
		break;
	case S_JOB_NODEID:
	case S_SLURM_RESTART_COUNT:
	case S_TASK_GLOBAL_ID:
		*va_arg(ap, uint32_t *) = 0;
		break;
	case S_JOB_LOCAL_TASK_COUNT:
	case S_JOB_TOTAL_TASK_COUNT:
		*va_arg(ap, uint32_t *) = job.tasks;
		break;
	case S_TASK_EXIT_STATUS:
		*va_arg(ap, int *) = job.exit_status;
		break;
	case S_SLURM_VERSION:
		*va_arg(ap, char **) = "99.99";
		break;
	case S_JOB_SUPPLEMENTARY_GIDS:
		*va_arg(ap, gid_t **) = groups;
		*va_arg(ap, int *) = 2;
		break;
	case S_JOB_ARGV:
		*va_arg(ap, int *) = 1;
		*va_arg(ap, char ***) = arguments;
		break;
	default:
		return ESPANK_BAD_ARG;
	}
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	spank_err_t rc;
	va_list ap;

	(void)spank;
	if (fails(&rc))
		return rc;
	if (job.context != S_CTX_REMOTE)
		return ESPANK_NOT_REMOTE;
	va_start(ap, item);
	rc = get_item(item, ap);
	va_end(ap);
	return rc;
}

#define LOGGER(name, counter)                                           \
	void name(const char *format, ...)                              \
	{                                                               \
		va_list ap;                                             \
		va_start(ap, format);                                   \
		vsnprintf(last_log, sizeof last_log, format, ap);       \
		va_end(ap);                                             \
		counter++;                                              \
		if (getenv("FAKE_VERBOSE"))                             \
			fprintf(stderr, "# %s: %s\n", #name, last_log); \
	}
LOGGER(slurm_error, told_user)
LOGGER(slurm_info, told_log)
LOGGER(slurm_verbose, told_log)
LOGGER(slurm_debug, told_log)
