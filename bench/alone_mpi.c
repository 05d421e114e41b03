/* SPDX-License-Identifier: BSD-3-Clause
 * alone_mpi - stands in for the MPI library, so that one process can be any rank of any number: the calls are made, and
 * nothing is sent
 *
 * Preloaded, it has the mark of Open MPI by which the gate and the tracer know that (ompi_mpi_comm_world), what the
 * mini-applications call that make the same calls whatever they receive (bench/apps: adi, cg, fft, halo2d, halo3d,
 * multigrid, wavefront), and what the tracer asks. ALONE_RANK and ALONE_SIZE say who the process is.
 * MPI_Comm_get_errhandler fails: then the tracer takes it that the ranks cannot meet in MPI_Finalize, leaves its arena,
 * and `spoor run` merges what is there when all of them are over.
 *
 * Calls that would wait for others take a while, of a length that depends on rank and call: between 0.1 and 12.8 us,
 * any magnitude as likely as another.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIMS 8

/* What a handle of a communicator points to. Those for the world and for oneself are not touched. */
struct comm {
	int dims, size, rank; /* dims: 0: no grid */
	int dim[DIMS], period[DIMS];
};

char alone_world[4096] __asm__("ompi_mpi_comm_world")
	__attribute__((aligned(64))); /* in front of the library's: MPI_COMM_WORLD for everybody */

static int initialized, finalized;
static uint64_t calls;

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text ? atoi(text) : otherwise;
}

static struct comm *comm_of(MPI_Comm c)
{
	static struct comm world, self = {.size = 1};
	world.size = number("ALONE_SIZE", 1);
	world.rank = number("ALONE_RANK", 0);
	return c == MPI_COMM_WORLD ? &world : c == MPI_COMM_SELF ? &self : (struct comm *)(void *)c;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static int wait_a_while(void)
{
	struct timespec t;
	uint64_t random = mix(mix((uint64_t)number("ALONE_RANK", 0) + 1) + ++calls);
	uint64_t ns = (UINT64_C(100) << random % 7) * (1024 + (random >> 32) % 1024) / 1024;
	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t begin = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, now;
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	} while (now - begin < ns);
	return MPI_SUCCESS;
}

static void status_set(MPI_Status *s, int source, int tag, size_t bytes)
{
	if (s != MPI_STATUS_IGNORE) {
		memset(s, 0, sizeof *s);
		s->MPI_SOURCE = source;
		s->MPI_TAG = source == MPI_PROC_NULL ? MPI_ANY_TAG : tag;
		s->_ucount = source == MPI_PROC_NULL ? 0 : bytes;
	}
}

