/* SPDX-License-Identifier: BSD-3-Clause
 * byte_collective - collective calls of a trace without order whose ranks have different datatypes
 */
#include "replay/byte_collective.h"
#include "replay/poll.h"

#include <limits.h>
#include <stdlib.h>

static int wait_for_request(int rc, MPI_Request *request)
{
	return rc == MPI_SUCCESS ? poll_wait(request, MPI_STATUS_IGNORE) : rc;
}

/* Bytes of the part for rank i; what does not fit into an int is cut. */
static int bytes_of_part(const struct side *s, int i)
{
	MPI_Count size = 0;
	int count = s->counts ? s->counts[i] : s->count;
	if (s->buf == MPI_IN_PLACE || s->type == MPI_DATATYPE_NULL || count <= 0)
		return 0;
	PMPI_Type_size_x(s->type, &size);
	return size * count > INT_MAX / 64 ? INT_MAX / 64 : (int)(size * count);
}

static int sum_bytes(const int *bytes, int *places, int n)
{
	long long at = 0;
	for (int i = 0; i < n; i++) {
		places[i] = (int)at;
		at += bytes[i];
	}
	return at > INT_MAX ? -1 : (int)at;
}

int byte_collective(enum byte_collective kind, struct side send, struct side receive, int root, MPI_Comm comm)
{
	int inter, size, me, rc = MPI_ERR_NO_MEM, total[2];
	MPI_Request request;
	PMPI_Comm_test_inter(comm, &inter);
	PMPI_Comm_rank(comm, &me);
	PMPI_Comm_size(comm, &size);
	if (inter)
		PMPI_Comm_remote_size(comm, &size);
	bool sends = kind != BYTE_SCATTER || root == (inter ? MPI_ROOT : me);
	char *from = NULL, *to = NULL;
	int *numbers = calloc(4 * ((size_t)size + 1), sizeof *numbers);
	if (!numbers)
		return rc;
	int *out = numbers, *in = out + size + 1, *outs = in + size + 1, *ins = outs + size + 1;
	if (send.buf == MPI_IN_PLACE)
		send = receive;
	bool one = kind == BYTE_BCAST || kind == BYTE_GATHER || kind == BYTE_ALLGATHER; /* the same for all */

	for (int i = 0; i < (one ? 1 : size) && sends; i++)
		out[i] = bytes_of_part(&send, one && !inter ? me : i);
	/* who sends, tells how much */
	if (kind == BYTE_BCAST)
		rc = wait_for_request(PMPI_Ibcast(out, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == BYTE_GATHER)
		rc = wait_for_request(PMPI_Igather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == BYTE_SCATTER)
		rc = wait_for_request(PMPI_Iscatter(out, 1, MPI_INT, in, 1, MPI_INT, root, comm, &request), &request);
	else if (kind == BYTE_ALLGATHER)
		rc = wait_for_request(PMPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request), &request);
	else
		rc = wait_for_request(PMPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request), &request);
	total[0] = one ? out[0] : sum_bytes(out, outs, size);
	total[1] = kind == BYTE_SCATTER ? in[0] : sum_bytes(in, ins, size);
	if (rc == MPI_SUCCESS && (total[0] < 0 || total[1] < 0 || !(from = calloc(1, (size_t)total[0] + 1)) ||
	                          !(to = malloc((size_t)total[1] + 1))))
		rc = MPI_ERR_NO_MEM;
	if (rc != MPI_SUCCESS)
		goto done;
	if (kind == BYTE_BCAST)
		rc = PMPI_Ibcast(from, out[0], MPI_BYTE, root, comm, &request);
	else if (kind == BYTE_GATHER)
		rc = PMPI_Igatherv(from, out[0], MPI_BYTE, to, in, ins, MPI_BYTE, root, comm, &request);
	else if (kind == BYTE_SCATTER)
		rc = PMPI_Iscatterv(from, out, outs, MPI_BYTE, to, in[0], MPI_BYTE, root, comm, &request);
	else if (kind == BYTE_ALLGATHER)
		rc = PMPI_Iallgatherv(from, out[0], MPI_BYTE, to, in, ins, MPI_BYTE, comm, &request);
	else
		rc = PMPI_Ialltoallv(from, out, outs, MPI_BYTE, to, in, ins, MPI_BYTE, comm, &request);
	rc = wait_for_request(rc, &request);
done:
	free(from);
	free(to);
	free(numbers);
	return rc;
}
