/* SPDX-License-Identifier: BSD-3-Clause
 * scratch - memory for the arrays of one call: each thread has a few buffers that grow and are used again
 */
#include "preload/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

__thread struct scratch_buffer *scratch_buffers __attribute__((tls_model("initial-exec")));

static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void free_buffers(void *buffers)
{
	struct scratch_buffer *b = buffers;

	scratch_buffers = NULL;
	for (int i = 0; i < SCRATCH_LEVELS * SCRATCH_COUNT; i++)
		free(b[i].memory);
	free(b);
}

static void scratch_key_make(void)
{
	have_key = !pthread_key_create(&at_thread_end, free_buffers);
}

void *scratch_grow(enum scratch which, size_t count, size_t size)
{
	struct scratch_buffer *b = scratch_buffers;
	int saved = errno;
	size_t wanted = 256; /* bytes: enough for a small halo exchange */
	void *memory = NULL;

	if (recording.depth >= SCRATCH_LEVELS)
		return NULL;
	if (!b)
		b = scratch_buffers = calloc((size_t)SCRATCH_LEVELS * SCRATCH_COUNT, sizeof *b);
	if (b && count <= SIZE_MAX / 4 / size) {
		while (wanted < count * size)
			wanted *= 2;
		memory = malloc(wanted);
	}
	if (memory) {
		pthread_once(&once, scratch_key_make);
		if (have_key)
			pthread_setspecific(at_thread_end, scratch_buffers);
		b += recording.depth * SCRATCH_COUNT + which;
		free(b->memory);
		*b = (struct scratch_buffer){memory, wanted};
	}
	errno = saved;
	return memory;
}
