// SPDX-License-Identifier: BSD-3-Clause
// wrapped - MPI behind a wrapper, as libraries call it: one call of MPI_Allreduce, reached on seven paths
#include <mpi.h>

namespace parallel {
template <typename T> struct pool {
	__attribute__((noinline)) static T sum(T value, int turns)
	{
		T all = value;
		for (int i = 0; i < turns; i++)
			MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		return all;
	}
};
} // namespace parallel

using parallel::pool;

namespace solver {
namespace {
__attribute__((noinline)) double norm(double x, int turns)
{
	return pool<double>::sum(x * x, turns) + 1;
}
} // namespace

__attribute__((noinline)) double residual(double x)
{
	return norm(x, 300) + 1;
}

__attribute__((noinline)) double correction(double x)
{
	return norm(x, 200) + 1;
}

struct smoother {
	double operator()(double x) const;
};

__attribute__((noinline)) double smoother::operator()(double x) const
{
	return pool<double>::sum(x, 100) + 1;
}

/* The four paths through it differ in two frames, and none in one only. */
__attribute__((noinline)) double dot(double x)
{
	double y = pool<double>::sum(x, 20);
	return y + pool<double>::sum(2 * x, 10);
}

__attribute__((noinline)) double first(double x)
{
	return dot(x) + 1;
}

__attribute__((noinline)) double second(double x)
{
	return dot(x) + 1;
}
} // namespace solver

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	double x = solver::residual(1) + solver::correction(2) + solver::smoother()(3) + solver::first(4) +
	           solver::second(5);
	MPI_Finalize();
	return x > 0 ? 0 : 1;
}
