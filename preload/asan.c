/* SPDX-License-Identifier: BSD-3-Clause
 * asan - lets programs that were built with AddressSanitizer run under the tracer
 *
 * Their run-time library wants to be the first of all libraries, and ends the process if a preloaded one is before it. It asks this function for its
 * options (a program's own function of that name is asked instead, and ASAN_OPTIONS counts more than both). Nobody else does.
 */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
