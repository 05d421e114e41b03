/* SPDX-License-Identifier: BSD-3-Clause
 * config - the plugin's arguments in plugstack.conf: policy=PATH helper=PATH preload=PATH
 */
#ifndef SPOOR_CONFIG_H
#define SPOOR_CONFIG_H

#include <stddef.h>

#include "trace/base/error.h"

/* Where things are; the defaults are where `make install` puts them. The strings live as long as the plugin's
 * arguments. */
struct config {
	const char *policy; /* the site's policy file */
	const char *helper; /* spoor-helper */
	const char *
		/* the gate, as the dynamic loader gets it: may hold $PLATFORM, which that replaces by the kind of
		 * machine */
		preload;
};

/* Fills from the plugin's arguments. Returns 0, or -1 with the first error set; an argument that is wrong is then left
 * out. */
int config_read(struct config *config, int ac, char **av, struct error *error);

/* The path of the gate without $PLATFORM, where that of this command's kind is. */
void config_plain_path(const char *preload, char *path, size_t size);

#endif
