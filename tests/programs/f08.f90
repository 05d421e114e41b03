! SPDX-License-Identifier: BSD-3-Clause
! f08 - MPI from Fortran 2008: `use mpi_f08`, handles of derived types, ierror absent or given, sentinels, strings, LOGICALs
program f08
  use mpi_f08
  implicit none
  integer, parameter :: n = 16
  integer :: rank, size, left, right, i, k, ierr, count, length, done
  integer :: a(64), b(64)
  logical :: flag
  type(MPI_Request) :: req(4)
  type(MPI_Status) :: status, stats(4)
  integer :: indices(4), outcount
  call MPI_Init_thread(MPI_THREAD_FUNNELED, k)
  call MPI_Initialized(flag)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  a = rank
  call pt2pt
  call completion
  call persistent
  call communicators
  call topologies
  call types
  call collectives
  call objects
  call windows
  call files
  call failures
  if (rank == 0) print *, 'f08: done'
  call MPI_Finalize
contains

  subroutine pt2pt
    type(MPI_Message) :: message
    if (rank == 0) then
       do i = 1, 5 * (size - 1)
          call MPI_Recv(b, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
          call MPI_Send(b, 1, MPI_INTEGER, status%MPI_SOURCE, status%MPI_TAG + 1, MPI_COMM_WORLD, ierr)
       end do
    else
       do i = 1, 5
          call MPI_Ssend(a, 1, MPI_INTEGER, 0, 10 * i, MPI_COMM_WORLD)
          call MPI_Recv(b, 1, MPI_INTEGER, 0, 10 * i + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
       end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Sendrecv(a, 3, MPI_INTEGER, right, 1, b, 5, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Sendrecv_replace(a, n, MPI_INTEGER, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Isend(a(1:15:2), 5, MPI_INTEGER, right, 3, MPI_COMM_WORLD, req(1))
    flag = .false.
    do while (.not. flag)
       call MPI_Iprobe(left, 3, MPI_COMM_WORLD, flag, status)
    end do
    call MPI_Probe(left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Mprobe(left, 3, MPI_COMM_WORLD, message, status)
    call MPI_Imrecv(b, 5, MPI_INTEGER, message, req(2))
    call MPI_Waitall(2, req, stats)
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, req(1))
    call MPI_Wait(req(1), status)
    call MPI_Irecv(b, 1, MPI_INTEGER, left, 99, MPI_COMM_WORLD, req(1))
    call MPI_Cancel(req(1))
    call MPI_Wait(req(1), status)
    call MPI_Test_cancelled(status, flag)
  end subroutine pt2pt

  subroutine completion
    do k = 1, 8
       call MPI_Irecv(b(1), n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, req(1))
       call MPI_Irecv(b(17), n, MPI_INTEGER, left, 2, MPI_COMM_WORLD, req(2))
       call MPI_Isend(a, k, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req(3))
       call MPI_Issend(a, 2 * k, MPI_INTEGER, right, 1, MPI_COMM_WORLD, req(4))
       done = 0
       flag = .false.
       select case (mod(k, 4))
       case (0)
          do while (.not. flag)
             call MPI_Testall(4, req, flag, stats)
          end do
       case (1)
          do while (done < 4)
             call MPI_Testsome(4, req, outcount, indices, MPI_STATUSES_IGNORE)
             done = done + outcount
          end do
       case (2)
          do while (done < 4)
             call MPI_Waitsome(4, req, outcount, indices, stats)
             done = done + outcount
          end do
       case (3)
          do while (done < 3)
             call MPI_Testany(4, req, i, flag, status)
             if (flag) done = done + 1
          end do
          call MPI_Waitany(4, req, i, MPI_STATUS_IGNORE)
       end select
    end do
    call MPI_Waitsome(4, req, outcount, indices, stats)
    call MPI_Isend(a, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, req(1))
    call MPI_Irecv(b, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, req(2))
    flag = .false.
    do while (.not. flag)
       call MPI_Request_get_status(req(2), flag, status)
    end do
    call MPI_Test(req(2), flag, status)
    call MPI_Wait(req(1), MPI_STATUS_IGNORE)
  end subroutine completion

  subroutine persistent
    call MPI_Recv_init(b, n, MPI_INTEGER, left, 5, MPI_COMM_WORLD, req(1))
    call MPI_Send_init(a, 7, MPI_INTEGER, right, 5, MPI_COMM_WORLD, req(2))
    do k = 1, 4
       if (mod(k, 2) == 0) then
          call MPI_Startall(2, req)
       else
          call MPI_Start(req(1))
          call MPI_Start(req(2))
       end if
       call MPI_Waitall(2, req, MPI_STATUSES_IGNORE)
    end do
    call MPI_Request_free(req(1))
    call MPI_Request_free(req(2))
  end subroutine persistent

  subroutine copied(comm, keyval, extra, value, out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, value, out
    logical :: flag
    out = value + extra
    if (keyval == -1) print *, comm%MPI_VAL
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copied

  subroutine communicators
    type(MPI_Comm) :: half, copy, inter, merged, none
    type(MPI_Group) :: world, group, empty
    integer :: relation, ranks(2), found(2), ranges(3, 1), keyval
    integer(kind=MPI_ADDRESS_KIND) :: value
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call MPI_Comm_set_name(half, 'one half  ')
    call MPI_Comm_get_name(half, name, length)
    call MPI_Comm_dup(half, copy)
    call MPI_Comm_compare(half, copy, relation)
    call MPI_Comm_free(copy)
    call MPI_Comm_idup(half, copy, req(1))
    call MPI_Wait(req(1), MPI_STATUS_IGNORE)
    call MPI_Comm_free(copy)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, merge(size - 1 - mod(size, 2), size - 2 + mod(size, 2), mod(rank, 2) == 0), &
         8, inter)
    call MPI_Comm_test_inter(inter, flag)
    call MPI_Comm_remote_size(inter, count)
    call MPI_Intercomm_merge(inter, mod(rank, 2) == 1, merged)
    call MPI_Bcast(b, 3, MPI_INTEGER, 0, merged)
    call MPI_Comm_free(merged)
    call MPI_Comm_free(inter)
    call MPI_Comm_split(half, merge(MPI_UNDEFINED, 1, rank == 0), 0, none)
    if (none /= MPI_COMM_NULL) call MPI_Comm_free(none)
    call MPI_Comm_free(half)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    ranks = (/ 0, size - 1 /)
    call MPI_Group_incl(world, 2, ranks, group)
    call MPI_Group_translate_ranks(world, 2, ranks, group, found)
    call MPI_Group_rank(group, k)
    call MPI_Group_size(group, k)
    ranges(:, 1) = (/ 0, size - 1, 2 /)
    call MPI_Group_range_excl(world, 1, ranges, empty)
    call MPI_Group_free(empty)
    call MPI_Comm_create(MPI_COMM_WORLD, group, copy)
    if (copy /= MPI_COMM_NULL) call MPI_Comm_free(copy)
    if (rank == 0 .or. rank == size - 1) then
       call MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, copy)
       call MPI_Comm_free(copy)
    end if
    call MPI_Group_free(group)
    call MPI_Group_free(world)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    value = 3
    call MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, keyval, value)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call MPI_Comm_get_attr(copy, keyval, value, flag)
    call MPI_Comm_free(copy)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval)
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, copy)
    call MPI_Comm_free(copy)
  end subroutine communicators

  subroutine topologies
    type(MPI_Comm) :: cart, row, graph
    integer :: dims(2), coords(2), from, to, indegree, outdegree, around(2), weights(2)
    logical :: periods(2), weighted
    dims = 0
    call MPI_Dims_create(size, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/ .true., .false. /), .false., cart)
    call MPI_Cart_get(cart, 2, dims, periods, coords)
    call MPI_Cart_rank(cart, coords, k)
    call MPI_Cart_shift(cart, 1, 1, from, to)
    call MPI_Cart_sub(cart, (/ .true., .false. /), row)
    call MPI_Neighbor_alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, cart)
    call MPI_Ineighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, cart, req(1))
    call MPI_Wait(req(1), MPI_STATUS_IGNORE)
    call MPI_Comm_free(row)
    call MPI_Comm_free(cart)
    around = (/ left, right /)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, MPI_UNWEIGHTED, 2, around, MPI_UNWEIGHTED, MPI_INFO_NULL, &
         .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted)
    call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, graph)
    call MPI_Comm_free(graph)
    weights = (/ 3, 4 /)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, weights, 2, around, weights, MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors(graph, 2, around, weights, 2, around, weights)
    call MPI_Topo_test(graph, k)
    call MPI_Comm_free(graph)
  end subroutine topologies

  subroutine types
    type(MPI_Datatype) :: t, u, kinds(2)
    integer :: lengths(2), bytes, position, integers(8), ni, na, nt, combiner
    integer(kind=MPI_ADDRESS_KIND) :: places(2), lb, extent, addresses(8)
    type(MPI_Datatype) :: inner(4)
    character :: buffer(256)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    kinds = (/ MPI_INTEGER, MPI_DOUBLE_PRECISION /)
    lengths = (/ 2, 1 /)
    places = (/ 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND /)
    call MPI_Type_create_struct(2, lengths, places, kinds, t)
    call MPI_Type_commit(t)
    call MPI_Type_set_name(t, 'pair of things')
    call MPI_Type_get_name(t, name, length)
    call MPI_Type_size(t, bytes)
    call MPI_Type_get_extent(t, lb, extent)
    call MPI_Type_get_envelope(t, ni, na, nt, combiner)
    call MPI_Type_get_contents(t, ni, na, nt, integers, addresses, inner)
    call MPI_Sendrecv(a, 1, t, right, 6, b, 4, t, left, 6, MPI_COMM_WORLD, status)
    call MPI_Get_elements(status, t, count)
    call MPI_Type_free(t)
    call MPI_Type_vector(4, 1, 2, MPI_INTEGER, t)
    call MPI_Type_contiguous(2, t, u)
    call MPI_Type_commit(u)
    call MPI_Bcast(a, 1, u, 0, MPI_COMM_WORLD)
    call MPI_Type_free(t)
    call MPI_Type_free(u)
    call MPI_Type_create_subarray(2, (/ 8, 8 /), (/ 2, 2 /), (/ 1, 1 /), MPI_ORDER_FORTRAN, MPI_COMPLEX, t)
    call MPI_Type_free(t)
    call MPI_Type_create_resized(MPI_LOGICAL, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, t)
    call MPI_Type_free(t)
    position = 0
    call MPI_Pack(a, 4, MPI_INTEGER, buffer, 256, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(buffer, 256, position, b, 4, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Get_address(a, extent)
  end subroutine types

  subroutine collectives
    integer :: ones(size), places(size), bytes(size)
    type(MPI_Datatype) :: kinds(size)
    ones = 1
    places = (/ (i - 1, i = 1, size) /)
    bytes = 4 * places
    do i = 1, size
       kinds(i) = MPI_INTEGER
    end do
    call MPI_Gather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
    call MPI_Gatherv(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Scatterv(a, ones, places, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoallv(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoallw(a, ones, bytes, kinds, b, ones, bytes, kinds, MPI_COMM_WORLD)
    if (rank == 0) then
       call MPI_Reduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    else
       call MPI_Reduce(b, a, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    end if
    call MPI_Reduce_scatter(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Scan(a, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Exscan(a, b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Ibcast(a, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, req(1))
    call MPI_Iallreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, req(3))
    call MPI_Waitall(3, req, MPI_STATUSES_IGNORE)
  end subroutine collectives

  subroutine add(x, y, m, t)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    type(c_ptr), value :: x, y
    integer :: m
    type(MPI_Datatype) :: t
    integer, pointer :: from(:), to(:)
    call c_f_pointer(x, from, (/ m /))
    call c_f_pointer(y, to, (/ m /))
    to = from + to
    if (t%MPI_VAL == -1) to = 0
  end subroutine add

  subroutine objects
    type(MPI_Op) :: op
    type(MPI_Info) :: info
    type(MPI_Errhandler) :: e
    character(len=32) :: value
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Op_create(add, .true., op)
    call MPI_Op_commutative(op, flag)
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call MPI_Op_free(op)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'key', 'a value  ')
    call MPI_Info_get(info, 'key', 31, value, flag)
    call MPI_Info_get(info, 'none', 31, value, flag)
    call MPI_Info_get_nkeys(info, k)
    call MPI_Info_free(info)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, e)
    call MPI_Errhandler_free(e)
    call MPI_Error_string(MPI_ERR_TAG, text, length)
    call MPI_Query_thread(k)
    call MPI_Is_thread_main(flag)
    call MPI_Pcontrol(2)
  end subroutine objects

  subroutine windows
    use, intrinsic :: iso_c_binding, only : c_ptr
    type(MPI_Win) :: window, shared
    type(c_ptr) :: base
    type(MPI_Group) :: world, near
    integer :: one(1)
    call MPI_Win_create(b, 64_MPI_ADDRESS_KIND * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, window)
    call MPI_Put(a, 2, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window)
    call MPI_Accumulate(a, 2, MPI_INTEGER, right, 8_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, window)
    call MPI_Win_flush(right, window)
    call MPI_Fetch_and_op(a, b(60), MPI_INTEGER, right, 9_MPI_ADDRESS_KIND, MPI_SUM, window)
    call MPI_Win_unlock(right, window)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    one(1) = left
    call MPI_Group_incl(world, 1, one, near)
    call MPI_Win_post(near, 0, window)
    call MPI_Group_free(near)
    one(1) = right
    call MPI_Group_incl(world, 1, one, near)
    call MPI_Win_start(near, 0, window)
    call MPI_Rput(a, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, req(1))
    call MPI_Wait(req(1), MPI_STATUS_IGNORE)
    call MPI_Win_complete(window)
    call MPI_Win_wait(window)
    call MPI_Group_free(near)
    call MPI_Group_free(world)
    call MPI_Win_free(window)
    call MPI_Win_allocate_shared(64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, shared)
    call MPI_Win_free(shared)
  end subroutine windows

  subroutine files
    type(MPI_File) :: f
    character(len=256) :: path
    integer :: unit
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    type(MPI_Datatype) :: etype, filetype
    integer(kind=MPI_OFFSET_KIND) :: at
    if (command_argument_count() < 1) return
    call get_command_argument(1, path)
    ! else it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it
    open(newunit=unit, file=trim(path), position="append")
    close(unit)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f)
    at = 64 * rank
    call MPI_File_write_at(f, at, a, n, MPI_INTEGER, status)
    call MPI_File_sync(f)
    call MPI_File_set_view(f, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_get_view(f, at, etype, filetype, representation)
    call MPI_File_read_at_all(f, int(n * rank, MPI_OFFSET_KIND), b, n, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_iread_at(f, 0_MPI_OFFSET_KIND, b, 4, MPI_INTEGER, req(1))
    call MPI_Wait(req(1), MPI_STATUS_IGNORE)
    call MPI_File_get_size(f, at)
    call MPI_File_close(f)
  end subroutine files

  subroutine failures
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(a, 1, MPI_INTEGER, size + 5, 1, MPI_COMM_WORLD, ierr)
    call MPI_Send(a, 1, MPI_INTEGER, size + 5, 1, MPI_COMM_WORLD)
    call MPI_Irecv(b, 2, MPI_INTEGER, left, 9, MPI_COMM_WORLD, req(1))
    call MPI_Send(a, 8, MPI_INTEGER, right, 9, MPI_COMM_WORLD)
    call MPI_Wait(req(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine failures
end program f08
