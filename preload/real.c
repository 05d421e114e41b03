/* SPDX-License-Identifier: BSD-3-Clause
 * real - the MPI library of this process, found at run time
 */
#include "preload/real.h"
#include "preload/handle.h"
#include "preload/session.h"
#include "preload/symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct mpi_calls real, next;
struct mpi_fortran_calls next_fortran, next_f08, next_f08ts;
void *real_predefined[REAL_PREDEFINED_COUNT];
struct real_sentinel real_sentinel[SENTINEL_COUNT];
enum real_state real_state;
bool real_fortran_found[FORTRAN_COUNT];

static const char *const sentinel_names[SENTINEL_COUNT] = {
	[SENTINEL_IN_PLACE] = "mpi_fortran_in_place",
	[SENTINEL_BOTTOM] = "mpi_fortran_bottom",
	[SENTINEL_STATUS_IGNORE] = "mpi_fortran_status_ignore",
	[SENTINEL_STATUSES_IGNORE] = "mpi_fortran_statuses_ignore",
	[SENTINEL_UNWEIGHTED] = "mpi_fortran_unweighted",
	[SENTINEL_WEIGHTS_EMPTY] = "mpi_fortran_weights_empty",
	[SENTINEL_ARGV_NULL] = "mpi_fortran_argv_null",
	[SENTINEL_ARGVS_NULL] = "mpi_fortran_argvs_null",
	[SENTINEL_ERRCODES_IGNORE] = "mpi_fortran_errcodes_ignore",
};

static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER;

/* Stands for functions that are not there. The callers' argument lists differ; on all ABIs with MPI the callee may
 * ignore what it was passed. */
static int missing(void)
{
	return MPI_ERR_OTHER;
}

static void missing_fortran(void)
{
}

/* The structs of calls.h hold nothing but function pointers: look at them as arrays. */
static void fill(void *calls, size_t count, void *value)
{
	for (size_t i = 0; i < count; i++)
		((void **)calls)[i] = value;
}

/* Where to search for the symbol: the whole process, or a library that was loaded with RTLD_LOCAL and what it depends
 * on. (The scope's value says nothing: RTLD_DEFAULT is a null pointer.) */
static bool find_scope(void *return_address, const char *symbol, void **scope)
{
	static const char *const libraries[] = {"libmpi.so.40", "libmpi.so.80", "libmpi.so.20", "libmpi_mpifh.so.40",
	                                        "libmpi_usempif08.so.40", "libmpi.so"};
	Dl_info info;

	*scope = RTLD_DEFAULT;
	if (symbol_find(*scope, symbol))
		return true;
	for (size_t i = 0; i <= sizeof(libraries) / sizeof(*libraries); i++) {
		const char *name = i ? libraries[i - 1] : dladdr(return_address, &info) ? info.dli_fname : NULL;

		*scope = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		if (*scope && symbol_find(*scope, symbol))
			return true; /* the reference is kept: the library must not go away while we call into it */
		if (*scope)
			dlclose(*scope);
	}
	return false;
}

static const void *module_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* A tool behind us, if there is one: a module that defines MPI_... without being the library that has PMPI_Init. */
static const void *tool_behind;

static void find_calls(void *scope)
{
	void **r = (void **)&real, **n = (void **)&next;

	for (size_t i = 0; i < MPI_CALLS_COUNT; i++) {
		char name[64];
		void *f;

		snprintf(name, sizeof(name), "P%s", mpi_calls_names[i]);
		f = symbol_find(scope, name);
		r[i] = n[i] = f ? f : (void *)missing;
	}
	for (size_t i = 0; i < MPI_CALLS_COUNT; i++) {
		void *f = symbol_find(RTLD_NEXT, mpi_calls_names[i]);

		/* mostly MPI_Send and PMPI_Send are one function: then there is nothing more to look up */
		if (!f || f == r[i] || module_of(f) == module_of((void *)real.MPI_Init))
			continue;
		tool_behind = module_of(f);
		n[i] = f;
	}
	for (size_t i = 0; i < REAL_PREDEFINED_COUNT; i++)
		real_predefined[i] = symbol_find(scope, mpi_predefined_symbols[i]);
}

