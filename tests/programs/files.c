/* SPDX-License-Identifier: BSD-3-Clause
 * files - MPI-IO: views, every way to read and write, positions
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* What is moved is less than what was asked for: the file ends before. */
static void short_reads(MPI_File f, int rank)
{
	int a[16] = {0}, n, sum = 0;
	MPI_Status s, both[2];
	MPI_Request q[2];

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_set_size(f, 48);
	for (int i = 0; i < 14; i += 3) {
		memset(&s, 0x5a, sizeof(s)); /* what MPI does not write, is there */
		MPI_File_read_at(f, i, a, 16, MPI_INT, &s);
		MPI_Get_count(&s, MPI_INT, &n);
		sum += n;
		MPI_File_read_at(f, i, a, 16, MPI_INT, MPI_STATUS_IGNORE);
		MPI_File_iread_at(f, 0, a, 12, MPI_INT, &q[0]);
		MPI_Wait(&q[0], &s);
		MPI_Get_count(&s, MPI_SHORT, &n);
		sum += n;
		MPI_File_iread_at(f, 0, a, 11 + rank % 2, MPI_INT, &q[0]);
		MPI_Irecv(a + 12, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &q[1]);
		MPI_Send(a + 13, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
		MPI_Waitall(2, q, both);
		MPI_Get_count(&both[0], MPI_INT, &n);
		sum += n;
	}
	MPI_File_read_at_all_begin(f, 0, a, 12, MPI_INT);
	MPI_File_read_at_all_end(f, a, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	printf("short reads: %d %d\n", sum, n);
}

/* files FILE: the file is made and removed */
int main(int argc, char **argv)
{
	int rank, size, a[16] = {0}, b[16], flag;
	MPI_File f;
	MPI_Offset n, at;
	MPI_Status s;
	MPI_Request q[4];
	MPI_Datatype e, t, u;
	MPI_Info info;
	MPI_Group group;
	MPI_Aint extent;
	char datarep[MPI_MAX_DATAREP_STRING];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const char *name = argc > 1 ? argv[1] : "files.out";

	/* Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it. */
	fclose(fopen(name, "a"));
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_set_size(f, 0);
	MPI_File_preallocate(f, 1024);
	MPI_File_write_at(f, rank * 64, a, 16, MPI_INT, &s);
	MPI_File_write_at_all(f, rank * 64, a, 16, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_File_read_at(f, rank * 64, b, 16, MPI_INT, &s);
	MPI_File_read_at_all(f, 0, b, 16, MPI_INT, &s);
	MPI_File_iwrite_at(f, rank * 64, a, 16, MPI_INT, &q[0]);
	MPI_File_iread_at(f, 0, b, 1, MPI_INT, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_File_seek(f, rank * 64, MPI_SEEK_SET);
	MPI_File_get_position(f, &at);
	MPI_File_write(f, a, 4, MPI_INT, &s);
	MPI_File_seek(f, -16, MPI_SEEK_CUR);
	MPI_File_read(f, b, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iwrite(f, a, 1, MPI_INT, &q[0]);
	MPI_Wait(&q[0], &s);
	MPI_File_iread(f, b, 1, MPI_INT, &q[0]);
	do
		MPI_Test(&q[0], &flag, &s);
	while (!flag);

	MPI_Type_vector(4, 1, size, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_File_set_view(f, rank * 4, MPI_INT, t, "native", MPI_INFO_NULL);
	MPI_File_get_view(f, &at, &e, &u, datarep);
	MPI_File_write_all(f, a, 4, MPI_INT, &s);
	MPI_File_get_byte_offset(f, 0, &at);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read_all(f, b, 4, MPI_INT, &s);
	MPI_File_read_at_all_begin(f, 0, b, 4, MPI_INT);
	MPI_File_read_at_all_end(f, b, &s);
	MPI_File_get_size(f, &n);
	MPI_File_get_amode(f, &flag);
	MPI_File_get_info(f, &info);
	MPI_Info_free(&info);
	MPI_File_get_group(f, &group);
	MPI_Group_free(&group);
	MPI_File_get_type_extent(f, MPI_DOUBLE, &extent);
	MPI_File_set_atomicity(f, 1);
	MPI_File_get_atomicity(f, &flag);
	MPI_Type_free(&t);
	short_reads(f, rank);
	MPI_File_close(&f);
	if (rank == 0)
		MPI_File_delete(name, MPI_INFO_NULL);
	if (rank == 0)
		printf("files: %s\n", datarep);
	MPI_Finalize();
	return 0;
}
