/* SPDX-License-Identifier: BSD-3-Clause
 * progress - a bar on the terminal for what takes long
 */
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 40
#define AFTER 1000 /* ms */
#define EVERY 100

static int64_t progress_now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void progress_begin(struct progress *p, const char *what, uint64_t total, bool quiet)
{
	*p = (struct progress){
		.what = what, .total = total, .begin_ms = progress_now_ms(), .on = !quiet && isatty(STDERR_FILENO)};
}

void progress_step(struct progress *p, uint64_t done)
{
	char bar[WIDTH + 1];
	int64_t now = p->on ? progress_now_ms() : 0;

	if (!p->on || p->total < 2 || now - p->begin_ms < AFTER || now - p->shown_ms < EVERY)
		return;
	p->shown_ms = now;
	size_t full = done < p->total ? (size_t)(done * WIDTH / p->total) : WIDTH;
	memset(bar, '.', WIDTH);
	memset(bar, '#', full);
	bar[WIDTH] = '\0';
	say_to(stderr, "\r%s [%s] %" PRIu64 " of %" PRIu64, p->what, bar, done, p->total);
	if (done > 0 && done < p->total) {
		int64_t left =
			(int64_t)((double)(now - p->begin_ms) / (double)done * (double)(p->total - done) / 1000) + 1;
		say_to(stderr, left < 120 ? ", %" PRId64 " s left\033[K" : ", %" PRId64 " min left\033[K",
		       left < 120 ? left : (left + 30) / 60);
	}
	fflush(stderr);
}

void progress_callback(void *context, uint64_t done, uint64_t all)
{
	struct progress *p = context;
	p->total = all;
	progress_step(p, done);
}

void progress_end(struct progress *p)
{
	if (p->on && p->shown_ms)
		say_to(stderr, "\r\033[K");
	p->on = false;
}
