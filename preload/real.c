/* SPDX-License-Identifier: BSD-3-Clause
 * real - the MPI library of this process, found at run time
 */
#include "preload/real.h"
#include "preload/handle.h"
#include "preload/loaded.h"
#include "preload/lock.h"
#include "preload/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct mpi_calls real, next;
struct mpi_fortran_calls next_fortran, next_cptr, next_f08, next_f08ts;
void *real_predefined[REAL_PREDEFINED_COUNT];
const void *real_variable[REAL_VARIABLE_COUNT + 1];
struct real_sentinel real_sentinel[SENTINEL_COUNT];
enum real_state real_state;
void **real_owner;

static const struct real_sentinel_name sentinel_names[SENTINEL_COUNT] = {ABI_SENTINELS};

static struct lock wake_lock;
static const char *sender; /* ABI_SENDER, if it is there */
static void *
	/* where to search for symbols: the whole process, or the library and what it depends on if that was loaded with
	 * RTLD_LOCAL */
	scope;

/* Stands for functions that are not there. The callers' argument lists differ; on all ABIs with MPI the callee may
 * ignore what it was passed. */
static int return_missing(void)
{
	return MPI_ERR_OTHER;
}

/* Stands for a variable that is not there: nothing that a program passes is at its address. */
static const void *const no_value = &no_value;

/* The structs of calls.h hold nothing but function pointers: look at them as arrays. */
static void find_calls(void)
{
	void **r = (void **)&real, **n = (void **)&next;

	for (size_t i = 0; i < MPI_CALLS_COUNT; i++) {
		char name[64];
		void *f;

		snprintf(name, sizeof(name), "P%s", mpi_calls_names[i]);
		f = dlsym(scope, name);
		r[i] = f ? f : (void *)return_missing;
		if (!n[i])
			n[i] = r[i];
	}
	/* by the scope, not in the library: the linker may have moved them into the program */
	for (size_t i = 0; i < REAL_PREDEFINED_COUNT; i++) {
		const struct mpi_predefined *p = &mpi_predefined[i];

		real_predefined[i] = p->symbol ? dlsym(scope, p->symbol) : (void *)p->value;
	}
	for (int i = 0; i < REAL_VARIABLE_COUNT; i++)
		if (!(real_variable[i] = dlsym(scope, mpi_variable_symbols[i])))
			real_variable[i] = &no_value;
	sender = *ABI_SENDER ? dlsym(scope, ABI_SENDER) : NULL;
}

static void find_sentinel(struct real_sentinel *r, const struct real_sentinel_name *s)
{
	char capitals[64] = "", text[64];
	const char *x = s->common.name;

	for (size_t i = 0; x[i]; i++)
		capitals[i] = x[i] >= 'a' && x[i] <= 'z' ? x[i] - 'a' + 'A' : x[i];
	for (int i = 0; i < REAL_SPELLINGS; i++) {
		char *block;

		snprintf(text, sizeof(text), "%s%s", i < 3 ? x : capitals, i == 0 ? "_" : i == 1 ? "__" : "");
		if (!r->address[i] && (block = dlsym(scope, text)))
			r->address[i] = block + s->common.offset;
	}
	if (s->symbol.name && !r->address[REAL_SPELLINGS])
		r->address[REAL_SPELLINGS] = dlsym(scope, s->symbol.name);
}

void real_more(void)
{
	for (int s = 0; s < SENTINEL_COUNT; s++)
		find_sentinel(&real_sentinel[s], &sentinel_names[s]);
}

void real_begin(const char *path, void *init, const char *aside)
{
	/* never unloaded: we call into it */
	void *library;

	loaded_begin();
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	scope = dlsym(RTLD_DEFAULT, "PMPI_Init") == init ? RTLD_DEFAULT : library;
	if (!library)
		aside = "not captured: the MPI library cannot be found by its own path";
	find_calls();
	if (aside)
		session_refuse(aside);
	else
		real_more();
	__atomic_store_n(&real_state, aside ? REAL_PASSIVE : REAL_UNKNOWN, __ATOMIC_RELEASE);
}

/* The variable is a struct of a component: numbers and, below its first 128 bytes, its names in arrays of their own, of
 * project, type and component (opal/mca/mca.h; the places differ from release to release). */
bool real_sends_by(const char *name)
{
	enum { NAMES = 128 };
	const size_t size = strlen(name) + 1;
	for (size_t i = 1; sender && i + size <= NAMES; i++)
		if (!sender[i - 1] && !memcmp(sender + i, name, size))
			return true;
	return false;
}

/* MPI was initialized without us seeing it: the trace would begin somewhere in the middle, and ranks might not agree on
 * that. */
static bool too_late(void)
{
	int initialized = 0;

	return real.MPI_Initialized(&initialized) == MPI_SUCCESS && initialized;
}

/* Of several tracers in this process this one is the first. */
static bool takes_process(void)
{
	void *nobody = NULL;

	return __atomic_compare_exchange_n(real_owner, &nobody, &real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool real_wake(void)
{
	int saved = errno;

	if (!lock_await(&wake_lock))
		return false;
	if (real_state == REAL_UNKNOWN && !takes_process())
		__atomic_store_n(&real_state, REAL_PASSIVE, __ATOMIC_RELEASE);
	if (real_state == REAL_UNKNOWN) {
		bool late = too_late();

		if (late)
			session_refuse("not captured: MPI was initialized before the tracer saw a call");
		else
			handle_begin();
		__atomic_store_n(&real_state, late ? REAL_PASSIVE : REAL_ACTIVE, __ATOMIC_RELEASE);
	}
	lock_give(&wake_lock);
	errno = saved;
	return real_state == REAL_ACTIVE;
}
