/* SPDX-License-Identifier: BSD-3-Clause
 * poll - waiting that comes to an end (outcome.h)
 */
#include "replay/poll.h"

#include <sched.h>
#include <time.h>

/* So often the vote must be unanimous, over at least this time: a message that is on its way arrives meanwhile. */
#define VOTES 20
#define NS    500000000LL
/* of waiting in one event, before a rank joins the vote: most waits are short, and a vote costs those that do
 * not wait */
#define TURNS 64

static bool over; /* the vote was taken */

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Has everybody come to a stop for good? All ranks get the same answer in the same vote. */
static int all_stopped(void)
{
	static MPI_Request vote = MPI_REQUEST_NULL;
	static long long mine[2], all[2], before = -1, released_at = -1, last_progress = -1, since;
	static int same, size;
	int done;
	if (replay_outcome.progress != last_progress) {
		last_progress = replay_outcome.progress;
		since = now_ns();
	}
	if (vote == MPI_REQUEST_NULL) {
		mine[0] = replay_outcome.progress;
		mine[1] = now_ns() - since >= NS;
		if (!size)
			PMPI_Comm_size(replay_outcome.own, &size);
		PMPI_Iallreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, replay_outcome.own, &vote);
	}
	PMPI_Test(&vote, &done, MPI_STATUS_IGNORE);
	if (!done)
		return 0;
	same = all[0] == before ? same + 1 : 0;
	before = all[0];
	if (same < VOTES || all[1] != size)
		return 0;
	if (!replay_outcome.stop_waiting || all[0] == released_at)
		return 1;
	released_at = all[0];
	replay_outcome.released++;
	same = 0;
	since = now_ns();
	return 0;
}

void poll_turn(void)
{
	static long long event = -1;
	static int turns;
	if (replay_outcome.receive_pending)
		replay_outcome.receive_pending();
	turns = event == replay_outcome.progress ? turns + 1 : 0;
	event = replay_outcome.progress;
	if (turns > TURNS && all_stopped()) {
		over = true;
		longjmp(*replay_outcome.out, POLL_STUCK);
	}
	sched_yield();
}

int poll_wait(MPI_Request *real, MPI_Status *status)
{
	int done = 0, rc = PMPI_Test(real, &done, status);
	while (rc == MPI_SUCCESS && !done) {
		poll_turn();
		rc = PMPI_Test(real, &done, status);
	}
	return rc;
}

int poll_waitall(int n, MPI_Request *real, MPI_Status *statuses)
{
	int done = 0, rc = PMPI_Testall(n, real, &done, statuses);
	while (rc == MPI_SUCCESS && !done) {
		poll_turn();
		rc = PMPI_Testall(n, real, &done, statuses);
	}
	return rc;
}

int poll_barrier(MPI_Comm comm)
{
	MPI_Request real;
	if (!replay_outcome.polling || comm == MPI_COMM_NULL)
		return MPI_SUCCESS;
	int rc = PMPI_Ibarrier(comm, &real);
	return rc == MPI_SUCCESS ? poll_wait(&real, MPI_STATUS_IGNORE) : rc;
}

void poll_linger(void)
{
	while (!over && !all_stopped()) {
		if (replay_outcome.receive_pending)
			replay_outcome.receive_pending();
		sched_yield();
	}
	over = true;
}
