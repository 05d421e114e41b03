! SPDX-License-Identifier: BSD-3-Clause
! user - uses the stand-in of stub.f90
program user
	integer :: size, ierror
	size = -2
	call mpi_init(ierror)
	call mpi_comm_size(91, size, ierror)
	call mpi_finalize(ierror)
	print *, 'size', size, ierror
end program
