/* SPDX-License-Identifier: BSD-3-Clause
 * ipopt - serial Ipopt, with sequential MUMPS inside, finds the minimum of (x - 3)^2 + (y + 1)^2 with x y >= -2. With
 * -DWITH_MPI inside an MPI program
 */
#include <stdio.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

/* From Ipopt's IpStdCInterface.h; the library comes without it. */
typedef int (*f_function)(int, double *, int, double *, void *);
typedef int (*g_function)(int, double *, int, int, double *, void *);
typedef int (*jacobian_function)(int, double *, int, int, int, int *, int *, double *, void *);
typedef int (*hessian_function)(int, double *, int, double, int, double *, int, int, int *, int *, double *, void *);
void *CreateIpoptProblem(int n, double *x_low, double *x_high, int m, double *g_low, double *g_high, int jacobian,
                         int hessian, int style, f_function, g_function, f_function, jacobian_function,
                         hessian_function);
int AddIpoptIntOption(void *problem, const char *name, int value);
int AddIpoptStrOption(void *problem, const char *name, const char *value);
int IpoptSolve(void *problem, double *x, double *g, double *value, double *m_g, double *m_low, double *m_high,
               void *data);
void FreeIpoptProblem(void *problem);

static int value(int n, double *x, int new_x, double *f, void *data)
{
	*f = (x[0] - 3) * (x[0] - 3) + (x[1] + 1) * (x[1] + 1);
	return n == 2 && (new_x || !data);
}
static int gradient(int n, double *x, int new_x, double *g, void *data)
{
	g[0] = 2 * (x[0] - 3);
	g[1] = 2 * (x[1] + 1);
	return n == 2 && (new_x || !data);
}
static int constraint(int n, double *x, int new_x, int m, double *g, void *data)
{
	g[0] = x[0] * x[1];
	return n == 2 && m == 1 && (new_x || !data);
}
static int jacobian(int n, double *x, int new_x, int m, int count, int *rows, int *columns, double *values, void *data)
{
	for (int i = 0; i < count; i++) {
		if (values)
			values[i] = x[1 - i];
		else
			rows[i] = 0, columns[i] = i;
	}
	return n == 2 && m == 1 && (new_x || !data);
}
static int hessian(int n, double *x, int new_x, double factor, int m, double *lambda, int new_lambda, int count,
                   int *rows, int *columns, double *values, void *data)
{
	static const int at[3][2] = {{0, 0}, {1, 0}, {1, 1}};

	for (int i = 0; i < count; i++) {
		if (values)
			values[i] = i == 1 ? lambda[0] : 2 * factor;
		else
			rows[i] = at[i][0], columns[i] = at[i][1];
	}
	return n == 2 && m == 1 && (new_x || new_lambda || x || !data);
}

int main(void)
{
	double low[] = {-10, -10}, high[] = {10, 10}, g_low[] = {-2}, g_high[] = {1e20}, x[] = {1, 1}, f = 0;
	int status;
	void *problem;

#ifdef WITH_MPI
	int rank;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("rank %d\n", rank);
#endif
	problem = CreateIpoptProblem(2, low, high, 1, g_low, g_high, 2, 3, 0, value, constraint, gradient, jacobian,
	                             hessian);
	if (!problem)
		return 1;
	AddIpoptIntOption(problem, "print_level", 0);
	AddIpoptStrOption(problem, "sb", "yes");
	AddIpoptStrOption(problem, "linear_solver", "mumps");
	status = IpoptSolve(problem, x, NULL, &f, NULL, NULL, NULL, NULL);
	printf("status %d, x %.5f %.5f, f %.5f\n", status, x[0], x[1], f);
	FreeIpoptProblem(problem);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return status;
}
