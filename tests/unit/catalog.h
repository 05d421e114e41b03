/* SPDX-License-Identifier: BSD-3-Clause
 * catalog - an archive without files, and an index of it in memory, into which tests put what they like
 */
#ifndef SPOOR_TEST_CATALOG_H
#define SPOOR_TEST_CATALOG_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/catalog.h"
#include "archive/metadata.h"
#include "archive/store.h"
#include "tests/unit/tap.h"

#define CATALOG_DAY "2026/01/02/7"
enum { CATALOG_OWNER = 7, CATALOG_NOBODY = 65534 };

/* Root would become the archive's owner. */
static inline struct catalog *catalog_empty(void)
{
	char folder[200];
	struct catalog *c;
	struct error error = {""};
	snprintf(folder, sizeof folder, "%s/unit.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	if (!mkdtemp(folder) || (geteuid() == 0 && chown(folder, CATALOG_NOBODY, CATALOG_NOBODY) != 0) ||
	    catalog_open(&c, folder, (gid_t)-1, &error) != 0 || catalog_lock(c, CATALOG_CHANGE, -1, &error) != 0) {
		printf("# %s\n", error.text);
		abort();
	}
	rmdir(folder); /* it has no files */
	return c;
}

/* A file of the archive: metadata, or an exit note; NULL: it is gone. */
static inline struct stored_file catalog_file(const char *name, const char *json, unsigned owner)
{
	struct stored_file f = {
		.folder = (char *)(uintptr_t)CATALOG_DAY, .file = (char *)(uintptr_t)name, .gone = !json};
	f.st.st_uid = owner;
	f.st.st_size = 100;
	f.kind = strstr(name, ".exit") ? STORED_NOTE : STORED_TRACE;
	f.json = json ? metadata_parse(name, json, strlen(json), NULL) : NULL;
	if (json && !f.json)
		abort();
	return f;
}

static inline int catalog_put(struct catalog *c, const char *name, const char *json, unsigned owner,
                              struct error *error)
{
	struct stored_file f = catalog_file(name, json, owner);
	int rv = store_write(c, &f, 1, NULL, 0, error);
	json_decref(f.json);
	return rv;
}

#endif
