! SPDX-License-Identifier: BSD-3-Clause
! rest - what more.F90 and the programs of one binding leave out: matched probes, topologies, contents of datatypes, one-sided
! synchronisation, persistent collectives, ports and names, shared file pointers. Compiled twice, as more.F90 is.
!
!     rest [FILE]      the file is made and removed
!
! BEFORE_MPI_4: persistent collectives have the names that Open MPI 4.1 gave them.
#ifdef MPI_F08
#define HANDLE(t) type(t)
#define STATUS type(MPI_Status) ::
#else
#define HANDLE(t) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE) ::
#endif
#ifdef BEFORE_MPI_4
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Exscan_init MPIX_Exscan_init
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#endif
module answers
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
contains
  subroutine on_query(extra, s, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS s
    integer :: ierr
    integer(kind=MPI_COUNT_KIND) :: many
    many = 2 + 0 * extra
    call MPI_Status_set_elements_x(s, MPI_INTEGER, many, ierr)
    call MPI_Status_set_cancelled(s, .false., ierr)
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
end module answers

program rest
  use answers
#ifdef MPI_F08
  use mpi_f08_ext
#endif
  implicit none
  integer, parameter :: n = 64
  integer :: rank, size, left, right, i, k, ierr, length
  integer, asynchronous :: a(n), b(n)
  logical :: flag
  character(len=256) :: path
  HANDLE(MPI_Request) :: req
  STATUS s

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  a = rank
  b = 0
  call questions
  call messages
  call communicators
  call topologies
  call types
  call collectives
  call persistent
  call windows
  call names
  if (command_argument_count() > 0) then
     call get_command_argument(1, path)
     call files
  end if
  if (rank == 0) print *, 'rest: done'
  call MPI_Finalize(ierr)

contains

  subroutine questions
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Datatype) :: t
    call MPI_Get_processor_name(name, length, ierr)
    call MPI_Get_library_version(version, length, ierr)
    call MPI_Is_thread_main(flag, ierr)
    call MPI_Pcontrol(1)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'a', 'b', ierr)
    call MPI_Info_get_nkeys(info, k, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Type_contiguous(3, MPI_INTEGER, t, ierr)
    call MPI_Type_set_name(t, 'three', ierr)
    call MPI_Type_get_name(t, name, length, ierr)
    call MPI_Type_free(t, ierr)
  end subroutine questions

  subroutine messages
    HANDLE(MPI_Message) :: message
    integer(kind=MPI_ADDRESS_KIND) :: extra
    HANDLE(MPI_Request) :: other
    call MPI_Rsend_init(a, 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD, req, ierr)
    call MPI_Irecv(b, 2, MPI_INTEGER, left, 1, MPI_COMM_WORLD, other, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Start(req, ierr)
    call MPI_Wait(other, s, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Request_free(req, ierr)
    call MPI_Isend(a, 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req, ierr)
    call MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, message, s, ierr)
    call MPI_Imrecv(b, 3, MPI_INTEGER, message, other, ierr)
    flag = .false.
    do while (.not. flag)
       call MPI_Request_get_status(other, flag, s, ierr)
    end do
    call MPI_Wait(other, s, ierr)
    call MPI_Get_elements(s, MPI_INTEGER, k, ierr)
    call MPI_Wait(req, s, ierr)
    extra = 1
    call MPI_Grequest_start(on_query, on_free, on_cancel, extra, req, ierr)
    call MPI_Grequest_complete(req, ierr)
    call MPI_Wait(req, s, ierr)
  end subroutine messages

  subroutine communicators
    HANDLE(MPI_Group) :: world, part
    HANDLE(MPI_Comm) :: c
    integer :: ranges(3, 1)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    ranges(:, 1) = (/ 1, size - 1, 2 /)
    call MPI_Group_range_excl(world, 1, ranges, part, ierr)
    call MPI_Group_size(part, k, ierr)
    if (mod(rank, 2) == 0) then
       call MPI_Comm_create_group(MPI_COMM_WORLD, part, 4, c, ierr)
       call MPI_Comm_free(c, ierr)
    end if
    call MPI_Group_free(part, ierr)
    call MPI_Group_free(world, ierr)
    call MPI_Comm_idup(MPI_COMM_WORLD, c, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Comm_test_inter(c, flag, ierr)
    call MPI_Comm_free(c, ierr)
  end subroutine communicators

  subroutine topologies
    HANDLE(MPI_Comm) :: cart, row, graph
    HANDLE(MPI_Datatype) :: kinds(max(2, size)) ! Open MPI 4.1 reads one for each rank
    integer :: dims(2), coords(2), around(2), weights(2), ones(2), in, out
    integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/ .true., .true. /), .false., cart, ierr)
    call MPI_Topo_test(cart, k, ierr)
    coords = (/ -1, dims(2) /)
    call MPI_Cart_rank(cart, coords, k, ierr)
    call MPI_Cart_sub(cart, (/ .false., .true. /), row, ierr)
    call MPI_Comm_free(row, ierr)
    call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, cart, ierr)
    call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, cart, ierr)
    call MPI_Ineighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, cart, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Comm_free(cart, ierr)
    around = (/ left, right /)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, MPI_UNWEIGHTED, 2, around, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
         graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, in, out, flag, ierr)
    ones = 1
    bytes = (/ 0, 4 /)
    kinds = MPI_INTEGER
    call MPI_Ineighbor_alltoallw(a, ones, bytes, kinds, b, ones, bytes, kinds, graph, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Comm_free(graph, ierr)
    weights = (/ 3, 4 /)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, weights, 2, around, weights, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors(graph, 2, around, weights, 2, around, weights, ierr)
    call MPI_Comm_free(graph, ierr)
  end subroutine topologies

  subroutine types
    HANDLE(MPI_Datatype) :: t, inner(8)
    integer :: ni, na, nt, combiner, integers(8)
    integer(kind=MPI_ADDRESS_KIND) :: addresses(8)
    call MPI_Type_indexed(2, (/ 1, 2 /), (/ 0, 4 /), MPI_INTEGER, t, ierr)
    call MPI_Type_commit(t, ierr)
    call MPI_Type_get_envelope(t, ni, na, nt, combiner, ierr)
    call MPI_Type_get_contents(t, ni, na, nt, integers, addresses, inner, ierr)
    call MPI_Sendrecv(a, 1, t, right, 3, b, 2, t, left, 3, MPI_COMM_WORLD, s, ierr)
    call MPI_Get_elements(s, t, k, ierr)
    call MPI_Type_free(t, ierr)
  end subroutine types

  subroutine collectives
    integer :: ones(size), places(size)
    ones = 1
    places = (/ (i - 1, i = 1, size) /)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    if (rank == 1) then
       call MPI_Scatter(a, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD, ierr)
    else
       call MPI_Scatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    end if
  end subroutine collectives

  subroutine run
    do i = 1, 2
       call MPI_Start(req, ierr)
       call MPI_Wait(req, s, ierr)
    end do
    call MPI_Request_free(req, ierr)
  end subroutine run

  subroutine persistent
    integer, asynchronous :: ones(size), places(size), bytes(size)
    integer(kind=MPI_ADDRESS_KIND), asynchronous :: far(2)
    HANDLE(MPI_Datatype), asynchronous :: kinds(size)
    HANDLE(MPI_Comm) :: ring
#if defined BEFORE_MPI_4 && ! defined MPI_F08
    external :: MPI_Barrier_init, MPI_Bcast_init, MPI_Gather_init, MPI_Gatherv_init, MPI_Scatter_init, MPI_Scatterv_init, &
         MPI_Allgather_init, MPI_Allgatherv_init, MPI_Alltoall_init, MPI_Alltoallv_init, MPI_Alltoallw_init, MPI_Reduce_init, &
         MPI_Allreduce_init, MPI_Reduce_scatter_init, MPI_Reduce_scatter_block_init, MPI_Scan_init, MPI_Exscan_init, &
         MPI_Neighbor_allgather_init, MPI_Neighbor_allgatherv_init, MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoallv_init, &
         MPI_Neighbor_alltoallw_init
#endif
    ones = 1
    places = (/ (i - 1, i = 1, size) /)
    bytes = 4 * places
    kinds = MPI_INTEGER
    far = (/ 0, 4 /)
    call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Bcast_init(a, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Gather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Gatherv_init(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Scatter_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Scatterv_init(a, ones, places, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Allgatherv_init(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Alltoallv_init(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Alltoallw_init(a, ones, bytes, kinds, b, ones, bytes, kinds, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Reduce_init(a, b, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Allreduce_init(MPI_IN_PLACE, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Reduce_scatter_init(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Reduce_scatter_block_init(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Scan_init(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Exscan_init(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ size /), (/ .true. /), .false., ring, ierr)
    call MPI_Neighbor_allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Neighbor_allgatherv_init(a, 1, MPI_INTEGER, b, ones, places, MPI_INTEGER, ring, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Neighbor_alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Neighbor_alltoallv_init(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, ring, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Neighbor_alltoallw_init(a, ones, far, kinds, b, ones, far, kinds, ring, MPI_INFO_NULL, req, ierr)
    call run
    call MPI_Comm_free(ring, ierr)
  end subroutine persistent

  subroutine windows
    HANDLE(MPI_Win) :: w
    HANDLE(MPI_Group) :: world, near
    integer(kind=MPI_ADDRESS_KIND) :: bytes, at
    bytes = 4 * n
    at = 1
    call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w, ierr)
    call MPI_Accumulate(a, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, MPI_SUM, w, ierr)
    call MPI_Win_flush(right, w, ierr)
    call MPI_Fetch_and_op(a(1), a(9), MPI_INTEGER, right, at, MPI_SUM, w, ierr)
    call MPI_Rput(a, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, w, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Win_unlock(right, w, ierr)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Group_incl(world, 1, (/ left /), near, ierr)
    call MPI_Win_post(near, 0, w, ierr)
    call MPI_Group_free(near, ierr)
    call MPI_Group_incl(world, 1, (/ right /), near, ierr)
    call MPI_Win_start(near, 0, w, ierr)
    call MPI_Win_complete(w, ierr)
    call MPI_Group_free(near, ierr)
    flag = .false.
    do while (.not. flag)
       call MPI_Win_test(w, flag, ierr)
    end do
    call MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOCHECK, w, ierr)
    call MPI_Win_wait(w, ierr)
    call MPI_Group_free(world, ierr)
    call MPI_Win_free(w, ierr)
  end subroutine windows

  subroutine names
    HANDLE(MPI_Comm) :: part, inter
    character(len=MPI_MAX_PORT_NAME) :: port, found
    character(len=32) :: service
    write (service, '(a, i0)') 'spoor-rest-', size
    port = ' '
    found = ' '
    call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 0), rank, part, ierr)
    if (rank == 0) then
       call MPI_Open_port(MPI_INFO_NULL, port, ierr)
       call MPI_Publish_name(service, MPI_INFO_NULL, port, ierr)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 1) call MPI_Lookup_name(service, MPI_INFO_NULL, found, ierr)
    if (rank == 0) then
       call MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, inter, ierr)
    else
       call MPI_Comm_connect(found, MPI_INFO_NULL, 0, part, inter, ierr)
    end if
    call MPI_Comm_disconnect(inter, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) then
       call MPI_Unpublish_name(service, MPI_INFO_NULL, port, ierr)
       call MPI_Close_port(port, ierr)
    end if
    call MPI_Comm_free(part, ierr)
  end subroutine names

  subroutine files
    HANDLE(MPI_File) :: f
    integer :: unit
    HANDLE(MPI_Datatype) :: etype, filetype
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    integer(kind=MPI_OFFSET_KIND) :: at
    ! else it hangs now and then: in Open MPI 4.1 others open it before rank 0 has made it
    open(newunit=unit, file=trim(path), position="append")
    close(unit)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f, ierr)
    at = 256 * rank
    call MPI_File_write_at(f, at, a, n, MPI_INTEGER, s, ierr)
    call MPI_File_sync(f, ierr)
    call MPI_File_get_size(f, at, ierr)
    at = 0
    call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_get_view(f, at, etype, filetype, representation, ierr)
    at = n * rank
    call MPI_File_read_at_all(f, at, b, n, MPI_INTEGER, s, ierr)
    call MPI_File_iread_at(f, at, b, 4, MPI_INTEGER, req, ierr)
    call MPI_Wait(req, s, ierr)
    at = 0
    call MPI_File_seek_shared(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_write_shared(f, a, 1, MPI_INTEGER, s, ierr)
    call MPI_File_iwrite_shared(f, a, 2, MPI_INTEGER, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_get_position_shared(f, at, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    at = 0
    call MPI_File_seek_shared(f, at, MPI_SEEK_SET, ierr)
    call MPI_File_read_shared(f, b, 1, MPI_INTEGER, s, ierr)
    call MPI_File_iread_shared(f, b, 2, MPI_INTEGER, req, ierr)
    call MPI_Wait(req, s, ierr)
    call MPI_File_close(f, ierr)
  end subroutine files
end program rest
