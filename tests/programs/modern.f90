! SPDX-License-Identifier: BSD-3-Clause
! modern - Fortran 90 with `use mpi`: the groups of functions that fixed.f does not call
program modern
  use mpi
  implicit none
  integer, parameter :: n = 64
  integer :: ierr, rank, size, left, right, i, k, count, length, provided, answer, work
  integer :: status(MPI_STATUS_SIZE), stats(MPI_STATUS_SIZE, 4), req(4), indices(4), outcount
  integer :: a(n), b(n)
  logical :: flag

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  a = rank
  call farm
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call tests
  call persistent
  call communicators
  call types
  call collectives
  call objects
  call failures
  if (rank == 0) print *, 'modern: done'
  call MPI_Finalize(ierr)

contains

  ! a master takes what comes
  subroutine farm
    if (rank == 0) then
       do i = 1, 10 * (size - 1)
          call MPI_Recv(answer, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
          call MPI_Send(i, 1, MPI_INTEGER, status(MPI_SOURCE), status(MPI_TAG) + 1, MPI_COMM_WORLD, ierr)
       end do
    else
       do i = 1, 10
          call MPI_Ssend(i, 1, MPI_INTEGER, 0, 10 * i, MPI_COMM_WORLD, ierr)
          call MPI_Recv(work, 1, MPI_INTEGER, 0, 10 * i + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
       end do
    end if
  end subroutine farm

  subroutine tests
    integer :: done, message
    do k = 1, 8
       call MPI_Irecv(b(1), 16, MPI_INTEGER, left, 1, MPI_COMM_WORLD, req(1), ierr)
       call MPI_Irecv(b(17), 16, MPI_INTEGER, left, 2, MPI_COMM_WORLD, req(2), ierr)
       call MPI_Isend(a, k, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req(3), ierr)
       call MPI_Issend(a, 2 * k, MPI_INTEGER, right, 1, MPI_COMM_WORLD, req(4), ierr)
       select case (mod(k, 4))
       case (0)
          flag = .false.
          do while (.not. flag)
             call MPI_Testall(4, req, flag, stats, ierr)
          end do
       case (1)
          done = 0
          do while (done < 4)
             call MPI_Testsome(4, req, outcount, indices, MPI_STATUSES_IGNORE, ierr)
             done = done + outcount
          end do
       case (2)
          done = 0
          do while (done < 4)
             call MPI_Waitsome(4, req, outcount, indices, stats, ierr)
             done = done + outcount
          end do
       case (3)
          done = 0
          do while (done < 4)
             call MPI_Testany(4, req, i, flag, status, ierr)
             if (flag) done = done + 1
          end do
       end select
    end do
    call MPI_Waitsome(4, req, outcount, indices, stats, ierr)
    flag = .false.
    call MPI_Isend(a, 5, MPI_INTEGER, right, 3, MPI_COMM_WORLD, req(1), ierr)
    do while (.not. flag)
       call MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, flag, status, ierr)
    end do
    call MPI_Probe(left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call MPI_Mprobe(left, 3, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Mrecv(b, count, MPI_INTEGER, message, status, ierr)
    flag = .false.
    do while (.not. flag)
       call MPI_Test(req(1), flag, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Sendrecv_replace(a, n, MPI_INTEGER, right, 4, left, 4, MPI_COMM_WORLD, status, ierr)
    call MPI_Irecv(b, 1, MPI_INTEGER, left, 99, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Cancel(req(1), ierr)
    call MPI_Wait(req(1), status, ierr)
    call MPI_Test_cancelled(status, flag, ierr)
  end subroutine tests

  subroutine persistent
    call MPI_Recv_init(b, n, MPI_INTEGER, left, 5, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Send_init(a, 7, MPI_INTEGER, right, 5, MPI_COMM_WORLD, req(2), ierr)
    do k = 1, 5
       if (mod(k, 2) == 0) then
          call MPI_Startall(2, req, ierr)
       else
          call MPI_Start(req(1), ierr)
          call MPI_Start(req(2), ierr)
       end if
       call MPI_Waitall(2, req, stats, ierr)
    end do
    call MPI_Request_free(req(1), ierr)
    call MPI_Request_free(req(2), ierr)
  end subroutine persistent

  subroutine communicators
    integer :: half, copy, inter, merged, world, group, relation, ranks(2), found(2), keyval
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer(kind=MPI_ADDRESS_KIND) :: value
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_Comm_set_name(half, 'one half', ierr)
    call MPI_Comm_get_name(half, name, length, ierr)
    call MPI_Comm_dup(half, copy, ierr)
    call MPI_Comm_compare(half, copy, relation, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, merge(size - 1 - mod(size, 2), size - 2 + mod(size, 2), mod(rank, 2) == 0), &
         8, inter, ierr)
    call MPI_Comm_remote_size(inter, count, ierr)
    call MPI_Intercomm_merge(inter, mod(rank, 2) == 1, merged, ierr)
    call MPI_Bcast(b, 3, MPI_INTEGER, 0, merged, ierr)
    call MPI_Comm_free(merged, ierr)
    call MPI_Comm_free(inter, ierr)
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_split(half, merge(MPI_UNDEFINED, 1, rank == 0), 0, copy, ierr)
    if (copy /= MPI_COMM_NULL) call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(half, ierr)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    ranks = (/ 0, size - 1 /)
    call MPI_Group_incl(world, 2, ranks, group, ierr)
    call MPI_Group_translate_ranks(world, 2, ranks, group, found, ierr)
    call MPI_Group_rank(group, k, ierr)
    call MPI_Comm_create(MPI_COMM_WORLD, group, copy, ierr)
    if (copy /= MPI_COMM_NULL) call MPI_Comm_free(copy, ierr)
    call MPI_Group_free(group, ierr)
    call MPI_Group_free(world, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, value, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
    call MPI_Comm_free_keyval(keyval, ierr)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, copy, ierr)
    call MPI_Comm_free(copy, ierr)
  end subroutine communicators

  subroutine types
    integer :: t, u, bytes, position
    integer :: kinds(2), lengths(2)
    integer(kind=MPI_ADDRESS_KIND) :: places(2), lb, extent
    character :: buffer(256)
    kinds = (/ MPI_INTEGER, MPI_DOUBLE_PRECISION /)
    lengths = (/ 2, 1 /)
    places = (/ 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND /)
    call MPI_Type_create_struct(2, lengths, places, kinds, t, ierr)
    call MPI_Type_commit(t, ierr)
    call MPI_Type_size(t, bytes, ierr)
    call MPI_Type_get_extent(t, lb, extent, ierr)
    call MPI_Sendrecv(a, 1, t, right, 6, b, 4, t, left, 6, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, t, count, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_vector(4, 1, 2, MPI_INTEGER, t, ierr)
    call MPI_Type_contiguous(2, t, u, ierr)
    call MPI_Type_commit(u, ierr)
    call MPI_Bcast(a, 1, u, 0, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_free(u, ierr)
    call MPI_Type_indexed(2, lengths, (/ 0, 4 /), MPI_REAL, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_subarray(2, (/ 8, 8 /), (/ 2, 2 /), (/ 1, 1 /), MPI_ORDER_FORTRAN, MPI_COMPLEX, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_resized(MPI_LOGICAL, lb, 16_MPI_ADDRESS_KIND, t, ierr)
    call MPI_Type_free(t, ierr)
    position = 0
    call MPI_Pack(a, 4, MPI_INTEGER, buffer, 256, position, MPI_COMM_WORLD, ierr)
    position = 0
    call MPI_Unpack(buffer, 256, position, b, 4, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Get_address(a, extent, ierr)
  end subroutine types

  subroutine collectives
    integer :: ones(size), places(size), kinds(size), bytes(size)
    ones = 1
    places = (/ (i - 1, i = 1, size) /)
    bytes = 4 * places
    kinds = MPI_INTEGER
    call MPI_Gather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
    call MPI_Scatterv(a, ones, places, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Alltoallv(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Alltoallw(a, ones, bytes, kinds, b, ones, bytes, kinds, MPI_COMM_WORLD, ierr)
    call MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) then
       call MPI_Reduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    else
       call MPI_Reduce(b, a, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    end if
    call MPI_Reduce_scatter(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Scan(a, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Exscan(a, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Ibcast(a, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Iallreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Ibarrier(MPI_COMM_WORLD, req(3), ierr)
    call MPI_Waitall(3, req, MPI_STATUSES_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine collectives

  subroutine add(x, y, m, t)
    integer :: m, t
    integer :: x(m), y(m)
    y = x + y
    if (t == 0) y = 0
  end subroutine add

  subroutine objects
    integer :: op, info, e, window
    character(len=32) :: value
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    call MPI_Op_create(add, .true., op, ierr)
    call MPI_Op_commutative(op, flag, ierr)
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'key', 'a value  ', ierr)
    call MPI_Info_get(info, 'key', 31, value, flag, ierr)
    call MPI_Info_get(info, 'none', 31, value, flag, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, e, ierr)
    call MPI_Error_string(MPI_ERR_TAG, text, length, ierr)
    call MPI_Query_thread(k, ierr)
    bytes = 4 * n
    call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, window, ierr)
    bytes = 3
    call MPI_Put(a, 2, MPI_INTEGER, right, bytes, 2, MPI_INTEGER, window, ierr)
    call MPI_Win_fence(0, window, ierr)
    call MPI_Win_free(window, ierr)
  end subroutine objects

  subroutine failures
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(a, 1, MPI_INTEGER, size + 5, 1, MPI_COMM_WORLD, ierr)
    call MPI_Irecv(b, 2, MPI_INTEGER, left, 9, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Send(a, 8, MPI_INTEGER, right, 9, MPI_COMM_WORLD, ierr)
    call MPI_Wait(req(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine failures
end program modern
