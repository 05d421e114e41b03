/* SPDX-License-Identifier: BSD-3-Clause
 * move - collective calls of a trace without order whose ranks have different datatypes (outcome.h)
 */
#include "replay/outcome.h"

#include <limits.h>
#include <stdlib.h>

static int wait_for(int rc, MPI_Request *request)
{
	return rc == MPI_SUCCESS ? poll_wait(request, MPI_STATUS_IGNORE) : rc;
}

/* Bytes of the part for rank i; what does not fit into an int is cut. */
static int part(const struct side *s, int i)
{
	MPI_Count size = 0;
	int count = s->counts ? s->counts[i] : s->count;

	if (s->buf == MPI_IN_PLACE || s->type == MPI_DATATYPE_NULL || count <= 0)
		return 0;
	PMPI_Type_size_x(s->type, &size);
	return size * count > INT_MAX / 64 ? INT_MAX / 64 : (int)(size * count);
}

static int sum(const int *bytes, int *places, int n)
{
	long long at = 0;

	for (int i = 0; i < n; i++) {
		places[i] = (int)at;
		at += bytes[i];
	}
	return at > INT_MAX ? -1 : (int)at;
}

int move_all(enum move kind, struct side send, struct side receive, int root, MPI_Comm comm)
{
	int inter, size, me, rc = MPI_ERR_NO_MEM, total[2];
	MPI_Request request;

	PMPI_Comm_test_inter(comm, &inter);
	PMPI_Comm_rank(comm, &me);
	PMPI_Comm_size(comm, &size);
	if (inter)
		PMPI_Comm_remote_size(comm, &size);
	bool sends = kind != MOVE_SCATTER || root == (inter ? MPI_ROOT : me);
	int *numbers = calloc(4 * ((size_t)size + 1), sizeof *numbers);
	int *out = numbers, *in = out + size + 1, *outs = in + size + 1, *ins = outs + size + 1;
	char *from = NULL, *to = NULL;

	if (!numbers)
		return rc;
	if (send.buf == MPI_IN_PLACE)
		send = receive;
	bool one = kind == MOVE_BCAST || kind == MOVE_GATHER || kind == MOVE_ALLGATHER; /* the same for all */

	for (int i = 0; i < (one ? 1 : size) && sends; i++)
		out[i] = part(&send, one && !inter ? me : i);

	/* who sends, tells how much */
	if (kind == MOVE_BCAST)
		rc = wait_for(PMPI_Ibcast(out, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == MOVE_GATHER)
		rc = wait_for(PMPI_Igather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == MOVE_SCATTER)
		rc = wait_for(PMPI_Iscatter(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == MOVE_ALLGATHER)
		rc = wait_for(PMPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request), &request);
	else
		rc = wait_for(PMPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request), &request);

	total[0] = one ? out[0] : sum(out, outs, size);
	total[1] = kind == MOVE_SCATTER ? in[0] : sum(in, ins, size);
	if (rc == MPI_SUCCESS && (total[0] < 0 || total[1] < 0 || !(from = calloc(1, (size_t)total[0] + 1)) ||
	                          !(to = malloc((size_t)total[1] + 1))))
		rc = MPI_ERR_NO_MEM;
	if (rc != MPI_SUCCESS)
		goto done;
	if (kind == MOVE_BCAST)
		rc = PMPI_Ibcast(from, out[0], MPI_BYTE, root, comm, &request);
	else if (kind == MOVE_GATHER)
		rc = PMPI_Igatherv(from, out[0], MPI_BYTE, to, in, ins, MPI_BYTE, root, comm, &request);
	else if (kind == MOVE_SCATTER)
		rc = PMPI_Iscatterv(from, out, outs, MPI_BYTE, to, in[0], MPI_BYTE, root, comm, &request);
	else if (kind == MOVE_ALLGATHER)
		rc = PMPI_Iallgatherv(from, out[0], MPI_BYTE, to, in, ins, MPI_BYTE, comm, &request);
	else
		rc = PMPI_Ialltoallv(from, out, outs, MPI_BYTE, to, in, ins, MPI_BYTE, comm, &request);
	rc = wait_for(rc, &request);
done:
	free(from);
	free(to);
	free(numbers);
	return rc;
}
