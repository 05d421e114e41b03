# SPDX-License-Identifier: BSD-3-Clause
# spoor_summary - what configure found, as the last thing it prints
AC_DEFUN([SPOOR_SUMMARY], [
	AC_MSG_NOTICE([spoor $PACKAGE_VERSION

  Compiler   $CC $CFLAGS
  Python     $spoor_have_python ($PYTHON)
  Slurm      $spoor_have_slurm
  Open MPI   $spoor_have_mpi ($MPICC, Fortran: ${MPIFC:-not found (Debian: gfortran, RPM: gcc-gfortran)})
  MPICH      $spoor_have_mpich
  MPI 5 ABI  built in
  jansson    $spoor_have_JANSSON
  zstd       $spoor_have_ZSTD
  libdw      $spoor_have_LIBDW
  PAPI       $spoor_have_PAPI
  OTF2       $spoor_have_OTF2
  SQLite     $spoor_have_SQLITE
  nettle     $spoor_have_NETTLE

  Prefix     $prefix
  Plugin     $slurmplugindir
])])