/* Both names of a function. */
#define DEFINE(name, parameters)                               \
	int name parameters __attribute__((alias("P" #name))); \
	int P##name parameters
#define UNUSED __attribute__((unused))

DEFINE(MPI_Init, (UNUSED int *argc, UNUSED char ***argv))
{
	initialized = 1;
	return wait_a_while();
}

DEFINE(MPI_Initialized, (int *flag))
{
	*flag = initialized;
	return MPI_SUCCESS;
}

DEFINE(MPI_Finalized, (int *flag))
{
	*flag = finalized;
	return MPI_SUCCESS;
}

DEFINE(MPI_Query_thread, (int *provided))
{
	*provided = MPI_THREAD_SINGLE;
	return MPI_SUCCESS;
}

DEFINE(MPI_Finalize, (void))
{
	finalized = 1;
	return wait_a_while();
}

DEFINE(MPI_Comm_get_errhandler, (UNUSED MPI_Comm comm, UNUSED MPI_Errhandler *handler))
{
	return MPI_ERR_OTHER;
}

/* Communicators. */

DEFINE(MPI_Comm_rank, (MPI_Comm comm, int *rank))
{
	*rank = comm_of(comm)->rank;
	return MPI_SUCCESS;
}

DEFINE(MPI_Comm_size, (MPI_Comm comm, int *size))
{
	*size = comm_of(comm)->size;
	return MPI_SUCCESS;
}

DEFINE(MPI_Comm_test_inter, (UNUSED MPI_Comm comm, int *flag))
{
	*flag = 0;
	return MPI_SUCCESS;
}

DEFINE(MPI_Comm_free, (MPI_Comm * comm))
{
	free(*comm);
	*comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

DEFINE(MPI_Topo_test, (MPI_Comm comm, int *kind))
{
	*kind = comm_of(comm)->dims ? MPI_CART : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

DEFINE(MPI_Cartdim_get, (MPI_Comm comm, int *dims))
{
	*dims = comm_of(comm)->dims;
	return MPI_SUCCESS;
}

static int largest_factor(int n)
{
	int largest = 1;
	for (int k = 2; n > 1; k++)
		for (; n % k == 0; n /= k)
			largest = k;
	return largest;
}

/* The largest factors first, each to the smallest number; the largest number comes first in the end. All of them are
 * free. */
DEFINE(MPI_Dims_create, (int n, int dims, int dim[]))
{
	for (int i = 0; i < dims; i++)
		dim[i] = 1;
	for (int factor; n > 1; n /= factor) {
		int least = 0;
		for (int i = 1; i < dims; i++)
			least = dim[i] < dim[least] ? i : least;
		dim[least] *= factor = largest_factor(n);
	}
	for (int i = 0; i < dims; i++)
		for (int k = i + 1; k < dims; k++)
			if (dim[k] > dim[i]) {
				int swap = dim[i];
				dim[i] = dim[k];
				dim[k] = swap;
			}
	return MPI_SUCCESS;
}

static void coordinates(const struct comm *c, int rank, int n, int at[])
{
	for (int i = c->dims - 1; i >= 0; i--) {
		if (i < n)
			at[i] = rank % c->dim[i];
		rank /= c->dim[i];
	}
}

static int rank_of(const struct comm *c, const int at[])
{
	int rank = 0;
	for (int i = 0; i < c->dims; i++) {
		int k = at[i];
		if (c->period[i])
			k = (k % c->dim[i] + c->dim[i]) % c->dim[i];
		if (k < 0 || k >= c->dim[i])
			return MPI_PROC_NULL;
		rank = rank * c->dim[i] + k;
	}
	return rank;
}

DEFINE(MPI_Cart_create,
       (MPI_Comm old, int dims, const int dim[], const int period[], UNUSED int reorder, MPI_Comm *new))
{
	struct comm *c = calloc(1, sizeof *c);
	if (!c || dims > DIMS)
		abort();
	*c = (struct comm){.dims = dims, .size = comm_of(old)->size, .rank = comm_of(old)->rank};
	memcpy(c->dim, dim, (size_t)dims * sizeof *dim);
	memcpy(c->period, period, (size_t)dims * sizeof *period);
	*new = (MPI_Comm)(void *)c;
	return wait_a_while();
}

DEFINE(MPI_Cart_sub, (MPI_Comm old, const int remain[], MPI_Comm *new))
{
	const struct comm *o = comm_of(old);
	struct comm *c = calloc(1, sizeof *c);
	int at[DIMS], kept[DIMS];
	if (!c)
		abort();
	coordinates(o, o->rank, o->dims, at);
	c->size = 1;
	for (int i = 0; i < o->dims; i++)
		if (remain[i]) {
			kept[c->dims] = at[i];
			c->period[c->dims] = o->period[i];
			c->size *= c->dim[c->dims++] = o->dim[i];
		}
	c->rank = rank_of(c, kept);
	*new = (MPI_Comm)(void *)c;
	return wait_a_while();
}

DEFINE(MPI_Cart_coords, (MPI_Comm comm, int rank, int n, int at[]))
{
	coordinates(comm_of(comm), rank, n, at);
	return MPI_SUCCESS;
}

DEFINE(MPI_Cart_rank, (MPI_Comm comm, const int at[], int *rank))
{
	*rank = rank_of(comm_of(comm), at);
	return MPI_SUCCESS;
}

DEFINE(MPI_Cart_shift, (MPI_Comm comm, int direction, int by, int *source, int *dest))
{
	const struct comm *c = comm_of(comm);
	int at[DIMS];
	coordinates(c, c->rank, c->dims, at);
	at[direction] += by;
	*dest = rank_of(c, at);
	at[direction] -= 2 * by;
	*source = rank_of(c, at);
	return MPI_SUCCESS;
}

/* Types: the predefined ones that the applications use, and vectors of them. */

struct type {
	size_t size;
};

static size_t size_of(MPI_Datatype t)
{
	return t == MPI_DOUBLE || t == MPI_UINT64_T ? 8
	       : t == MPI_INT                       ? 4
	                                            : ((const struct type *)(const void *)t)->size;
}

DEFINE(MPI_Type_size, (MPI_Datatype type, int *size))
{
	*size = (int)size_of(type);
	return MPI_SUCCESS;
}

DEFINE(MPI_Type_size_x, (MPI_Datatype type, MPI_Count *size))
{
	*size = (MPI_Count)size_of(type);
	return MPI_SUCCESS;
}

DEFINE(MPI_Type_vector, (int n, int block, UNUSED int stride, MPI_Datatype old, MPI_Datatype *new))
{
	struct type *t = malloc(sizeof *t);
	if (!t)
		abort();
	t->size = (size_t)n * (size_t)block * size_of(old);
	*new = (MPI_Datatype)(void *)t;
	return MPI_SUCCESS;
}

DEFINE(MPI_Type_commit, (UNUSED MPI_Datatype * type))
{
	return MPI_SUCCESS;
}

DEFINE(MPI_Type_free, (MPI_Datatype * type))
{
	free(*type);
	*type = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}

/* Messages. Requests are different from each other while they are there. */

struct request {
	bool receives;
	int source, tag;
	size_t bytes;
};

static int request_new(MPI_Request *request, struct request what)
{
	struct request *r = malloc(sizeof *r);
	if (!r)
		abort();
	*r = what;
	*request = (MPI_Request)(void *)r;
	return MPI_SUCCESS;
}

static void request_end(MPI_Request *request, MPI_Status *status)
{
	struct request nothing = {false, MPI_ANY_SOURCE, MPI_ANY_TAG, 0}, *r = &nothing;
	if (*request != MPI_REQUEST_NULL)
		r = (struct request *)(void *)*request;
	if (r->receives)
		status_set(status, r->source, r->tag, r->bytes);
	else
		status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
	if (r != &nothing)
		free(r);
	*request = MPI_REQUEST_NULL;
}

DEFINE(MPI_Irecv,
       (UNUSED void *buf, int n, MPI_Datatype type, int source, int tag, UNUSED MPI_Comm comm, MPI_Request *request))
{
	return request_new(request, (struct request){true, source, tag, (size_t)n * size_of(type)});
}

DEFINE(MPI_Isend, (UNUSED const void *buf, UNUSED int n, UNUSED MPI_Datatype type, UNUSED int dest, UNUSED int tag,
                   UNUSED MPI_Comm comm, MPI_Request *request))
{
	return request_new(request, (struct request){.receives = false});
}

DEFINE(MPI_Send, (UNUSED const void *buf, UNUSED int n, UNUSED MPI_Datatype type, UNUSED int dest, UNUSED int tag,
                  UNUSED MPI_Comm comm))
{
	return wait_a_while();
}

DEFINE(MPI_Recv,
       (UNUSED void *buf, int n, MPI_Datatype type, int source, int tag, UNUSED MPI_Comm comm, MPI_Status *status))
{
	status_set(status, source, tag, (size_t)n * size_of(type));
	return wait_a_while();
}

DEFINE(MPI_Wait, (MPI_Request * request, MPI_Status *status))
{
	request_end(request, status);
	return wait_a_while();
}

DEFINE(MPI_Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]))
{
	for (int i = 0; i < n; i++)
		request_end(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
	return wait_a_while();
}

DEFINE(MPI_Allreduce, (UNUSED const void *in, UNUSED void *out, UNUSED int n, UNUSED MPI_Datatype type,
                       UNUSED MPI_Op op, UNUSED MPI_Comm comm))
{
	return wait_a_while();
}

DEFINE(MPI_Reduce, (UNUSED const void *in, UNUSED void *out, UNUSED int n, UNUSED MPI_Datatype type, UNUSED MPI_Op op,
                    UNUSED int root, UNUSED MPI_Comm comm))
{
	return wait_a_while();
}

DEFINE(MPI_Alltoall, (UNUSED const void *in, UNUSED int n, UNUSED MPI_Datatype type, UNUSED void *out, UNUSED int m,
                      UNUSED MPI_Datatype types, UNUSED MPI_Comm comm))
{
	return wait_a_while();
}
