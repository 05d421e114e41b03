/* SPDX-License-Identifier: BSD-3-Clause
 * request_number - the handles of the replay's requests
 */
#include "replay/request_number.h"

#include <pthread.h>
#include <stdlib.h>

/* From 1 on, below every library's MPI_REQUEST_NULL. */
#define BLOCK  256
#define BLOCKS (1 << 20)

/* Blocks stay where they are: they are read without the lock. */
static struct request *blocks[BLOCKS];
static int highest;
static struct unused {
	int *numbers;
	int count, capacity;
} unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct request *numbered_request(int number)
{
	return &blocks[number / BLOCK][number % BLOCK];
}

static struct request *new_request(void)
{
	int number = highest + 1;
	if (number == BLOCK * BLOCKS)
		return NULL;
	if (!blocks[number / BLOCK] && !(blocks[number / BLOCK] = calloc(BLOCK, sizeof **blocks)))
		return NULL;
	highest = number;
	return numbered_request(number);
}

struct request *request_create(void)
{
	pthread_mutex_lock(&lock);
	struct request *r = unused.count ? numbered_request(unused.numbers[--unused.count]) : new_request();
	if (r)
		*r = (struct request){
			.number = r->number ? r->number : highest, .real = MPI_REQUEST_NULL, .own = MPI_REQUEST_NULL};
	pthread_mutex_unlock(&lock);
	return r;
}

void request_destroy(struct request *r)
{
	pthread_mutex_lock(&lock);
	if (unused.count == unused.capacity) {
		int capacity = unused.capacity ? 2 * unused.capacity : 64;
		int *more = realloc(unused.numbers, (size_t)capacity * sizeof *more);
		if (more) {
			unused.numbers = more;
			unused.capacity = capacity;
		}
	}
	if (unused.count < unused.capacity)
		unused.numbers[unused.count++] = r->number;
	pthread_mutex_unlock(&lock);
}

struct request *request_of(MPI_Request request)
{
	return request == MPI_REQUEST_NULL ? NULL : numbered_request((int)(intptr_t)request);
}
