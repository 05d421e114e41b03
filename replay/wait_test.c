/* SPDX-License-Identifier: BSD-3-Clause
 * wait_test - MPI_Wait, MPI_Test and the like: they complete the requests that were completed (outcome.h)
 */
#include "replay/lossy_messages.h"
#include "replay/poll.h"
#include "replay/requests.h"

/* Lets the library work, as a test would that sees nothing of n requests: it is enough to look at the first that there
 * is. Not at one of a file: MPICH 4.2 may forget that after it has told that it is complete, and then aborts. */
static void poke_library(int n, const MPI_Request *requests)
{
	int flag;
	if (replay_outcome.lossy) {
		lossy_receive_pending();
		return;
	}
	for (int i = 0; i < n; i++) {
		struct request *own = request_of(requests[i]);
		if (own && own->real != MPI_REQUEST_NULL && !own->of_file) {
			PMPI_Request_get_status(own->real, &flag, MPI_STATUS_IGNORE);
			return;
		}
	}
}

/* The status of a receive from MPI_PROC_NULL is another one in MPICH 4.0 (rank 0, tag 0) than in Open MPI. That of an
 * inactive request is empty in both. */
static void set_from_nobody(MPI_Request request, MPI_Status *status, int source, int tag)
{
	struct request *own = request_of(request);
	if (!own || !own->from_nobody || replay_outcome.by_library || status->MPI_SOURCE == MPI_ANY_SOURCE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
}

/* A file's request has moved what it moved. */
static void set_moved(MPI_Request request, MPI_Status *status, long long bytes)
{
	struct request *own = request_of(request);
	if (own && own->of_file && !replay_outcome.by_library)
		request_moved(status, bytes);
}

/* After n requests were completed, of which at[i] is the i-th. */
static void set_statuses(int n, const MPI_Request *requests, const int *at, MPI_Status *statuses)
{
	if (statuses == MPI_STATUSES_IGNORE || !replay_outcome.sources || !replay_outcome.tags)
		return;
	for (int i = 0; i < n; i++) {
		MPI_Request request = requests[at ? at[i] : i];
		set_from_nobody(request, &statuses[i], replay_outcome.sources[i], replay_outcome.tags[i]);
		if (replay_outcome.all_moved)
			set_moved(request, &statuses[i], replay_outcome.all_moved[i]);
	}
}

/* The functions below call these, and not each other: that would be seen by the tracer. */
static int complete_one(MPI_Request *request, MPI_Status *status)
{
	if (replay_outcome.lossy)
		return lossy_request_complete(request, status);
	MPI_Request real = request_real(*request);
	int rc = replay_outcome.polling ? poll_wait(&real, status) : PMPI_Wait(&real, status);
	if (status != MPI_STATUS_IGNORE) {
		set_from_nobody(*request, status, replay_outcome.source, replay_outcome.tag);
		set_moved(*request, status, replay_outcome.moved);
	}
	request_update(request, real);
	return rc;
}

/* Is the call not to be made again: refused, or in a trace without order failed, whatever its requests are? */
static bool has_failed(int n, MPI_Request *requests)
{
	if (replay_outcome.refused)
		return true;
	if (!replay_outcome.lossy || !replay_outcome.error)
		return false;
	for (int i = 0; i < n; i++)
		lossy_request_complete(&requests[i], MPI_STATUS_IGNORE);
	return true;
}

static int complete_all(int n, MPI_Request requests[], MPI_Status *statuses)
{
	if (replay_outcome.lossy) {
		for (int i = 0; i < n; i++)
			lossy_request_complete(&requests[i],
			                       statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
		return MPI_SUCCESS;
	}
	MPI_Request *real = requests_real(n, requests);
	int rc = replay_outcome.polling ? poll_waitall(n, real, statuses) : PMPI_Waitall(n, real, statuses);
	set_statuses(n, requests, NULL, statuses);
	requests_update(n, requests, real);
	return rc;
}

static int complete_any(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
	if (replay_outcome.lossy) {
		*index = n == 0                                                  ? MPI_UNDEFINED
		         : replay_outcome.index >= 0 && replay_outcome.index < n ? replay_outcome.index
		                                                                 : 0;
		return n == 0 ? MPI_SUCCESS : lossy_request_complete(&requests[*index], status);
	}
	if (replay_outcome.by_library || replay_outcome.index == MPI_UNDEFINED || replay_outcome.index >= n) {
		MPI_Request *real = requests_real(n, requests);
		int rc, flag = 0;
		if (!replay_outcome.polling)
			rc = PMPI_Waitany(n, real, index, status);
		else
			while ((rc = PMPI_Testany(n, real, index, &flag, status)) == MPI_SUCCESS && !flag)
				poll_turn();
		requests_update(n, requests, real);
		return rc;
	}
	*index = replay_outcome.index;
	return complete_one(&requests[*index], status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	if (has_failed(1, request))
		return outcome_refused();
	return complete_one(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
	if (has_failed(n, requests))
		return outcome_refused();
	return complete_all(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
	if (has_failed(n, requests))
		return outcome_refused();
	return complete_any(n, requests, index, status);
}

/* Completes those requests that were completed. */
static int complete_some(int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses)
{
	int count = replay_outcome.count;
	if (replay_outcome.lossy) {
		*outcount = count < n ? count : n;
		for (int i = 0; i < *outcount; i++) {
			indices[i] = i;
			lossy_request_complete(&requests[i],
			                       statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
		}
		return MPI_SUCCESS;
	}
	MPI_Request *real = requests_real(n, requests);
	for (int i = 0; i < count; i++) {
		indices[i] = replay_outcome.indices[i];
		if (indices[i] >= n)
			return MPI_ERR_ARG;
		real[i] = request_real(requests[indices[i]]);
	}
	int rc = replay_outcome.polling ? poll_waitall(count, real, statuses) : PMPI_Waitall(count, real, statuses);
	set_statuses(count, requests, indices, statuses);
	for (int i = 0; i < count; i++)
		request_update(&requests[indices[i]], real[i]);
	*outcount = count;
	return rc;
}

int MPI_Waitsome(int n, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
	if (has_failed(n, requests))
		return outcome_refused();
	if (replay_outcome.by_library || replay_outcome.count == MPI_UNDEFINED) {
		MPI_Request *real = requests_real(n, requests);
		int rc;
		if (!replay_outcome.polling)
			rc = PMPI_Waitsome(n, real, outcount, indices, statuses);
		else
			while ((rc = PMPI_Testsome(n, real, outcount, indices, statuses)) == MPI_SUCCESS &&
			       *outcount == 0)
				poll_turn();
		requests_update(n, requests, real);
		return rc;
	}
	return complete_some(n, requests, outcount, indices, statuses);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (has_failed(1, request))
		return outcome_refused();
	if (replay_outcome.by_library) {
		MPI_Request real = request_real(*request);
		int rc = PMPI_Test(&real, flag, status);
		request_update(request, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return complete_one(request, status);
	poke_library(1, request);
	return MPI_SUCCESS;
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	if (has_failed(n, requests))
		return outcome_refused();
	if (replay_outcome.by_library) {
		MPI_Request *real = requests_real(n, requests);
		int rc = PMPI_Testall(n, real, flag, statuses);
		requests_update(n, requests, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return complete_all(n, requests, statuses);
	poke_library(n, requests);
	return MPI_SUCCESS;
}

int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	if (has_failed(n, requests))
		return outcome_refused();
	if (replay_outcome.by_library || (replay_outcome.flag && replay_outcome.index == MPI_UNDEFINED)) {
		MPI_Request *real = requests_real(n, requests);
		int rc = PMPI_Testany(n, real, index, flag, status);
		requests_update(n, requests, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return complete_any(n, requests, index, status);
	*index = replay_outcome.index;
	poke_library(n, requests);
	return MPI_SUCCESS;
}

int MPI_Testsome(int n, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
	if (has_failed(n, requests))
		return outcome_refused();
	if (replay_outcome.by_library || replay_outcome.count == MPI_UNDEFINED) {
		MPI_Request *real = requests_real(n, requests);
		int rc = PMPI_Testsome(n, real, outcount, indices, statuses);
		requests_update(n, requests, real);
		return rc;
	}
	if (replay_outcome.count > 0)
		return complete_some(n, requests, outcount, indices, statuses);
	*outcount = 0;
	poke_library(n, requests);
	return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rc;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		lossy_receive_pending();
		*flag = replay_outcome.flag;
		return PMPI_Request_get_status(MPI_REQUEST_NULL, &rc, status);
	}
	while ((rc = PMPI_Request_get_status(request_real(request), flag, status)) == MPI_SUCCESS && !*flag &&
	       replay_outcome.flag && !replay_outcome.by_library)
		if (replay_outcome.polling)
			poll_turn();
	if (rc == MPI_SUCCESS && !replay_outcome.by_library)
		*flag = replay_outcome.flag;
	return rc;
}

int MPI_Cancel(MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	struct request *own = request_of(*request);
	if ((own && own->received) || replay_outcome.lossy)
		return MPI_SUCCESS;
	return PMPI_Cancel(own ? &own->real : request);
}

int MPI_Request_free(MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	struct request *own = request_of(*request);
	int rc = MPI_SUCCESS;
	if (replay_outcome.lossy) {
		lossy_request_free(request);
		return MPI_SUCCESS;
	}
	if (!own)
		return PMPI_Request_free(request);
	if (own->tracked) {
		if (own->own != own->real)
			PMPI_Request_free(&own->own);
		PMPI_Type_free(&own->datatype);
	}
	if (own->real != MPI_REQUEST_NULL)
		rc = PMPI_Request_free(&own->real);
	*request = MPI_REQUEST_NULL;
	return rc;
}

int MPI_Grequest_complete(MPI_Request request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	if (replay_outcome.lossy)
		return MPI_SUCCESS;
	return PMPI_Grequest_complete(request_real(request));
}
