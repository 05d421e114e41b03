/* SPDX-License-Identifier: BSD-3-Clause
 * live - the live requests, and those that one call means
 */
#include "tests/flatlog/live.h"

struct live {
	MPI_Request handle;
	int number; /* PER_THREAD * the thread that created it + its number there */
	int traits;
	bool active; /* a persistent one: between start and completion */
	bool busy;   /* a call that may complete it has not returned: another thread cannot mean it */
};

#define PER_THREAD 1000000
static struct live *live;
static int live_count;

static struct live *live_find(int number)
{
	for (int i = 0; i < live_count; i++)
		if (live[i].number == number)
			return &live[i];
	return NULL;
}

/* A new request takes the lowest free number of its thread. */
static struct live *live_add(MPI_Request h, int traits)
{
	int number = PER_THREAD * flatlog_thread();

	while (live_find(number))
		number++;
	live = (struct live *)realloc(live, (live_count + 1) * sizeof(*live));
	if (!live)
		abort();
	live[live_count] = (struct live){h, number, traits, !(traits & PERSISTENT), false};
	return &live[live_count++];
}

static void live_remove(int number)
{
	struct live *r = live_find(number);

	if (!r)
		return;
	memmove(r, r + 1, (live + live_count - (r + 1)) * sizeof(*r));
	live_count--;
}

char *say_number(int number)
{
	int thread = number / PER_THREAD;

	if (number < 0)
		return say_name("MPI_REQUEST_NULL");
	char *text = say_append(say_name("r"), 0, say_int(number % PER_THREAD));
	return thread == flatlog_thread() ? text : say_append(say_append(text, 0, say_name("@")), 0, say_int(thread));
}

char *say_new_request(MPI_Request h, int traits)
{
	int number = -1;

	pthread_mutex_lock(&flatlog_lock);
	if (h != MPI_REQUEST_NULL)
		number = live_add(h, traits)->number;
	pthread_mutex_unlock(&flatlog_lock);
	return say_number(number);
}

/* ---- batches: the requests of one call ---- */

void batch_begin(struct batch *b, int n, const MPI_Request *handles)
{
	b->n = n < 0 ? 0 : n;
	b->number = (int *)malloc((b->n + 1) * sizeof(int));
	if (!b->number)
		abort();
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < b->n; i++) {
		int found = BATCH_NULL;

		for (int k = 0; k < live_count && handles[i] != MPI_REQUEST_NULL; k++) {
			if (live[k].busy || live[k].handle != handles[i])
				continue;
			int thread = live[k].number / PER_THREAD, best = found / PER_THREAD, self = flatlog_thread();

			if (found < 0 || (best != self && (thread == self || thread < best)))
				found = live[k].number;
		}
		if (found < 0 && handles[i] != MPI_REQUEST_NULL)
			found = live_add(handles[i], 0)->number; /* never seen: numbered now */
		b->number[i] = found;
		if (found >= 0)
			live_find(found)->busy = true;
	}
	pthread_mutex_unlock(&flatlog_lock);
}

void batch_end(struct batch *b)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < b->n; i++)
		if (live_find(b->number[i]))
			live_find(b->number[i])->busy = false;
	pthread_mutex_unlock(&flatlog_lock);
	free(b->number);
}

char *batch_say(const struct batch *b)
{
	return SAY_ARRAY(b->n, say_number(b->number[i_]));
}

int batch_tells(const struct batch *b, int i)
{
	pthread_mutex_lock(&flatlog_lock);
	const struct live *r = live_find(b->number[i]);
	int tells = r && r->active ? r->traits & (RECEIVE | OF_FILE) : 0;
	pthread_mutex_unlock(&flatlog_lock);
	return tells;
}

int batch_complete(struct batch *b, int i)
{
	pthread_mutex_lock(&flatlog_lock);
	int tells = batch_tells(b, i);
	struct live *r = live_find(b->number[i]);

	if (r && r->traits & PERSISTENT) {
		r->active = false;
	} else if (r) {
		live_remove(r->number);
		b->number[i] = BATCH_NULL; /* another thread may have the number now */
	}
	pthread_mutex_unlock(&flatlog_lock);
	return tells;
}

void batch_free(struct batch *b)
{
	pthread_mutex_lock(&flatlog_lock);
	live_remove(b->number[0]);
	b->number[0] = BATCH_NULL;
	pthread_mutex_unlock(&flatlog_lock);
}

void batch_failed(struct batch *b, const MPI_Request *after)
{
	for (int i = 0; i < b->n; i++)
		if (b->number[i] >= 0 && after[i] == MPI_REQUEST_NULL)
			batch_complete(b, i);
}

char *say_live_request(MPI_Request h)
{
	struct batch b;
	int number = -1;

	/* the call ends no request: it may mean one that another thread waits for */
	pthread_mutex_lock(&flatlog_lock);
	for (int k = 0; k < live_count && number < 0 && h != MPI_REQUEST_NULL; k++)
		if (live[k].handle == h && live[k].busy)
			number = live[k].number;
	pthread_mutex_unlock(&flatlog_lock);
	if (number >= 0)
		return say_number(number);
	batch_begin(&b, 1, &h);
	char *text = say_number(b.number[0]);
	batch_end(&b);
	return text;
}

void batch_start(struct batch *b)
{
	for (int i = 0; i < b->n; i++)
		if (live_find(b->number[i]))
			live_find(b->number[i])->active = true;
}
