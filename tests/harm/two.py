# SPDX-License-Identifier: BSD-3-Clause
"""two - mpi4py, which is built for Open MPI, and MPICH in one process"""
import ctypes

from mpi4py import MPI

print(MPI.COMM_WORLD.allreduce(7))
other = ctypes.CDLL("libmpich.so.12")
said = ctypes.create_string_buffer(8192)
length, size, status = ctypes.c_int(), ctypes.c_int(), []
status.append(other.MPI_Init(None, None))
other.MPI_Get_library_version(said, ctypes.byref(length))
status.append(other.MPI_Comm_size(0x44000000, ctypes.byref(size)))
status.append(other.MPI_Barrier(0x44000000))
status.append(other.MPI_Finalize())
print(said.value.split()[0], size.value, status)
print(MPI.COMM_WORLD.allreduce(8), MPI.Get_library_version().split()[0])
