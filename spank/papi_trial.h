/* SPDX-License-Identifier: BSD-3-Clause
 * papi_trial - does PAPI do on this node what the tracer would ask of it? It is tried in a process of its own
 *
 * In a program's process nobody could stop a library that crashes, hangs, ends the process, or writes where it should
 * not. So the tracer asks only one that came to its end here, where a step is prepared. It is looked for as the calling
 * process looks for libraries: the plugin's helper in the node's folders, `spoor run` also in its LD_LIBRARY_PATH.
 */
#ifndef SPOOR_PAPI_TRIAL_H
#define SPOOR_PAPI_TRIAL_H

#include <stddef.h>

/* What the handoff says of PAPI for these events (names, separated by commas): the path of the library; `!` and why it
 * is not asked; "" if no event needs it. Takes two seconds at most. With root's rights it is not to be called for
 * somebody else. */
void papi_trial(const char *counters, char *out, size_t size);

#endif
