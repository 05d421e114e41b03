! SPDX-License-Identifier: BSD-3-Clause
! more - what the other Fortran programs do not call: all of one-sided communication, files, datatypes, topologies, groups,
! collectives without blocking, attributes, error handlers. Compiled twice: `use mpi`, and with MPI_F08 defined `use mpi_f08`.
#ifdef MPI_F08
#define HANDLE(t) type(t)
#define STATUS type(MPI_Status) ::
#else
#define HANDLE(t) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE) ::
#endif
module callbacks
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
contains
  subroutine on_comm(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code
    if (comm == MPI_COMM_NULL) print *, code
  end subroutine on_comm

  subroutine on_win(win, code)
    HANDLE(MPI_Win) :: win
    integer :: code
    if (win == MPI_WIN_NULL) print *, code
  end subroutine on_win

  subroutine on_file(file, code)
    HANDLE(MPI_File) :: file
    integer :: code
    if (file == MPI_FILE_NULL) print *, 'no file'
    if (code == -1) print *, code
  end subroutine on_file

  subroutine on_query(extra, s, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS s
    integer :: ierr
    call MPI_Status_set_elements(s, MPI_BYTE, 3, ierr)
    call MPI_Status_set_cancelled(s, .false., ierr)
    if (extra == -1) print *, extra
  end subroutine on_query

  subroutine on_free(extra, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    ierr = MPI_SUCCESS
    if (extra == -1) print *, extra
  end subroutine on_free

  subroutine on_cancel(extra, complete, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    ierr = MPI_SUCCESS
    if (extra == -1) print *, complete
  end subroutine on_cancel
end module callbacks

program more
  use callbacks
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  integer, parameter :: n = 64
  integer :: rank, size, left, right, i, k, ierr, length
  integer :: a(n), b(n)
  logical :: flag
  character(len=256) :: path
  HANDLE(MPI_Request) :: req(4)
  STATUS s

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  a = rank
  b = 0
  call sends
  call groups
  call graphs
  call types
  call later
  call attributes
  call infos
  call windows
  if (command_argument_count() > 0) then
     call get_command_argument(1, path)
     call files
     call split_files
  end if
  call MPI_Finalized(flag, ierr)
  if (rank == 0) print *, 'more: done'
  call MPI_Finalize(ierr)

contains

  subroutine sends
    integer :: bytes
    character, allocatable, save :: room(:)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    HANDLE(MPI_Message) :: message
#ifdef MPI_F08
    type(c_ptr) :: back
#else
    character :: back(8)
#endif
    call MPI_Pack_size(32, MPI_INTEGER, MPI_COMM_WORLD, bytes, ierr)
    bytes = 4 * (bytes + MPI_BSEND_OVERHEAD)
    allocate(room(bytes))
    call MPI_Buffer_attach(room, bytes, ierr)
    call MPI_Bsend(a, 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(b, 2, MPI_INTEGER, left, 1, MPI_COMM_WORLD, s, ierr)
    call MPI_Ibsend(a, 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Recv(b, 3, MPI_INTEGER, left, 2, MPI_COMM_WORLD, s, ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Bsend_init(a, 4, MPI_INTEGER, right, 3, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Start(req(1), ierr)
    call MPI_Recv(b, 4, MPI_INTEGER, left, 3, MPI_COMM_WORLD, s, ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Request_free(req(1), ierr)
    call MPI_Buffer_detach(back, bytes, ierr)
    call MPI_Irecv(b, 4, MPI_INTEGER, left, 4, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Rsend(a, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Irecv(b, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Irsend(a, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Wait(req(2), s, ierr)
    call MPI_Ssend_init(a, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Start(req(1), ierr)
    flag = .false.
    do while (.not. flag)
       call MPI_Improbe(left, 6, MPI_COMM_WORLD, flag, message, s, ierr)
    end do
    call MPI_Mrecv(b, 1, MPI_INTEGER, message, s, ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Request_free(req(1), ierr)
    extra = 3
    call MPI_Grequest_start(on_query, on_free, on_cancel, extra, req(1), ierr)
    call MPI_Grequest_complete(req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
  end subroutine sends

  subroutine groups
    HANDLE(MPI_Group) :: world, even, first, other
    integer :: ranks(2), ranges(3, 1)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    ranges(:, 1) = (/ 0, size - 1, 2 /)
    call MPI_Group_range_incl(world, 1, ranges, even, ierr)
    ranks = (/ 0, size - 1 /)
    call MPI_Group_excl(world, 2, ranks, first, ierr)
    call MPI_Group_union(even, first, other, ierr)
    call MPI_Group_compare(world, other, k, ierr)
    call MPI_Group_free(other, ierr)
    call MPI_Group_intersection(even, world, other, ierr)
    call MPI_Group_free(other, ierr)
    call MPI_Group_difference(world, even, other, ierr)
    call MPI_Group_free(other, ierr)
    call MPI_Group_free(first, ierr)
    call MPI_Group_free(even, ierr)
    call MPI_Group_free(world, ierr)
  end subroutine groups

  subroutine graphs
    HANDLE(MPI_Comm) :: ring, cart, parent, inter, half
    HANDLE(MPI_Group) :: remote
    HANDLE(MPI_Datatype) :: kinds(2)
    integer :: index(size), edges(2 * size), neighbours(2), counts(2), places(2), coords(1), nodes, total
    integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
    do i = 1, size
       index(i) = 2 * i
       edges(2 * i - 1) = mod(i + size - 2, size)
       edges(2 * i) = mod(i, size)
    end do
    call MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, k, ierr)
    call MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, .false., ring, ierr)
    call MPI_Graphdims_get(ring, nodes, total, ierr)
    call MPI_Graph_get(ring, nodes, total, index, edges, ierr)
    call MPI_Graph_neighbors_count(ring, rank, k, ierr)
    call MPI_Graph_neighbors(ring, rank, 2, neighbours, ierr)
    counts = 1
    places = (/ 0, 1 /)
    bytes = (/ 0, 4 /)
    kinds = MPI_INTEGER
    call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, counts, places, MPI_INTEGER, ring, ierr)
    call MPI_Neighbor_alltoallv(a, counts, places, MPI_INTEGER, b, counts, places, MPI_INTEGER, ring, ierr)
    call MPI_Neighbor_alltoallw(a, counts, bytes, kinds, b, counts, bytes, kinds, ring, ierr)
    call MPI_Ineighbor_allgatherv(a, 1, MPI_INTEGER, b, counts, places, MPI_INTEGER, ring, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ineighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ineighbor_alltoallv(a, counts, places, MPI_INTEGER, b, counts, places, MPI_INTEGER, ring, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Comm_free(ring, ierr)
    call MPI_Cart_map(MPI_COMM_WORLD, 1, (/ size /), (/ .true. /), k, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ size /), (/ .true. /), .false., cart, ierr)
    call MPI_Cartdim_get(cart, k, ierr)
    call MPI_Cart_coords(cart, rank, 1, coords, ierr)
    call MPI_Comm_disconnect(cart, ierr)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, (/ rank /), (/ 2 /), (/ left, right /), (/ 5, 6 /), MPI_INFO_NULL, .false., ring, &
         ierr)
    call MPI_Comm_free(ring, ierr)
    call MPI_Comm_get_parent(parent, ierr)
    if (size > 1) then
       call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, ierr)
       call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mod(rank + 1, 2), 9, inter, ierr)
       call MPI_Comm_remote_group(inter, remote, ierr)
       call MPI_Group_free(remote, ierr)
       call MPI_Comm_free(inter, ierr)
       call MPI_Comm_free(half, ierr)
    end if
  end subroutine graphs

  subroutine types
    HANDLE(MPI_Datatype) :: t
    integer :: position
    integer(kind=MPI_ADDRESS_KIND) :: bytes(2), lb, extent, room, at
    integer(kind=MPI_COUNT_KIND) :: big, long
    character :: buffer(512)
    bytes = (/ 0, 16 /)
    call MPI_Type_create_hvector(2, 1, 32_MPI_ADDRESS_KIND, MPI_INTEGER, t, ierr)
    call MPI_Type_get_true_extent(t, lb, extent, ierr)
    call MPI_Type_get_true_extent_x(t, big, long, ierr)
    call MPI_Type_get_extent_x(t, big, long, ierr)
    call MPI_Type_size_x(t, big, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_hindexed(2, (/ 1, 2 /), bytes, MPI_REAL, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_hindexed_block(2, 2, bytes, MPI_REAL, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_indexed_block(2, 2, (/ 0, 5 /), MPI_REAL, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_darray(size, rank, 1, (/ 64 /), (/ MPI_DISTRIBUTE_CYCLIC /), (/ MPI_DISTRIBUTE_DFLT_DARG /), (/ size /), &
         MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_dup(MPI_DOUBLE_PRECISION, t, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_f90_integer(6, t, ierr)
    call MPI_Type_create_f90_real(6, 30, t, ierr)
    call MPI_Type_create_f90_complex(6, MPI_UNDEFINED, t, ierr)
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, t, ierr)
    call MPI_Pack_external_size('external32', 3, MPI_INTEGER, room, ierr)
    at = 0
    call MPI_Pack_external('external32', a, 3, MPI_INTEGER, buffer, room, at, ierr)
    at = 0
    call MPI_Unpack_external('external32', buffer, room, at, b, 3, MPI_INTEGER, ierr)
    position = 0
    call MPI_Reduce_local(a, b, 4, MPI_INTEGER, MPI_SUM, ierr)
    call MPI_Sendrecv(a, 3, MPI_INTEGER, right, 1, b, 3, MPI_INTEGER, left, 1, MPI_COMM_WORLD, s, ierr)
    call MPI_Get_elements_x(s, MPI_INTEGER, big, ierr)
  end subroutine types

  subroutine later
    integer :: ones(size), places(size), bytes(size)
    HANDLE(MPI_Datatype) :: kinds(size)
    ones = 1
    places = (/ (i - 1, i = 1, size) /)
    bytes = 4 * places
    kinds = MPI_INTEGER
    call MPI_Iallgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Iallgatherv(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ialltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ialltoallv(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ialltoallw(a, ones, bytes, kinds, b, ones, bytes, kinds, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Igather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Igatherv(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, size - 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Iscatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Iscatterv(a, ones, places, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ireduce(a, b, 2, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ireduce_scatter(a, b, ones, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Ireduce_scatter_block(a, b, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Iscan(a, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Iexscan(a, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
  end subroutine later

  subroutine attributes
    integer :: keyval, class, code
    integer(kind=MPI_ADDRESS_KIND) :: value
    HANDLE(MPI_Datatype) :: t
    HANDLE(MPI_Errhandler) :: e, old
    character(len=MPI_MAX_ERROR_STRING) :: text
    value = 4
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, value, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
    call MPI_Type_set_attr(t, keyval, value, ierr)
    call MPI_Type_get_attr(t, keyval, value, flag, ierr)
    call MPI_Type_delete_attr(t, keyval, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Type_free_keyval(keyval, ierr)
    call MPI_Comm_create_errhandler(on_comm, e, ierr)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, old, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, e, ierr)
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierr)
    call MPI_Send(a, 1, MPI_INTEGER, size + 3, 1, MPI_COMM_WORLD, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, old, ierr)
    call MPI_Errhandler_free(e, ierr)
    call MPI_Errhandler_free(old, ierr)
    call MPI_Add_error_class(class, ierr)
    call MPI_Add_error_code(class, code, ierr)
    call MPI_Add_error_string(code, 'mine', ierr)
    call MPI_Error_class(code, class, ierr)
    call MPI_Error_string(code, text, length, ierr)
    call MPI_Get_version(k, length, ierr)
  end subroutine attributes

  subroutine infos
    HANDLE(MPI_Info) :: info, copy
    HANDLE(MPI_Comm) :: c
    character(len=MPI_MAX_INFO_KEY) :: key
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'one', '1', ierr)
    call MPI_Info_set(info, 'two', 'a longer one', ierr)
    call MPI_Info_dup(info, copy, ierr)
    call MPI_Info_delete(copy, 'one', ierr)
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call MPI_Info_get_valuelen(info, 'two', k, flag, ierr)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, c, ierr)
    call MPI_Comm_set_info(c, copy, ierr)
    call MPI_Info_free(copy, ierr)
    call MPI_Comm_get_info(c, copy, ierr)
    call MPI_Info_free(copy, ierr)
    call MPI_Comm_free(c, ierr)
    call MPI_Info_free(info, ierr)
  end subroutine infos

  subroutine windows
    HANDLE(MPI_Win) :: w, shared, dynamic
    HANDLE(MPI_Group) :: g
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: e
    type(c_ptr) :: base
    integer :: keyval, unit
    integer, pointer :: memory(:)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, value, at
    character(len=MPI_MAX_OBJECT_NAME) :: name
    bytes = 4 * n
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, ierr)
    call c_f_pointer(base, memory, (/ n /))
    memory = 0
    call MPI_Win_set_name(w, 'window', ierr)
    call MPI_Win_get_name(w, name, length, ierr)
    call MPI_Win_get_group(w, g, ierr)
    call MPI_Group_free(g, ierr)
    call MPI_Win_get_info(w, info, ierr)
    call MPI_Win_set_info(w, info, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Win_get_attr(w, MPI_WIN_SIZE, value, flag, ierr)
    value = 1
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, keyval, value, ierr)
    call MPI_Win_set_attr(w, keyval, value, ierr)
    call MPI_Win_delete_attr(w, keyval, ierr)
    call MPI_Win_free_keyval(keyval, ierr)
    call MPI_Win_create_errhandler(on_win, e, ierr)
    call MPI_Win_set_errhandler(w, e, ierr)
    call MPI_Errhandler_free(e, ierr)
    call MPI_Win_get_errhandler(w, e, ierr)
    call MPI_Errhandler_free(e, ierr)
    call MPI_Win_call_errhandler(w, MPI_ERR_OTHER, ierr)
    at = 2
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, w, ierr)
    call MPI_Get(b, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, w, ierr)
    call MPI_Win_flush_local(right, w, ierr)
    call MPI_Rget(b, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, w, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Raccumulate(a, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, MPI_SUM, w, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Win_flush_all(w, ierr)
    call MPI_Get_accumulate(a, 0, MPI_INTEGER, b, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, MPI_NO_OP, w, ierr)
    call MPI_Win_flush_local_all(w, ierr)
    call MPI_Rget_accumulate(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, MPI_REPLACE, w, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_Compare_and_swap(a(1), a(2), b(1), MPI_INTEGER, right, at, w, ierr)
    call MPI_Win_sync(w, ierr)
    call MPI_Win_unlock_all(w, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Win_free(w, ierr)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, shared, ierr)
    call MPI_Win_shared_query(shared, 0, bytes, unit, base, ierr)
    call MPI_Win_free(shared, ierr)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, dynamic, ierr)
    bytes = 4 * n
    call MPI_Win_attach(dynamic, b, bytes, ierr)
    call MPI_Win_detach(dynamic, b, ierr)
    call MPI_Win_free(dynamic, ierr)
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierr)
    call c_f_pointer(base, memory, (/ n /))
    call MPI_Free_mem(memory, ierr)
  end subroutine windows

  subroutine files
    HANDLE(MPI_File) :: f
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Group) :: g
    HANDLE(MPI_Errhandler) :: e
    integer(kind=MPI_OFFSET_KIND) :: at
    integer(kind=MPI_ADDRESS_KIND) :: extent
    call make(trim(path))
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
    call MPI_File_get_amode(f, k, ierr)
    call MPI_File_get_group(f, g, ierr)
    call MPI_Group_free(g, ierr)
    call MPI_File_get_info(f, info, ierr)
    call MPI_File_set_info(f, info, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_File_set_atomicity(f, .false., ierr)
    call MPI_File_get_atomicity(f, flag, ierr)
    at = 4096
    call MPI_File_set_size(f, at, ierr)
    call MPI_File_preallocate(f, at, ierr)
    call MPI_File_get_type_extent(f, MPI_INTEGER, extent, ierr)
    call MPI_File_create_errhandler(on_file, e, ierr)
    call MPI_File_set_errhandler(f, e, ierr)
    call MPI_Errhandler_free(e, ierr)
    call MPI_File_get_errhandler(f, e, ierr)
    call MPI_Errhandler_free(e, ierr)
    call MPI_File_call_errhandler(f, MPI_ERR_OTHER, ierr)
    at = 256 * rank
    call MPI_File_seek(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_write(f, a, 4, MPI_INTEGER, s, ierr)
    call MPI_File_get_position(f, at, ierr)
    call MPI_File_get_byte_offset(f, at, at, ierr)
    call MPI_File_write_all(f, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    at = 256 * rank
    call MPI_File_seek(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_read(f, b, 4, MPI_INTEGER, s, ierr)
    call MPI_File_read_all(f, b, 4, MPI_INTEGER, s, ierr)
    call MPI_File_read_at(f, at, b, 4, MPI_INTEGER, s, ierr)
    call MPI_File_write_at_all(f, at, b, 4, MPI_INTEGER, s, ierr)
    call MPI_File_iwrite(f, a, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_iwrite_at(f, at, a, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_seek(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_iread(f, b, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_iread_all(f, b, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_iwrite_all(f, b, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_iread_at_all(f, at, b, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_iwrite_at_all(f, at, b, 2, MPI_INTEGER, req(1), ierr)
    call MPI_Wait(req(1), s, ierr)
    call MPI_File_close(f, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine files

  ! split collectives, and the shared file pointer (collective calls: the others crash in Open MPI 4.1.4)
  subroutine split_files
    HANDLE(MPI_File) :: f
    integer(kind=MPI_OFFSET_KIND) :: at
    call make(trim(path)//".split")
    call MPI_File_open(MPI_COMM_WORLD, trim(path)//".split", MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f, ierr)
    at = 64 * rank
    call MPI_File_write_at_all_begin(f, at, a, 4, MPI_INTEGER, ierr)
    call MPI_File_write_at_all_end(f, a, s, ierr)
    call MPI_File_read_at_all_begin(f, at, b, 4, MPI_INTEGER, ierr)
    call MPI_File_read_at_all_end(f, b, MPI_STATUS_IGNORE, ierr)
    call MPI_File_seek(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_write_all_begin(f, a, 4, MPI_INTEGER, ierr)
    call MPI_File_write_all_end(f, a, s, ierr)
    call MPI_File_seek(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_read_all_begin(f, b, 4, MPI_INTEGER, ierr)
    call MPI_File_read_all_end(f, b, s, ierr)
    call MPI_File_write_ordered(f, a, 2, MPI_INTEGER, s, ierr)
    call MPI_File_write_ordered_begin(f, a, 2, MPI_INTEGER, ierr)
    call MPI_File_write_ordered_end(f, a, s, ierr)
    at = 0
    call MPI_File_seek_shared(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_read_ordered(f, b, 2, MPI_INTEGER, s, ierr)
    call MPI_File_read_ordered_begin(f, b, 2, MPI_INTEGER, ierr)
    call MPI_File_read_ordered_end(f, b, s, ierr)
    call MPI_File_close(f, ierr)
  end subroutine split_files

  ! Else opening it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it.
  subroutine make(name)
    character(len=*) :: name
    integer :: unit
    open(newunit=unit, file=name, position="append")
    close(unit)
  end subroutine make
end program more
