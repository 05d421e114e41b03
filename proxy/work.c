/* SPDX-License-Identifier: BSD-3-Clause
 * work - what a proxy computes between its calls
 */
#include "proxy/work.h"

int work_write(FILE *out, const struct trace *t, const uint32_t *site_of, uint32_t sites, struct error *error)
{
	(void)t, (void)site_of, (void)sites, (void)error;
	fputs("static void compute(int site)\n{\n\t(void)site;\n}\n\n", out);
	return 0;
}
