/* SPDX-License-Identifier: BSD-3-Clause
 * weak - a program or library that uses MPI if it is there, by weak references; built without and with MPI
 */
#include <stdio.h>

#ifdef WITH_MPI
#include <mpi.h>
#else
typedef void *MPI_Comm;
typedef void *MPI_Datatype;
typedef long MPI_Count;
int MPI_Init(int *argc, char ***argv);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
#define MPI_COMM_SELF NULL
#define MPI_INT       NULL
#pragma weak MPI_Init
#pragma weak MPI_Finalize
#endif
#pragma weak MPI_Initialized
typedef long count;
extern int MPI_Send_c(const void *buffer, count n, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
	__attribute__((weak));
extern int MPI_Sendrecv_c(const void *, count, MPI_Datatype, int, int, void *, count, MPI_Datatype, int, int, MPI_Comm,
                          void *) __attribute__((weak));
extern void mpi_initialized_(int *flag, int *ierror) __attribute__((weak));
extern void mpi_initialized__(int *flag, int *ierror) __attribute__((weak));
extern void mpi_initialized(int *flag, int *ierror) __attribute__((weak));
extern void MPI_INITIALIZED(int *flag, int *ierror) __attribute__((weak));

int main(void)
{
	int flag = -1, out = 5, in = 0;

#define SAY(f) printf("%s: %s\n", #f, f ? "there" : "not there")
	SAY(MPI_Initialized);
	SAY(MPI_Init);
	SAY(MPI_Send_c);
	SAY(MPI_Sendrecv_c);
	SAY(mpi_initialized_);
	SAY(mpi_initialized__);
	SAY(mpi_initialized);
	SAY(MPI_INITIALIZED);
	if (MPI_Initialized) {
		MPI_Initialized(&flag);
		printf("initialized: %d\n", flag);
	}
	if (MPI_Init) {
		MPI_Init(NULL, NULL);
		if (MPI_Sendrecv_c) {
			MPI_Sendrecv_c(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL);
			printf("received %d\n", in);
		}
		MPI_Finalize();
	}
	return 0;
}
