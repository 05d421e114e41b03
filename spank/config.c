/* SPDX-License-Identifier: BSD-3-Clause
 * config - the plugin's arguments in plugstack.conf
 */
#include "spank/config.h"

#include <stdio.h>
#include <string.h>

static const struct config defaults = {
	.policy = SPOOR_SYSCONFDIR "/policy.json",
	.helper = SPOOR_LIBEXECDIR "/spoor-helper",
	.preload = SPOOR_PKGLIBDIR SPOOR_GATE_FOLDER "/libspoor-gate.so",
};

int config_read(struct config *config, int ac, char **av, struct error *error)
{
	struct {
		const char *prefix;
		const char **value;
	} keys[] = {{"policy=", &config->policy}, {"helper=", &config->helper}, {"preload=", &config->preload}};
	int rv = 0;

	*config = defaults;
	for (int i = 0; i < ac; i++) {
		size_t k = 0;
		while (k < 3 && strncmp(av[i], keys[k].prefix, strlen(keys[k].prefix)))
			k++;
		const char *value = k < 3 ? av[i] + strlen(keys[k].prefix) : NULL;
		if (!value)
			rv = error_set(error,
			               "plugstack.conf: unknown argument %s: expected policy=PATH, helper=PATH or "
			               "preload=PATH",
			               av[i]);
		else if (value[0] != '/' || strpbrk(value, " :\t")) /* the dynamic loader splits LD_PRELOAD at these */
			rv = error_set(error, "plugstack.conf: %s: expected an absolute path without blanks and colons",
			               av[i]);
		else
			*keys[k].value = value;
	}
	return rv;
}

void config_plain_path(const char *preload, char *path, size_t size)
{
	static const char token[] = "/$PLATFORM";
	const char *at = strstr(preload, token);

	snprintf(path, size, "%.*s%s", at ? (int)(at - preload) : (int)strlen(preload), preload,
	         at ? at + sizeof token - 1 : "");
}
