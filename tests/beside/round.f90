! SPDX-License-Identifier: BSD-3-Clause
! round - a program in Fortran for other tools to look at
program round
   use mpi
   implicit none
   integer :: ierr, rank, size, i, in, request

   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
   do i = 1, 4
      call MPI_Irecv(in, 1, MPI_INTEGER, mod(rank + size - 1, size), i, MPI_COMM_WORLD, request, ierr)
      call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
   end do
   print '(a,i0,a,i0)', 'rank ', rank, ' after ', in
   call MPI_Finalize(ierr)
end program
