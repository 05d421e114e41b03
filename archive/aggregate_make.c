/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_make - sums over the traces of an archive: of whole days as the index has them, the rest by several threads
 */
#include <pthread.h>

#include "archive/aggregate_worker.h"
#include "archive/day_sums.h"
#include "archive/digest_update.h"

#define THREADS 64

struct troubles {
	struct aggregate *a;
	bool failed;
};

static void add_trouble(void *context, const char *text)
{
	struct troubles *t = context;
	t->failed = t->failed || aggregate_skip(t->a, text);
}

static int add_troubles(struct aggregate *a, struct catalog *c, struct error *error)
{
	struct troubles t = {a, false};
	size_t unreadable;

	catalog_troubles(c, SIZE_MAX, add_trouble, &t, &unreadable);
	a->unreadable = unreadable;
	return t.failed ? error_set(error, "out of memory") : 0;
}

static void *aggregate_thread(void *context)
{
	struct aggregate_worker *w = context;
	w->rv = aggregate_work(w);
	return NULL;
}

/* Starts a worker on a connection of its own. */
static int start_worker(struct aggregate_worker *w, struct catalog *c, const struct day_rest *rest, struct error *error)
{
	if (catalog_again(&w->c, c, error))
		return -1;
	if ((w->rest && day_rest_prepare(rest, w->c, error)) ||
	    (pthread_create(&w->id, NULL, aggregate_thread, w) && error_set(error, "a thread cannot be started"))) {
		catalog_close(w->c);
		return -1;
	}
	return 0;
}

/* Each thread takes the traces of its jobs. Adds all to a[0]. */
static int run_threads(struct aggregate **a, struct aggregate_worker *workers, unsigned threads, struct catalog *c,
                       const struct day_rest *rest, struct error *error)
{
	unsigned begun = 1;
	int rv = workers[0].rest ? day_rest_prepare(rest, c, error) : 0;

	for (; begun < threads && rv == 0; begun++) {
		a[begun] = aggregate_create(a[0]->by);
		if (a[begun])
			a[begun]->top = a[0]->top;
		rv = a[begun] ? start_worker(&workers[begun], c, rest, error) : error_set(error, "out of memory");
		if (rv) {
			aggregate_destroy(a[begun]);
			break;
		}
	}
	if (rv == 0)
		aggregate_thread(&workers[0]);
	for (unsigned i = 0; i < begun; i++) {
		struct aggregate_worker *w = &workers[i];
		if (i > 0) {
			pthread_join(w->id, NULL);
			catalog_close(w->c);
		}
		if (rv == 0 && w->rv)
			rv = error_set(error, "%s", w->error.text);
		if (rv == 0 && i > 0 && aggregate_merge(a[0], a[i]))
			rv = error_set(error, "out of memory");
		if (i > 0)
			aggregate_destroy(a[i]);
	}
	return rv;
}

int aggregate_make(struct aggregate **out, struct catalog *c, const struct catalog_filter *filter, enum aggregate_by by,
                   const struct aggregate_asked *asked, struct error *error)
{
	static const struct aggregate_asked nothing;
	asked = asked ? asked : &nothing;
	unsigned threads = asked->threads ? asked->threads : digest_cores();
	struct aggregate_worker workers[THREADS];
	struct aggregate *a[THREADS] = {aggregate_create(by)};
	struct day_rest rest = {.count = 0};
	int rv = a[0] ? 0 : error_set(error, "out of memory");

	*out = NULL;
	if (rv == 0 && by == AGGREGATE_JOB)
		a[0]->top = asked->top;
	if (c->path[0] == ':')
		threads = 1; /* a database in memory has one connection */
	threads = threads > THREADS ? THREADS : threads;
	if (rv == 0)
		rv = day_sums_take(a[0], c, filter, &rest, error);
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct aggregate_worker){.c = c,
		                                       .filter = filter,
		                                       .thread = i,
		                                       .threads = threads,
		                                       .day = AGGREGATE_EVERY_DAY,
		                                       .rest = rest.count > 0,
		                                       .a = &a[i],
		                                       .count = 1,
		                                       .asked = i == 0 ? asked : NULL};
	if (rv == 0)
		rv = run_threads(a, workers, threads, c, &rest, error);
	if (rv == 0)
		rv = add_troubles(a[0], c, error);
	day_rest_free(&rest);
	if (rv == 0)
		*out = a[0];
	else
		aggregate_destroy(a[0]);
	return rv;
}
