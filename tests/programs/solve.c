/* SPDX-License-Identifier: BSD-3-Clause
 * solve - a Laplace problem solved by hypre: conjugate gradients with BoomerAMG in front
 */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define N 48 /* points in each direction */

int main(int argc, char **argv)
{
	HYPRE_IJMatrix A;
	HYPRE_IJVector b, x;
	HYPRE_ParCSRMatrix matrix;
	HYPRE_ParVector right, solution;
	HYPRE_Solver solver, amg;
	int rank, size, steps;
	double residual;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	HYPRE_Init();
	int low = N * N * rank / size, high = N * N * (rank + 1) / size - 1;
	HYPRE_IJMatrixCreate(MPI_COMM_WORLD, low, high, low, high, &A);
	HYPRE_IJMatrixSetObjectType(A, HYPRE_PARCSR);
	HYPRE_IJMatrixInitialize(A);
	HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, &b);
	HYPRE_IJVectorSetObjectType(b, HYPRE_PARCSR);
	HYPRE_IJVectorInitialize(b);
	HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, &x);
	HYPRE_IJVectorSetObjectType(x, HYPRE_PARCSR);
	HYPRE_IJVectorInitialize(x);
	for (HYPRE_Int i = low; i <= high; i++) {
		HYPRE_Int columns[5], n = 0;
		HYPRE_Complex values[5], one = 1.0 / (N * N), zero = 0;
		const int offsets[4] = {-N, -1, 1, N};
		const int inside[4] = {i >= N, i % N > 0, i % N < N - 1, i < N * (N - 1)};

		for (int k = 0; k < 4; k++)
			if (inside[k]) {
				columns[n] = i + offsets[k];
				values[n++] = -1;
			}
		columns[n] = i;
		values[n++] = 4;
		HYPRE_IJMatrixSetValues(A, 1, &n, &i, columns, values);
		HYPRE_IJVectorSetValues(b, 1, &i, &one);
		HYPRE_IJVectorSetValues(x, 1, &i, &zero);
	}
	HYPRE_IJMatrixAssemble(A);
	HYPRE_IJVectorAssemble(b);
	HYPRE_IJVectorAssemble(x);
	HYPRE_IJMatrixGetObject(A, (void **)&matrix);
	HYPRE_IJVectorGetObject(b, (void **)&right);
	HYPRE_IJVectorGetObject(x, (void **)&solution);
	HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
	HYPRE_PCGSetMaxIter(solver, 100);
	HYPRE_PCGSetTol(solver, 1e-8);
	HYPRE_BoomerAMGCreate(&amg);
	HYPRE_BoomerAMGSetRelaxType(amg, 6);
	HYPRE_BoomerAMGSetTol(amg, 0);
	HYPRE_BoomerAMGSetMaxIter(amg, 1);
	HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
	                    (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
	HYPRE_ParCSRPCGSetup(solver, matrix, right, solution);
	HYPRE_ParCSRPCGSolve(solver, matrix, right, solution);
	HYPRE_PCGGetNumIterations(solver, &steps);
	HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
	if (rank == 0)
		printf("solve: %d iterations, residual %.6e\n", steps, residual);
	HYPRE_BoomerAMGDestroy(amg);
	HYPRE_ParCSRPCGDestroy(solver);
	HYPRE_IJMatrixDestroy(A);
	HYPRE_IJVectorDestroy(b);
	HYPRE_IJVectorDestroy(x);
	HYPRE_Finalize();
	MPI_Finalize();
	return 0;
}
