/* SPDX-License-Identifier: BSD-3-Clause
 * comms - communicators, groups and topologies: made in every way, asked, compared, freed, made again
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static void groups(void)
{
	MPI_Group world, g[8];
	int ranks[2] = {0, 0}, found[2], n, relation, ranges[1][3];
	MPI_Comm c;

	ranks[1] = size - 1;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_size(world, &n);
	MPI_Group_rank(world, &n);
	MPI_Group_incl(world, 2, ranks, &g[0]);
	MPI_Group_excl(world, 1, ranks, &g[1]);
	ranges[0][0] = 0, ranges[0][1] = size - 1, ranges[0][2] = 2;
	MPI_Group_range_incl(world, 1, ranges, &g[2]);
	MPI_Group_range_excl(world, 1, ranges, &g[3]);
	MPI_Group_union(g[0], g[1], &g[4]);
	MPI_Group_intersection(g[0], g[2], &g[5]);
	MPI_Group_difference(world, g[2], &g[6]);
	MPI_Group_difference(world, world, &g[7]);
	MPI_Group_rank(g[2], &n);
	MPI_Group_translate_ranks(world, 2, ranks, g[2], found);
	MPI_Group_translate_ranks(world, 1, (int[]){MPI_PROC_NULL}, g[2], found);
	MPI_Group_compare(world, g[4], &relation);
	MPI_Group_compare(g[3], g[6], &relation);
	MPI_Comm_create(MPI_COMM_WORLD, g[2], &c);
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	if (rank % 2 == 0) {
		MPI_Comm_create_group(MPI_COMM_WORLD, g[2], 5, &c);
		MPI_Barrier(c);
		MPI_Comm_free(&c);
	}
	for (int i = 0; i < 7; i++)
		MPI_Group_free(&g[i]);
	if (g[7] != MPI_GROUP_EMPTY)
		MPI_Group_free(&g[7]);
	MPI_Group_free(&world);
}

static void communicators(void)
{
	MPI_Comm c[6], again;
	MPI_Request q;
	MPI_Info info;
	int n, flag, length;
	char name[MPI_MAX_OBJECT_NAME];

	MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
	MPI_Info_create(&info);
	MPI_Comm_dup_with_info(c[0], info, &c[1]);
	MPI_Comm_idup(c[0], &c[2], &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Comm_split(c[2], rank / 2, size - rank, &c[3]);
	MPI_Comm_split(c[2], rank == 0 ? MPI_UNDEFINED : 1, 0, &c[4]);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c[5]);
	MPI_Comm_compare(c[0], c[1], &n);
	MPI_Comm_compare(c[0], c[0], &n);
	MPI_Comm_compare(c[3], c[5], &n);
	MPI_Comm_rank(c[3], &n);
	MPI_Comm_size(c[3], &n);
	MPI_Comm_test_inter(c[3], &flag);
	MPI_Comm_set_name(c[3], "a \"name\" with \\ and\ttab");
	MPI_Comm_get_name(c[3], name, &length);
	MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
	MPI_Comm_set_info(c[3], info);
	MPI_Info_free(&info);
	MPI_Comm_get_info(c[3], &info);
	MPI_Info_free(&info);
	/* many made and freed: numbers are never used again */
	for (int i = 0; i < 10; i++) {
		MPI_Comm_dup(c[3], &again);
		MPI_Sendrecv(&i, 1, MPI_INT, 0, i, &n, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		MPI_Allreduce(&i, &n, 1, MPI_INT, MPI_SUM, again);
		MPI_Comm_free(&again);
	}
	for (int i = 0; i < 6; i++)
		if (c[i] != MPI_COMM_NULL)
			MPI_Comm_disconnect(&c[i]);
}

static void topologies(void)
{
	int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, coords[3], n, m, source, dest, topology, weighted;
	int index[64], edges[128], out[128], in[128], w[128];
	MPI_Comm cart, part, graph, dist;

	MPI_Dims_create(size, 3, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
	MPI_Topo_test(cart, &topology);
	MPI_Topo_test(MPI_COMM_WORLD, &topology);
	MPI_Cartdim_get(cart, &n);
	MPI_Cart_get(cart, 3, dims, periods, coords);
	MPI_Cart_rank(cart, coords, &n);
	MPI_Cart_map(cart, 3, dims, periods, &n);
	for (int i = 0; i < 3; i++)
		MPI_Cart_shift(cart, i, 1, &source, &dest);
	MPI_Cart_sub(cart, (int[]){1, 0, 0}, &part);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, cart);
	MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, cart);
	MPI_Comm_free(&part);
	MPI_Comm_free(&cart);

	/* only some of the ranks are in it */
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size - 1}, (int[]){0}, 0, &cart);
	if (cart != MPI_COMM_NULL)
		MPI_Comm_free(&cart);

	/* a ring */
	for (int i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	MPI_Graphdims_get(graph, &n, &m);
	MPI_Graph_get(graph, n, m, index, edges);
	MPI_Graph_map(graph, size, index, edges, &n);
	MPI_Graph_neighbors_count(graph, rank, &n);
	MPI_Graph_neighbors(graph, rank, n, in);
	MPI_Topo_test(graph, &topology);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, graph);
	MPI_Comm_free(&graph);

	/* everybody sends to rank + 1 and rank + 2 */
	int from[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size},
	    to[2] = {(rank + 1) % size, (rank + 2) % size};
	int weights[2] = {1, rank}, two[2] = {1, 2}, places[2] = {0, 1};
	MPI_Aint offsets[2] = {0, sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Request q[5];

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
	                               &dist);
	MPI_Topo_test(dist, &topology);
	MPI_Dist_graph_neighbors_count(dist, &n, &m, &weighted);
	MPI_Dist_graph_neighbors(dist, 2, in, w, 2, out, w + 64);
	MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, in, (int[]){1, 1}, places, MPI_INT, dist);
	MPI_Neighbor_alltoallv(out, two, places, MPI_INT, in, two, places, MPI_INT, dist);
	MPI_Neighbor_alltoallw(out, two, offsets, types, in, two, offsets, types, dist);
	MPI_Ineighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, dist, &q[0]);
	MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, in + 8, (int[]){1, 1}, places, MPI_INT, dist, &q[1]);
	MPI_Ineighbor_alltoall(out, 1, MPI_INT, in + 16, 1, MPI_INT, dist, &q[2]);
	MPI_Ineighbor_alltoallv(out, two, places, MPI_INT, in + 24, two, places, MPI_INT, dist, &q[3]);
	MPI_Ineighbor_alltoallw(out, two, offsets, types, in + 32, two, offsets, types, dist, &q[4]);
	MPI_Waitall(5, q, MPI_STATUSES_IGNORE);
	MPI_Comm_free(&dist);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &dist);
	MPI_Dist_graph_neighbors(dist, 2, in, w, 2, out, w + 64);
	MPI_Comm_free(&dist);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){2}, to, weights, MPI_INFO_NULL, 0, &dist);
	MPI_Comm_free(&dist);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &dist);
	MPI_Comm_free(&dist);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	groups();
	communicators();
	topologies();
	if (rank == 0)
		printf("comms: done\n");
	MPI_Finalize();
	return 0;
}
