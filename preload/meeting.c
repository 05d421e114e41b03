/* SPDX-License-Identifier: BSD-3-Clause
 * meeting - have all ranks of a node come to MPI_Finalize?
 */
#include "preload/meeting.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/real.h"
#include "trace/base/arena.h"

#define CLOSED (UINT64_C(1) << 63) /* somebody waits no more */
#define FAILED (UINT64_C(1) << 62) /* somebody came who is not ready */
#define CAME   UINT32_MAX
#define SECOND UINT64_C(1000000000)

static bool is_place(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= sizeof(struct arena_header);
}

/* The header of the arena; NULL: there is none. */
static struct arena_header *open_place(const char *path)
{
	struct arena_header *h = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (is_place(fd))
		h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED)
		return NULL;
	if (h->layout == arena_layout())
		return h;
	munmap(h, sizeof *h);
	return NULL;
}

/* The place is zero at first: what is kept there is how far a choice is from the greatest. */
static void add_choice(uint64_t *place, int64_t choice)
{
	uint64_t mine = (uint64_t)(INT64_MAX - choice), most = __atomic_load_n(place, __ATOMIC_RELAXED);
	while (mine > most &&
	       !__atomic_compare_exchange_n(place, &most, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
		/* another rank was first: most is what it left */
	}
}

/* This rank is here, if anybody still waits. */
static uint64_t come(uint64_t *state, bool ready)
{
	uint64_t seen = __atomic_load_n(state, __ATOMIC_ACQUIRE), next = seen;
	do {
		if (seen & (CLOSED | FAILED))
			return seen;
		next = seen + 1;
		if (!ready)
			next |= FAILED;
	} while (!__atomic_compare_exchange_n(state, &seen, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return next;
}

/* What the application has sent may need this process to get on: ranks that wait for that are ranks that are waited for
 * here. */
static void see_to_messages(void)
{
	int flag;
	real.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static uint64_t wait_for_others(uint64_t *state, uint64_t seen, uint32_t size, uint64_t end)
{
	for (unsigned spins = 0; !(seen & (CLOSED | FAILED)) && (seen & CAME) < size; spins++) {
		see_to_messages();
		if (spins < 200)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = spins < 2000 ? 20000 : 1000000}, NULL);
		seen = __atomic_load_n(state, __ATOMIC_ACQUIRE);
		if (clock_ns(CLOCK_MONOTONIC) > end && !(seen & (CLOSED | FAILED)) && (seen & CAME) < size &&
		    __atomic_compare_exchange_n(state, &seen, seen | CLOSED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			seen |= CLOSED;
	}
	return seen;
}

int meeting_lacks(uint64_t ns, struct error *error)
{
	const bool whole = ns % SECOND == 0;
	return error_set(error, "not all ranks came to MPI_Finalize within %llu %s",
	                 (unsigned long long)(ns / (whole ? SECOND : SECOND / 1000)), whole ? "s" : "ms");
}

int meeting_hold(const char *path, uint32_t size, uint64_t end, bool ready, int64_t *choice, struct error *error)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC), patience = end > begin ? end - begin : 0;
	struct arena_header *h = open_place(path);
	if (!h)
		return error_set(error, "%s: the ranks of this node cannot meet there", path);
	add_choice(&h->meeting.choice, *choice);
	uint64_t seen = wait_for_others(&h->meeting.state, come(&h->meeting.state, ready), size, end);
	*choice = INT64_MAX - (int64_t)__atomic_load_n(&h->meeting.choice, __ATOMIC_ACQUIRE);
	munmap(h, sizeof *h);
	if (seen & CLOSED)
		return meeting_lacks(patience, error);
	if (seen & FAILED)
		return error_set(error,
		                 ready ? "another rank cannot merge its trace" : "this rank cannot merge its trace");
	return 0;
}