/* Our own addresses: to tell them from others quickly (dladdr looks at all symbols of a module). */
struct range {
	uintptr_t begin, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *out)
{
	struct range *r = out;

	(void)size;
	*r = (struct range){UINTPTR_MAX, 0};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		r->begin = at < r->begin ? at : r->begin;
		r->end = at + info->dlpi_phdr[i].p_memsz > r->end ? at + info->dlpi_phdr[i].p_memsz : r->end;
	}
	return (uintptr_t)find_range >= r->begin && (uintptr_t)find_range < r->end; /* not 0: found, stop */
}

/* Does the dynamic linker give the application another module's function of this name than ours? */
static bool is_taken(const char *name, const struct range *ours)
{
	void *first = symbol_find(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!first || ((uintptr_t)first >= ours->begin && (uintptr_t)first < ours->end) ||
	    !dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT))
		return false;
	if (info.dli_fbase == module_of((void *)real.MPI_Init))
		return false; /* the library's: a function that has no wrapper */
	/* Where a program that is not position independent takes a function's address, that is its own jump to the
	 * function. */
	return !symbol || symbol->st_shndx != SHN_UNDEF;
}

/* Another tool that was loaded before us, or is part of the program, gets the application's calls first. Unless it says
 * that it passes each call on to the next library, we may see some and not others, in an order that is not the
 * application's: step aside. */
static bool tool_in_front(void)
{
	struct range ours;

	if (symbol_find(RTLD_DEFAULT, "spoor_transparent") || !dl_iterate_phdr(find_range, &ours))
		return false;
	for (size_t i = 0; i < FN_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(mpi_schema[i], " "), mpi_schema[i]);
		if (is_taken(name, &ours))
			return true;
	}
	return false;
}

/* MPI was initialized without us seeing it (by a language binding that has no wrappers): the trace would begin
 * somewhere in the middle, and ranks might not agree on that. */
static bool too_late(void)
{
	int initialized = 0;

	return real.MPI_Initialized(&initialized) == MPI_SUCCESS && initialized;
}

/* With wake_lock held. The MPI library is found in this scope: whether we trace is decided for good. */
static void wake_in(void *scope)
{
	const char *aside;

	find_calls(scope);
	/* null: not the kind of library whose mpi.h we know */
	aside = !MPI_COMM_WORLD    ? "not captured: the program's MPI library is not the one that the tracer was built for"
	        : tool_in_front() ? "not captured: another MPI tool is in front of the tracer"
	        : too_late()      ? "not captured: MPI was initialized before the tracer saw a call"
	                          : NULL;
	if (aside)
		session_refuse(aside);
	else
		handle_begin();
	__atomic_store_n(&real_state, aside ? REAL_PASSIVE : REAL_ACTIVE, __ATOMIC_RELEASE);
}

bool real_wake(void *return_address)
{
	int saved = errno;

	pthread_mutex_lock(&wake_lock);
	if (real_state == REAL_UNKNOWN) {
		void *scope;

		if (find_scope(return_address, "PMPI_Init", &scope)) {
			wake_in(scope);
		} else {
			fill(&real, MPI_CALLS_COUNT, (void *)missing);
			fill(&next, MPI_CALLS_COUNT, (void *)missing);
		}
	}
	pthread_mutex_unlock(&wake_lock);
	errno = saved;
	return real_state == REAL_ACTIVE;
}

/* The usual ways in which compilers spell the Fortran name x. */
static void spell(const char *x, char out[REAL_SPELLINGS][64])
{
	snprintf(out[0], 64, "%s_", x);
	snprintf(out[1], 64, "%s", x);
	snprintf(out[2], 64, "%s__", x);
	for (size_t i = 0; i < 64; i++) {
		out[3][i] = x[i] >= 'a' && x[i] <= 'z' ? x[i] - 'a' + 'A' : x[i];
		if (!x[i])
			break;
	}
}

static void *find_spelled(void *scope, const char *x)
{
	char names[REAL_SPELLINGS][64];

	spell(x, names);
	for (int i = 0; i < REAL_SPELLINGS; i++) {
		void *p = symbol_find(scope, names[i]);

		if (p)
			return p;
	}
	return NULL;
}

