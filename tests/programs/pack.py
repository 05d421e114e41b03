# SPDX-License-Identifier: BSD-3-Clause
# pack - an mpi4py program: libmpi is loaded by Python, not by the loader; objects, buffers, communicators, windows, requests
import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
for i in range(20):
    comm.sendrecv({"step": i, "rank": rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    total = comm.allreduce(rank)
    comm.gather(rank * rank, root=0)
    comm.bcast(list(range(10)) if rank == 0 else None)
mine, highest = array.array("d", [rank] * 10), array.array("d", [0] * 10)
comm.Allreduce([mine, MPI.DOUBLE], [highest, MPI.DOUBLE], op=MPI.MAX)
part = comm.Split(rank % 2, rank)
part.Barrier()
window = MPI.Win.Allocate(64, comm=comm)
window.Fence()
window.Fence()
window.Free()
part.Free()
MPI.Request.waitall([comm.isend(rank, dest=(rank + 1) % size, tag=5), comm.irecv(source=(rank - 1) % size, tag=5)])
MPI.DOUBLE.Create_vector(3, 2, 4).Commit().Free()
grid = comm.Create_cart([size], periods=[True])
grid.Shift(0, 1)
grid.Free()
if rank == 0:
    print("sum", total, "highest", highest[0], flush=True)
