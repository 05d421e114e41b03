// SPDX-License-Identifier: BSD-3-Clause
// plus - MPI from C++: templates, objects that free handles, an error handler that throws through the library
#include <cstdio>
#include <memory>
#include <mpi.h>
#include <stdexcept>
#include <vector>

template <typename T> struct type_of;
template <> struct type_of<int> {
	static MPI_Datatype get() { return MPI_INT; }
};
template <> struct type_of<double> {
	static MPI_Datatype get() { return MPI_DOUBLE; }
};

template <typename T> T total(T value, MPI_Comm comm)
{
	T sum;
	MPI_Allreduce(&value, &sum, 1, type_of<T>::get(), MPI_SUM, comm);
	return sum;
}

class communicator {
	MPI_Comm comm;

public:
	communicator(int color) { MPI_Comm_split(MPI_COMM_WORLD, color, 0, &comm); }
	~communicator() { MPI_Comm_free(&comm); }
	operator MPI_Comm() const { return comm; }
};

static void thrower(MPI_Comm *, int *code, ...)
{
	throw std::runtime_error(*code == MPI_SUCCESS ? "success" : "failure");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	std::vector<double> mine(10, rank), theirs(10);
	for (int i = 0; i < 4; i++) {
		communicator part(rank % 2);
		total(1, part);
		MPI_Sendrecv(mine.data(), 10, MPI_DOUBLE, (rank + 1) % size, i, theirs.data(), 10, MPI_DOUBLE, (rank + size - 1) % size, i,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	auto sum = std::make_unique<double>(total(1.5 * rank, MPI_COMM_WORLD));
	MPI_Errhandler handler;
	MPI_Comm_create_errhandler(thrower, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Errhandler_free(&handler);
	const char *caught = "nothing";
	try {
		MPI_Send(mine.data(), 1, MPI_DOUBLE, size + 1, 0, MPI_COMM_WORLD);
	} catch (const std::exception &) {
		caught = "an exception";
	}
	total(2, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("plus: %g, %s\n", *sum, caught);
	MPI_Finalize();
}
