! SPDX-License-Identifier: BSD-3-Clause
! ring - a ring of messages in fixed form, with the standard ABI's constants, as its mpif.h would have them
      program ring
      implicit none
      integer, parameter :: world = 257, mpi_sum = 33, any = -1
      integer, parameter :: mpi_integer = 537
      integer bottom, in_place, status_ignore(8)
      common /mpipriv1/ bottom, in_place, status_ignore
      integer rank, size, i, value, got, request, half
      integer status(8), error

      call mpi_init(error)
      call mpi_comm_rank(world, rank, error)
      call mpi_comm_size(world, size, error)
      call mpi_comm_split(world, mod(rank, 2), rank, half, error)
      do i = 1, 20
         value = 100 * rank + i
         call mpi_irecv(got, 1, mpi_integer, any, i, world, request,
     &      error)
         call mpi_send(value, 1, mpi_integer, mod(rank + 1, size), i,
     &      world, error)
         call mpi_wait(request, status, error)
      end do
      if (rank == 0) call mpi_send(value, 1, mpi_integer, 1, 99, world,
     &   error)
      if (rank == 1) call mpi_recv(got, 1, mpi_integer, 0, 99, world,
     &   status_ignore, error)
      call mpi_allreduce(in_place, value, 1, mpi_integer, mpi_sum,
     &   half, error)
      call mpi_comm_free(half, error)
      if (rank == 0) print *, 'sum', value
      call mpi_finalize(error)
      end
