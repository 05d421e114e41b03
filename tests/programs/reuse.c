/* SPDX-License-Identifier: BSD-3-Clause
 * reuse - MPI_THREAD_MULTIPLE: a handle that one thread frees is another thread's new object before the call that freed
 * it is back
 *
 *     reuse FILE
 *
 * For each kind of handle: this thread makes an object and ends it; while it is in that call, behind what MPI does
 * there (slow.so: slow_inside), another thread makes objects of the kind until one has the same handle, and uses it;
 * then the call comes back, and the other thread uses it once more. Prints for each kind how many objects were made
 * until then, or that none had the handle. FILE: a name for files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 40 };
enum kind { COMM, TYPE, GROUP, OP, INFO, ERRHANDLER, FILES, KEYVAL, FREED, WAITED, ALL, MESSAGE, KINDS };
static const char *const names[KINDS] = {"comm", "type",   "group", "op",   "info",    "errhandler",
                                         "file", "keyval", "free",  "wait", "waitall", "message"};

union handle {
	uintptr_t bits;
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Group group;
	MPI_Op op;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_File file;
	MPI_Request request;
	MPI_Message message;
	int keyval;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int
	/* 0: nothing to do, 1: the other thread makes, 2: it made, 3: it ends what it made, 4: the end; 5: it makes the
	 * one that we end */
	step;
static enum kind kind;
static union handle ours, theirs[MOST];
static MPI_Group world;
static int made, buffer[MOST + 1], tag;
static const char *file;
static void (**inside)(void);

