# SPDX-License-Identifier: BSD-3-Clause
# spoor_mpi - the mpi.h of each MPI library for the tracers, and compiler wrappers for the replay and the tests' programs
#
# Sets MPI_CPPFLAGS (only -I options: the tracer reads mpi.h and never links libmpi), MPI_LIBS (for spoor-replay, which does), MPICC, and
# MPIFC (empty if there is no Fortran compiler wrapper).
# MPICH_CPPFLAGS, MPICH_LIBS, MPICH_CC, MPICH_FC: the same of MPICH, for a second tracer and a second replay, which are left
# out where there is no MPICH.
AC_DEFUN([SPOOR_MPI], [
	AC_ARG_VAR([MPICC], [Open MPI's C compiler wrapper])
	AC_ARG_VAR([MPIFC], [Open MPI's Fortran compiler wrapper])
	AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc])
	AC_PATH_PROGS([MPIFC], [mpifort.openmpi mpifort mpif90.openmpi mpif90])
	AC_ARG_VAR([MPI_LIBS], [how to link the MPI library, overriding MPICC and pkg-config])
	AS_IF([test -z "$MPI_LIBS" && test -n "$MPICC"], [MPI_LIBS=`$MPICC --showme:link 2>/dev/null`])
	AS_IF([test -z "$MPI_LIBS"], [MPI_LIBS=`$PKG_CONFIG --libs ompi-c 2>/dev/null`])
	AC_ARG_VAR([MPI_CPPFLAGS], [where mpi.h is, overriding MPICC and pkg-config])

	AS_IF([test -z "$MPI_CPPFLAGS" && test -n "$MPICC"], [
		for spoor_flag in `$MPICC --showme:compile 2>/dev/null`; do
			AS_CASE([$spoor_flag], [-I*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $spoor_flag"])
		done
	])
	AS_IF([test -z "$MPI_CPPFLAGS"], [MPI_CPPFLAGS=`$PKG_CONFIG --cflags-only-I ompi-c 2>/dev/null`])

	spoor_saved_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
	AC_CHECK_HEADER([mpi.h], [spoor_mpi_header=yes], [spoor_mpi_header=no])
	AC_COMPUTE_INT([spoor_mpi_number], [OMPI_MAJOR_VERSION * 10000 + OMPI_MINOR_VERSION * 100 + OMPI_RELEASE_VERSION],
		[[#include <mpi.h>]], [spoor_mpi_number=0])
	CPPFLAGS=$spoor_saved_CPPFLAGS

	spoor_have_mpi=`expr $spoor_mpi_number / 10000`.`expr $spoor_mpi_number / 100 % 100`
	spoor_have_mpi=$spoor_have_mpi.`expr $spoor_mpi_number % 100`
	AC_SUBST([OPENMPI_VERSION], [$spoor_have_mpi])
	AS_IF([test $spoor_mpi_header = no || test -z "$MPICC"],
		[SPOOR_MISSING([Open MPI (mpicc and mpi.h)], [libopenmpi-dev openmpi-bin], [openmpi-devel],
			[or set MPICC (EL: module load mpi/openmpi-x86_64)])],
	[test $spoor_mpi_number -lt 40000],
		[SPOOR_MISSING([Open MPI >= 4.0 (the mpi.h found is not one)], [libopenmpi-dev openmpi-bin], [openmpi-devel],
			[or set MPICC (EL: module load mpi/openmpi-x86_64)])])

	AC_ARG_VAR([MPICH_CC], [MPICH's C compiler wrapper])
	AC_ARG_VAR([MPICH_FC], [MPICH's Fortran compiler wrapper])
	AC_ARG_VAR([MPICH_CPPFLAGS], [where MPICH's mpi.h is, overriding MPICH_CC and pkg-config])
	AC_ARG_VAR([MPICH_LIBS], [how to link MPICH, overriding MPICH_CC and pkg-config])
	AC_PATH_PROGS([MPICH_CC], [mpicc.mpich])
	AC_PATH_PROGS([MPICH_FC], [mpifort.mpich mpif90.mpich])
	AS_IF([test -z "$MPICH_CPPFLAGS" && test -n "$MPICH_CC"], [
		for spoor_flag in `$MPICH_CC -compile_info 2>/dev/null`; do
			AS_CASE([$spoor_flag], [-I*], [MPICH_CPPFLAGS="$MPICH_CPPFLAGS $spoor_flag"])
		done
	])
	AS_IF([test -z "$MPICH_CPPFLAGS"], [MPICH_CPPFLAGS=`$PKG_CONFIG --cflags-only-I mpich 2>/dev/null`])
	dnl Where EL has it, for users of its module
	AS_IF([test -z "$MPICH_CPPFLAGS" && test -e /usr/include/mpich-`uname -m`/mpi.h], [MPICH_CPPFLAGS=-I/usr/include/mpich-`uname -m`])
	AS_IF([test -z "$MPICH_LIBS" && test -n "$MPICH_CC"], [
		for spoor_flag in `$MPICH_CC -link_info 2>/dev/null`; do
			AS_CASE([$spoor_flag], [-L*|-l*|-Wl,*rpath*], [MPICH_LIBS="$MPICH_LIBS $spoor_flag"])
		done
	])
	AS_IF([test -z "$MPICH_LIBS"], [MPICH_LIBS=`$PKG_CONFIG --libs mpich 2>/dev/null`])
	spoor_saved_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $MPICH_CPPFLAGS"
	AS_UNSET([ac_cv_header_mpi_h])
	AC_COMPUTE_INT([spoor_mpich_number], [MPICH_NUMVERSION], [[#include <mpi.h>]], [spoor_mpich_number=0])
	CPPFLAGS=$spoor_saved_CPPFLAGS
	spoor_have_mpich="not found: programs that use it run without a trace, and nothing is replayed with it (Debian: libmpich-dev, RPM: mpich-devel)"
	AS_IF([test $spoor_mpich_number -ge 30100000], [
		spoor_have_mpich=`expr $spoor_mpich_number / 10000000`.`expr $spoor_mpich_number / 100000 % 100`
		spoor_have_mpich="$spoor_have_mpich ($MPICH_CPPFLAGS)"
		AS_IF([test -z "$MPICH_LIBS"], [spoor_have_mpich="$spoor_have_mpich; no replay with it: set MPICH_CC or MPICH_LIBS"])
	])
	AM_CONDITIONAL([ABI_MPICH], [test $spoor_mpich_number -ge 30100000])
	AM_CONDITIONAL([REPLAY_MPICH], [test $spoor_mpich_number -ge 30100000 && test -n "$MPICH_LIBS"])
])
