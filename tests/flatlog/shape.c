/* SPDX-License-Identifier: BSD-3-Clause
 * shape - what the standard says about lengths of arrays and about who is the root
 */
#include "tests/flatlog/flatlog.h"

#include <dlfcn.h>

int least(int a, int b)
{
	return a < b ? a : b;
}

int last(const int *values, int n)
{
	return n > 0 ? values[n - 1] : 0;
}

int sum(const int *values, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += values[i];
	return s;
}

static bool is_inter(MPI_Comm comm)
{
	int inter = 0;

	PMPI_Comm_test_inter(comm, &inter);
	return inter;
}

int members(MPI_Comm comm)
{
	int n = 0;

	if (comm != MPI_COMM_NULL)
		PMPI_Comm_size(comm, &n);
	return n;
}

int peers(MPI_Comm comm)
{
	int n = 0;

	if (comm == MPI_COMM_NULL || !is_inter(comm))
		return members(comm);
	PMPI_Comm_remote_size(comm, &n);
	return n;
}

bool at_root(int root, MPI_Comm comm)
{
	int rank;

	if (comm == MPI_COMM_NULL)
		return false;
	if (is_inter(comm))
		return root == MPI_ROOT;
	PMPI_Comm_rank(comm, &rank);
	return root == rank;
}

bool leaf(int root, MPI_Comm comm)
{
	return comm == MPI_COMM_NULL || !is_inter(comm) || root >= 0;
}

static int topology(MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;

	if (comm != MPI_COMM_NULL)
		PMPI_Topo_test(comm, &kind);
	return kind;
}

int cartdim(MPI_Comm comm, int at_most)
{
	int n = 0;

	if (topology(comm) == MPI_CART)
		PMPI_Cartdim_get(comm, &n);
	return least(n, at_most);
}

int graph_nodes(MPI_Comm comm, int at_most)
{
	int nodes = 0, edges;

	if (topology(comm) == MPI_GRAPH)
		PMPI_Graphdims_get(comm, &nodes, &edges);
	return least(nodes, at_most);
}

int graph_edges(MPI_Comm comm, int at_most)
{
	int nodes, edges = 0;

	if (topology(comm) == MPI_GRAPH)
		PMPI_Graphdims_get(comm, &nodes, &edges);
	return least(edges, at_most);
}

int graph_degree(MPI_Comm comm, int rank, int at_most)
{
	int n = 0;

	if (topology(comm) == MPI_GRAPH)
		PMPI_Graph_neighbors_count(comm, rank, &n);
	return least(n, at_most);
}

static int degree(MPI_Comm comm, bool in)
{
	int rank, n = 0, indegree, outdegree, weighted;

	switch (topology(comm)) {
	case MPI_CART:
		PMPI_Cartdim_get(comm, &n);
		return 2 * n;
	case MPI_GRAPH:
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &n);
		return n;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
		return in ? indegree : outdegree;
	default:
		return 0;
	}
}

int indegree(MPI_Comm comm)
{
	return degree(comm, true);
}

int outdegree(MPI_Comm comm)
{
	return degree(comm, false);
}

/* Where the graph has no weights the caller's arrays are left alone. */
bool weighted(const void *weights, MPI_Comm comm)
{
	int in, out, has = 0;

	if (topology(comm) == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors_count(comm, &in, &out, &has);
	return has || unweighted(weights);
}

int contents(MPI_Datatype type, int which)
{
	int n[3] = {0, 0, 0}, combiner;

	PMPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
	return n[which];
}

int contents_c(MPI_Datatype type, int which)
{
	MPI_Count n[4] = {0, 0, 0, 0};
	int combiner;
	int (*ask)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *) =
		dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c"); /* not every library has it */

	if (ask)
		ask(type, &n[0], &n[1], &n[2], &n[3], &combiner);
	return (int)n[which];
}
