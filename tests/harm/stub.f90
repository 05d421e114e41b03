! SPDX-License-Identifier: BSD-3-Clause
! stub - the stand-in of stub.c in Fortran; which spelling the names get is up to the compiler's options
subroutine mpi_init(ierror)
	integer, intent(out) :: ierror
	ierror = 0
end subroutine

subroutine mpi_comm_size(comm, size, ierror)
	integer, intent(in) :: comm
	integer, intent(out) :: size, ierror
	size = merge(1, -1, comm == 91)
	ierror = 0
end subroutine

subroutine mpi_finalize(ierror)
	integer, intent(out) :: ierror
	ierror = 0
end subroutine
