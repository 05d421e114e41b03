/* SPDX-License-Identifier: BSD-3-Clause
 * papi - the part of PAPI's interface that is used, and the search for its library
 *
 * It has been the same since version 5. No header of PAPI's is needed to build, and no library to start: each user
 * opens it in its own way.
 */
#ifndef SPOOR_PAPI_H
#define SPOOR_PAPI_H

#include <dlfcn.h>
#include <stddef.h>

#define PAPI_OK          0
#define PAPI_NULL        (-1)
#define PAPI_LIB_VERSION 21

struct papi {
	int (*library_init)(int version);
	int (*get_opt)(int option, void *value);
	int (*thread_init)(unsigned long (*id)(void));
	int (*event_name_to_code)(const char *name, int *code);
	int (*create_eventset)(int *set);
	int (*add_event)(int set, int code);
	int (*start)(int set);
	int (*read)(int set, long long *values);
	int (*stop)(int set, long long *values);
	int (*cleanup_eventset)(int set);
	int (*destroy_eventset)(int *set);
	char *(*strerror)(int code);
};

enum papi_state { PAPI_READY, PAPI_NOT_FOUND, PAPI_LACKS_FUNCTION, PAPI_NOT_STARTED };

/* Finds and opens the library. open: dlopen or the like. NULL: it is not there. */
static inline void *papi_open(void *(*open)(const char *name))
{
	static const char *const names[] = {"libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7",
	                                    "libpapi.so.6.0", "libpapi.so.6",   "libpapi.so.5.7", "libpapi.so.5"};
	void *library = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
		library = open(names[i]);
	return library;
}

/* Does a library of this version have the interface above, and is it one that was tried? */
static inline int papi_known(int version)
{
	return version >> 24 >= 5 && version >> 24 <= 7;
}

/* Initialises the library, which is open (NULL: it was not found) and never closed. *code: what the initialisation
 * said, if that failed; 0: it is of another version. */
static inline enum papi_state papi_load(struct papi *p, void *library, int *code)
{
	const struct {
		const char *name;
		void *function;
	} functions[] = {{"PAPI_library_init", &p->library_init},
	                 {"PAPI_get_opt", &p->get_opt},
	                 {"PAPI_thread_init", &p->thread_init},
	                 {"PAPI_event_name_to_code", &p->event_name_to_code},
	                 {"PAPI_create_eventset", &p->create_eventset},
	                 {"PAPI_add_event", &p->add_event},
	                 {"PAPI_start", &p->start},
	                 {"PAPI_read", &p->read},
	                 {"PAPI_stop", &p->stop},
	                 {"PAPI_cleanup_eventset", &p->cleanup_eventset},
	                 {"PAPI_destroy_eventset", &p->destroy_eventset},
	                 {"PAPI_strerror", &p->strerror}};
	if (!library)
		return PAPI_NOT_FOUND;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!(*(void **)functions[i].function = dlsym(library, functions[i].name)))
			return PAPI_LACKS_FUNCTION;
	/* it wants to be told its own version */
	int version = p->get_opt(PAPI_LIB_VERSION, NULL), wanted = version & (int)0xffff0000;
	*code = version < 0 ? version : papi_known(version) ? p->library_init(wanted) : 0;
	if (papi_known(version) && *code == wanted)
		return PAPI_READY;
	*code = *code < 0 ? *code : 0;
	return PAPI_NOT_STARTED;
}

#endif