/* The entries of a binding: how the names of its functions end, and a function that all libraries with this binding have. Profiling
 * names begin with p, in MPICH's mpi_f08 with pmpir_. */
static const struct binding {
	struct mpi_fortran_calls *calls;
	const char *ending;
	const char *probe;
} bindings[FORTRAN_COUNT] = {
	[FORTRAN_MPIF_H] = {&next_fortran, "", "mpi_init"},
	[FORTRAN_MPI_F08] = {&next_f08, "_f08", "mpi_comm_rank"},
	[FORTRAN_MPI_F08TS] = {&next_f08ts, "_f08ts", "mpi_send"},
};

static const void *fortran_module[FORTRAN_COUNT]; /* the libraries that they were found in */

/* The profiling entry of mpi_..., which is the name. */
static void *find_profiling(void *scope, const struct binding *b, const char *name)
{
	static const char *const prefixes[] = {"pmpi", "pmpir"};
	size_t n;
	void *f = NULL;

	name += strlen("mpi");
	n = strlen(name);
	for (size_t i = 0; i < 2 && !f; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%s%s", prefixes[i], name, b->ending);
		f = find_spelled(scope, text);
		if (!f && *b->ending && n > 2 && !strcmp(name + n - 2, "_c")) { /* MPICH's name of the large-count form */
			snprintf(text, sizeof(text), "%s%.*s%s_large", prefixes[i], (int)n - 2, name, b->ending);
			f = find_spelled(scope, text);
		}
	}
	return f;
}

static bool find_fortran_scope(void *return_address, const struct binding *b, void **scope)
{
	char name[64];

	snprintf(name, sizeof(name), "p%s%s_", b->probe, b->ending);
	if (find_scope(return_address, name, scope))
		return true;
	snprintf(name, sizeof(name), "pmpir%s%s_", b->probe + strlen("mpi"), b->ending);
	return find_scope(return_address, *b->ending ? name : "PMPI_INIT", scope);
}

static bool find_fortran(void *return_address, const struct binding *b)
{
	void **n = (void **)b->calls, *scope, *behind;
	char probe[64];
	bool tool;

	if (!find_fortran_scope(return_address, b, &scope)) {
		fill(b->calls, MPI_FORTRAN_CALLS_COUNT, (void *)missing_fortran);
		return false;
	}
	snprintf(probe, sizeof(probe), "%s%s", b->probe, b->ending);
	fortran_module[b - bindings] = module_of(find_profiling(scope, b, b->probe));
	behind = find_spelled(RTLD_NEXT, probe);
	tool = behind && module_of(behind) != fortran_module[b - bindings];
	for (size_t i = 0; i < MPI_FORTRAN_CALLS_COUNT; i++) {
		const char *name = mpi_fortran_calls_names[i];
		char text[64];
		void *f = NULL;

		snprintf(text, sizeof(text), "%s%s", name, b->ending);
		if (tool)
			f = find_spelled(RTLD_NEXT, text);
		if (!f)
			f = find_profiling(scope, b, name);
		n[i] = f ? f : (void *)missing_fortran;
	}
	for (int s = 0; s < SENTINEL_COUNT; s++) {
		char names[REAL_SPELLINGS][64];

		spell(sentinel_names[s], names);
		for (int i = 0; i < REAL_SPELLINGS; i++)
			if (!real_sentinel[s].address[i])
				real_sentinel[s].address[i] = symbol_find(scope, names[i]);
	}
	return true;
}

bool real_wake_fortran(void *return_address, enum fortran binding)
{
	if (!real_fortran_found[binding]) {
		int saved = errno;

		real_wake(return_address);
		pthread_mutex_lock(&wake_lock);
		if (!real_fortran_found[binding])
			__atomic_store_n(&real_fortran_found[binding], find_fortran(return_address, &bindings[binding]), __ATOMIC_RELEASE);
		pthread_mutex_unlock(&wake_lock);
		errno = saved;
	}
	return real_state == REAL_ACTIVE;
}

/* ---- programs that ask the MPI library itself ---- */

