/* SPDX-License-Identifier: BSD-3-Clause
 * addresses - MPI functions that take addresses of the recorded processes, which mean nothing here (outcome.h)
 *
 * Datatypes with absolute addresses (for MPI_BOTTOM) are laid out anew: as they were relative to each other if that
 * fits into what a program may have in one piece, else one block behind the other. Dynamic windows have one piece of
 * memory, and all accesses go there.
 */
#include "replay/addresses.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "replay/blocking.h"
#include "replay/poll.h"

/* A displacement beyond this is an address. File types and large arrays have displacements of many GiB; where programs
 * have least address space (39 bits), all they have is in its upper half. */
#define FAR      ((MPI_Aint)1 << 38)
#define TOGETHER ((MPI_Aint)1 << 30) /* addresses this near each other stay so */
#define REGION   ((MPI_Aint)1 << 24) /* of a dynamic window, on each rank */

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint lb = 0, extent = 0;
	PMPI_Type_get_extent(type, &lb, &extent);
	return extent < 0 ? -extent : extent;
}

/* The displacements to use: the caller's, or a malloc'ed array. lengths or types may be NULL: then they are all
 * `length` and `type`. */
static const MPI_Aint *relative_displacements(int n, const MPI_Aint *disps, const int *lengths, int length,
                                              const MPI_Datatype *types, MPI_Datatype type)
{
	MPI_Aint low = 0, high = 0, at = 0;
	for (int i = 0; i < n; i++) {
		low = i == 0 || disps[i] < low ? disps[i] : low;
		high = i == 0 || disps[i] > high ? disps[i] : high;
	}
	if (n <= 0 || (low > -FAR && high < FAR))
		return disps;
	MPI_Aint *own = malloc((size_t)n * sizeof *own);
	for (int i = 0; own && i < n; i++) {
		own[i] = high - low <= TOGETHER ? disps[i] - low : at;
		at += (lengths ? lengths[i] : length) * extent_of(types ? types[i] : type);
	}
	return own ? own : disps;
}

static int free_displacements(int rc, const MPI_Aint *own, const MPI_Aint *disps)
{
	if (own != disps)
		free((void *)own);
	return rc;
}

int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint disps[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
	if (replay_outcome.refused)
		return outcome_refused();
	const MPI_Aint *own = relative_displacements(count, disps, lengths, 0, NULL, oldtype);
	return free_displacements(PMPI_Type_create_hindexed(count, lengths, own, oldtype, newtype), own, disps);
}

int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint disps[], MPI_Datatype oldtype,
                                   MPI_Datatype *newtype)
{
	if (replay_outcome.refused)
		return outcome_refused();
	const MPI_Aint *own = relative_displacements(count, disps, NULL, blocklength, NULL, oldtype);
	return free_displacements(PMPI_Type_create_hindexed_block(count, blocklength, own, oldtype, newtype), own,
	                          disps);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint disps[], const MPI_Datatype types[],
                           MPI_Datatype *newtype)
{
	if (replay_outcome.refused)
		return outcome_refused();
	const MPI_Aint *own = relative_displacements(count, disps, lengths, 0, types, MPI_BYTE);
	return free_displacements(PMPI_Type_create_struct(count, lengths, own, types, newtype), own, disps);
}

/* ---- windows ---- */

int MPI_Win_test(MPI_Win win, int *flag)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int unused;
	if (replay_outcome.by_library)
		return PMPI_Win_test(win, flag);
	*flag = replay_outcome.flag;
	if (*flag)
		return blocking_win_wait(win);
	return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &unused, MPI_STATUS_IGNORE);
}

struct dynamic {
	struct dynamic *next;
	MPI_Win win;
	void *region;
	MPI_Aint *address; /* by rank */
};
static struct dynamic *dynamics;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: it is no dynamic one. */
static struct dynamic *find_dynamic(MPI_Win win)
{
	struct dynamic *d;
	pthread_mutex_lock(&lock);
	for (d = dynamics; d && d->win != win; d = d->next)
		;
	pthread_mutex_unlock(&lock);
	return d;
}

static void add_dynamic(struct dynamic *d)
{
	pthread_mutex_lock(&lock);
	d->next = dynamics;
	dynamics = d;
	pthread_mutex_unlock(&lock);
}

static void remove_dynamic(struct dynamic *d)
{
	struct dynamic **at = &dynamics;
	pthread_mutex_lock(&lock);
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	pthread_mutex_unlock(&lock);
	free(d->region);
	free(d->address);
	free(d);
}

MPI_Aint address_in_window(MPI_Win win, int target, MPI_Aint disp)
{
	if (!dynamics || target < 0)
		return disp;
	struct dynamic *d = find_dynamic(win);
	return d ? d->address[target] : disp;
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int size, rc;
	struct dynamic *d;
	poll_barrier(comm);
	rc = PMPI_Win_create_dynamic(info, comm, win);
	if (rc != MPI_SUCCESS)
		return rc;
	PMPI_Comm_size(comm, &size);
	d = calloc(1, sizeof *d);
	if (!d || !(d->address = calloc((size_t)size, sizeof *d->address)) || !(d->region = calloc(1, (size_t)REGION)))
		return MPI_ERR_NO_MEM;
	MPI_Aint own;
	PMPI_Win_attach(*win, d->region, REGION);
	PMPI_Get_address(d->region, &own);
	PMPI_Allgather(&own, 1, MPI_AINT, d->address, 1, MPI_AINT, comm);
	d->win = *win;
	add_dynamic(d);
	blocking_register(HANDLE_BITS(*win), comm);
	return rc;
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return find_dynamic(win) ? MPI_SUCCESS : PMPI_Win_attach(win, base, size);
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return find_dynamic(win) ? MPI_SUCCESS : PMPI_Win_detach(win, base);
}

int MPI_Win_free(MPI_Win *win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	struct dynamic *d = find_dynamic(*win);
	if (replay_outcome.error)
		return replay_outcome.error;
	void *handle = HANDLE_BITS(*win);
	blocking_enter(handle);
	if (d)
		PMPI_Win_detach(*win, d->region);
	int rc = PMPI_Win_free(win);
	blocking_unregister(handle);
	if (d)
		remove_dynamic(d);
	return rc;
}

int MPI_Free_mem(void *base)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return replay_outcome.known_buffers ? MPI_SUCCESS : PMPI_Free_mem(base);
}
