/* SPDX-License-Identifier: BSD-3-Clause
 * poisson - PETSc: Poisson's equation on a distributed grid, with Krylov methods and preconditioners that talk in many
 * ways
 */
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <stdio.h>

static void solve(Mat a, Vec b, Vec x, const char *method, const char *preconditioner)
{
	KSP ksp;
	PC pc;
	PetscInt iterations;
	PetscReal norm;

	KSPCreate(PETSC_COMM_WORLD, &ksp);
	KSPSetType(ksp, method);
	KSPGetPC(ksp, &pc);
	PCSetType(pc, preconditioner);
	KSPSetOperators(ksp, a, a);
	KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200);
	VecSet(x, 0);
	KSPSolve(ksp, b, x);
	KSPGetIterationNumber(ksp, &iterations);
	VecNorm(x, NORM_2, &norm);
	PetscPrintf(PETSC_COMM_WORLD, "%s %s: %d iterations, norm %.10e\n", method, preconditioner, (int)iterations,
	            (double)norm);
	KSPDestroy(&ksp);
}

int main(int argc, char **argv)
{
	enum { N = 24 };
	DM grid;
	Mat a;
	Vec b, x, local;
	DMDALocalInfo info;

	if (PetscInitialize(&argc, &argv, NULL, NULL))
		return 1;
	DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N, N, PETSC_DECIDE,
	             PETSC_DECIDE, 1, 1, NULL, NULL, &grid);
	DMSetUp(grid);
	DMCreateMatrix(grid, &a);
	DMCreateGlobalVector(grid, &b);
	VecDuplicate(b, &x);
	DMDAGetLocalInfo(grid, &info);
	for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
		for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
			MatStencil row = {.i = i, .j = j}, columns[5];
			PetscScalar values[5];
			PetscInt n = 0;
			const int di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1};

			for (int k = 0; k < 5; k++) {
				PetscInt ii = i + di[k], jj = j + dj[k];

				if (ii < 0 || jj < 0 || ii >= N || jj >= N)
					continue;
				columns[n] = (MatStencil){.i = ii, .j = jj};
				values[n++] = k ? -1 : 4;
			}
			MatSetValuesStencil(a, 1, &row, n, columns, values, INSERT_VALUES);
		}
	}
	MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
	MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
	VecSet(b, 1.0 / (N * N));
	DMGetLocalVector(grid, &local);
	DMGlobalToLocalBegin(grid, b, INSERT_VALUES, local);
	DMGlobalToLocalEnd(grid, b, INSERT_VALUES, local);
	DMRestoreLocalVector(grid, &local);
	solve(a, b, x, KSPCG, PCJACOBI);
	solve(a, b, x, KSPGMRES, PCBJACOBI);
	solve(a, b, x, KSPBCGS, PCASM);
	solve(a, b, x, KSPCG, PCGAMG);
	MatDestroy(&a);
	VecDestroy(&b);
	VecDestroy(&x);
	DMDestroy(&grid);
	PetscFinalize();
	return 0;
}
