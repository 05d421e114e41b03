# SPDX-License-Identifier: BSD-3-Clause
# local - MPI through ctypes: libmpi is opened RTLD_LOCAL by a program that does not know it
import ctypes

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_LOCAL)
world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
number = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_int")))
total = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_op_sum")))
mpi.MPI_Init(None, None)
rank, result = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
for i in range(5):
    mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(result), 1, number, total, world)
if rank.value == 0:
    print("local:", result.value, flush=True)
mpi.MPI_Finalize()
