/* SPDX-License-Identifier: BSD-3-Clause
 * plugstack - what Slurm's plugin stack says of spoor
 *
 *     optional /usr/lib64/slurm/spoor.so policy=/etc/spoor/policy.json
 *     include /etc/spoor/plugstack.conf
 */
#include "archive/plugstack.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INCLUDED_MOST 8 /* files in files, which may be a circle */

static void stack_read(const char *path, int depth, struct plugstack *stack);

/* `include GLOB`, relative to the file that has it. */
static void stack_include(const char *from, const char *pattern, int depth, struct plugstack *stack)
{
	char full[PLUGSTACK_PATH];
	const char *slash = strrchr(from, '/');
	glob_t found;

	snprintf(full, sizeof full, "%.*s%s", pattern[0] == '/' || !slash ? 0 : (int)(slash - from + 1), from, pattern);
	if (depth < INCLUDED_MOST && glob(full, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			stack_read(found.gl_pathv[i], depth + 1, stack);
		globfree(&found);
	}
}

static void stack_read_line(const char *path, char *line, int depth, struct plugstack *stack)
{
	char *rest = line, *word = strtok_r(rest, " \t\n", &rest), *file = strtok_r(NULL, " \t\n", &rest);
	size_t used = 0;

	if (!word || word[0] == '#' || !file)
		return;
	if (!strcmp(word, "include")) {
		stack_include(path, file, depth, stack);
		return;
	}
	const char *slash = strrchr(file, '/');
	if (strcmp(slash ? slash + 1 : file, "spoor.so") || stack->loaded++)
		return;
	snprintf(stack->plugin, sizeof stack->plugin, "%s", file);
	stack->required = !strcmp(word, "required");
	for (char *argument; (argument = strtok_r(NULL, " \t\n", &rest)) && used < sizeof stack->arguments;) {
		used += (size_t)snprintf(stack->arguments + used, sizeof stack->arguments - used, " %s", argument);
		if (!strncmp(argument, "policy=", 7))
			snprintf(stack->policy, sizeof stack->policy, "%s", argument + 7);
	}
}

static void stack_read(const char *path, int depth, struct plugstack *stack)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (getline(&line, &size, file) >= 0)
		stack_read_line(path, line, depth, stack);
	free(line);
	fclose(file);
}

const char *plugstack_slurm_conf(void)
{
	const char *path = getenv("SLURM_CONF");
	return path && *path ? path : "/etc/slurm/slurm.conf";
}

int plugstack_setting(const char *key, char *value, size_t value_size)
{
	char *line = NULL;
	size_t size = 0, n = strlen(key);
	FILE *file = fopen(plugstack_slurm_conf(), "re");

	if (!file)
		return -1;
	while (getline(&line, &size, file) >= 0) {
		const char *text = line + strspn(line, " \t");
		if (!strncasecmp(text, key, n) && text[n] == '=')
			snprintf(value, value_size, "%.*s", (int)strcspn(text + n + 1, " \t\n#"), text + n + 1);
	}
	free(line);
	fclose(file);
	return 0;
}

int plugstack_read(struct plugstack *stack)
{
	const char *path = plugstack_slurm_conf(), *slash = strrchr(path, '/');

	memset(stack, 0, sizeof *stack);
	/* where slurm.conf does not say, beside it */
	snprintf(stack->file, sizeof stack->file, "%.*splugstack.conf", slash ? (int)(slash - path + 1) : 0, path);
	if (plugstack_setting("PlugStackConfig", stack->file, sizeof stack->file))
		return -1;
	stack_read(stack->file, 0, stack);
	return 0;
}
