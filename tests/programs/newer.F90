! SPDX-License-Identifier: BSD-3-Clause
! newer - what MPI 4 added, in Fortran: its first argument says what (tests/cases.t); with -DMPI_F08 by mpi_f08, else by the module mpi
#include "has.h"
#ifdef MPI_F08
#define HANDLE(T) type(T)
#else
#define HANDLE(T) integer
#endif
#define LACKING 77
module newer
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, many, left, right, ierror
  integer :: wrong = 0, lacks = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(a,i0,a)', 'rank ', rank, ': '//what//' is wrong'
    wrong = 1
  end subroutine
  subroutine place(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, many, ierror)
    left = mod(rank + many - 1, many)
    right = mod(rank + 1, many)
  end subroutine
  subroutine begin
    call MPI_Init(ierror)
    call place(MPI_COMM_WORLD)
  end subroutine
  subroutine end_all
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
  end subroutine

#if HAS_MPI_Session_init
#define CASE_sessions 1
  subroutine sessions
    HANDLE(MPI_Session) :: s
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Comm) :: comm
    integer :: total, n
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, s, ierror)
    call MPI_Session_get_num_psets(s, MPI_INFO_NULL, n, ierror)
    call check(n >= 2, 'the number of process sets')
    call MPI_Group_from_session_pset(s, 'mpi://WORLD', group, ierror)
    call MPI_Comm_create_from_group(group, 'newer', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
    call MPI_Group_free(group, ierror)
    call place(comm)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
    call check(total == many * (many - 1) / 2, 'a sum')
    call MPI_Comm_free(comm, ierror)
    call MPI_Session_finalize(s, ierror)
  end subroutine
#endif
#if HAS_MPI_Isendrecv
#define CASE_both_ways 1
  subroutine both_ways
    HANDLE(MPI_Request) :: r
    integer, asynchronous :: out, got
    call begin
    out = rank
    got = -1
#ifdef MPI_F08
    call MPI_Isendrecv(out, 1, MPI_INTEGER, right, 1, got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
#else
    call MPI_Isendrecv(out, 1, MPI_INTEGER, right, 1, got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r, ierror)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
#endif
    call check(got == left, 'what came from the left')
    call end_all
  end subroutine
#endif
#if HAS_MPI_Allreduce_init
#define CASE_collectives 1
  subroutine collectives
    HANDLE(MPI_Request) :: r
    integer, asynchronous :: total
    integer :: turn
    call begin
    call MPI_Allreduce_init(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierror)
    do turn = 1, 3
      total = -1
      call MPI_Start(r, ierror)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
      call check(total == many * (many - 1) / 2, 'a sum')
    end do
    call MPI_Request_free(r, ierror)
    call end_all
  end subroutine
#endif
! not in mpi_f08 of Open MPI 5.0.7, whose interface takes no such call
#if HAS_MPI_Psend_init && !(defined(OPEN_MPI) && defined(MPI_F08))
#define CASE_parts 1
  subroutine parts
    HANDLE(MPI_Request) :: r(2)
    double precision, asynchronous :: out(3, 4), got(3, 4)
    integer :: i
    call begin
    call MPI_Psend_init(out, 4, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), ierror)
    call MPI_Precv_init(got, 4, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), ierror)
    call MPI_Startall(2, r, ierror)
    out = rank
    do i = 0, 3
      call MPI_Pready(i, r(1), ierror)
    end do
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierror)
    call check(all(got == left), 'what came in parts')
    call MPI_Request_free(r(1), ierror)
    call MPI_Request_free(r(2), ierror)
    call end_all
  end subroutine
#endif
#if HAS_MPI_Info_get_string
#define CASE_strings 1
  subroutine strings
    HANDLE(MPI_Info) :: info
    character(16) :: value
    integer :: length
    logical :: there
    call begin
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'key', 'a value', ierror)
    length = 0
    call MPI_Info_get_string(info, 'key', length, value, there, ierror)
    value = ''
    length = 16
    call MPI_Info_get_string(info, 'key', length, value, there, ierror)
    call check(there .and. value == 'a value', 'a value')
    call MPI_Info_free(info, ierror)
    call end_all
  end subroutine
#endif
#if HAS_MPI_Send_c && defined(MPI_F08)
#define CASE_wide 1
  subroutine wide
    integer :: out(4), got(4)
    type(MPI_Status) :: status
    type(MPI_Request) :: r
    integer(MPI_COUNT_KIND) :: n
    call begin
    out = rank
    call MPI_Irecv(got, 4_MPI_COUNT_KIND, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r)
    call MPI_Send(out, 4_MPI_COUNT_KIND, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
    call MPI_Wait(r, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(n == 4 .and. got(4) == left, 'a message')
    call MPI_Allreduce(MPI_IN_PLACE, got, 4_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(got(1) == many * (many - 1) / 2, 'a sum')
    call end_all
  end subroutine
#endif
end module

program main
  use newer
  implicit none
  character(32) :: what
  call get_command_argument(1, what)
  select case (what)
#ifdef CASE_sessions
  case ('sessions')
    call sessions
#endif
#ifdef CASE_both_ways
  case ('both_ways')
    call both_ways
#endif
#ifdef CASE_collectives
  case ('collectives')
    call collectives
#endif
#ifdef CASE_parts
  case ('parts')
    call parts
#endif
#ifdef CASE_strings
  case ('strings')
    call strings
#endif
#ifdef CASE_wide
  case ('wide')
    call wide
#endif
  case ('')
#ifdef CASE_sessions
    print '(a)', 'sessions'
#else
    print '(a)', 'sessions lacks it'
#endif
#ifdef CASE_both_ways
    print '(a)', 'both_ways'
#else
    print '(a)', 'both_ways lacks it'
#endif
#ifdef CASE_collectives
    print '(a)', 'collectives'
#else
    print '(a)', 'collectives lacks it'
#endif
#ifdef CASE_parts
    print '(a)', 'parts'
#else
    print '(a)', 'parts lacks it'
#endif
#ifdef CASE_strings
    print '(a)', 'strings'
#else
    print '(a)', 'strings lacks it'
#endif
#ifdef CASE_wide
    print '(a)', 'wide'
#else
    print '(a)', 'wide lacks it'
#endif
  case default
    stop LACKING
  end select
  if (what /= '' .and. rank == 0) print '(a)', trim(what)//': done'
  if (wrong /= 0) stop 1
end program
