/* SPDX-License-Identifier: BSD-3-Clause
 * leaves - a callback, which MPI calls, does not return, or makes a process: leaves WHERE HOW
 *
 * WHERE: error, copy, delete, op, query, free, cancel; signal: in a handler of a signal that came in an op.
 * HOW: jump, throw; exit, cancelled: ends the thread that it is in; fork: returns, also in a child, which goes on.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static const char *where, *how;
static sigjmp_buf out;
static int left, children;
static bool in_child;

static bool is(const char *what, const char *name)
{
	return !strcmp(what, name);
}

static void leave()
{
	int rank, status = -1;
	pid_t pid;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	left++;
	if (is(how, "jump"))
		siglongjmp(out, 1);
	if (is(how, "throw"))
		throw rank;
	if (is(how, "exit"))
		pthread_exit(NULL);
	if (is(how, "cancelled")) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	if (in_child)
		return;
	if (!(pid = fork()))
		in_child = true;
	else if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		children = -1000;
	else
		children++;
}

/* ---- what MPI calls ---- */

static void on_error(MPI_Comm *, int *, ...)
{
	leave();
}

static int copy(MPI_Comm, int, void *, void *in, void *to, int *flag)
{
	leave();
	*(void **)to = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static bool deletes; /* MPI_Finalize does, too */

static int remove(MPI_Comm, int, void *, void *)
{
	if (!deletes)
		return MPI_SUCCESS;
	deletes = false;
	leave();
	return MPI_SUCCESS;
}

static void on_signal(int)
{
	leave();
}

static void operate(void *, void *, int *, MPI_Datatype *)
{
	if (is(where, "signal"))
		raise(SIGUSR1);
	else
		leave();
}

static int query(void *, MPI_Status *status)
{
	MPI_Status_set_elements(status, MPI_INT, 1);
	MPI_Status_set_cancelled(status, 0);
	if (is(where, "query"))
		leave();
	return MPI_SUCCESS;
}

static int release(void *)
{
	if (is(where, "free"))
		leave();
	return MPI_SUCCESS;
}

static int cancel(void *, int)
{
	leave();
	return MPI_SUCCESS;
}

/* ---- the calls ---- */

static MPI_Errhandler handler;
static MPI_Op op;
static int keyval;

static void attributes()
{
	MPI_Comm comm;

	deletes = false;
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &keyval);
	if (is(where, "copy")) {
		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		return;
	}
	deletes = true;
	MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
}

static void generalised()
{
	MPI_Request request;

	MPI_Grequest_start(query, release, cancel, NULL, &request);
	if (is(where, "cancel"))
		MPI_Cancel(&request);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call()
{
	int x = 1, y = 2;

	if (is(where, "error"))
		MPI_Send(&x, 1, MPI_INT, 4711, 0, MPI_COMM_SELF);
	else if (is(where, "op") || is(where, "signal"))
		MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
	else if (is(where, "copy") || is(where, "delete"))
		attributes();
	else
		generalised();
}

static void *in_thread(void *p)
{
	call();
	return p;
}

static void once()
{
	pthread_t t;

	if (is(how, "exit") || is(how, "cancelled")) {
		pthread_create(&t, NULL, in_thread, NULL);
		pthread_join(t, NULL);
	} else if (is(how, "throw")) {
		try {
			call();
		} catch (int) {
		}
	} else if (!sigsetjmp(out, 1)) {
		call();
	}
}

/* MPI's answers are right. */
static int ask()
{
	int rank = -1, size = -1, one = 1, sum = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!in_child)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	return rank == 0 && size == 1 && sum == !in_child;
}

int main(int argc, char **argv)
{
	int provided, right = 0;

	if (argc != 3)
		return 2;
	where = argv[1];
	how = argv[2];
	MPI_Init_thread(&argc, &argv, is(how, "exit") || is(how, "cancelled") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	signal(SIGUSR1, on_signal);
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	MPI_Op_create(operate, 1, &op);
	MPI_Comm_create_keyval(copy, remove, &keyval, NULL);
	for (volatile int i = 0; i < ROUNDS; i++) {
		once();
		right += ask();
		if (in_child)
			_exit(right != i + 1);
	}
	printf("%s %s: left %d, right %d, children %d\n", where, how, left, right, children);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
