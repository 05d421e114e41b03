C SPDX-License-Identifier: BSD-3-Clause
C fixed - FORTRAN 77 with mpif.h: a halo exchange, MPI_STATUS_IGNORE, MPI_IN_PLACE, implicit interfaces
      program fixed
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, i, left, right, n, grid
      integer dims(2), coords(2), side(4), req(8), index
      integer status(MPI_STATUS_SIZE), stats(MPI_STATUS_SIZE, 8)
      logical periods(2), reorder, flag
      double precision u(64), halo(16, 4), total, part
      integer counts(64), displs(64), kinds(2), type
      character*(MPI_MAX_PROCESSOR_NAME) name
      external failed

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
      call MPI_GET_PROCESSOR_NAME(name, n, ierr)
      do 10 i = 1, 64
         u(i) = rank
 10   continue
      dims(1) = 0
      dims(2) = 0
      periods(1) = .false.
      periods(2) = .true.
      reorder = .false.
      call MPI_DIMS_CREATE(size, 2, dims, ierr)
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, reorder,
     &     grid, ierr)
      call MPI_CART_GET(grid, 2, dims, periods, coords, ierr)
      call MPI_CART_SHIFT(grid, 0, 1, side(1), side(2), ierr)
      call MPI_CART_SHIFT(grid, 1, 1, side(3), side(4), ierr)
      do 40 i = 1, 12
         do 20 n = 1, 4
            call MPI_IRECV(halo(1, n), 16, MPI_DOUBLE_PRECISION,
     &           side(n), MPI_ANY_TAG, grid, req(n), ierr)
 20      continue
         do 30 n = 1, 4
            call MPI_ISEND(u, 8 + mod(i, 3), MPI_DOUBLE_PRECISION,
     &           side(n), n, grid, req(4 + n), ierr)
 30      continue
         if (mod(i, 4) .eq. 0) then
            call MPI_WAITALL(8, req, MPI_STATUSES_IGNORE, ierr)
         else if (mod(i, 4) .eq. 1) then
            call MPI_WAITALL(8, req, stats, ierr)
         else if (mod(i, 4) .eq. 2) then
            do 35 n = 1, 8
               call MPI_WAITANY(8, req, index, status, ierr)
 35         continue
            call MPI_WAITANY(8, req, index, MPI_STATUS_IGNORE, ierr)
         else
            do 36 n = 1, 8
               call MPI_WAIT(req(n), MPI_STATUS_IGNORE, ierr)
 36         continue
         end if
         part = i
         call MPI_ALLREDUCE(part, total, 1, MPI_DOUBLE_PRECISION,
     &        MPI_SUM, grid, ierr)
 40   continue
      call MPI_COMM_FREE(grid, ierr)

      left = mod(rank + size - 1, size)
      right = mod(rank + 1, size)
      call MPI_SENDRECV(u, 3, MPI_REAL8, right, 7, halo, 5, MPI_REAL8,
     &     left, 7, MPI_COMM_WORLD, status, ierr)
      call MPI_GET_COUNT(status, MPI_REAL8, n, ierr)
      call MPI_ALLREDUCE(MPI_IN_PLACE, u, 4, MPI_DOUBLE_PRECISION,
     &     MPI_MAX, MPI_COMM_WORLD, ierr)
      do 50 i = 1, size
         counts(i) = 1
         displs(i) = i - 1
 50   continue
      call MPI_ALLGATHERV(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, u,
     &     counts, displs, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
      call MPI_GATHERV(u, 1, MPI_DOUBLE_PRECISION, halo, counts, displs,
     &     MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
         call MPI_SCATTER(u, 2, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, 2,
     &        MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      else
         call MPI_SCATTER(u, 2, MPI_DOUBLE_PRECISION, halo, 2,
     &        MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      end if
C     what MPI-3.0 removed and old programs call
      call MPI_TYPE_EXTENT(MPI_REAL, n, ierr)
      call MPI_TYPE_HVECTOR(3, 1, 64, MPI_REAL, type, ierr)
      call MPI_TYPE_LB(type, n, ierr)
      call MPI_TYPE_UB(type, n, ierr)
      call MPI_TYPE_FREE(type, ierr)
      call MPI_ADDRESS(u, i, ierr)
      counts(1) = 1
      counts(2) = 1
      displs(1) = 0
      displs(2) = 8
      kinds(1) = MPI_INTEGER
      kinds(2) = MPI_DOUBLE_PRECISION
      call MPI_TYPE_STRUCT(2, counts, displs, kinds, type, ierr)
      call MPI_TYPE_HINDEXED(2, counts, displs, type, kinds(1), ierr)
      call MPI_TYPE_FREE(type, ierr)
      call MPI_TYPE_FREE(kinds(1), ierr)
      call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, n, ierr)
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, n, ierr)
      call MPI_ERRHANDLER_CREATE(failed, n, ierr)
      call MPI_ERRHANDLER_FREE(n, ierr)
      call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, n, 1, ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, n, 4711, ierr)
      call MPI_ATTR_GET(MPI_COMM_WORLD, n, i, flag, ierr)
      call MPI_ATTR_DELETE(MPI_COMM_WORLD, n, ierr)
      call MPI_KEYVAL_FREE(n, ierr)
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, i, flag, ierr)
      call MPI_INITIALIZED(flag, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (*, *) 'fixed:', total
      call MPI_FINALIZE(ierr)
      end

      subroutine failed(comm, code)
      integer comm, code
      if (comm .eq. code) write (*, *) comm
      end
