! SPDX-License-Identifier: BSD-3-Clause
! wrong - Fortran programs that break the standard, one way each: what the library makes of that must be the same under a tracer.
! Compiled twice, as more.F90 is.
!
!     wrong WAY      returned: with MPI_ERRORS_RETURN, many ways; the others end the program
#ifdef MPI_F08
#define HANDLE(t) type(t)
#define NUMBER(h) h%MPI_VAL
#else
#define HANDLE(t) integer
#define NUMBER(h) h
#endif
program wrong
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, size, ierr, a(64), b(64)
  character(len=32) :: way
  HANDLE(MPI_Comm) :: none
  HANDLE(MPI_Request) :: garbage
  logical :: flag

  call get_command_argument(1, way)
  a = 0
  if (way == 'before') then
     call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
     print *, 'went on'
  end if
  call MPI_Init(ierr)
  if (way == 'init') call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  select case (way)
  case ('returned')
     call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
     call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
     call returned
  case ('uninitialised')
     NUMBER(none) = 1515870810
     call MPI_Barrier(none, ierr)
  case ('request')
     NUMBER(garbage) = 1515870810
     call MPI_Wait(garbage, MPI_STATUS_IGNORE, ierr)
  case ('negative')
     call MPI_Send(a, -1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
  case ('rank')
#ifdef MPI_F08
     call MPI_Send(a, 1, MPI_INTEGER, size, 1, MPI_COMM_WORLD) ! ierror may be left out
#else
     call MPI_Send(a, 1, MPI_INTEGER, size, 1, MPI_COMM_WORLD, ierr)
#endif
  case ('leaks')
     call leaks
  case ('abort')
     call MPI_Abort(MPI_COMM_WORLD, 5, ierr)
  end select
  call MPI_Finalize(ierr)
  if (way == 'after') then
     call MPI_Barrier(MPI_COMM_WORLD, ierr)
     print *, 'went on'
  end if
  if (way == 'finalize') call MPI_Finalize(ierr)
  if (rank == 0) print *, trim(way), ': done'

contains

  subroutine said(what)
    character(len=*), intent(in) :: what
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: class, length, rc
    call MPI_Error_class(ierr, class, rc)
    call MPI_Error_string(ierr, text, length, rc)
    if (rank == 0) print *, what, ': ', class, ' ', text(1:length)
  end subroutine said

  subroutine returned
    HANDLE(MPI_Comm) :: c
    HANDLE(MPI_Request) :: r, several(2)
    HANDLE(MPI_Datatype) :: t
    c = MPI_COMM_NULL
    call MPI_Barrier(c, ierr)
    call said('null communicator')
    NUMBER(c) = 4711
    call MPI_Barrier(c, ierr)
    call said('uninitialised communicator')
    call MPI_Comm_free(c, ierr)
    call said('free an uninitialised communicator')
    NUMBER(t) = -4711
    call MPI_Send(a, 1, t, rank, 1, MPI_COMM_WORLD, ierr)
    call said('uninitialised datatype')
    several = MPI_REQUEST_NULL
    call MPI_Send(a, -3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr)
    call said('negative count')
    call MPI_Waitall(-1, several, MPI_STATUSES_IGNORE, ierr)
    call said('negative count of requests')
    call MPI_Send(a, 1, MPI_INTEGER, size, 1, MPI_COMM_WORLD, ierr)
    call said('rank too large')
    call MPI_Send(a, 1, MPI_INTEGER, rank, -2, MPI_COMM_WORLD, ierr)
    call said('negative tag')
    call MPI_Bcast(a, 1, MPI_INTEGER, -9, MPI_COMM_WORLD, ierr)
    call said('negative root')
    call MPI_Type_contiguous(-1, MPI_INTEGER, t, ierr)
    call said('negative type count')
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierr)
    call MPI_Comm_free(c, ierr)
    call MPI_Comm_free(c, ierr)
    call said('free a communicator twice')
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
    call MPI_Send(a, 1, t, rank, 1, MPI_COMM_WORLD, ierr)
    call said('uncommitted type')
    call MPI_Type_free(t, ierr)
    call MPI_Type_free(t, ierr)
    call said('free a datatype twice')
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, r, ierr)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
    call said('wait twice')
    call MPI_Request_free(r, ierr)
    call said('free a completed request')
    call MPI_Start(r, ierr)
    call said('start a null request')
    call MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, a, ierr)
    call said('coordinates of no grid')
    call MPI_Comm_test_inter(MPI_COMM_NULL, flag, ierr)
    call said('null communicator, asked')
    call MPI_Irecv(b, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, r, ierr)
    call MPI_Send(a, 9, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierr)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
    call said('truncated')
  end subroutine returned

  ! Requests that nobody completes, and objects that nobody frees.
  subroutine leaks
    integer, parameter :: many = 8
    integer :: i
    HANDLE(MPI_Request) :: r(2 * many)
    HANDLE(MPI_Comm) :: c
    HANDLE(MPI_Datatype) :: t
    do i = 1, many
       call MPI_Isend(a, 1, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, r(i), ierr)
       call MPI_Irecv(b(i), 1, MPI_INTEGER, mod(rank + size - 1, size), 50 + i, MPI_COMM_WORLD, r(many + i), ierr)
    end do
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
  end subroutine leaks
end program wrong
