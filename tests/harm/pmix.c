/* SPDX-License-Identifier: BSD-3-Clause
 * pmix - a library that looks like PMIx, and does what the variable STAND_IN says: answers, never, late, lies, refuses.
 * What PMIx 5 answers itself, it answers and then crashes, and so does this one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	char nspace[256];
	uint32_t rank;
};
struct value {
	uint16_t type;
	union {
		uint32_t number;
		struct process *process;
		void *room[3];
	} data;
};
typedef void callback(int status, struct value *value, void *data);

struct question {
	const char *key;
	callback *back;
	void *data;
};

int PMIx_Initialized(void);
int PMIx_Get_nb(const struct process *process, const char *key, const void *info, size_t count, callback *back,
                void *data);

int PMIx_Initialized(void)
{
	return getenv("STAND_IN") != NULL;
}

static void *answer(void *q)
{
	static struct process parent = {"the.parent", 3}, endless;
	const struct question *question = q;
	const char *mode = getenv("STAND_IN"), *key = question->key;
	struct value value = {.type = 14, .data = {.number = 1}};

	if (!strcmp(mode, "late"))
		usleep(400000);
	if (!strcmp(mode, "lies")) { /* another type, no end of the text, no value at all */
		memset(&endless, 'x', sizeof endless);
		value.type = strcmp(key, "pmix.parent") ? 3 : 22;
		value.data.process = &endless;
	} else if (!strcmp(key, "pmix.procid") || !strcmp(key, "pmix.parent")) {
		value.type = 22;
		value.data.process = &parent;
	}
	question->back(0, &value, question->data);
	if (!strcmp(key, "pmix.procid") || !strcmp(key, "pmix.rank") || !strcmp(key, "pmix.version.num"))
		raise(SIGSEGV);
	free(q);
	return NULL;
}

int PMIx_Get_nb(const struct process *process, const char *key, const void *info, size_t count, callback *back,
                void *data)
{
	const char *mode = getenv("STAND_IN");
	struct question *q = malloc(sizeof *q);
	pthread_t thread;

	(void)process, (void)info, (void)count;
	*q = (struct question){key, back, data};
	if (!strcmp(mode, "refuses") || !strcmp(mode, "never") || pthread_create(&thread, NULL, answer, q) != 0) {
		free(q);
		return strcmp(mode, "never") ? -1 : 0;
	}
	pthread_detach(thread);
	return 0;
}
