! SPDX-License-Identifier: BSD-3-Clause
! through - a Fortran module whose procedures call the C functions, as an mpi_f08 for any library of the standard's ABI
! does; and a program that uses it. What it records is what the C functions are passed, once.
module through
  use iso_c_binding
  implicit none
  integer(c_intptr_t), parameter :: comm_world = 257, type_int = 537, op_sum = 33
  integer, parameter :: any_source = -1, proc_null = -3
  type, bind(c) :: status_type
     integer(c_int) :: source, tag, error, internal(5)
  end type
  interface
     integer(c_int) function c_init(argc, argv) bind(c, name="MPI_Init")
       import
       type(c_ptr), value :: argc, argv
     end function
     integer(c_int) function c_finalize() bind(c, name="MPI_Finalize")
       import
     end function
     integer(c_int) function c_comm_rank(comm, rank) bind(c, name="MPI_Comm_rank")
       import
       integer(c_intptr_t), value :: comm
       integer(c_int) :: rank
     end function
     integer(c_int) function c_comm_size(comm, size) bind(c, name="MPI_Comm_size")
       import
       integer(c_intptr_t), value :: comm
       integer(c_int) :: size
     end function
     integer(c_int) function c_irecv(buf, n, datatype, source, tag, comm, request) bind(c, name="MPI_Irecv")
       import
       integer(c_int) :: buf(*)
       integer(c_int), value :: n, source, tag
       integer(c_intptr_t), value :: datatype, comm
       integer(c_intptr_t) :: request
     end function
     integer(c_int) function c_send(buf, n, datatype, dest, tag, comm) bind(c, name="MPI_Send")
       import
       integer(c_int) :: buf(*)
       integer(c_int), value :: n, dest, tag
       integer(c_intptr_t), value :: datatype, comm
     end function
     integer(c_int) function c_wait(request, status) bind(c, name="MPI_Wait")
       import
       integer(c_intptr_t) :: request
       type(status_type) :: status
     end function
     integer(c_int) function c_allreduce(from, to, n, datatype, op, comm) bind(c, name="MPI_Allreduce")
       import
       integer(c_int) :: from(*), to(*)
       integer(c_int), value :: n
       integer(c_intptr_t), value :: datatype, op, comm
     end function
  end interface
contains
  subroutine mpi_send_f08(buf, n, dest, tag)
    integer(c_int), intent(in) :: buf(*)
    integer, intent(in) :: n, dest, tag
    if (c_send(buf, n, type_int, dest, tag, comm_world) /= 0) error stop 1
  end subroutine
  subroutine mpi_irecv_f08(buf, n, source, tag, request)
    integer(c_int), asynchronous :: buf(*)
    integer, intent(in) :: n, source, tag
    integer(c_intptr_t), intent(out) :: request
    if (c_irecv(buf, n, type_int, source, tag, comm_world, request) /= 0) error stop 1
  end subroutine
end module

program ring
  use through
  implicit none
  integer(c_int) :: rank, size, i, value(1), got(1), total(1)
  integer(c_intptr_t) :: request, none
  type(status_type) :: status

  if (c_init(c_null_ptr, c_null_ptr) /= 0) error stop 1
  if (c_comm_rank(comm_world, rank) /= 0 .or. c_comm_size(comm_world, size) /= 0) error stop 1
  do i = 1, 20
     value = 100 * rank + i
     call mpi_irecv_f08(got, 1, any_source, i, request)
     call mpi_irecv_f08(total, 1, proc_null, i, none)
     call mpi_send_f08(value, 1, mod(rank + 1, size), i)
     if (c_wait(request, status) /= 0 .or. c_wait(none, status) /= 0) error stop 1
  end do
  if (c_allreduce(value, total, 1, type_int, op_sum, comm_world) /= 0) error stop 1
  if (rank == 0) print *, 'sum', total
  if (c_finalize() /= 0) error stop 1
end program
