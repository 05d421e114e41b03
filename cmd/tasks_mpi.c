/* SPDX-License-Identifier: BSD-3-Clause
 * tasks_mpi - spoor-aggregate: what `spoor aggregate` becomes as one of several tasks of an MPI job
 *
 *     task:   MPI process  <-- socket -->  worker, its child: reads the archive, adds up
 *
 * The worker is another process because root's becomes somebody else before it reads what users wrote
 * (archive/privileges.h), and what an MPI library has opened and shared as root would not be its own any more. It is
 * started before MPI_Init. The messages of the worker: a letter, a number, and as many bytes if the letter is GIVE.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/base/tasks.h"
#include "process/process.h"

enum letter { AGREE = 'a', GIVE = 'g', END = 'e' };

struct message {
	char letter;
	uint64_t number; /* AGREE: is it well?; GIVE: bytes that follow; END: exit status */
};

#define PIECE (1 << 20) /* counts of MPI are int */

/* Returns 0, or -1: the other end is gone. */
static int write_all(int fd, const void *bytes, size_t n)
{
	for (const char *p = bytes; n > 0;) {
		ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int read_all(int fd, void *bytes, size_t n)
{
	for (char *p = bytes; n > 0;) {
		ssize_t done = recv(fd, p, n, 0);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int put_message(int fd, char letter, uint64_t number)
{
	struct message m = {.letter = letter, .number = number};
	return write_all(fd, &m, sizeof m);
}

/* --- the worker --- */

static int parent;
static struct tasks team;

static bool agree(bool well)
{
	struct message m;
	return put_message(parent, AGREE, well) == 0 && read_all(parent, &m, sizeof m) == 0 && m.number;
}

static int gather_to_first(const uint8_t *bytes, size_t size,
                           int (*take)(void *context, const uint8_t *bytes, size_t size), void *context)
{
	struct message m;
	int rv = 0;

	if (team.rank > 0)
		return put_message(parent, GIVE, size) || write_all(parent, bytes, size) ? -1 : 0;
	if (put_message(parent, GIVE, 0))
		return -1;
	for (unsigned r = 1; r < team.size; r++) {
		if (read_all(parent, &m, sizeof m))
			return -1;
		uint8_t *theirs = malloc(m.number + 1);
		if (!theirs || read_all(parent, theirs, m.number))
			rv = -1;
		else if (rv == 0)
			rv = take(context, theirs, m.number);
		free(theirs);
		if (rv)
			return rv; /* the others are not waited for: this task ends, and with it the job */
	}
	return 0;
}

static int be_worker(int fd, int argc, char **argv)
{
	unsigned facts[2];

	parent = fd;
	if (read_all(fd, facts, sizeof facts))
		return CMD_FAILED;
	team = (struct tasks){facts[0], facts[1], facts[1] > 1 ? agree : NULL, facts[1] > 1 ? gather_to_first : NULL};
	int status = aggregate_run(argc, argv, &team);
	put_message(fd, END, (uint64_t)status);
	return status;
}

/* --- the MPI process --- */

/* What the worker gives goes to rank 0 in pieces, and there to its worker. Returns 0 or -1. */
static int pass_on(int fd, uint64_t size, int rank, int ranks, uint8_t *piece)
{
	int rv = 0;

	if (rank > 0)
		MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
	for (uint64_t at = 0; rank > 0 && at < size && rv == 0; at += PIECE) {
		int n = (int)(size - at < PIECE ? size - at : PIECE);
		rv = read_all(fd, piece, (size_t)n);
		if (rv == 0)
			MPI_Send(piece, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
	for (int r = 1; rank == 0 && r < ranks && rv == 0; r++) {
		MPI_Recv(&size, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		rv = put_message(fd, GIVE, size);
		for (uint64_t at = 0; at < size && rv == 0; at += PIECE) {
			int n = (int)(size - at < PIECE ? size - at : PIECE);
			MPI_Recv(piece, n, MPI_BYTE, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			rv = write_all(fd, piece, (size_t)n);
		}
	}
	return rv;
}

/* Are all well, and have all ended? A task that has ended is not well for those that still ask, so that they end, too,
 * instead of waiting for it. */
static bool agree_all(bool well, bool ended, bool *all_ended)
{
	int mine[2] = {well, ended}, all[2];

	MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	*all_ended = all[1];
	return all[0];
}

/* Returns the worker's exit status, or -1: it is gone without a word. */
static int serve(int fd, int rank, int ranks)
{
	static uint8_t piece[PIECE];
	unsigned facts[2] = {(unsigned)rank, (unsigned)ranks};
	bool all_ended = false;
	struct message m;

	if (write_all(fd, facts, sizeof facts))
		return -1;
	while (read_all(fd, &m, sizeof m) == 0) {
		if (m.letter == END) {
			while (!all_ended)
				agree_all(false, true, &all_ended);
			return (int)m.number;
		}
		if (m.letter == AGREE) {
			if (put_message(fd, AGREE, agree_all(m.number != 0, false, &all_ended)))
				return -1;
		} else if (pass_on(fd, m.number, rank, ranks, piece)) {
			return -1;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	unsigned number, expected = tasks_expected(&number);
	int rank, ranks, provided, status, pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		perror("spoor aggregate: a socket");
		return CMD_FAILED;
	}
	pid_t worker = process_child();
	if (worker == 0) {
		close(pair[0]);
		return be_worker(pair[1], argc, argv);
	}
	close(pair[1]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks == 1 && expected > 1) {
		fprintf(stderr,
		        "spoor aggregate: task %u of %u is alone for the MPI library; start the tasks so that they "
		        "find each other: srun --mpi=pmix\n",
		        number, expected);
		status = CMD_FAILED;
	} else {
		status = worker < 0 ? -1 : serve(pair[0], rank, ranks);
	}
	close(pair[0]);
	if (worker > 0)
		waitpid(worker, NULL, 0);
	if (status < 0) {
		fprintf(stderr, "spoor aggregate: task %d could not do its part\n", rank);
		MPI_Abort(MPI_COMM_WORLD, CMD_FAILED);
	}
	MPI_Finalize();
	return status;
}