/* Does this module define one of the names itself? Then it is a tool, or a layer that translates between MPI libraries. */
static bool defines(void *address, const char *name)
{
	Dl_info info;
	void *module = dladdr(address, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	bool found = module && (module_of(symbol_find(module, "MPI_Init")) == info.dli_fbase ||
	                        module_of(symbol_find(module, name)) == info.dli_fbase);

	if (module)
		dlclose(module);
	return found;
}

/* With wake_lock held: wakes, if `found` is a function of the MPI library that a call would find, too. */
static void wake_by(void *found)
{
	void *global = symbol_find(RTLD_DEFAULT, "PMPI_Init"), *init;
	Dl_info info;
	void *scope = dladdr(found, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	if (!scope) /* in another namespace (dlmopen) */
		return;
	init = symbol_find(scope, "PMPI_Init");
	if (init && (!global || global == init))
		wake_in(scope); /* the reference is kept */
	else
		dlclose(scope);
}

static enum fortran binding_of(const char *name)
{
	const char *ending = strstr(name, "_f08");

	return !ending ? FORTRAN_MPIF_H : !strncmp(ending, "_f08ts", 6) ? FORTRAN_MPI_F08TS : FORTRAN_MPI_F08;
}

/* Is it the function of the library that our wrappers pass calls on to? Nobody waits here: a constructor may ask, which holds the loader's lock,
 * while another thread holds ours and waits for the loader's. */
static bool is_ours_to_wrap(void *found, const char *name)
{
	const void *module = module_of(found);
	enum fortran binding = binding_of(name);
	bool c = !strncmp(name, "MPI_", 4) || !strncmp(name, "MPIX_", 5);

	if (pthread_mutex_trylock(&wake_lock))
		return false;
	if (real_state == REAL_UNKNOWN)
		wake_by(found);
	if (real_state == REAL_ACTIVE && module != module_of((void *)real.MPI_Init)) {
		c = false; /* or MPI_SEND, as some Fortran compilers spell it */
		if (!real_fortran_found[binding])
			__atomic_store_n(&real_fortran_found[binding], find_fortran(found, &bindings[binding]), __ATOMIC_RELEASE);
		module = module == fortran_module[binding] ? module : NULL;
	} else if (!c) {
		module = NULL;
	}
	pthread_mutex_unlock(&wake_lock);
	return module && real_state == REAL_ACTIVE && !tool_behind;
}

void *real_offer(void *handle, const char *name, void *return_address)
{
	int saved = errno;
	void *found = symbol_find(handle, name), *wrapper = NULL, *first;
	struct range ours;

	if (found && dl_iterate_phdr(find_range, &ours) && !((uintptr_t)found >= ours.begin && (uintptr_t)found < ours.end)) {
		first = symbol_find(RTLD_DEFAULT, name);
		if ((uintptr_t)first >= ours.begin && (uintptr_t)first < ours.end && !defines(return_address, name) &&
		    is_ours_to_wrap(found, name))
			wrapper = first;
		symbol_find(handle, name); /* so that dlerror says what it says after success */
	}
	errno = saved;
	return wrapper;
}

/* ---- who calls? ---- */

static bool is_library_name(const char *path)
{
	static const char *const prefixes[] = {"libmpi.", "libmpi_mpifh", "libmpi_usempi", "libopen-",
	                                       "libmca_", "mca_",         "libpmix"};
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool look_up_library(void *address)
{
	Dl_info info;

	if (!dladdr(address, &info))
		return false;
	return info.dli_fbase == module_of((void *)real.MPI_Init) || (tool_behind && info.dli_fbase == tool_behind) ||
	       (info.dli_fname && is_library_name(info.dli_fname));
}

/* Verdicts by return address: bit 0 of the word is the verdict, the others are the address (no return address is
 * odd-sensitive here: an address that differs only in bit 0 is an instruction of the same function). */
#define VERDICTS 256
static uintptr_t verdicts[VERDICTS];

bool real_is_library(void *return_address)
{
	uintptr_t address = (uintptr_t)return_address & ~(uintptr_t)1;
	uintptr_t *slot = &verdicts[(address >> 1) * 0x9e3779b97f4a7c15u >> 56 & (VERDICTS - 1)];
	uintptr_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if ((known & ~(uintptr_t)1) != address) {
		int saved = errno;

		known = address | look_up_library(return_address);
		__atomic_store_n(slot, known, __ATOMIC_RELAXED);
		errno = saved;
	}
	return known & 1;
}
