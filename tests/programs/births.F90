! SPDX-License-Identifier: BSD-3-Clause
! births - MPI_Comm_spawn and MPI_Comm_spawn_multiple in Fortran, with and without arguments and error codes. Compiled twice, as more.F90 is.
#ifdef MPI_F08
#define HANDLE(t) type(t)
#else
#define HANDLE(t) integer
#endif
program births
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ierr, codes(2), counts(2)
  HANDLE(MPI_Comm) :: parent, inter
  HANDLE(MPI_Info) :: infos(2)
  character(len=512) :: command, commands(2)
  character(len=24) :: arguments(3), both(2, 3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent /= MPI_COMM_NULL) then
     call MPI_Barrier(parent, ierr)
     call MPI_Comm_disconnect(parent, ierr)
  else
     call get_command_argument(0, command)
     arguments = (/ 'child                   ', 'a "quoted" one          ', '                        ' /)
     call MPI_Comm_spawn(trim(command), arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierr)
     call MPI_Barrier(inter, ierr)
     call MPI_Comm_disconnect(inter, ierr)
     call MPI_Comm_spawn(trim(command), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierr)
     call MPI_Barrier(inter, ierr)
     call MPI_Comm_disconnect(inter, ierr)
     commands = command
     counts = 1
     infos = MPI_INFO_NULL
     both(1, :) = (/ 'one                     ', '                        ', '                        ' /)
     both(2, :) = (/ 'two                     ', 'three                   ', '                        ' /)
     call MPI_Comm_spawn_multiple(2, commands, both, counts, infos, 0, MPI_COMM_WORLD, inter, codes, ierr)
     call MPI_Barrier(inter, ierr)
     call MPI_Comm_disconnect(inter, ierr)
     call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierr)
     call MPI_Barrier(inter, ierr)
     call MPI_Comm_disconnect(inter, ierr)
     if (rank == 0) print *, 'births: done'
  end if
  call MPI_Finalize(ierr)
end program births
