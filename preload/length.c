/* SPDX-License-Identifier: BSD-3-Clause
 * length - how long the arrays are whose length is not an argument of the call, asked from MPI
 */
#include "preload/put.h"

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static int topology_of(MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;

	real.MPI_Topo_test(comm, &kind);
	return kind;
}

static int degree_of(MPI_Comm comm, bool in, int most)
{
	int n = 0, rank = 0, indegree = 0, outdegree = 0, weighted;

	switch (topology_of(comm)) {
	case MPI_CART:
		real.MPI_Cartdim_get(comm, &n);
		return at_most(2 * n, most);
	case MPI_GRAPH:
		real.MPI_Comm_rank(comm, &rank);
		real.MPI_Graph_neighbors_count(comm, rank, &n);
		return at_most(n, most);
	case MPI_DIST_GRAPH:
		real.MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
		return at_most(in ? indegree : outdegree, most);
	default:
		return 0;
	}
}

int length_in(MPI_Comm comm, int most)
{
	return degree_of(comm, true, most);
}

int length_out(MPI_Comm comm, int most)
{
	return degree_of(comm, false, most);
}

int length_weights(MPI_Comm comm, bool in, int most)
{
	int indegree = 0, outdegree = 0, weighted = 0;

	real.MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
	return weighted ? at_most(in ? indegree : outdegree, most) : -1;
}

int length_cart(MPI_Comm comm, int most)
{
	int n = 0;

	if (topology_of(comm) == MPI_CART)
		real.MPI_Cartdim_get(comm, &n);
	return at_most(n, most);
}

int length_graph_nodes(MPI_Comm comm, int most)
{
	int nodes = 0, edges;

	if (topology_of(comm) == MPI_GRAPH)
		real.MPI_Graphdims_get(comm, &nodes, &edges);
	return at_most(nodes, most);
}

int length_graph_edges(MPI_Comm comm, int most)
{
	int nodes, edges = 0;

	if (topology_of(comm) == MPI_GRAPH)
		real.MPI_Graphdims_get(comm, &nodes, &edges);
	return at_most(edges, most);
}

int length_graph_neighbors(MPI_Comm comm, int rank, int most)
{
	int n = 0;

	if (topology_of(comm) == MPI_GRAPH)
		real.MPI_Graph_neighbors_count(comm, rank, &n);
	return at_most(n, most);
}

int length_contents(MPI_Datatype type, int which, int most)
{
	int n[3] = {0, 0, 0}, combiner;

	real.MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
	return at_most(n[which], most);
}

#ifdef HAVE_MPI_Type_get_envelope_c
int64_t length_contents_c(MPI_Datatype type, int which, int64_t most)
{
	MPI_Count n[4] = {0, 0, 0, 0};
	int combiner;

	real.MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &combiner);
	return n[which] < most ? n[which] : most;
}
#endif

int length_sum(bool ok, const int *values, int n)
{
	unsigned sum = 0;

	if (n <= 0)
		return 0;
	if (!readable_array(ok, values, n, sizeof(*values)))
		return -1;
	for (int i = 0; i < n; i++)
		sum += (unsigned)values[i];
	return (int)sum;
}

int length_last(bool ok, const int *values, int n)
{
	if (n <= 0)
		return 0;
	return readable_array(ok, values, n, sizeof(*values)) ? values[n - 1] : -1;
}