static void sum(void *in, void *inout, int *n, MPI_Datatype *t)
{
	(void)in;
	(void)inout;
	(void)n;
	(void)t;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static void go(int next)
{
	pthread_mutex_lock(&lock);
	step = next;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int wait_for(int a, int b)
{
	pthread_mutex_lock(&lock);
	while (step != a && step != b)
		pthread_cond_wait(&changed, &lock);
	int now = step;
	pthread_mutex_unlock(&lock);
	return now;
}

static void make(union handle *h, int i)
{
	h->bits = 0;
	switch (kind) {
	case COMM:
		MPI_Comm_dup(MPI_COMM_SELF, &h->comm);
		break;
	case TYPE:
		MPI_Type_contiguous(3, MPI_INT, &h->type);
		break;
	case GROUP:
		MPI_Group_incl(world, 1, (int[]){0}, &h->group);
		break;
	case OP:
		MPI_Op_create(sum, 1, &h->op);
		break;
	case INFO:
		MPI_Info_create(&h->info);
		break;
	case ERRHANDLER:
		MPI_Comm_create_errhandler(handler, &h->errhandler);
		break;
	case FILES:
		MPI_File_open(MPI_COMM_SELF, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &h->file);
		break;
	case KEYVAL:
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &h->keyval, NULL);
		break;
	case FREED:
		MPI_Recv_init(&buffer[i], 1, MPI_INT, 0, 1000 + i, MPI_COMM_SELF, &h->request);
		break;
	case WAITED:
	case ALL:
		MPI_Irecv(&buffer[i], 1, MPI_INT, 0, tag + i, MPI_COMM_SELF, &h->request);
		break;
	case MESSAGE:
		PMPI_Send(&buffer[i], 1, MPI_INT, 0, tag + i, MPI_COMM_SELF);
		MPI_Mprobe(0, tag + i, MPI_COMM_SELF, &h->message, MPI_STATUS_IGNORE);
		break;
	case KINDS:
		break;
	}
}

static void use(union handle *h)
{
	int n;

	switch (kind) {
	case COMM:
		MPI_Comm_size(h->comm, &n);
		break;
	case TYPE:
		MPI_Type_size(h->type, &n);
		break;
	case GROUP:
		MPI_Group_size(h->group, &n);
		break;
	case OP:
		MPI_Op_commutative(h->op, &n);
		break;
	case INFO:
		MPI_Info_get_nkeys(h->info, &n);
		break;
	case ERRHANDLER:
		MPI_Comm_set_errhandler(MPI_COMM_SELF, h->errhandler);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
		break;
	case FILES:
		MPI_File_set_atomicity(h->file, 0);
		break;
	case KEYVAL:
		MPI_Comm_set_attr(MPI_COMM_SELF, h->keyval, &n);
		MPI_Comm_delete_attr(MPI_COMM_SELF, h->keyval);
		break;
	case FREED:
	case WAITED:
	case ALL:
		MPI_Request_get_status(h->request, &n, MPI_STATUS_IGNORE);
		break;
	case MESSAGE:
	case KINDS:
		break;
	}
}

static void end(union handle *h, int i)
{
	switch (kind) {
	case COMM:
		MPI_Comm_free(&h->comm);
		break;
	case TYPE:
		MPI_Type_free(&h->type);
		break;
	case GROUP:
		MPI_Group_free(&h->group);
		break;
	case OP:
		MPI_Op_free(&h->op);
		break;
	case INFO:
		MPI_Info_free(&h->info);
		break;
	case ERRHANDLER:
		MPI_Errhandler_free(&h->errhandler);
		break;
	case FILES:
		MPI_File_close(&h->file);
		break;
	case KEYVAL:
		MPI_Comm_free_keyval(&h->keyval);
		break;
	case FREED:
		MPI_Request_free(&h->request);
		break;
	case WAITED:
	case ALL:
		PMPI_Send(&buffer[i], 1, MPI_INT, 0, tag + i, MPI_COMM_SELF);
		if (kind == ALL)
			MPI_Waitall(1, &h->request, MPI_STATUSES_IGNORE);
		else
			MPI_Wait(&h->request, MPI_STATUS_IGNORE);
		break;
	case MESSAGE:
		MPI_Mrecv(&buffer[i], 1, MPI_INT, &h->message, MPI_STATUS_IGNORE);
		break;
	case KINDS:
		break;
	}
}

/* In the call that ends our object. */
static void meanwhile(void)
{
	*inside = NULL;
	go(1);
	wait_for(2, 2);
}

static void *other(void *unused)
{
	int now;

	(void)unused;
	while ((now = wait_for(1, 5)) || 1) {
		if (now == 5) {
			if (kind == KINDS)
				return NULL;
			make(&ours, MOST);
			go(0);
			continue;
		}
		made = 0;
		do {
			make(&theirs[made], made);
			use(&theirs[made]);
		} while (theirs[made++].bits != ours.bits && made < MOST);
		go(2);
		wait_for(3, 3);
		use(&theirs[made - 1]);
		while (made > 0) {
			end(&theirs[made - 1], made - 1);
			made--;
		}
		go(0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int provided, rank;
	union handle mine;
	char path[4096];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof path, "%s.%d", argc > 1 ? argv[1] : "reuse.file", rank);
	file = path;
	inside = (void (**)(void))dlsym(RTLD_DEFAULT, "slow_inside");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	if (provided == MPI_THREAD_MULTIPLE && inside) {
		pthread_create(&t, NULL, other, NULL);
		for (kind = 0; kind < KINDS; kind++) {
			tag = 100 * (kind + 1);
			if (kind == FREED || kind == WAITED || kind == ALL) {
				go(5); /* the other thread's own request, whose number it must not give again */
				wait_for(0, 0);
			} else {
				make(&ours, MOST);
			}
			mine = ours;
			*inside = meanwhile;
			end(&mine, MOST);
			if (rank == 0 && ours.bits == theirs[made - 1].bits)
				printf("%s %d\n", names[kind], made);
			else if (rank == 0)
				printf("%s none\n", names[kind]);
			go(3);
			wait_for(0, 0);
		}
		go(5);
		pthread_join(t, NULL);
	}
	if (rank == 0)
		printf("reuse: %d\n", provided == MPI_THREAD_MULTIPLE && inside);
	MPI_Group_free(&world);
	MPI_Finalize();
	return 0;
}
