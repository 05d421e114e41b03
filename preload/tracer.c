/* SPDX-License-Identifier: BSD-3-Clause
 * tracer - the parts of the tracer that are compiled for each ABI and that no event has to be quick in, as one source
 *
 * Reading mpi.h and what is generated from it takes the compiler longer than each of them.
 */
#include "preload/arguments.c"
#include "preload/attribute.c"
#include "preload/calls.c" /* generated */
#include "preload/length.c"
#include "preload/meeting.c"
#include "preload/message.c"
#include "preload/process_facts.c"
#include "preload/real.c"
#include "preload/seldom.c"
#include "preload/session.c"
#include "preload/spawn.c"
#include "preload/spawn_fortran.c"
#include "preload/special.c"
#include "preload/special_fortran.c"
#include "preload/tree.c"
#include "preload/wrap.c"
