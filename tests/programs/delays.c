/* SPDX-License-Identifier: BSD-3-Clause
 * delays - ranks that wait for others, for times that are known: delays HOW [STEPS]
 *
 *     recv      even ranks sleep before MPI_Send, odd ranks are in MPI_Recv
 *     wait      the same with MPI_Irecv and MPI_Wait
 *     waitall   a ring of MPI_Isend, MPI_Irecv, MPI_Waitall; one rank after the other sleeps before it
 *     sendrecv  the same with MPI_Sendrecv
 *     any       rank 0 receives from MPI_ANY_SOURCE, the others sleep before they send
 *     ssend     even ranks are in MPI_Ssend, odd ranks sleep before MPI_Recv: the receiver is late
 *     send      the same with MPI_Send of a message that is too large to be sent at once
 *     reduce    one rank after the other sleeps before MPI_Allreduce
 *
 * Each rank notes when it began to send, or came, and when it waited. Rank 0 prints the seconds that ranks waited for
 * one that had not come, summed over all.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEPS_MAX 64
#define DELAY     50000 /* us */
#define LARGE     65536

static int rank, size, steps = 12;
static const char *how;
/* By step: when this rank came to its send (its receive, its operation); what it waited in; whom it waited for. */
static double came[STEPS_MAX], from[STEPS_MAX], to[STEPS_MAX];
static int whom[STEPS_MAX];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is(const char *name)
{
	return !strcmp(how, name);
}

static void pairs(int k)
{
	static int large[LARGE];
	int sends = rank % 2 == 0, peer = rank ^ 1, x = k, late = is("ssend") || is("send");
	MPI_Request request;
	if (peer >= size)
		return;
	if (sends != late)
		usleep(DELAY);
	came[k] = from[k] = now();
	if (is("send") && sends)
		MPI_Send(large, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD);
	else if (is("send"))
		MPI_Recv(large, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (sends && late)
		MPI_Ssend(&x, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
	else if (sends)
		MPI_Send(&x, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
	else if (is("wait")) {
		MPI_Irecv(&x, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
		from[k] = now();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else
		MPI_Recv(&x, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	to[k] = now();
	whom[k] = sends == late ? peer : -1;
}

static void ring(int k)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, x = k, y;
	MPI_Request requests[2];
	if (k % size == rank)
		usleep(DELAY);
	came[k] = from[k] = now();
	if (is("sendrecv")) {
		MPI_Sendrecv(&x, 1, MPI_INT, next, 2, &y, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Irecv(&y, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]);
		came[k] = now();
		MPI_Isend(&x, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
		from[k] = now();
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	to[k] = now();
	whom[k] = previous;
}

/* Rank 0 receives as many messages as there are steps, and the others take turns. */
static void any(int k)
{
	int sender = 1 + k % (size - 1), x = k;
	whom[k] = -1;
	if (rank == sender) {
		usleep(DELAY);
		came[k] = now();
		MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
	} else if (rank == 0) {
		MPI_Status status;
		from[k] = now();
		MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
		to[k] = now();
		whom[k] = status.MPI_SOURCE;
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void reduce(int k)
{
	int x = k, y;
	if (k % size == rank)
		usleep(DELAY);
	came[k] = from[k] = now();
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	to[k] = now();
	whom[k] = k % size;
}

/* Until whoever it waited for came, but not longer than it did wait. */
static double waited(const double *all_came)
{
	double sum = 0;
	for (int k = 0; k < steps; k++) {
		if (whom[k] < 0)
			continue;
		double came_then = all_came[whom[k] * STEPS_MAX + k], until = came_then < to[k] ? came_then : to[k];
		if ((is("ssend") || is("send")) && came_then >= to[k])
			continue;
		sum += until > from[k] ? until - from[k] : 0;
	}
	return sum;
}

int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "recv";
	steps = argc > 2 ? atoi(argv[2]) : steps;
	steps = steps > STEPS_MAX ? STEPS_MAX : steps;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(whom, -1, sizeof whom);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < steps; k++) {
		if (is("any"))
			any(k);
		else if (is("reduce"))
			reduce(k);
		else if (is("waitall") || is("sendrecv"))
			ring(k);
		else
			pairs(k);
	}
	double *all = calloc((size_t)size * STEPS_MAX, sizeof *all), sum = 0;
	MPI_Allgather(came, STEPS_MAX, MPI_DOUBLE, all, STEPS_MAX, MPI_DOUBLE, MPI_COMM_WORLD);
	double mine = waited(all);
	MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("waited %.6f\n", sum);
	free(all);
	MPI_Finalize();
	return 0;
}
