/* SPDX-License-Identifier: BSD-3-Clause
 * none - in the place of formats whose library was not there when spoor was built
 */
#include "cmd/export/exporter.h"

int export_otf2(struct export *x, const char *folder)
{
	(void)folder;
	return error_set(&x->error, "--otf2: this spoor was built without OTF2 (Debian: libotf2-trace-dev, RPM: "
	                            "otf2-devel); --chrome needs no library");
}
